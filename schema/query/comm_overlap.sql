-- What hides behind what on each GPU, in the steps (else in all work), in ns:
-- computation; communication, and how much of it no computation hides; copies
-- that neither hides; fills that none of them hides.  Parameters: none.
-- Order: trace_id, device.
WITH edge AS (
	SELECT trace_id, device, class, start_ns AS at_ns, 1 AS change FROM work
	UNION ALL
	SELECT trace_id, device, class, end_ns, -1 FROM work),
piece AS (
	SELECT trace_id, device,
		lead(at_ns) OVER w - at_ns AS ns,
		sum(change * (class = 'computation')) OVER w > 0 AS computation,
		sum(change * (class = 'communication')) OVER w > 0 AS comm,
		sum(change * (class = 'copy')) OVER w > 0 AS copy,
		sum(change * (class = 'memset')) OVER w > 0 AS memset
	FROM edge
	WINDOW w AS (PARTITION BY trace_id, device ORDER BY at_ns
		ROWS UNBOUNDED PRECEDING))
SELECT trace_id, device, coalesce(sum(ns * computation), 0) AS computation_ns,
	coalesce(sum(ns * comm), 0) AS comm_ns,
	coalesce(sum(ns * (comm AND computation)), 0) AS overlap_ns,
	coalesce(sum(ns * (comm AND NOT computation)), 0) AS exposed_comm_ns,
	coalesce(sum(ns * (copy AND NOT computation AND NOT comm)), 0)
		AS exposed_copy_ns,
	coalesce(sum(ns * (memset AND NOT computation AND NOT comm
		AND NOT copy)), 0) AS exposed_memset_ns
FROM piece
GROUP BY trace_id, device
ORDER BY trace_id, device;
