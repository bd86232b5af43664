-- What "profan doctor" found, by check.  Parameters: none.
SELECT c.text AS check_name, v.text AS verdict,
	count(DISTINCT f.rank_id) AS rank_count, sum(f.count) AS count,
	sum(f.gpu_ns) AS gpu_ns
FROM finding AS f
JOIN string AS c ON c.id = f.check_id
JOIN string AS v ON v.id = f.verdict_id
GROUP BY f.check_id, f.verdict_id
ORDER BY v.text = 'bad' DESC, v.text = 'warn' DESC, rank_count DESC,
	c.text;
