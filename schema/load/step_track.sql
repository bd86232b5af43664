-- The thread whose profiler steps are the trace's.  Parameters: 1 trace.
-- Order: track_id.
SELECT track_id
FROM step_threads
WHERE trace_id = ?1 AND place = 1
ORDER BY track_id;
