-- What launched each event of a GPU.  Parameters: none.  Order: id, which is
-- that of time within a trace.
SELECT event_id, launch_id, op_id, id
FROM gpu_event
ORDER BY id;
