-- The traces and the time that their events span.  worker_id: the first trace
-- of the same process, of which several captures are several traces.  tpu_count:
-- events of TPUs, which are no GPU work.  is_side: a log or rows, no time of a
-- program.  is_beside: that, or a snapshot, beside the trace of a program.
-- rank: -1 if unknown.  cycle: of the captures of its process, or 0.  is_tpu: its
-- devices are TPUs.  is_pooled: XLA's runtime passes its work on among threads.
-- program_ns: the first event of a thread or device, which counters may precede.
-- has_unread: tables of it are in a version whose columns are not known.
-- Parameters: none.  Order: id.
WITH device AS (
	SELECT trace_id, min(first_ns) AS program_ns,
		sum(event_count) FILTER (WHERE class = 'gpu' AND pid GLOB 'TPU *')
			AS tpu_count,
		min(pid GLOB 'TPU *') FILTER (WHERE class = 'gpu') AS is_tpu
	FROM track WHERE class IN ('host', 'gpu') GROUP BY trace_id)
SELECT id, coalesce(rank, -1) AS rank, coalesce(first_ns, 0) AS first_ns,
	coalesce(last_ns, 0) AS last_ns, first_ns IS NULL AS is_empty,
	CASE WHEN worker IS NULL THEN id
	ELSE min(id) OVER (PARTITION BY worker, rank) END AS worker_id,
	coalesce(d.tpu_count, 0) AS tpu_count,
	format IN ('smi', 'dmon', 'dcgmi', 'rave', 'memtimeline', 'folded')
		AS is_side,
	format IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded') AND EXISTS (SELECT 1 FROM trace
		WHERE format NOT IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded')) AS is_beside,
	coalesce(c.cycle, 0) AS cycle, coalesce(d.is_tpu, 0) AS is_tpu,
	EXISTS (SELECT 1 FROM trace_fact AS f WHERE f.trace_id = id
		AND f.key GLOB 'nsys_unread_*_V[0-9]*') AS has_unread,
	format IN ('xspace', 'tf-json') AS is_pooled,
	coalesce(d.program_ns, 0) AS program_ns
FROM trace
LEFT JOIN device AS d ON d.trace_id = id
LEFT JOIN trace_cycle AS c ON c.trace_id = id
ORDER BY id;
