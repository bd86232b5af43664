-- Views in plain words over the row tables; any SQLite tool can read them.
-- The views that need the virtual tables are in views_event.sql.

-- GPU kernels with their launch configuration; no whole graphs, of which
-- Nsight Systems ("CUDA graph 3") and the agent ("graph 3") record one event
-- each unless they are asked for their nodes (pf_name_is_whole_graph()).
CREATE VIEW kernels AS
SELECT
	g.event_id AS id,
	g.trace_id,
	s.text AS name,
	g.start_ns,
	g.dur_ns,
	c.device,
	c.stream,
	c.grid_x, c.grid_y, c.grid_z,
	c.block_x, c.block_y, c.block_z,
	c.registers_per_thread,
	c.shared_memory_bytes,
	c.blocks_per_sm,
	c.warps_per_sm,
	c.occupancy_percent,
	g.correlation,
	g.launch_id,
	g.op_id,
	g.step,
	c.op_name
FROM gpu_event AS g
LEFT JOIN string AS s ON s.id = g.name_id
LEFT JOIN gpu_config AS c ON c.id = g.config_id
WHERE g.kind = 7 AND (s.text IS NULL OR s.text GLOB '*graph *[^0-9]*'
	OR NOT (s.text GLOB 'CUDA graph [0-9]*' OR s.text GLOB 'graph [0-9]*'));

-- Copies between memories, and fills of memory (memset).
CREATE VIEW copies AS
SELECT
	g.event_id AS id,
	g.trace_id,
	CASE g.kind WHEN 8 THEN 'copy' ELSE 'fill' END AS what,
	s.text AS name,
	g.start_ns,
	g.dur_ns,
	g.bytes AS size_bytes,
	CASE WHEN g.dur_ns > 0 THEN g.bytes * 1e9 / g.dur_ns END
		AS bytes_per_second,
	c.device,
	c.stream,
	g.correlation,
	g.launch_id,
	g.op_id,
	g.step
FROM gpu_event AS g
LEFT JOIN string AS s ON s.id = g.name_id
LEFT JOIN gpu_config AS c ON c.id = g.config_id
WHERE g.kind IN (8, 9);

-- Everything that keeps a GPU busy, by device and stream.
CREATE VIEW gpu_work AS
SELECT
	g.event_id AS id,
	g.trace_id,
	CASE WHEN g.kind = 8 THEN 'copy' WHEN g.kind = 9 THEN 'fill'
		WHEN s.text NOT GLOB '*graph *[^0-9]*'
			AND (s.text GLOB 'CUDA graph [0-9]*'
				OR s.text GLOB 'graph [0-9]*') THEN 'graph'
		ELSE 'kernel' END AS what,
	s.text AS name,
	g.start_ns,
	g.dur_ns,
	g.start_ns + g.dur_ns AS end_ns,
	c.device,
	c.stream,
	g.launch_id,
	g.op_id,
	g.step
FROM gpu_event AS g
LEFT JOIN string AS s ON s.id = g.name_id
LEFT JOIN gpu_config AS c ON c.id = g.config_id
WHERE g.kind IN (7, 8, 9);

-- Threads, streams and counters with the names of their processes.
CREATE VIEW tracks AS
SELECT
	t.id,
	t.trace_id,
	t.class,
	t.pid,
	p.name AS process,
	t.tid,
	t.name,
	t.event_count,
	t.first_ns,
	t.last_ns
FROM track AS t
LEFT JOIN process AS p ON p.trace_id = t.trace_id AND p.pid = t.pid;
