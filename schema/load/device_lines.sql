-- Lines of processes, which may be devices or the host (TensorFlow, JAX): pid and
-- tid as text, the names of process and line; the last metadata event of each
-- counts.
-- Parameter 1: trace.id.  Order: pid, tid.
WITH process AS (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		CAST(json_extract(json, '$.args.name') AS TEXT) AS name,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'process_name'
	GROUP BY 1),
line AS (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		coalesce(CAST(json_extract(json, '$.tid') AS TEXT), '') AS tid,
		CAST(json_extract(json, '$.args.name') AS TEXT) AS name,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'thread_name'
	GROUP BY 1, 2)
SELECT p.pid, l.tid, p.name, l.name
FROM process AS p
JOIN line AS l ON l.pid = p.pid
ORDER BY p.pid, l.tid;
