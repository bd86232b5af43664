-- Files that could not be read and were left out.  Parameters: none.  Order: id.
SELECT id AS trace_id, rank, path, file_bytes, why
FROM unread
ORDER BY id;
