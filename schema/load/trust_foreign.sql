-- Processes that are a device and whose events are not taken for GPU work, as
-- TensorFlow and JAX write them: lines without a name, and those of TPUs, whose
-- processes have no name where they come from an XSpace.  Their names, and how
-- many events.
-- Parameters: none.  Order: one row.
WITH device AS (
	SELECT p.name, sum(t.event_count) AS event_count
	FROM process AS p
	JOIN track AS t ON t.trace_id = p.trace_id AND t.pid = p.pid
	WHERE p.name GLOB '/device:*'
		AND (t.class = 'host' OR p.name GLOB '/device:TPU:*')
	GROUP BY p.name
	UNION ALL
	SELECT t.pid, sum(t.event_count)
	FROM track AS t
	WHERE t.class = 'gpu' AND t.pid GLOB 'TPU *'
		AND NOT EXISTS (SELECT 1 FROM process AS p
			WHERE p.trace_id = t.trace_id AND p.pid = t.pid
				AND p.name GLOB '/device:TPU:*')
	GROUP BY t.pid
	ORDER BY 1)
SELECT coalesce(group_concat(name, ', '), '') AS names,
	coalesce(sum(event_count), 0) AS event_count
FROM device
ORDER BY names;
