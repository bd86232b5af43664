-- The traces in the database and the time they span.  Parameters: none.
-- Order: trace_id.
SELECT id AS trace_id, rank, world_size, path, format, compression,
	file_bytes, last_ns - first_ns AS span_ns, xxh128,
	worker, span
FROM trace
ORDER BY id;
