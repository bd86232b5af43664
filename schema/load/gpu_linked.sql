-- GPU work that has a launch call: its row, trace and track.  Parameters: none.
-- Order: id, which is that of time within a trace.
SELECT id, trace_id, event_id >> 32 AS track_id
FROM gpu_event
WHERE launch_id IS NOT NULL AND kind IN (7, 8, 9)
ORDER BY id;
