-- What the time of whole steps goes to by the user's ranges, in ns: of each
-- name the time in which such a range is the innermost on the thread of the
-- step, while the host is in the step; "outside": none is; "after": the host
-- has left the step and its GPU work goes on.  Host: of the steps' time on the
-- host; step: of their own time, which begins where that of the step before
-- ended.  Only of traces with steps.
-- Parameters: none.  Order: part, name.
WITH whole AS (
	SELECT s.event_id, h.track_id, s.start_ns AS own_ns, s.end_ns,
		h.start_ns AS from_ns, h.start_ns + h.dur_ns AS to_ns
	FROM steps AS s
	JOIN step AS h ON h.trace_id = s.trace_id AND h.event_id = s.event_id
	WHERE NOT s.is_partial),
range AS MATERIALIZED (
	SELECT id, track_id, name, start_ns, end_ns
	FROM event
	WHERE name NOT GLOB 'ProfilerStep#*'
		AND (kind = 2 OR (kind = 1 AND (category = 'nvtx'
			OR name GLOB 'Optimizer.step#*'
			OR name GLOB 'Optimizer.zero_grad#*'
			OR instr(name, 'enumerate(DataLoader)')
			OR instr(name, 'enumerate(DataPipe)')))
		OR (kind = 0 AND trace_id NOT IN (SELECT trace_id
			FROM trace_fact WHERE key IN ('kind_1', 'kind_2')
			AND value > 0)))),
edge AS (
	SELECT event_id, from_ns AS at_ns FROM whole
	UNION
	SELECT event_id, to_ns FROM whole
	UNION
	SELECT event_id, own_ns FROM whole WHERE own_ns < to_ns
	UNION
	SELECT w.event_id, r.start_ns FROM whole AS w
	JOIN range AS r ON r.track_id = w.track_id AND r.start_ns > w.from_ns
		AND r.start_ns < w.to_ns
	UNION
	SELECT w.event_id, r.end_ns FROM whole AS w
	JOIN range AS r ON r.track_id = w.track_id AND r.end_ns > w.from_ns
		AND r.end_ns < w.to_ns),
piece AS (
	SELECT event_id, at_ns,
		lead(at_ns) OVER (PARTITION BY event_id ORDER BY at_ns) - at_ns
			AS ns
	FROM edge),
inside AS (
	SELECT (SELECT r.name FROM range AS r
		WHERE r.track_id = w.track_id AND r.start_ns <= p.at_ns
			AND r.end_ns > p.at_ns
		ORDER BY r.start_ns DESC, r.id DESC LIMIT 1) AS name,
		p.ns, CASE WHEN p.at_ns >= w.own_ns THEN p.ns ELSE 0 END
			AS own_ns
	FROM piece AS p
	JOIN whole AS w ON w.event_id = p.event_id
	WHERE p.ns > 0)
SELECT CASE WHEN name IS NULL THEN 'outside' ELSE 'range' END AS part, name,
	sum(ns) AS host_ns, sum(own_ns) AS step_ns
FROM inside
GROUP BY name
UNION ALL
SELECT 'after', NULL, NULL, sum(end_ns - max(to_ns, own_ns))
FROM whole
HAVING sum(end_ns - max(to_ns, own_ns)) > 0
ORDER BY part, name;
