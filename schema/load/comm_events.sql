-- GPU work that operators of communication launched, from a row on.
-- Parameters: ?1 the id of the row.  Order: id, which is that of traces, and
-- of time within a trace.
SELECT trace_id, event_id, rule, record_id, record_args, name_id, id
FROM comm_event
WHERE id >= ?1
ORDER BY id;
