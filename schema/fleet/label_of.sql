-- What ranks have under a label.  Parameters: ?1 the capture, or NULL: all; ?2
-- the label.
SELECT r.rank AS rank, CAST(l.value AS TEXT) AS value
FROM rank AS r
JOIN capture AS c ON c.id = r.capture_id,
	json_each(CASE WHEN json_valid(r.labels) THEN r.labels ELSE '{}' END)
		AS l
WHERE (?1 IS NULL OR c.name = ?1) AND r.rank IS NOT NULL AND r.error IS NULL
	AND l.key = ?2
ORDER BY r.rank, r.id;
