-- What tensors held by what they are for, when all together was most and at the
-- end, of memory timelines of torch.  Parameters: none.  Order: trace_id, then
-- as torch counts them, the total last.
WITH part AS (
	SELECT p.trace_id, substr(p.key, 15) AS category, p.value AS peak_bytes,
		e.value AS end_bytes
	FROM trace_fact AS p
	JOIN trace_fact AS e ON e.trace_id = p.trace_id
		AND e.key = 'timeline_end_' || substr(p.key, 15)
	WHERE p.key GLOB 'timeline_peak_[A-Z]*')
SELECT trace_id, category, peak_bytes, end_bytes FROM (
	SELECT *, instr('PARAMETER OPTIMIZER_STATE INPUT TEMPORARY ACTIVATION '
		|| 'GRADIENT AUTOGRAD_DETAIL UNKNOWN', category) AS place
	FROM part
	UNION ALL
	SELECT trace_id, 'all', sum(peak_bytes), sum(end_bytes), 1000
	FROM part GROUP BY trace_id)
ORDER BY trace_id, place;
