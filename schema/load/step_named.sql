-- A step of each thread of the host that has any: JAX and TensorFlow number
-- ranges of the program's own names.  Parameters: none.  Order: track_id.
SELECT s.track_id, min(s.start_ns) AS start_ns, s.event_id
FROM step AS s
JOIN track AS t ON t.id = s.track_id AND t.class = 'host'
GROUP BY s.track_id
ORDER BY s.track_id;
