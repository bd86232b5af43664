-- What a capture says about the machine and the profiler, as one text of
-- sorted parts each: models of the GPUs that are described, versions, options
-- of the profiler; the digest of the file if there is one; what those GPUs are
-- by their numbers, and whose runtime they have.  Parameters: none.
-- One row.
WITH device AS (
	SELECT nullif(d.value ->> '$.name', '') AS name,
		d.value ->> '$.computeMajor' || '.' ||
			(d.value ->> '$.computeMinor') AS compute,
		d.value ->> '$.numSms' AS sms,
		d.value ->> '$.totalGlobalMem' AS bytes
	FROM trace_meta AS m, json_each(
		CASE WHEN json_valid(m.value) THEN m.value ELSE '[]' END) AS d
	WHERE m.key = 'deviceProperties' AND d.type = 'object'),
fact AS (
	SELECT DISTINCT key, CAST(json_extract(value, '$') AS TEXT) AS value
	FROM trace_meta
	WHERE json_valid(value)
		AND json_type(value) NOT IN ('array', 'object')
	ORDER BY key, 2)
SELECT (SELECT group_concat(name, ', ')
		FROM (SELECT DISTINCT name FROM device
			WHERE name IS NOT NULL ORDER BY name)) AS devices,
	(SELECT group_concat(key || ' ' || value, ', ') FROM fact
		WHERE key LIKE '%version' AND key <> 'schemaVersion') AS versions,
	(SELECT group_concat(key || ' ' || value, ', ') FROM fact
		WHERE key IN ('record_shapes', 'profile_memory', 'with_stack',
			'with_flops', 'with_modules')) AS options,
	(SELECT count(*) FROM trace) AS trace_count,
	(SELECT max(world_size) FROM trace) AS world_size,
	(SELECT CASE WHEN count(*) = 1 THEN max(xxh128) END FROM trace)
		AS xxh128,
	-- GPUs of one model differ by some MB
	(SELECT group_concat(facts, '; ')
		FROM (SELECT DISTINCT 'compute ' || compute || ', ' || sms ||
				' SMs, ' || CAST(round(bytes / 1e9) AS INTEGER)
				|| ' GB' AS facts FROM device
			WHERE compute IS NOT NULL AND sms IS NOT NULL
				AND typeof(bytes) IN ('integer', 'real')
			ORDER BY facts)) AS hardware,
	(SELECT CASE WHEN sum(key LIKE 'hip\_%' ESCAPE '\'
				OR key LIKE 'roctracer%') THEN 'HIP'
			WHEN sum(key LIKE 'cuda\_%' ESCAPE '\'
				OR key LIKE 'cupti%') THEN 'CUDA' END
		FROM fact) AS platform;
