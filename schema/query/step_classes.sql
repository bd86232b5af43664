-- What the time of each step goes to on the GPUs of its trace, in ns: kernels,
-- else copies, else fills, else communication; the rest is the host's.  Where
-- no GPU works, communication is the host's and its waiting for it.
-- Parameters: none.  Order: trace_id, start_ns.
WITH span AS (
	SELECT trace_id, class, start_ns, end_ns FROM work
	UNION ALL
	SELECT e.trace_id, 'communication', e.start_ns, e.end_ns
	FROM event AS e
	WHERE e.kind IN (1, 2) AND (e.name GLOB 'gloo:*'
			OR (e.name GLOB '*c10d*' OR e.name GLOB '*distributed*'
				OR e.name GLOB '*ProcessGroup*')
			AND (e.name GLOB '*wait*' OR e.name GLOB '*barrier*'))
		AND NOT EXISTS (SELECT 1 FROM work AS g
			WHERE g.trace_id = e.trace_id)),
part AS (
	SELECT s.trace_id, s.event_id, w.class,
		max(w.start_ns, s.start_ns) AS from_ns,
		min(w.end_ns, s.end_ns) AS to_ns
	FROM steps AS s
	JOIN span AS w ON w.trace_id = s.trace_id AND w.start_ns < s.end_ns
		AND w.end_ns > s.start_ns
	WHERE NOT s.is_partial),
edge AS (
	SELECT trace_id, event_id, class, from_ns AS at_ns, 1 AS change FROM part
	UNION ALL
	SELECT trace_id, event_id, class, to_ns, -1 FROM part),
piece AS (
	SELECT trace_id, event_id, lead(at_ns) OVER w - at_ns AS ns,
		CASE WHEN sum(change * (class = 'computation')) OVER w > 0
			THEN 'kernel'
		WHEN sum(change * (class = 'copy')) OVER w > 0 THEN 'copy'
		WHEN sum(change * (class = 'memset')) OVER w > 0 THEN 'memset'
		WHEN sum(change) OVER w > 0 THEN 'comm' END AS class
	FROM edge
	WINDOW w AS (PARTITION BY trace_id, event_id ORDER BY at_ns
		ROWS UNBOUNDED PRECEDING))
SELECT s.trace_id, s.step, s.start_ns, s.end_ns - s.start_ns AS dur_ns,
	coalesce(sum(p.ns) FILTER (WHERE p.class = 'kernel'), 0) AS kernel_ns,
	coalesce(sum(p.ns) FILTER (WHERE p.class = 'copy'), 0) AS copy_ns,
	coalesce(sum(p.ns) FILTER (WHERE p.class = 'memset'), 0) AS memset_ns,
	coalesce(sum(p.ns) FILTER (WHERE p.class = 'comm'), 0) AS comm_ns
FROM steps AS s
LEFT JOIN piece AS p ON p.trace_id = s.trace_id AND p.event_id = s.event_id
WHERE NOT s.is_partial
GROUP BY s.trace_id, s.event_id
ORDER BY s.trace_id, s.start_ns;
