-- Processes that are a device and whose events no category tells from those of
-- the host, as TensorFlow and JAX write them: their names, and how many events.
-- Parameters: none.  Order: one row.
WITH device AS (
	SELECT p.name, sum(t.event_count) AS event_count
	FROM process AS p
	JOIN track AS t ON t.trace_id = p.trace_id AND t.pid = p.pid
	WHERE t.class = 'host' AND p.name GLOB '/device:*'
	GROUP BY p.name
	ORDER BY p.name)
SELECT coalesce(group_concat(name, ', '), '') AS names,
	coalesce(sum(event_count), 0) AS event_count
FROM device
ORDER BY names;
