-- GPU kernels by name over all traces: count, and total, median, shortest and
-- longest duration in ns.  Parameters: none.  Order: total_ns falling, name.
SELECT name, count(*) AS kernel_count, sum(dur_ns) AS total_ns,
	max(dur_ns) FILTER (WHERE place = kernels / 2 + 1)
		- (max(dur_ns) FILTER (WHERE place = kernels / 2 + 1)
		- max(dur_ns) FILTER (WHERE place = (kernels + 1) / 2)) / 2
		AS median_ns,
	min(dur_ns) AS min_ns, max(dur_ns) AS max_ns
FROM (SELECT name, dur_ns,
		row_number() OVER (PARTITION BY name ORDER BY dur_ns) AS place,
		count(*) OVER (PARTITION BY name) AS kernels
	FROM kernels)
GROUP BY name
ORDER BY total_ns DESC, name;
