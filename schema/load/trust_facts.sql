-- What each trace has and lacks that answers depend on.  is_known: of work and
-- orphans, unless the database was made before ingest counted these.  cut_count:
-- 1 of a trace that is cut off or damaged.  range_count, range_ns: ranges of the
-- host's thread that has most of them, and how long it was recorded.
-- Parameters: none.  Order: trace_id.
WITH fact AS (
	SELECT trace_id,
		max(value) FILTER (WHERE key = 'gpu_work_count') AS work_count,
		max(value) FILTER (WHERE key = 'gpu_work_ns') AS work_ns,
		max(value) FILTER (WHERE key = 'gpu_orphan_count')
			AS orphan_count,
		max(value) FILTER (WHERE key = 'gpu_orphan_ns') AS orphan_ns,
		sum(value) FILTER (WHERE key IN ('kind_7', 'kind_8', 'kind_9'))
			AS any_work,
		sum(value) FILTER (WHERE key IN ('kind_4', 'kind_5'))
			AS any_call,
		sum(value) FILTER (WHERE key = 'kind_3') AS any_stack,
		sum(value) FILTER (WHERE key IN ('kind_1', 'kind_2', 'kind_3'))
			AS any_op,
		sum(value) FILTER (WHERE key = 'kind_0') AS any_range
	FROM trace_fact
	GROUP BY trace_id),
fault AS (
	SELECT trace_id,
		max(kind IN ('cut_off', 'compression', 'no_end', 'stopped',
			'bad_frame', 'missing_frames', 'cut_snapshot')) AS is_cut,
		sum(count) FILTER (WHERE kind IN ('not_recorded',
			'lost_events'))
			AS dropped_count,
		sum(count) FILTER (WHERE is_skip AND kind NOT IN ('python', 'empty',
			'unread_table', 'state'))
			AS skipped_count,
		sum(count) FILTER (WHERE kind = 'python') AS left_out_count
	FROM repair
	GROUP BY trace_id),
-- of what has the largest count, as SQLite says of max() alone
busiest AS (
	SELECT trace_id, max(event_count) AS range_count,
		last_ns - first_ns AS range_ns
	FROM track
	WHERE class = 'host'
	GROUP BY trace_id)
SELECT t.id AS trace_id, coalesce(f.work_count, 0) AS work_count,
	coalesce(f.work_ns, 0) AS work_ns,
	coalesce(f.orphan_count, 0) AS orphan_count,
	coalesce(f.orphan_ns, 0) AS orphan_ns,
	f.work_count IS NOT NULL AS is_known,
	coalesce(f.any_work, 0) > 0 AS any_work,
	coalesce(f.any_call, 0) > 0 AS any_call,
	coalesce(f.any_stack, 0) > 0 AS any_stack,
	coalesce(f.any_op, 0) > 0 AS any_op,
	coalesce(f.any_range, 0) > 0 AS any_range,
	coalesce(r.is_cut, 0) AS cut_count,
	coalesce(r.dropped_count, 0) AS dropped_count,
	coalesce(r.skipped_count, 0) AS skipped_count,
	coalesce(r.left_out_count, 0) AS left_out_count,
	t.stored_count = 1000000 AS is_capped,
	coalesce(b.range_count, 0) AS range_count,
	coalesce(b.range_ns, 0) AS range_ns
FROM trace AS t
LEFT JOIN busiest AS b ON b.trace_id = t.id
LEFT JOIN fact AS f ON f.trace_id = t.id
LEFT JOIN fault AS r ON r.trace_id = t.id
ORDER BY t.id;
