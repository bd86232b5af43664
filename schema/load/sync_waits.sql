-- What cuda_sync records say about waits.  Parameters: 1 trace; 2 and 3: from
-- and to which start, ns.  Order: name.
SELECT s.text AS name, 'record' AS source, count(*) AS count,
	sum(g.dur_ns) AS ns
FROM gpu_event AS g
JOIN string AS s ON s.id = g.name_id
WHERE g.kind = 11 AND g.trace_id = ?1 AND g.start_ns >= ?2 AND g.start_ns < ?3
GROUP BY s.text
ORDER BY s.text;
