-- Idle time of GPUs by cause over all ranks.  Parameters: none.
SELECT s.text AS cause, count(DISTINCT i.rank_id) AS rank_count,
	sum(i.ns) AS ns, 1.0 * sum(i.ns) / sum(sum(i.ns)) OVER () AS share,
	max(i.longest_ns) AS longest_ns
FROM idle AS i
JOIN string AS s ON s.id = i.cause_id
GROUP BY i.cause_id
ORDER BY ns DESC, cause;
