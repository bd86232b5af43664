-- The blocks of host threads and the names in each.  Parameters: none.
-- Order: id.
SELECT b.id, t.trace_id, b.event_count, b.names
FROM block AS b
JOIN track AS t ON t.id = b.track_id
WHERE t.class = 'host'
ORDER BY b.id;
