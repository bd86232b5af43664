-- GPU work that host events from one to another launched.  Parameters 1 and
-- 2: their ids.  Order: id, which is that of time within a trace.
SELECT trace_id, event_id, launch_id
FROM gpu_event
WHERE launch_id BETWEEN ?1 AND ?2
ORDER BY id;
