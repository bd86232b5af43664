-- One row: is there the table comm_event, which databases made by earlier
-- versions lack?  Parameters: none.
SELECT count(*) AS table_count
FROM sqlite_schema
WHERE type = 'table' AND name = 'comm_event';
