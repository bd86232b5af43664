-- GPU work and how much of it has no launch call, among rows ?1 to ?2 - 1 and
-- on device ?3 (-1: all).  Sums are NULL if there is no work.
-- Parameters: ?1 and ?2 ids, ?3 a device.  Order: one row.
SELECT count(*) AS work_count, sum(g.dur_ns) AS work_ns,
	coalesce(sum(g.launch_id IS NULL), 0) AS orphan_count,
	coalesce(sum(g.dur_ns) FILTER (WHERE g.launch_id IS NULL), 0)
		AS orphan_ns
FROM gpu_event AS g
WHERE g.id >= ?1 AND g.id < ?2 AND g.kind IN (7, 8, 9)
	AND (?3 < 0 OR ?3 = coalesce(
		(SELECT device FROM gpu_config WHERE id = g.config_id),
		(SELECT CAST(pid AS INTEGER) FROM track
			WHERE id = g.event_id >> 32)))
ORDER BY work_count;
