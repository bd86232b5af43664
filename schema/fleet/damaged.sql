-- What no merge writes, by name: something else in the place of a table,
-- columns that are computed or checked (a second parenthesis).  No rows:
-- nothing found.  Parameters: none.  Whoever asks reads one row.
WITH ours(name) AS (VALUES ('string'), ('capture'), ('rank'), ('step'),
	('kernel'), ('op'), ('idle'), ('idle_site'), ('device'), ('collective'),
	('finding'), ('memory'), ('digest'))
SELECT 'table ' || name AS name
FROM ours
WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS s
	WHERE s.name = ours.name AND s.type = 'table'
		AND s.sql GLOB 'CREATE TABLE ' || s.name || ' (*'
		AND s.sql NOT GLOB '*(*(*')
ORDER BY name;
