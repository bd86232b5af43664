-- gpu_calls
-- What launched each event of a GPU, without the rest of gpu_links.
-- Parameters: none.  Order: id, which is that of time within a trace.
SELECT event_id, launch_id
FROM gpu_event
ORDER BY id;
