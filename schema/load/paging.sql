-- When managed memory goes back to the host page by page, as when that reads it:
-- from the first of such copies to the last, where they are 1 ms apart or less.
-- Where no name says so, nothing is read but names (SQLite asks what EXISTS says
-- row by row).  At most one row a trace.
SELECT trace_id, min(start_ns) AS from_ns, max(start_ns + dur_ns) AS to_ns,
	min(name_id) AS name_id
FROM (SELECT 1 FROM string WHERE text GLOB '*DtoH (unified memory)*' LIMIT 1)
CROSS JOIN gpu_event
WHERE kind = 8 AND name_id IN (SELECT id FROM string
		WHERE text GLOB '*DtoH (unified memory)*')
GROUP BY trace_id
HAVING max(start_ns) - min(start_ns) < 1000000 * (count(*) - 1);
