-- The name of a thread, as the last metadata event says it.
-- Parameters: 1 trace.id; 2 pid and 3 tid as text.  At most one row.
SELECT CAST(json_extract(json, '$.args.name') AS TEXT) AS name
FROM metadata_event
WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'thread_name'
	AND CAST(json_extract(json, '$.pid') AS TEXT) = ?2
	AND CAST(json_extract(json, '$.tid') AS TEXT) = ?3
ORDER BY file_order DESC
LIMIT 1;
