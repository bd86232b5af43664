-- GPU kernels by name over all traces: count, total, mean, shortest and
-- longest duration in nanoseconds.  Parameters: none.
-- Order: total_ns falling, name.
SELECT name, count(*) AS kernel_count, sum(dur_ns) AS total_ns,
	CAST(avg(dur_ns) AS INTEGER) AS mean_ns, min(dur_ns) AS min_ns,
	max(dur_ns) AS max_ns
FROM kernels
GROUP BY name
ORDER BY total_ns DESC, name;
