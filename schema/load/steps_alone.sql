-- Steps on a thread that holds nothing else and ten times as long as all from
-- the first to the last event of other threads and streams, those without time
-- aside: nobody ended such a step when its work had ended.
-- Parameters: none.  Order: one row.
WITH lone(trace_id, track_id) AS (
	SELECT t.trace_id, t.id
	FROM track AS t
	WHERE t.class = 'host' AND t.event_count = (SELECT count(*)
		FROM step AS s
		WHERE s.trace_id = t.trace_id AND s.track_id = t.id)),
other(trace_id, span_ns) AS (
	SELECT trace_id, max(last_ns) - min(first_ns)
	FROM track
	WHERE class IN ('host', 'gpu') AND last_ns > first_ns
		AND id NOT IN (SELECT track_id FROM lone)
	GROUP BY trace_id)
SELECT count(*) AS step_count
FROM lone AS l
JOIN other AS o ON o.trace_id = l.trace_id
JOIN step AS s ON s.trace_id = l.trace_id AND s.track_id = l.track_id
WHERE s.dur_ns / 10 >= o.span_ns;
