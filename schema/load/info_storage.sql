-- The bytes of the database by table, indexes included.  Parameters: none.
-- Order: largest first, then name.
SELECT s.tbl_name AS name, sum(d.pgsize) AS size_bytes
FROM dbstat('main', 1) AS d, sqlite_schema AS s
WHERE s.name = d.name
GROUP BY s.tbl_name
ORDER BY size_bytes DESC, name;
