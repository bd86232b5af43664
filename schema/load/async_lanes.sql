-- A row if a trace has lanes of asynchronous events.  Parameter 1: trace.id.
-- Order: one row.
SELECT 1 AS has_lanes
WHERE EXISTS (SELECT 1 FROM track WHERE trace_id = ?1 AND class = 'async')
ORDER BY has_lanes;
