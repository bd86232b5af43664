-- The first row of comm_event from a number on, and its trace.  Parameters: ?1
-- the number.
SELECT id, trace_id
FROM comm_event
WHERE id >= ?1
ORDER BY id
LIMIT 1;
