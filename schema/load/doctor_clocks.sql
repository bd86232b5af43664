-- Clocks of GPUs that a log beside the traces has, while they had work: how many
-- samples, how many below 90 % of the clock's maximum, which is what the log says
-- it can be, else the most that it has.  Whose GPU a row of the log is is known
-- where there is one on both sides, or as many with the same numbers.
-- Parameters: none.  One row.
WITH clock AS (
	SELECT k.pid, t.base_ns + e.start_ns AS at_ns,
		coalesce(e.args ->> '$."clocks.sm [MHz]"',
			e.args ->> '$."clocks.current.sm [MHz]"',
			e.args ->> '$."clocks.sm"', e.args ->> '$."clocks.current.sm"',
			e.args ->> '$."clocks.gr [MHz]"',
			e.args ->> '$."clocks.current.graphics [MHz]"',
			e.args ->> '$."pclk"', e.args ->> '$."SMCLK"') AS mhz,
		coalesce(e.args ->> '$."clocks.max.sm [MHz]"',
			e.args ->> '$."clocks.max.sm"') AS most_mhz
	FROM trace AS t
	CROSS JOIN track AS k ON k.trace_id = t.id AND k.class = 'counter'
	CROSS JOIN event AS e ON e.track_id = k.id
	WHERE t.format IN ('smi', 'dmon', 'dcgmi') AND t.base_ns IS NOT NULL),
sample AS (
	SELECT pid, at_ns, mhz, coalesce(most_mhz,
		max(mhz) OVER (PARTITION BY pid)) AS most_mhz
	FROM clock
	WHERE typeof(mhz) IN ('integer', 'real')),
work AS (
	SELECT g.device, t.rank, t.base_ns + g.start_ns AS start_ns,
		t.base_ns + g.end_ns AS end_ns
	FROM trace AS t
	JOIN gpu_work AS g ON g.trace_id = t.id
	WHERE t.base_ns IS NOT NULL AND EXISTS (SELECT 1 FROM sample)),
sides AS (
	SELECT (SELECT count(DISTINCT pid) FROM sample) AS gpus,
		count(DISTINCT device) AS devices,
		count(DISTINCT coalesce(rank, -1) || ':' || device) AS pairs
	FROM work),
own AS (
	SELECT s.pid, w.device
	FROM (SELECT DISTINCT pid FROM sample) AS s
	JOIN (SELECT DISTINCT device FROM work) AS w
	JOIN sides
	WHERE pairs = devices AND gpus = devices
		AND (gpus = 1 OR s.pid = 'GPU ' || w.device)),
line AS (
	SELECT o.device, s.at_ns AS at_ns, NULL AS end_ns, s.mhz, s.most_mhz
	FROM sample AS s JOIN own AS o USING (pid)
	UNION ALL
	SELECT w.device, w.start_ns, w.end_ns, NULL, NULL
	FROM work AS w JOIN own AS o USING (device)),
busy AS (
	SELECT at_ns, mhz, most_mhz, max(end_ns) OVER (PARTITION BY device
		ORDER BY at_ns, mhz IS NOT NULL ROWS UNBOUNDED PRECEDING) AS until_ns
	FROM line)
SELECT count(*) AS busy_count,
	count(*) FILTER (WHERE mhz < 0.9 * most_mhz) AS low_count,
	max(most_mhz) AS most_mhz,
	min(mhz) AS least_mhz
FROM busy
WHERE mhz IS NOT NULL AND until_ns > at_ns;
