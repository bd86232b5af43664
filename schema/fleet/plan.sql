-- The ranks of a merge in the order of the fleet, each once.  A rank of a
-- capture is what its digest says, whoever summarised it: the one whose
-- database is known stays, then the one with more labels, then the newest
-- program's.  A failure stands by itself, unless the same file was read
-- elsewhere.  Any order of inputs gives the same rows.  Parameters: none.
SELECT part, part_rank, capture, rank, world_size, labels, error, path, db,
	xxh128, format, file_bytes, json_bytes, base_ns, first_ns, last_ns,
	event_count, stored_count, metadata_count, paired_count, skipped_count,
	made_by
FROM (SELECT *, row_number() OVER (
		PARTITION BY capture, rank, xxh128, error IS NULL,
			CASE WHEN error IS NULL AND xxh128 IS NOT NULL
				THEN NULL ELSE path END
		ORDER BY db IS NULL, labels DESC, made_by DESC, path, db, error,
			world_size, stored_count, skipped_count, file_bytes,
			part, part_rank) AS place
	FROM entry AS e
	WHERE error IS NULL OR NOT EXISTS (SELECT 1 FROM entry AS g
		WHERE g.error IS NULL AND g.capture = e.capture
			AND g.xxh128 = e.xxh128))
WHERE place = 1
ORDER BY capture, rank IS NULL, rank, xxh128, error IS NOT NULL, path;
