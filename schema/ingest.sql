-- Run once per ingested trace, ?1 = trace.id.  Values of a trace are never
-- trusted to have the expected type; what has not is left out.

-- Base time: baseTimeNanoseconds, if it is an integer.
UPDATE trace SET base_ns = (
	SELECT CAST(value AS INTEGER) FROM trace_meta
	WHERE trace_id = ?1 AND key = 'baseTimeNanoseconds'
		AND json_type(value) = 'integer')
WHERE id = ?1;

-- Rank and world size: distributedInfo; what the file itself says wins over
-- its name and the command line.  In a file of several processes it is the
-- word of one of them, which does not say of which.
UPDATE trace SET
	rank = coalesce((
		SELECT json_extract(value, '$.rank') FROM trace_meta
		WHERE trace_id = ?1 AND key = 'distributedInfo'
			AND json_type(value, '$.rank') = 'integer'
			AND NOT EXISTS (SELECT 1 FROM trace_fact AS f
				WHERE f.trace_id = ?1
					AND f.key = 'merged_count')), rank),
	world_size = (
		SELECT json_extract(value, '$.world_size') FROM trace_meta
		WHERE trace_id = ?1 AND key = 'distributedInfo'
			AND json_type(value, '$.world_size') = 'integer')
WHERE id = ?1;

-- Processes, from metadata events; the last one of a kind wins.
INSERT OR IGNORE INTO process(trace_id, pid)
SELECT ?1, coalesce(json_extract(json, '$.pid'), '')
FROM metadata_event
WHERE trace_id = ?1 AND json_extract(json, '$.name') LIKE 'process_%';

UPDATE process SET name = m.value
FROM (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		CAST(json_extract(json, '$.args.name') AS TEXT) AS value,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'process_name'
	GROUP BY 1) AS m
WHERE process.trace_id = ?1 AND process.pid = m.pid;

UPDATE process SET labels = m.value
FROM (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		CAST(json_extract(json, '$.args.labels') AS TEXT) AS value,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'process_labels'
	GROUP BY 1) AS m
WHERE process.trace_id = ?1 AND process.pid = m.pid;

UPDATE process SET sort_index = m.value
FROM (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		json_extract(json, '$.args.sort_index') AS value,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'process_sort_index'
		AND json_type(json, '$.args.sort_index') = 'integer'
	GROUP BY 1) AS m
WHERE process.trace_id = ?1 AND process.pid = m.pid;

-- Devices of TensorFlow and JAX have their own number as pid of their tracks
-- (src/events/traces.h), in two steps: no number twice on the way.
UPDATE process SET pid = 'device ' || CASE
	WHEN name GLOB '/device:GPU:*' THEN CAST(substr(name, 13) AS INTEGER)
	ELSE 'TPU ' || CAST(substr(name, 13) AS INTEGER) END
WHERE trace_id = ?1 AND name GLOB '/device:[GT]PU:[0-9]*'
	AND NOT EXISTS (SELECT 1 FROM track AS t WHERE t.trace_id = ?1
		AND t.pid = process.pid AND t.class = 'host');

UPDATE OR REPLACE process SET pid = substr(pid, 8)
WHERE trace_id = ?1 AND pid GLOB 'device *';

-- Threads and streams; lines of devices have theirs.
UPDATE track SET name = m.value
FROM (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		coalesce(CAST(json_extract(json, '$.tid') AS TEXT), '') AS tid,
		CAST(json_extract(json, '$.args.name') AS TEXT) AS value,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'thread_name'
	GROUP BY 1, 2) AS m
WHERE track.trace_id = ?1 AND track.pid = m.pid AND track.tid = m.tid
	AND track.name IS NULL;

UPDATE track SET sort_index = m.value
FROM (
	SELECT coalesce(CAST(json_extract(json, '$.pid') AS TEXT), '') AS pid,
		coalesce(CAST(json_extract(json, '$.tid') AS TEXT), '') AS tid,
		json_extract(json, '$.args.sort_index') AS value,
		max(file_order)
	FROM metadata_event
	WHERE trace_id = ?1 AND json_extract(json, '$.name') = 'thread_sort_index'
		AND json_type(json, '$.args.sort_index') = 'integer'
	GROUP BY 1, 2) AS m
WHERE track.trace_id = ?1 AND track.pid = m.pid AND track.tid = m.tid
	AND NOT (track.class = 'gpu' AND EXISTS (SELECT 1 FROM process AS p
		WHERE p.trace_id = ?1 AND p.name GLOB '/device:*'));
