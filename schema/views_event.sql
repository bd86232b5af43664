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
