-- The traces in the database and the time they span; null of a memory snapshot
-- with entries without times.  Parameters: none.  Order: trace_id.
SELECT trace.id AS trace_id, rank, world_size, path, format, compression,
	file_bytes, iif(EXISTS (SELECT 1 FROM trace_fact AS f
		WHERE f.trace_id = trace.id AND f.key GLOB 'snap_untimed_*'),
		NULL, last_ns - first_ns) AS span_ns, xxh128,
	worker, span, iif(cycle_count > 1, cycle, NULL) AS cycle
FROM trace
LEFT JOIN trace_cycle ON trace_id = id
ORDER BY id;
