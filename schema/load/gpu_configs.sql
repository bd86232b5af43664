-- Every launch configuration.  Parameters: none.  Order: id.
SELECT id, device, stream, grid_x, grid_y, grid_z, block_x, block_y, block_z,
	registers_per_thread, shared_memory_bytes, blocks_per_sm,
	occupancy_percent, op_name
FROM gpu_config
ORDER BY id;
