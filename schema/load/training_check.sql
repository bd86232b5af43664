-- Summaries that speak of more steps than the last that was timed in the same
-- folder, where that is one.  Parameters: none.  Order: trace_id.
WITH folder AS (
	SELECT id, substr(path, 1, length(path) - length('training_summary.json'))
		AS name
	FROM trace WHERE path GLOB '*training_summary.json')
SELECT f.trace_id, CAST(f.value AS INTEGER) AS total_steps,
	max(r.step) AS last_step
FROM train_fact AS f
JOIN folder AS s ON s.id = f.trace_id
JOIN trace AS t ON t.path = s.name || 'timing_profile.json'
JOIN train_row AS r ON r.trace_id = t.id
WHERE f.key = 'total_steps'
GROUP BY f.trace_id HAVING max(r.step) < f.value
ORDER BY f.trace_id;
