-- The traces and the time that their events span.  Parameters: none.
-- Order: id.
SELECT id, rank, first_ns, last_ns
FROM trace
ORDER BY id;
