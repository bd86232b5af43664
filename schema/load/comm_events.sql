-- GPU work that operators of communication launched.  Parameters: none.
-- Order: id, which is that of time within a trace.
SELECT trace_id, event_id, rule, record_id, record_args, name_id
FROM comm_event
ORDER BY id;
