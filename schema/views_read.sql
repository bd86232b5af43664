-- Views over the row tables that every connection of profan makes for itself.
-- They are not in the file, so that they may change.

-- The threads of a trace that have profiler steps; the steps of the one in
-- place 1 are the trace's.
CREATE TEMP VIEW IF NOT EXISTS step_threads AS
SELECT trace_id, track_id, count(*) AS step_count, row_number() OVER (
	PARTITION BY trace_id ORDER BY count(*) DESC, track_id) AS place
FROM step
GROUP BY trace_id, track_id;

-- Which of the captures of its process (worker) a trace is, from 1 in the order
-- of the numbers in the names of their files; not a row of what has no number.
CREATE TEMP VIEW IF NOT EXISTS trace_cycle AS
SELECT id AS trace_id, row_number() OVER (
		PARTITION BY worker, rank ORDER BY span, id) AS cycle,
	count(*) OVER (PARTITION BY worker, rank) AS cycle_count
FROM trace
WHERE worker IS NOT NULL AND span IS NOT NULL;
