-- The time in which a range of the user is open, summed over threads, in ns.
-- Parameters: none.
WITH range AS (
	SELECT track_id, start_ns, end_ns,
		max(end_ns) OVER (PARTITION BY track_id
			ORDER BY start_ns, end_ns
			ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
			AS before_ns
	FROM event
	WHERE kind = 2 OR (kind = 1 AND (category = 'nvtx' OR name GLOB 'ProfilerStep#*'
		OR name GLOB 'Optimizer.step#*'
		OR name GLOB 'Optimizer.zero_grad#*'
		OR instr(name, 'enumerate(DataLoader)')
		OR instr(name, 'enumerate(DataPipe)')))
		OR (kind = 0 AND trace_id NOT IN (SELECT trace_id
			FROM trace_fact WHERE key IN ('kind_1', 'kind_2')
			AND value > 0)))
SELECT coalesce(sum(max(0, end_ns
	- max(start_ns, coalesce(before_ns, start_ns)))), 0) AS open_ns
FROM range;
