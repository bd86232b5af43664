-- What the traces say about themselves beside their events: every top-level
-- key that is no list or object, with its value, or how many values it has.
-- Parameters: none.  Order: key.
WITH option AS (
	SELECT key, json_type(value) AS type, value,
		json_extract(value, '$') AS plain
	FROM trace_meta
	WHERE json_valid(value))
SELECT key, count(*) AS trace_count, CASE count(DISTINCT value)
		WHEN 1 THEN CAST(min(plain) AS TEXT)
		ELSE '(' || count(DISTINCT value) || ' values)'
	END AS value
FROM option
WHERE type NOT IN ('array', 'object')
GROUP BY key
ORDER BY key;
