-- The lines of a call stack, the innermost first.
-- Parameter 1: stack.id.  Order: depth.
WITH RECURSIVE up(id, parent_id, frame_id, depth) AS (
	SELECT id, parent_id, frame_id, 0 FROM stack WHERE id = ?1
	UNION ALL
	SELECT s.id, s.parent_id, s.frame_id, u.depth + 1
	FROM up AS u JOIN stack AS s ON s.id = u.parent_id
	WHERE u.depth < 1000000 AND s.id < u.id
)
SELECT f.file_id, f.line, f.name_id
FROM up JOIN stack_frame AS f ON f.id = up.frame_id
ORDER BY up.depth;
