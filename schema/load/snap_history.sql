-- What the history of each GPU has, and the segments that it maps and frees.
-- Parameters: none.  Order: trace_id, device.
SELECT trace_id, device, entry_count, timed_count, before_bytes, before_count,
	early_count, end_bytes, in_use_bytes,
	twice_count + differ_count + no_block_count AS odd_count,
	late_count, fits_reserved
FROM mem_history
ORDER BY trace_id, device;
