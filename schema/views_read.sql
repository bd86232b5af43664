-- Views over the row tables that every connection of profan makes for itself.
-- They are not in the file, so that they may change.

-- The threads of a trace that have profiler steps; the steps of the one in
-- place 1 are the trace's.
CREATE TEMP VIEW IF NOT EXISTS step_threads AS
SELECT trace_id, track_id, count(*) AS step_count, row_number() OVER (
	PARTITION BY trace_id ORDER BY count(*) DESC, track_id) AS place
FROM step
GROUP BY trace_id, track_id;
