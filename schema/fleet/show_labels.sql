-- Labels of ranks, by key.  Parameters: none.
SELECT l.key AS label, count(*) AS rank_count,
	count(DISTINCT l.value) AS value_count,
	min(CAST(l.value AS TEXT)) AS first, max(CAST(l.value AS TEXT)) AS last
FROM rank AS r, json_each(CASE WHEN json_valid(r.labels) THEN r.labels
	ELSE '{}' END) AS l
GROUP BY l.key
ORDER BY l.key;
