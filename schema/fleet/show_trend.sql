-- Each capture: its ranks and whole steps, and the time of those.
-- Parameters: none.
SELECT c.name AS capture,
	strftime('%Y-%m-%dT%H:%M:%SZ', c.taken_ns / 1000000000, 'unixepoch')
		AS taken,
	count(DISTINCT s.rank_id) AS rank_count, count(*) AS step_count,
	CAST(round(1.0 * sum(s.dur_ns) / count(*)) AS INTEGER) AS step_ns,
	CAST(round(1.0 * sum(s.kernel_ns) / count(*)) AS INTEGER) AS kernel_ns,
	CAST(round(1.0 * sum(s.comm_ns) / count(*)) AS INTEGER) AS comm_ns,
	CAST(round(1.0 * sum(s.copy_ns) / count(*)) AS INTEGER) AS copy_ns,
	CAST(round(1.0 * sum(s.runtime_ns) / count(*)) AS INTEGER)
		AS runtime_ns,
	CAST(round(1.0 * sum(s.cpu_ns) / count(*)) AS INTEGER) AS cpu_ns,
	CAST(round(1.0 * sum(s.other_ns) / count(*)) AS INTEGER) AS other_ns,
	CAST(round(1.0 * sum(s.busy_ns) / count(*)) AS INTEGER) AS busy_ns
FROM step AS s
JOIN rank AS r ON r.id = s.rank_id
JOIN capture AS c ON c.id = r.capture_id
WHERE s.is_partial = 0
GROUP BY c.id
ORDER BY c.taken_ns IS NULL, c.taken_ns, c.id;
