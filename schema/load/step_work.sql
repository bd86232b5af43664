-- GPU work that was launched in a profiler step.  Parameters: none.
-- Order: id, which is that of time within a trace.
SELECT trace_id, step, start_ns, dur_ns
FROM gpu_event
WHERE step IS NOT NULL AND kind IN (7, 8, 9)
ORDER BY id;
