-- GPU work of a trace that an operator of communication launched.  Parameters:
-- ?1 trace_id.  Order: id, which is that of time within a trace.
SELECT event_id
FROM comm_event
WHERE trace_id = ?1
ORDER BY id;
