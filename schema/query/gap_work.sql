-- What ran on each GPU, and what streams waited for.  Parameters: none.
-- Order: id, which is that of time within a trace.
SELECT g.event_id, g.trace_id, g.kind, g.start_ns, g.dur_ns, g.name_id,
	c.device, c.stream, g.correlation, g.launch_id
FROM gpu_event AS g
LEFT JOIN gpu_config AS c ON c.id = g.config_id
WHERE g.kind IN (7, 8, 9, 11)
ORDER BY g.id;
