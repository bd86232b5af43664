-- Calls that wait for a device, context, stream or event, by call, that begin
-- in the steps (of a trace without steps: all): count, and how long they held
-- the host, in ns.  What one calls itself is part of it.  Parameters: none.
-- Order: call.
WITH pattern(part) AS (
	SELECT v.column1 || w.column1 || 'Synchronize*'
	FROM (VALUES ('cuda'), ('hip'), ('cu'), ('musa'), ('mc')) AS v,
		(VALUES ('Device'), ('Ctx'), ('Stream'), ('Event')) AS w
	UNION ALL VALUES ('urQueueFinish*'), ('urEventWait*'),
		('piQueueFinish*'), ('piEventsWait*'),
		('zeCommandQueueSynchronize*'),
		('zeCommandListHostSynchronize*'), ('zeEventHostSynchronize*'),
		('zeFenceHostSynchronize*'), ('synchronizeStream*'),
		('synchronizeEvent*'), ('synchronizeDevice*'),
		('*aclrtSynchronize*'), ('synDeviceSynchronize*'),
		('synStreamSynchronize*'), ('synEventSynchronize*')),
wait(name) AS (SELECT text FROM string JOIN pattern ON text GLOB part)
SELECT e.name AS call, count(*) AS call_count, sum(e.dur_ns) AS blocked_ns
FROM event AS e
LEFT JOIN (SELECT trace_id, min(start_ns) AS from_ns, max(end_ns) AS to_ns
	FROM steps WHERE NOT is_partial GROUP BY trace_id) AS p
	ON p.trace_id = e.trace_id
WHERE (p.from_ns IS NULL
		OR e.start_ns >= p.from_ns AND e.start_ns < p.to_ns)
	AND e.kind IN (4, 5) AND e.name IN wait
	AND NOT EXISTS (SELECT 1 FROM event AS o WHERE o.id = e.parent_id
		AND o.kind IN (4, 5) AND o.name IN wait)
GROUP BY e.name
ORDER BY e.name;
