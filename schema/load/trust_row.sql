-- The first row of GPU work from an id on; ids ascend by trace, then time.
-- Parameters: ?1 id.  Order: id.
SELECT id, trace_id, start_ns
FROM gpu_event
WHERE id >= ?1
ORDER BY id
LIMIT 1;
