-- How long a GPU does anything: the union of its work, each instant counted
-- once, in the steps (else from the first to the last work), in ns.
-- Parameters: none.  Order: trace_id, device.
SELECT trace_id, device, sum(max(0, end_ns - max(start_ns, before_ns)))
	AS busy_ns
FROM (SELECT *, coalesce(max(end_ns) OVER (
		PARTITION BY trace_id, device ORDER BY start_ns, id
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)
		AS before_ns
	FROM work)
GROUP BY trace_id, device
ORDER BY trace_id, device;
