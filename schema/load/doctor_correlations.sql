-- The correlations of GPU work.  Parameters: none.  Order: id.
SELECT trace_id, correlation
FROM gpu_event
WHERE kind IN (7, 8, 9) AND correlation > 0
ORDER BY id;
