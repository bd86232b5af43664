-- The tracks of a trace that have records of what streams and calls waited
-- for.  Parameters: 1 trace.  Order: track_id.
SELECT DISTINCT event_id >> 32 AS track_id
FROM gpu_event
WHERE EXISTS (SELECT 1 FROM event_type WHERE kind = 11)
	AND kind = 11 AND trace_id = ?1
ORDER BY track_id;
