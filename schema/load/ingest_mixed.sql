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
span AS (
	SELECT coalesce(worker, id) AS process,
		max(first_ns + coalesce(base_ns, 0)) AS first_ns,
		min(last_ns + coalesce(base_ns, 0)) AS last_ns
	FROM part WHERE first_ns IS NOT NULL
	GROUP BY process),
-- whoever is apart from another ends before one of the two that begin last
latest AS (
	SELECT process, first_ns FROM span ORDER BY first_ns DESC, process LIMIT 2),
apart AS (
	SELECT 1 FROM span AS a, latest AS b
	WHERE a.process IS NOT b.process AND a.last_ns < b.first_ns
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
