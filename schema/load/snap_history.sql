-- What the history of each GPU has, and the segments that it maps and frees; of
-- a history that was cut off (salvaged) only how many entries are kept: nothing
-- is known of what it began with, nor what it would agree with.
-- is_untimed: its entries have no times, and the start of its events is their
-- number in the list.  Parameters: none.  Order: trace_id, device.
WITH history AS (
	SELECT trace_id, device, entry_count, before_bytes, before_count,
		early_count, end_bytes, in_use_bytes,
		twice_count + differ_count + no_block_count AS odd_count,
		late_count, fits_reserved
	FROM mem_history
	UNION ALL
	SELECT trace_id, CAST(substr(key, 10) AS INTEGER), value, 0, 0, 0, 0, 0,
		0, 0, 1
	FROM trace_fact
	WHERE key GLOB 'snap_cut_*')
SELECT h.*, EXISTS (SELECT 1 FROM trace_fact AS f
	WHERE f.trace_id = h.trace_id
		AND f.key = 'snap_untimed_' || h.device) AS is_untimed
FROM history AS h
ORDER BY trace_id, device;
