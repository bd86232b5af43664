-- What no ingest writes, by name: something else in the place of a table,
-- columns of a table that are computed, traces whose time is no number or not that
-- of their threads, steps that are not within it.  A row of the schema may name
-- what another row makes, in other case: only of text that begins with a table's
-- own name, as SQLite writes it, it is known that this table was made of it.  One
-- with an AS in its text can have a column that is computed: few are asked, of
-- SQLite (temp.) and not of a table of the file that is called like its pragma.  No
-- rows: nothing found.  Parameters: none.  Order: what is no table comes first, and
-- whoever asks reads one row, for what stands in the place of a table may have no
-- end.
WITH ours(name) AS (VALUES ('meta'), ('trace'), ('trace_meta'), ('trace_fact'),
	('process'), ('track'), ('metadata_event'), ('string'), ('argset'),
	('event_type'), ('block'), ('block_column'), ('gpu_event'),
	('gpu_config'), ('annotation'), ('step'), ('comm_event'), ('average'),
	('repair'), ('segment'), ('mem_block'), ('mem_past'), ('stack_frame'), ('stack'),
	('mem_setting'), ('mem_history'), ('train_row'), ('train_memory'),
	('train_fact'), ('sample'), ('unread')),
time AS (SELECT trace_id, min(first_ns) AS first_ns, max(last_ns) AS last_ns
	FROM track
	WHERE event_count > 0
	GROUP BY trace_id)
SELECT 'table ' || name AS name
FROM ours
WHERE name NOT IN (SELECT s.name FROM sqlite_schema AS s
		WHERE s.type = 'table'
			AND s.sql GLOB 'CREATE TABLE ' || s.name || ' (*')
	OR name IN (SELECT s.name FROM sqlite_schema AS s
		WHERE s.sql LIKE '%as%')
		AND EXISTS (SELECT 1 FROM temp.pragma_table_xinfo(ours.name)
			WHERE hidden <> 0)
UNION ALL
SELECT 'time of trace ' || t.id
FROM trace AS t
LEFT JOIN time AS k ON k.trace_id = t.id
WHERE t.first_ns IS NOT k.first_ns OR t.last_ns IS NOT k.last_ns
	OR t.first_ns > t.last_ns
	OR typeof(t.last_ns) NOT IN ('integer', 'null')
UNION ALL
SELECT 'step ' || s.step || ' of trace ' || t.id
FROM step AS s
JOIN trace AS t ON t.id = s.trace_id
WHERE s.start_ns < t.first_ns OR s.dur_ns < 0
	OR s.start_ns + s.dur_ns > t.last_ns;
