-- Is there GPU work among rows ?1 to ?2 - 1 and on device ?3 (-1: all)?  With
-- the columns of trust_orphans, where nothing is an orphan.
-- Parameters: ?1 and ?2 ids, ?3 a device.  Order: one row.
SELECT EXISTS (SELECT 1
	FROM gpu_event AS g
	LEFT JOIN gpu_config AS c ON ?3 >= 0 AND c.id = g.config_id
	LEFT JOIN track AS t ON ?3 >= 0 AND t.id = g.event_id >> 32
	WHERE g.id >= ?1 AND g.id < ?2 AND g.kind IN (7, 8, 9)
		AND (?3 < 0 OR
			coalesce(c.device, CAST(t.pid AS INTEGER)) = ?3))
	AS work_count, 0 AS work_ns, 0 AS orphan_count, 0 AS orphan_ns
ORDER BY work_count;
