-- The number of the last row of comm_event; 0: there is none.  Parameters: none.
SELECT coalesce(max(id), 0) AS id
FROM comm_event;
