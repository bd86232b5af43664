-- The profiler steps of each trace.  Parameters: none.  Order: trace_id.
SELECT trace_id, count(*) AS step_count, min(step) AS first_step,
	max(step) AS last_step, min(dur_ns) AS min_ns,
	CAST(avg(dur_ns) AS INTEGER) AS mean_ns, max(dur_ns) AS max_ns
FROM step
GROUP BY trace_id
ORDER BY trace_id;
