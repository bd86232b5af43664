-- Labels that were asked for are added to those that ranks have.  Parameters:
-- none.
UPDATE entry SET labels = (
	SELECT json_group_object(key, value)
	FROM (SELECT key, value, max(ordinal)
		FROM (SELECT key, value, 0 AS ordinal
			FROM json_each(CASE WHEN json_valid(entry.labels)
				AND json_type(entry.labels) = 'object'
				THEN entry.labels ELSE '{}' END)
			WHERE type = 'text'
			UNION ALL
			SELECT key, value, ordinal
			FROM label AS l
			WHERE l.rank IS NULL OR l.rank = entry.rank)
		GROUP BY key
		ORDER BY key))
WHERE EXISTS (SELECT 1 FROM label AS l
	WHERE l.rank IS NULL OR l.rank = entry.rank);
