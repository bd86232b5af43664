-- GPU work and the call that launched it, as event ids.  Parameter 1: trace.id.
-- Reads every row of the trace.
SELECT event_id, launch_id
FROM gpu_event
WHERE trace_id = ?1
	AND launch_id IS NOT NULL
ORDER BY event_id;
