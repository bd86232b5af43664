-- Metadata events (names, labels, sort indexes of processes and threads).
-- Parameter 1: trace.id.  Order: file_order, id.
SELECT json
FROM metadata_event
WHERE trace_id = ?1
ORDER BY file_order, id;
