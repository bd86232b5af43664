-- Traces whose steps are those of a line of a device (TensorFlow, JAX), where
-- other devices have steps of their own: the device whose line it is, and how
-- many others.  Parameters: 1 first and 2 last trace.  Order: trace_id.
SELECT t.trace_id, k.pid AS device, (SELECT count(DISTINCT other.pid)
	FROM step_threads AS o
	JOIN track AS other ON other.id = o.track_id
	WHERE o.trace_id = t.trace_id AND other.pid <> k.pid) AS other_count
FROM step_threads AS t
JOIN track AS k ON k.id = t.track_id
WHERE t.trace_id BETWEEN ?1 AND ?2 AND t.place = 1 AND k.class = 'gpu' AND other_count
ORDER BY t.trace_id;
