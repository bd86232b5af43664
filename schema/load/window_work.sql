-- From the first to the last GPU work of each trace, ns.  Parameters: none.
-- Order: trace_id.
SELECT trace_id, MIN(start_ns), MAX(start_ns + dur_ns)
FROM gpu_event
WHERE kind IN (7, 8, 9)
GROUP BY trace_id
ORDER BY trace_id;
