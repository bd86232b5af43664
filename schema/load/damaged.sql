-- What no ingest writes, by name: traces without a number that can be asked for,
-- whose time is no number or not that of their threads, steps that are not
-- within it.  No rows: nothing found.
-- Parameters: none.  Whoever asks reads one row.
WITH time AS (SELECT trace_id, min(first_ns) AS first_ns, max(last_ns) AS last_ns
	FROM track
	WHERE event_count > 0
	GROUP BY trace_id)
SELECT 'number of trace ' || id AS name FROM trace WHERE id < 1
UNION ALL
SELECT 'time of trace ' || t.id
FROM trace AS t
LEFT JOIN time AS k ON k.trace_id = t.id
WHERE t.first_ns IS NOT k.first_ns OR t.last_ns IS NOT k.last_ns
	OR t.first_ns > t.last_ns
	OR typeof(t.last_ns) NOT IN ('integer', 'null')
UNION ALL
SELECT 'step ' || ifnull(s.step, '?') || ' of trace ' || t.id
FROM step AS s
JOIN trace AS t ON t.id = s.trace_id
WHERE typeof(s.start_ns) <> 'integer' OR typeof(s.dur_ns) <> 'integer'
	OR s.start_ns < t.first_ns OR s.dur_ns < 0
	OR s.start_ns + s.dur_ns > t.last_ns;
