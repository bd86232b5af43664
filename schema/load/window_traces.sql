-- The traces and the time that their events span.  worker_id: the first trace
-- of the same process, of which several captures are several traces.  tpu_count:
-- events of TPUs, which are no GPU work.  is_side: a log or rows, no time of a
-- program.  is_beside: that, or a snapshot, beside the trace of a program.
-- cycle: of the captures of its process, or NULL.  is_tpu: its devices are TPUs.
-- Parameters: none.  Order: id.
SELECT id, rank, first_ns, last_ns, CASE WHEN worker IS NULL THEN id
	ELSE min(id) OVER (PARTITION BY worker, rank) END AS worker_id,
	(SELECT coalesce(sum(k.event_count), 0) FROM track AS k
		WHERE k.trace_id = trace.id AND k.class = 'gpu'
		AND k.pid GLOB 'TPU *') AS tpu_count,
	format IN ('smi', 'dmon', 'dcgmi', 'rave', 'memtimeline', 'folded')
		AS is_side,
	format IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded') AND EXISTS (SELECT 1 FROM trace
		WHERE format NOT IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded')) AS is_beside,
	c.cycle,
	EXISTS (SELECT 1 FROM track AS k WHERE k.trace_id = trace.id
		AND k.class = 'gpu' AND k.pid GLOB 'TPU *')
	AND NOT EXISTS (SELECT 1 FROM track AS k WHERE k.trace_id = trace.id
		AND k.class = 'gpu' AND k.pid NOT GLOB 'TPU *') AS is_tpu
FROM trace
LEFT JOIN trace_cycle AS c ON c.trace_id = id
ORDER BY id;
