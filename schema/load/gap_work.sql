-- What ran on each GPU, and what streams waited for.  Parameters: none.
-- Order: id, which is that of time within a trace.
SELECT event_id, trace_id, kind, start_ns, dur_ns, name_id, config_id,
	correlation, launch_id
FROM gpu_event
WHERE kind IN (7, 8, 9, 11)
ORDER BY id;
