-- The thread that has most of a trace's profiler steps.  Parameters: 1 trace.
-- Order: steps, track_id.
SELECT track_id
FROM step
WHERE trace_id = ?1
GROUP BY track_id
ORDER BY count(*) DESC, track_id
LIMIT 1;
