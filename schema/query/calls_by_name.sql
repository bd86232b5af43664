-- Calls of the runtime and the driver by name: count, sum, shortest, median
-- and longest, in ns.  Parameters: none.  Order: longest sum first.
SELECT name, count(*) AS call_count, sum(dur_ns) AS total_ns,
	min(dur_ns) AS min_ns,
	max(dur_ns) FILTER (WHERE place = calls / 2 + 1)
		- (max(dur_ns) FILTER (WHERE place = calls / 2 + 1)
		- max(dur_ns) FILTER (WHERE place = (calls + 1) / 2)) / 2
		AS median_ns, max(dur_ns) AS max_ns
FROM (SELECT name, dur_ns,
		row_number() OVER (PARTITION BY name ORDER BY dur_ns) AS place,
		count(*) OVER (PARTITION BY name) AS calls
	FROM event
	WHERE kind IN (4, 5))
GROUP BY name
ORDER BY total_ns DESC, name;
