-- The user's ranges by name: count, sum, shortest, median and longest, in ns.
-- Steps of the profiler are one name; before torch 1.11 labels had the category
-- of operators; of traces without operators and annotations all ranges count.
-- Parameters: none.  Order: longest sum first.
WITH range AS (
	SELECT CASE WHEN name GLOB 'ProfilerStep#*' THEN 'ProfilerStep*'
			ELSE name END AS name, dur_ns
	FROM event
	WHERE kind = 2 OR (kind = 1 AND (category = 'nvtx' OR name GLOB 'ProfilerStep#*'
		OR name GLOB 'Optimizer.step#*'
		OR name GLOB 'Optimizer.zero_grad#*'
		OR instr(name, 'enumerate(DataLoader)')
		OR instr(name, 'enumerate(DataPipe)')))
		OR (kind = 0 AND trace_id NOT IN (SELECT trace_id
			FROM trace_fact WHERE key IN ('kind_1', 'kind_2')
			AND value > 0)))
SELECT name, count(*) AS range_count, sum(dur_ns) AS total_ns,
	min(dur_ns) AS min_ns,
	max(dur_ns) FILTER (WHERE place = ranges / 2 + 1)
		- (max(dur_ns) FILTER (WHERE place = ranges / 2 + 1)
		- max(dur_ns) FILTER (WHERE place = (ranges + 1) / 2)) / 2
		AS median_ns, max(dur_ns) AS max_ns
FROM (SELECT name, dur_ns,
		row_number() OVER (PARTITION BY name ORDER BY dur_ns) AS place,
		count(*) OVER (PARTITION BY name) AS ranges
	FROM range)
GROUP BY name
ORDER BY total_ns DESC, name;
