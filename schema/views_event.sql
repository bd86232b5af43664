-- Views over the virtual tables, made in the temporary schema of each
-- connection that has these tables, so that the file itself stays readable
-- without them.

-- Operators and annotations of the host with their thread.
CREATE TEMP VIEW ops AS
SELECT
	o.id,
	o.trace_id,
	o.track_id,
	t.name AS thread,
	o.category,
	o.name,
	o.start_ns,
	o.dur_ns,
	o.parent_id,
	o.external_id,
	o.args
FROM op AS o
LEFT JOIN track AS t ON t.id = o.track_id;

-- Calls that launched GPU work, with what they launched.
CREATE TEMP VIEW launches AS
SELECT
	e.id,
	e.trace_id,
	e.name AS call,
	e.start_ns,
	e.dur_ns,
	g.event_id AS gpu_id,
	s.text AS gpu_name,
	g.start_ns AS gpu_start_ns,
	g.dur_ns AS gpu_dur_ns,
	g.start_ns - e.end_ns AS delay_ns,
	g.correlation
FROM gpu_event AS g
JOIN event AS e ON e.id = g.launch_id
LEFT JOIN string AS s ON s.id = g.name_id
WHERE g.launch_id IS NOT NULL;

-- GPU work with the operator that caused it.
CREATE TEMP VIEW gpu_ops AS
SELECT
	g.event_id AS gpu_id,
	g.trace_id,
	s.text AS gpu_name,
	g.start_ns AS gpu_start_ns,
	g.dur_ns AS gpu_dur_ns,
	g.op_id,
	e.name AS op,
	e.dur_ns AS op_dur_ns,
	g.step
FROM gpu_event AS g
JOIN event AS e ON e.id = g.op_id
LEFT JOIN string AS s ON s.id = g.name_id
WHERE g.op_id IS NOT NULL;

-- Profiler steps, on the thread whose steps count.  A step ends with the
-- last GPU work that was launched in it and begins where the one before ends.
-- The last is partial if it has less than 0.8 times the work of the one before.
-- One is empty, and partial too, if no operator begins in it, no GPU work was
-- launched in it and it lasts less than 1/100 of the median of the others.
CREATE TEMP VIEW steps AS
WITH launched AS (
	SELECT trace_id, step, count(*) AS work_count,
		max(start_ns + dur_ns) AS end_ns
	FROM gpu_event
	WHERE kind IN (7, 8, 9) AND step IS NOT NULL
	GROUP BY trace_id, step),
ends AS (
	SELECT h.trace_id, h.step, h.start_ns, h.event_id,
		h.start_ns AS host_start_ns, h.start_ns + h.dur_ns AS host_end_ns,
		coalesce(l.work_count, 0) AS work_count,
		max(max(h.start_ns + h.dur_ns, coalesce(l.end_ns, h.start_ns)))
			OVER w AS end_ns
	FROM step AS h
	JOIN step_threads AS t USING (trace_id, track_id)
	LEFT JOIN launched AS l USING (trace_id, step)
	WHERE t.place = 1
	WINDOW w AS (PARTITION BY h.trace_id ORDER BY h.start_ns, h.event_id)),
timed AS (
	SELECT *, max(start_ns, coalesce(lag(end_ns) OVER w, start_ns))
			AS from_ns,
		lead(step) OVER w IS NULL AND lag(step) OVER w IS NOT NULL
			AND (work_count = 0
				OR work_count < 0.8 * lag(work_count) OVER w)
			AND sum(work_count) OVER (PARTITION BY trace_id) > 0
			AS is_cut,
		sum(work_count) OVER (PARTITION BY trace_id) AS all_work_count
	FROM ends
	WINDOW w AS (PARTITION BY trace_id ORDER BY start_ns, event_id)),
placed AS (
	SELECT trace_id, end_ns - from_ns AS dur_ns,
		row_number() OVER (PARTITION BY trace_id
			ORDER BY end_ns - from_ns, event_id) AS place,
		count(*) OVER (PARTITION BY trace_id) AS step_count
	FROM timed),
judged AS (
	SELECT s.*, CASE WHEN s.work_count = 0
			AND s.end_ns - s.from_ns < m.dur_ns / 100
		THEN NOT EXISTS (SELECT 1 FROM event AS o
				WHERE o.trace_id = s.trace_id AND o.kind = 1
				AND o.start_ns >= s.host_start_ns
				AND o.start_ns < s.host_end_ns)
			AND (s.all_work_count > 0 OR EXISTS (
				SELECT 1 FROM event AS o
				WHERE o.trace_id = s.trace_id AND o.kind = 1))
		ELSE 0 END AS is_empty
	FROM timed AS s
	JOIN placed AS m ON m.trace_id = s.trace_id
		AND m.place = m.step_count / 2 + 1)
SELECT trace_id, step, event_id, from_ns AS start_ns, end_ns, work_count,
	is_cut OR is_empty AS is_partial, is_empty
FROM judged;

-- What times are shares of: the whole steps of a trace; if it has none, from
-- its first GPU work to the end of its last.
CREATE TEMP VIEW span AS
SELECT t.id AS trace_id, coalesce(min(s.start_ns), g.start_ns) AS from_ns,
	coalesce(max(s.end_ns), g.end_ns) AS to_ns
FROM trace AS t
LEFT JOIN steps AS s ON s.trace_id = t.id AND NOT s.is_partial
LEFT JOIN (SELECT trace_id, min(start_ns) AS start_ns,
		max(start_ns + dur_ns) AS end_ns
	FROM gpu_event
	WHERE kind IN (7, 8, 9)
	GROUP BY trace_id) AS g ON g.trace_id = t.id
GROUP BY t.id;

-- GPU work in the span, cut to it, with its class: by the name, else by the
-- operator of communication that launched it.
CREATE TEMP VIEW work AS
SELECT g.id, g.event_id, g.trace_id,
	coalesce(c.device, CAST(t.pid AS INTEGER)) AS device,
	CASE WHEN n.is_comm OR m.event_id IS NOT NULL THEN 'communication'
		WHEN g.kind = 9 THEN 'memset'
		WHEN g.kind = 8 OR n.is_copy THEN 'copy'
		ELSE 'computation' END AS class,
	max(g.start_ns, p.from_ns) AS start_ns,
	min(g.start_ns + g.dur_ns, p.to_ns) AS end_ns
FROM gpu_event AS g
JOIN span AS p ON p.trace_id = g.trace_id
	AND g.start_ns < p.to_ns AND g.start_ns + g.dur_ns > p.from_ns
JOIN track AS t ON t.id = g.event_id >> 32
LEFT JOIN gpu_config AS c ON c.id = g.config_id
LEFT JOIN comm_event AS m ON m.event_id = g.event_id
LEFT JOIN (SELECT id, text LIKE '%nccl%' OR text LIKE '%rccl%'
		OR text LIKE '%oneccl%' OR text LIKE '%hccl%'
		OR text LIKE '%multimem%' OR text LIKE '%symm\_mem%' ESCAPE '\'
		OR text LIKE '%cross\_device\_reduce%' ESCAPE '\' AS is_comm,
		text GLOB 'MEMORY_COPY_*'
		OR text GLOB '__amd_rocclr_copyBuffer*' AS is_copy
	FROM string) AS n ON n.id = g.name_id
WHERE g.kind IN (7, 8, 9);
