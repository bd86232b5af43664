-- When a GPU does nothing: the spans between its work, and between it and the
-- ends of the steps (else of all work); their number, sum and longest, in ns.
-- Parameters: none.  Order: trace_id, device.
WITH edge AS (
	SELECT id, trace_id, device, start_ns, end_ns FROM work
	UNION ALL
	SELECT DISTINCT 1 << 62, w.trace_id, w.device, p.to_ns, p.to_ns
	FROM work AS w JOIN span AS p USING (trace_id)),
gap AS (
	SELECT e.trace_id, e.device, e.start_ns - coalesce(max(e.end_ns) OVER (
		PARTITION BY e.trace_id, e.device ORDER BY e.start_ns, e.id
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), p.from_ns)
		AS ns
	FROM edge AS e JOIN span AS p USING (trace_id))
SELECT trace_id, device, count(*) FILTER (WHERE ns > 0) AS gap_count,
	coalesce(sum(ns) FILTER (WHERE ns > 0), 0) AS idle_ns,
	max(max(ns), 0) AS longest_ns
FROM gap
GROUP BY trace_id, device
ORDER BY trace_id, device;
