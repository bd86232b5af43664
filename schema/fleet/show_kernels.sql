-- Kernels by name over all ranks.  Parameters: none.
SELECT k.name AS name, c.text AS class, k.rank_count AS rank_count,
	k.calls AS calls, k.total_ns AS total_ns,
	1.0 * k.total_ns / sum(k.total_ns) OVER () AS share,
	CAST(round(1.0 * k.total_ns / k.calls) AS INTEGER) AS mean_ns,
	k.rank_min_ns AS rank_min_ns, k.rank_max_ns AS rank_max_ns,
	k.min_ns AS min_ns, k.max_ns AS max_ns
FROM (SELECT s.text AS name, min(k.class_id) AS class_id,
		count(*) AS rank_count, sum(k.calls) AS calls,
		sum(k.total_ns) AS total_ns, min(k.total_ns) AS rank_min_ns,
		max(k.total_ns) AS rank_max_ns, min(k.min_ns) AS min_ns,
		max(k.max_ns) AS max_ns
	FROM kernel AS k
	JOIN string AS s ON s.id = k.name_id
	GROUP BY k.name_id) AS k
LEFT JOIN string AS c ON c.id = k.class_id
ORDER BY k.total_ns DESC, k.name;
