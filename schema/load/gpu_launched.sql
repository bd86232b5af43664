-- GPU work and the call that launched each.  Parameters: none.  Order: id,
-- which is that of time within a trace.
SELECT event_id, trace_id, kind, start_ns, dur_ns, name_id, config_id,
	launch_id, bytes
FROM gpu_event
WHERE kind IN (7, 8, 9)
ORDER BY id;
