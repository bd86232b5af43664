-- The traces and the time that their events span.  worker_id: the first trace
-- of the same process, of which several captures are several traces.  tpu_count:
-- events of TPUs, which are no GPU work.
-- Parameters: none.  Order: id.
SELECT id, rank, first_ns, last_ns, CASE WHEN worker IS NULL THEN id
	ELSE min(id) OVER (PARTITION BY worker, rank) END AS worker_id,
	(SELECT coalesce(sum(k.event_count), 0) FROM track AS k
		WHERE k.trace_id = trace.id AND k.class = 'gpu'
		AND k.pid GLOB 'TPU *') AS tpu_count
FROM trace
ORDER BY id;
