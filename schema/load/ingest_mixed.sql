-- Why the traces may be of several jobs, a line of text; NULL: they need not
-- be.  Several captures of one process (a worker) are of one job; so are
-- traces that meet in time on the clock of one world.  Two of one rank,
-- GPUs of different models in traces that do not meet, worlds of
-- different sizes, and traces that do not meet and have not all a rank are
-- not.  Snapshots and logs may be of any.  Parameters: none.  One row.
WITH part AS (
	SELECT * FROM trace
	WHERE format NOT IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded')),
model AS (
	SELECT m.trace_id, d.value ->> '$.name' AS name
	FROM trace_meta AS m, json_each(
		CASE WHEN json_valid(m.value) THEN m.value ELSE '[]' END) AS d
	WHERE m.key = 'deviceProperties' AND d.type = 'object'
		AND d.value ->> '$.name' <> ''),
twice AS (
	SELECT rank, count(*) AS traces
	FROM (SELECT DISTINCT rank, coalesce(worker, id) AS process
		FROM part WHERE rank IS NOT NULL)
	GROUP BY rank HAVING count(*) > 1
	ORDER BY rank LIMIT 1),
models AS (
	SELECT group_concat(name, ' and ') AS names, count(*) AS count
	FROM (SELECT DISTINCT name FROM model ORDER BY name)),
apart AS (
	SELECT 1 FROM part AS a, part AS b
	WHERE a.id < b.id AND a.first_ns IS NOT NULL AND b.first_ns IS NOT NULL
		AND (a.last_ns + coalesce(a.base_ns, 0)
				< b.first_ns + coalesce(b.base_ns, 0)
			OR b.last_ns + coalesce(b.base_ns, 0)
				< a.first_ns + coalesce(a.base_ns, 0))
		AND (a.worker IS NULL OR a.worker IS NOT b.worker)
	LIMIT 1),
worlds AS (
	SELECT count(DISTINCT world_size) AS count FROM part)
SELECT CASE
	WHEN EXISTS (SELECT 1 FROM twice) THEN
		(SELECT traces || ' are of rank ' || rank FROM twice)
	WHEN (SELECT count FROM models) > 1 AND EXISTS (SELECT 1 FROM apart)
		THEN (SELECT 'their GPUs are ' || names FROM models)
	WHEN (SELECT count FROM worlds) > 1
		THEN 'their worlds are of different sizes'
	WHEN EXISTS (SELECT 1 FROM apart)
		AND EXISTS (SELECT 1 FROM part WHERE rank IS NULL)
		THEN 'they are of different times and not all have a rank'
	END AS why;
