-- What a call stack holds when snapshots were taken: requested bytes and blocks
-- in use.  Parameter 1: stack.id.  One row.
SELECT coalesce(sum(requested_bytes), 0) AS held_bytes,
	count(*) AS held_count
FROM mem_block
WHERE stack_id = ?1 AND state = 'active_allocated';
