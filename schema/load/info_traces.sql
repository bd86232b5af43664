-- The traces in the database and the time they span.  Parameters: none.
-- Order: trace_id.
SELECT trace.id AS trace_id, rank, world_size, path, format, compression,
	file_bytes, last_ns - first_ns AS span_ns, xxh128,
	worker, span, iif(cycle_count > 1, cycle, NULL) AS cycle
FROM trace
LEFT JOIN trace_cycle ON trace_id = id
ORDER BY id;
