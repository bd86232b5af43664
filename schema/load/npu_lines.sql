-- Lines of the processes of torch_npu and msprof, in a trace that has a process
-- called "Ascend Hardware" or "CANN": pid and tid as text, the names of process and
-- line, and the device as text: the number of the process's label "NPU N", else that
-- of the hardware if there is one hardware alone, else the pid; the last metadata
-- event of each counts.  Behind them each process once more without a tid, for lines that have
-- no name.
-- Parameter 1: trace.id.  Order: lines first; pid, tid.
WITH process AS (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		coalesce(CAST(json_extract(json, '$.args.name') AS TEXT), '')
			AS name,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'process_name'
	GROUP BY 1),
label AS (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		substr(CAST(json_extract(json, '$.args.labels') AS TEXT), 5)
			AS device,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'process_labels'
		AND json_extract(json, '$.args.labels') GLOB 'NPU [0-9]*'
		AND NOT json_extract(json, '$.args.labels') GLOB 'NPU *[^0-9]*'
	GROUP BY 1),
line AS (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		coalesce(CAST(json_extract(json, '$.tid') AS TEXT), '') AS tid,
		coalesce(CAST(json_extract(json, '$.args.name') AS TEXT), '')
			AS name,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'thread_name'
	GROUP BY 1, 2),
hardware AS (
	SELECT min(coalesce(l.device, p.pid)) AS device, count(*) AS count
	FROM process AS p
	LEFT JOIN label AS l ON l.pid = p.pid
	WHERE p.name = 'Ascend Hardware'),
placed AS (
	SELECT p.pid, p.name,
		CASE WHEN l.device IS NOT NULL THEN l.device
			WHEN h.count = 1 THEN h.device
			ELSE p.pid END AS device
	FROM process AS p
	JOIN hardware AS h ON h.count > 0
		OR EXISTS (SELECT 1 FROM process WHERE name = 'CANN')
	LEFT JOIN label AS l ON l.pid = p.pid)
SELECT pid, tid, name, line, device
FROM (
	SELECT p.pid, l.tid, p.name, l.name AS line, p.device
	FROM placed AS p
	JOIN line AS l ON l.pid = p.pid
	UNION ALL
	SELECT pid, NULL, name, '', device
	FROM placed)
ORDER BY tid IS NULL, pid, tid;
