-- What "profan doctor" found, by check.  Which ranks are missing is a fact of a
-- capture, of which a rank alone knows no more than that it is not all: it is
-- counted anew.  unsaid_count: traces that say no rank, and are perhaps those
-- that are missing.  Parameters: none.
WITH missing AS (
	SELECT sum(r.rank IS NULL) * (count(*) > 1) AS unsaid_count,
		max(0, coalesce(max(r.world_size), 0) - count(DISTINCT r.rank)
			- sum(r.rank IS NULL)) AS absent_count
	FROM rank AS r
	GROUP BY r.capture_id),
found AS (
	SELECT c.text AS check_name, v.text AS verdict,
		count(DISTINCT f.rank_id) AS rank_count,
		sum(f.count) AS count, sum(f.gpu_ns) AS gpu_ns
	FROM finding AS f
	JOIN string AS c ON c.id = f.check_id
	JOIN string AS v ON v.id = f.verdict_id
	WHERE c.text <> 'ranks missing'
	GROUP BY f.check_id, f.verdict_id
	UNION ALL
	SELECT 'ranks missing', iif(sum(unsaid_count), 'warn', 'note'), NULL,
		sum(unsaid_count + absent_count), NULL
	FROM missing
	HAVING sum(unsaid_count + absent_count) > 0)
SELECT check_name, verdict, rank_count, count, gpu_ns
FROM found
ORDER BY verdict = 'bad' DESC, verdict = 'warn' DESC, rank_count DESC,
	check_name;
