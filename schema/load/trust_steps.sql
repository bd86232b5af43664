-- Traces whose steps are those of a line of a device (TensorFlow, JAX), where
-- other devices have steps of their own: the device whose line it is, and how
-- many others.  Parameters: none.  Order: trace_id.
WITH thread AS (
	SELECT trace_id, track_id, row_number() OVER (
			PARTITION BY trace_id
			ORDER BY count(*) DESC, track_id) AS place
	FROM step
	GROUP BY trace_id, track_id)
SELECT t.trace_id, k.pid AS device, (SELECT count(DISTINCT other.pid)
	FROM thread AS o
	JOIN track AS other ON other.id = o.track_id
	WHERE o.trace_id = t.trace_id AND other.pid <> k.pid) AS other_count
FROM thread AS t
JOIN track AS k ON k.id = t.track_id
WHERE t.place = 1 AND k.class = 'gpu' AND other_count
ORDER BY t.trace_id;
