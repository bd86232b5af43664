-- Whole steps of each rank: how many, their time, and what it went to.
-- Parameters: none.
SELECT r.rank AS rank, c.name AS capture, count(*) AS step_count,
	sum(s.dur_ns) AS dur_ns, sum(s.kernel_ns) AS kernel_ns,
	sum(s.copy_ns) AS copy_ns, sum(s.memset_ns) AS memset_ns,
	sum(s.comm_ns) AS comm_ns, sum(s.runtime_ns) AS runtime_ns,
	sum(s.data_ns) AS data_ns, sum(s.cpu_ns) AS cpu_ns,
	sum(s.other_ns) AS other_ns, sum(s.busy_ns) AS busy_ns
FROM step AS s
JOIN rank AS r ON r.id = s.rank_id
JOIN capture AS c ON c.id = r.capture_id
WHERE s.is_partial = 0
GROUP BY s.rank_id
ORDER BY s.rank_id;
