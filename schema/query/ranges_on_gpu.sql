-- GPU work by the user's ranges in which its launch call begins, on the same
-- thread: ranges that have any, pieces of work, the sum of the times from the
-- first start to the last end, and of those in which any ran, in ns.
-- Parameters: none.  Order: longest first.
WITH work AS MATERIALIZED (
	SELECT l.id AS launch_id, l.track_id, l.start_ns AS call_ns, g.start_ns,
		g.start_ns + g.dur_ns AS end_ns
	FROM gpu_event AS g
	JOIN event AS l ON l.id = g.launch_id
	WHERE g.kind IN (7, 8, 9)),
range AS MATERIALIZED (
	SELECT id, track_id, start_ns, end_ns,
		CASE WHEN name GLOB 'ProfilerStep#*' THEN 'ProfilerStep*'
			ELSE name END AS name
	FROM event
	WHERE kind = 2 OR (kind = 1 AND (category = 'nvtx' OR name GLOB 'ProfilerStep#*'
		OR name GLOB 'Optimizer.step#*'
		OR name GLOB 'Optimizer.zero_grad#*'
		OR instr(name, 'enumerate(DataLoader)')
		OR instr(name, 'enumerate(DataPipe)')))
		OR (kind = 0 AND trace_id NOT IN (SELECT trace_id
			FROM trace_fact WHERE key IN ('kind_1', 'kind_2')
			AND value > 0))),
inside AS (
	SELECT r.id, r.name, w.start_ns, w.end_ns,
		max(w.end_ns) OVER (PARTITION BY r.id
			ORDER BY w.start_ns, w.end_ns
			ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
			AS before_ns
	FROM range AS r
	JOIN work AS w ON w.track_id = r.track_id
		AND w.call_ns >= r.start_ns AND w.call_ns < r.end_ns
		AND w.launch_id > r.id),
projection AS (
	SELECT name, count(*) AS works, max(end_ns) - min(start_ns) AS ns,
		sum(max(0, end_ns
			- max(start_ns, coalesce(before_ns, start_ns))))
			AS busy_ns
	FROM inside
	GROUP BY id)
SELECT name, count(*) AS range_count, sum(works) AS work_count,
	sum(ns) AS projected_ns, sum(busy_ns) AS busy_ns
FROM projection
GROUP BY name
ORDER BY projected_ns DESC, name;
