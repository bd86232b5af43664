-- Operators by name: how often the host ran each and how long, and the GPU
-- work that says it is of it (the operator around its launch call, else what
-- it is called in its arguments; '' if neither).
-- Parameters: trace.id; events that begin from the second on and before the
-- third count.  Order: GPU time falling, host time falling, name.
SELECT name, sum(calls), sum(cpu_ns), sum(work_count), sum(gpu_ns)
FROM (
	SELECT name, count(*) AS calls, sum(dur_ns) AS cpu_ns, 0 AS work_count,
		0 AS gpu_ns
	FROM event
	WHERE trace_id = ?1 AND kind = 1 AND start_ns >= ?2 AND start_ns < ?3
	GROUP BY name
	UNION ALL
	SELECT coalesce(o.name, c.op_name, ''), 0, 0, count(*), sum(g.dur_ns)
	FROM gpu_event AS g
	LEFT JOIN event AS o ON o.id = g.op_id
	LEFT JOIN gpu_config AS c ON c.id = g.config_id
	WHERE g.trace_id = ?1 AND g.kind IN (7, 8, 9)
		AND g.start_ns >= ?2 AND g.start_ns < ?3
	GROUP BY 1)
GROUP BY name
ORDER BY sum(gpu_ns) DESC, sum(cpu_ns) DESC, name;
