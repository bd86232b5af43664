-- How kernels were launched.  Parameters: none.  Order: id.
SELECT id,
	grid_x || ',' || grid_y || ',' || grid_z AS grid,
	block_x || ',' || block_y || ',' || block_z AS block,
	registers_per_thread, shared_memory_bytes, blocks_per_sm,
	occupancy_percent
FROM gpu_config
ORDER BY id;
