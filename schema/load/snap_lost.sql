-- Of memory snapshots: segments and entries of the history that could not be
-- read and are in no other table.  Parameters: none.  Order: trace_id.
SELECT trace_id,
	coalesce(sum(value) FILTER (WHERE key = 'snap_lost_segments'), 0)
		AS segment_count,
	coalesce(sum(value) FILTER (WHERE key = 'snap_lost_entries'), 0)
		AS entry_count
FROM trace_fact
WHERE key IN ('snap_lost_segments', 'snap_lost_entries')
GROUP BY trace_id
ORDER BY trace_id;
