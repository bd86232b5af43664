-- From the start of a launching call to the start of its GPU work, by call:
-- count, shortest, mean and longest, in nanoseconds.  Parameters: none.
-- Order: call.
SELECT call, count(*) AS launch_count, min(gpu_start_ns - start_ns) AS min_ns,
	CAST(avg(gpu_start_ns - start_ns) AS INTEGER) AS mean_ns,
	max(gpu_start_ns - start_ns) AS max_ns
FROM launches
GROUP BY call
ORDER BY call;
