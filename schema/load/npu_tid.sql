-- The tid, as text, of the line of a process that has a name.
-- Parameters: 1 trace.id; 2 pid as text; 3 name.  At most one row.
SELECT CAST(json_extract(json, '$.tid') AS TEXT) AS tid
FROM metadata_event
WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'thread_name'
	AND CAST(json_extract(json, '$.pid') AS TEXT) = ?2
	AND CAST(json_extract(json, '$.args.name') AS TEXT) = ?3
ORDER BY file_order DESC
LIMIT 1;
