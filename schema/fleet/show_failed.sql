-- What could not be read.  Parameters: none.
SELECT c.name AS capture, r.rank AS rank, r.path AS path, r.error AS error
FROM rank AS r
JOIN capture AS c ON c.id = r.capture_id
WHERE r.error IS NOT NULL
ORDER BY r.id;
