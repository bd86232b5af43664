-- Digests of ranks in their order.  Parameters: ?1 the capture, or NULL: all.
SELECT d.data AS data
FROM digest AS d
JOIN rank AS r ON r.id = d.rank_id
JOIN capture AS c ON c.id = r.capture_id
WHERE ?1 IS NULL OR c.name = ?1
ORDER BY r.id;
