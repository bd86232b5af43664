-- What was in blocks of memory snapshots before (torch 2.0).
-- Parameters: none.  Order: block_id, rowid.
SELECT block_id, size_bytes, stack_id
FROM mem_past
ORDER BY block_id, rowid;
