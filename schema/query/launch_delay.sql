-- From the end of a call to the start of the first GPU work that it launched,
-- by call: count, shortest, median and longest, in ns; negative where the work
-- began before the call returned.  Parameters: none.  Order: call.
WITH launch AS (
	SELECT e.name AS call, min(g.start_ns) - e.end_ns AS ns
	FROM gpu_event AS g
	JOIN event AS e ON e.id = g.launch_id
	WHERE g.kind IN (7, 8, 9)
	GROUP BY e.id)
SELECT call, count(*) AS launch_count, min(ns) AS min_ns,
	max(ns) FILTER (WHERE place = calls / 2 + 1)
		- (max(ns) FILTER (WHERE place = calls / 2 + 1)
		- max(ns) FILTER (WHERE place = (calls + 1) / 2)) / 2
		AS median_ns, max(ns) AS max_ns
FROM (SELECT call, ns,
		row_number() OVER (PARTITION BY call ORDER BY ns) AS place,
		count(*) OVER (PARTITION BY call) AS calls
	FROM launch)
GROUP BY call
ORDER BY call;
