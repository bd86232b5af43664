-- Each capture in order of time: its ranks, and the labels that all of them
-- have alike.
-- Parameters: none.
WITH good AS (SELECT id, capture_id, labels FROM rank WHERE error IS NULL),
shared AS (SELECT g.capture_id AS capture_id, l.key AS key,
		min(l.value) AS value
	FROM good AS g, json_each(CASE WHEN json_valid(g.labels)
		AND json_type(g.labels) = 'object' THEN g.labels ELSE '{}' END)
		AS l
	GROUP BY g.capture_id, l.key
	HAVING count(DISTINCT l.value) = 1 AND count(*) = (SELECT count(*)
		FROM good AS h WHERE h.capture_id = g.capture_id)),
label AS (SELECT capture_id, json_group_object(key, value) AS labels,
		max(CASE WHEN key = 'commit' THEN CAST(value AS TEXT) END)
			AS "commit"
	FROM (SELECT * FROM shared ORDER BY capture_id, key)
	GROUP BY capture_id),
ranks AS (SELECT capture_id, count(*) AS rank_count FROM good
	GROUP BY capture_id),
names AS (SELECT g.capture_id AS capture_id,
		count(DISTINCT k.name_id) AS name_count
	FROM kernel AS k
	JOIN good AS g ON g.id = k.rank_id
	GROUP BY g.capture_id)
SELECT c.id AS capture_id,
	strftime('%Y-%m-%dT%H:%M:%SZ', c.taken_ns / 1000000000, 'unixepoch')
		AS taken,
	c.name AS capture, l."commit" AS "commit",
	coalesce(r.rank_count, 0) AS rank_count,
	coalesce(n.name_count, 0) AS name_count,
	l.labels AS labels
FROM capture AS c
LEFT JOIN ranks AS r ON r.capture_id = c.id
LEFT JOIN names AS n ON n.capture_id = c.id
LEFT JOIN label AS l ON l.capture_id = c.id
ORDER BY c.taken_ns IS NULL, c.taken_ns, c.id;
