-- GPU work without a launch call in the trace, by trace: how much of it was
-- launched before the capture began, which is what comes before the first
-- work with a call, of the trace or of its own stream; how much migrated pages
-- of unified memory, which no call launches; and how much lacks its call for
-- another reason.  Durations in ns.  Parameters: none.
-- Order: trace_id.
WITH work AS (
	SELECT trace_id, g.id AS id, dur_ns, launch_id,
		event_id >> 32 AS stream,
		launch_id IS NULL AND kind = 8
			AND coalesce(instr(s.text, '(unified memory)'), 0) > 0
			AS is_migrated
	FROM gpu_event AS g
	LEFT JOIN string AS s ON s.id = g.name_id
	WHERE kind IN (7, 8, 9)),
first AS (
	SELECT *, min(iif(launch_id IS NULL, NULL, id))
			OVER (PARTITION BY trace_id) AS of_trace,
		min(iif(launch_id IS NULL, NULL, id))
			OVER (PARTITION BY trace_id, stream) AS of_stream
	FROM work)
SELECT trace_id, count(*) AS event_count,
	count(*) FILTER (WHERE NOT is_migrated
		AND id < coalesce(of_stream, of_trace)) AS before_count,
	coalesce(sum(dur_ns) FILTER (WHERE NOT is_migrated
		AND id < coalesce(of_stream, of_trace)), 0) AS before_ns,
	count(*) FILTER (WHERE is_migrated) AS migrated_count,
	coalesce(sum(dur_ns) FILTER (WHERE is_migrated), 0) AS migrated_ns,
	count(*) FILTER (WHERE launch_id IS NULL AND NOT is_migrated
		AND id >= coalesce(of_stream, of_trace, id)) AS no_call_count,
	coalesce(sum(dur_ns) FILTER (WHERE launch_id IS NULL AND NOT is_migrated
		AND id >= coalesce(of_stream, of_trace, id)), 0) AS no_call_ns
FROM first
GROUP BY trace_id
ORDER BY trace_id;
