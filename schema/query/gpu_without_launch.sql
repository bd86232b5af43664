-- GPU work whose launching call is not in the trace, by trace and kind, with
-- the whole for comparison.  Parameters: none.  Order: trace_id, kind.
SELECT trace_id, kind, count(*) AS event_count, sum(dur_ns) AS dur_ns,
	sum(launch_id IS NULL) AS without_launch_count,
	coalesce(sum(dur_ns) FILTER (WHERE launch_id IS NULL), 0)
		AS without_launch_ns
FROM gpu_event
WHERE kind IN (7, 8, 9)
GROUP BY trace_id, kind
ORDER BY trace_id, kind;
