-- The traces of a database, as the table "rank" of a fleet has them.  Parameters: none.
SELECT id AS trace_id, rank AS rank, world_size AS world_size,
	NULL AS labels, NULL AS error, path AS path, NULL AS db,
	xxh128 AS xxh128, format AS format, file_bytes AS file_bytes,
	json_bytes AS json_bytes, base_ns AS base_ns, first_ns AS first_ns,
	last_ns AS last_ns, event_count AS event_count,
	stored_count AS stored_count, metadata_count AS metadata_count,
	paired_count AS paired_count, skipped_count AS skipped_count
FROM trace
ORDER BY id;
