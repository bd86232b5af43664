-- What tells whether times of traces are on one clock: the time that theirs
-- count from, and the machine, if it is recorded: a file that was made of the
-- traces of several processes has it of one of them.  Parameters: none.  Order: id.
SELECT t.id, coalesce(t.base_ns, 0) AS base_ns,
	coalesce(t.world_size, -1) AS world_size, (
	SELECT CASE WHEN m.key = 'distributedInfo' THEN m.value ->> '$.host'
		ELSE m.value ->> '$' END
	FROM trace_meta AS m
	WHERE m.trace_id = t.id AND json_valid(m.value)
		AND NOT EXISTS (SELECT 1 FROM trace_fact AS f
			WHERE f.trace_id = t.id AND f.key = 'merged_count')
		AND m.key IN ('host_name', 'hostname', 'distributedInfo')
	ORDER BY m.key DESC LIMIT 1) AS host
FROM trace AS t
ORDER BY t.id;
