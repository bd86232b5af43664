-- The profiler steps of each trace on the thread that has most of them, then
-- those of other threads that launched GPU work.  Those of other devices are
-- their own: their clock says nothing of when a step of this one ends.
-- Parameters: none.  Order: trace_id, start_ns, event_id of each of the two.
SELECT s.trace_id, s.step, s.start_ns, s.dur_ns, s.gpu_count, s.gpu_end_ns,
	t.place = 1 AS is_listed, s.track_id
FROM step AS s
JOIN step_threads AS t ON t.trace_id = s.trace_id AND t.track_id = s.track_id
WHERE t.place = 1 OR (s.gpu_count AND EXISTS (SELECT 1 FROM track
	WHERE id = s.track_id AND class = 'host'))
ORDER BY is_listed DESC, s.trace_id, s.start_ns, s.event_id;
