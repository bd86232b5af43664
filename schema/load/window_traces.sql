-- The traces and the time that their events span.  worker_id: the first trace
-- of the same process, of which several captures are several traces.
-- Parameters: none.  Order: id.
SELECT id, rank, first_ns, last_ns, CASE WHEN worker IS NULL THEN id
	ELSE min(id) OVER (PARTITION BY worker, rank) END AS worker_id
FROM trace
ORDER BY id;
