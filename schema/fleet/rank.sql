-- The ranks of a number, those first that could be read.  Parameters: ?1 the
-- number.
SELECT r.db AS db, r.xxh128 AS xxh128, r.error AS error, r.path AS path,
	sum(r.error IS NULL) OVER () AS read_count
FROM rank AS r
WHERE r.rank = ?1
ORDER BY r.error IS NOT NULL, r.id;
