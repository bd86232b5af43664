-- The number of the last row of comm_event; no row: there is none.
-- Parameters: none.
SELECT id
FROM comm_event
ORDER BY id DESC
LIMIT 1;
