-- What each trace holds and lacks, from what ingest counted.  Counts of events
-- by kind are facts "kind_N"; a fact that is missing is 0.  is_beside: as in
-- window_traces.sql.  has_no_time: no time of a program is in it.  has_no_event:
-- it says nothing at all, as a snapshot without segments; what these formats
-- say is no events.  Parameters: none.  Order: trace_id.
WITH fact AS (
	SELECT trace_id,
		sum(value) FILTER (WHERE key IN ('kind_7', 'kind_8', 'kind_9'))
			AS work_count,
		sum(value) FILTER (WHERE key IN ('kind_4', 'kind_5'))
			AS call_count,
		sum(value) FILTER (WHERE key IN ('kind_3', 'snap_stacks'))
			AS stack_count,
		sum(value) FILTER (WHERE key IN ('kind_14',
			'snap_lost_entries')) AS memory_count,
		sum(value) FILTER (WHERE key = 'ts_fraction_digits')
			AS fraction_digits,
		sum(value) FILTER (WHERE key = 'averages_unlinked_count')
			AS unlinked_count,
		sum(value) FILTER (WHERE key = 'averages_unlinked_ns')
			AS unlinked_ns,
		sum(value) FILTER (WHERE key = 'averages_too_deep')
			AS deep_count,
		sum(value) FILTER (WHERE key = 'merged_count') AS merged_count,
		sum(value) FILTER (WHERE key = 'shared_work_count')
			AS shared_count,
		sum(value) FILTER (WHERE key = 'kind_12') AS counter_count
	FROM trace_fact
	GROUP BY trace_id)
SELECT t.id AS trace_id, t.rank, t.world_size, t.event_count, t.stored_count,
	t.event_count - t.stored_count - t.paired_count - t.metadata_count
		- t.skipped_count AS lost_count,
	coalesce(t.last_ns - t.first_ns, 0) AS span_ns,
	coalesce(f.work_count, 0) AS work_count,
	coalesce(f.call_count, 0) AS call_count,
	coalesce(f.stack_count, 0) AS stack_count,
	coalesce(f.memory_count, 0) AS memory_count,
	coalesce(f.fraction_digits, 0) AS fraction_digits,
	coalesce(f.unlinked_count, 0) AS unlinked_count,
	coalesce(f.unlinked_ns, 0) AS unlinked_ns,
	coalesce(f.deep_count, 0) AS deep_count,
	EXISTS (SELECT 1 FROM step AS s WHERE s.trace_id = t.id) AS has_steps,
	t.format NOT IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded') AND (
		t.worker IS NULL OR t.id = min(t.id) OVER (
			PARTITION BY t.worker, t.rank)) AS is_first_span,
	t.format IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded') AND EXISTS (SELECT 1 FROM trace
		WHERE format NOT IN ('memsnap', 'smi', 'dmon', 'dcgmi', 'rave',
		'memtimeline', 'folded')) AS is_beside,
	t.format IN ('smi', 'dmon', 'dcgmi', 'rave', 'memtimeline', 'folded')
		OR t.format = 'memsnap' AND t.base_ns IS NULL AS has_no_time,
	coalesce(f.merged_count, 0) AS merged_count,
	coalesce(f.shared_count, 0) AS shared_count,
	t.stored_count = 0 AND t.format NOT IN ('rave', 'folded')
		AND NOT EXISTS (SELECT 1 FROM segment AS s
			WHERE s.trace_id = t.id) AS has_no_event,
	coalesce(f.counter_count, 0) AS counter_count
FROM trace AS t
LEFT JOIN fact AS f ON f.trace_id = t.id
ORDER BY t.id;
