-- Each capture in order of time: its ranks, its whole steps and their means
-- (NULL: it has none), and the labels that all its ranks have alike.
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
	GROUP BY g.capture_id),
steps AS (SELECT g.capture_id AS capture_id, count(*) AS step_count,
		1.0 * sum(s.dur_ns) / count(*) AS step_ns,
		1.0 * sum(s.kernel_ns) / count(*) AS kernel_ns,
		1.0 * sum(s.copy_ns) / count(*) AS copy_ns,
		1.0 * sum(s.memset_ns) / count(*) AS memset_ns,
		1.0 * sum(s.comm_ns) / count(*) AS comm_ns,
		1.0 * sum(s.runtime_ns) / count(*) AS runtime_ns,
		1.0 * sum(s.data_ns) / count(*) AS data_ns,
		1.0 * sum(s.cpu_ns) / count(*) AS cpu_ns,
		1.0 * sum(s.other_ns) / count(*) AS other_ns,
		1.0 * sum(s.busy_ns) / count(*) AS busy_ns,
		1.0 * sum(s.kernel_count) / count(*) AS kernels,
		1.0 * sum(s.copy_count) / count(*) AS copies,
		1.0 * sum(s.launch_count) / count(*) AS launches,
		1.0 * sum(s.sync_count) / count(*) AS syncs
	FROM step AS s
	JOIN good AS g ON g.id = s.rank_id
	WHERE s.is_partial = 0
	GROUP BY g.capture_id)
SELECT c.id AS capture_id,
	strftime('%Y-%m-%dT%H:%M:%SZ', c.taken_ns / 1000000000, 'unixepoch')
		AS taken,
	c.name AS capture, l."commit" AS "commit",
	coalesce(r.rank_count, 0) AS rank_count,
	coalesce(s.step_count, 0) AS step_count,
	CAST(round(s.step_ns) AS INTEGER) AS step_ns,
	CAST(round(s.kernel_ns) AS INTEGER) AS kernel_ns,
	CAST(round(s.copy_ns) AS INTEGER) AS copy_ns,
	CAST(round(s.memset_ns) AS INTEGER) AS memset_ns,
	CAST(round(s.comm_ns) AS INTEGER) AS comm_ns,
	CAST(round(s.runtime_ns) AS INTEGER) AS runtime_ns,
	CAST(round(s.data_ns) AS INTEGER) AS data_ns,
	CAST(round(s.cpu_ns) AS INTEGER) AS cpu_ns,
	CAST(round(s.other_ns) AS INTEGER) AS other_ns,
	CAST(round(s.busy_ns) AS INTEGER) AS busy_ns,
	coalesce(n.name_count, 0) AS name_count,
	s.kernels AS kernels, s.copies AS copies, s.launches AS launches,
	s.syncs AS syncs, l.labels AS labels
FROM capture AS c
LEFT JOIN ranks AS r ON r.capture_id = c.id
LEFT JOIN steps AS s ON s.capture_id = c.id
LEFT JOIN names AS n ON n.capture_id = c.id
LEFT JOIN label AS l ON l.capture_id = c.id
ORDER BY c.taken_ns IS NULL, c.taken_ns, c.id;
