-- The ranks of a fleet, as columns of the table "entry" of a merge
-- (schema/fleet/scratch.sql) from part_rank on.  Parameters: none.
SELECT r.id AS part_rank, c.name AS capture, r.rank AS rank,
	r.world_size AS world_size, r.labels AS labels, r.error AS error,
	r.path AS path, r.db AS db, r.xxh128 AS xxh128, r.format AS format,
	r.file_bytes AS file_bytes, r.json_bytes AS json_bytes,
	r.base_ns AS base_ns, r.first_ns AS first_ns, r.last_ns AS last_ns,
	r.event_count AS event_count, r.stored_count AS stored_count,
	r.metadata_count AS metadata_count, r.paired_count AS paired_count,
	r.skipped_count AS skipped_count, r.made_by AS made_by
FROM rank AS r
JOIN capture AS c ON c.id = r.capture_id
ORDER BY r.id;
