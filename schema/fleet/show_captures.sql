-- What is in a fleet, by capture.  missing_count: ranks of the job that are
-- neither there nor failed.  Parameters: none.
SELECT c.name AS capture,
	strftime('%Y-%m-%dT%H:%M:%SZ', c.taken_ns / 1000000000, 'unixepoch')
		AS taken,
	sum(r.error IS NULL) AS rank_count, sum(r.error IS NOT NULL) AS failed,
	max(r.world_size) AS world_size,
	max(r.world_size) - count(DISTINCT r.rank) AS missing_count,
	sum(r.event_count) AS event_count,
	sum(r.skipped_count) AS skipped_count,
	sum(r.file_bytes) AS file_bytes, sum(r.db IS NOT NULL) AS kept_count
FROM capture AS c
JOIN rank AS r ON r.capture_id = c.id
GROUP BY c.id
ORDER BY c.id;
