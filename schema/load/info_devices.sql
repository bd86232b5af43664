-- The devices that the traces describe (deviceProperties), equal ones
-- together.  Parameters: none.  Order: name, then the remaining columns.
WITH device AS (
	SELECT d.value ->> '$.id' AS device, d.value ->> '$.name' AS name,
		d.value ->> '$.totalGlobalMem' AS memory_bytes,
		(d.value ->> '$.computeMajor') || '.' ||
			(d.value ->> '$.computeMinor') AS compute,
		d.value ->> '$.numSms' AS sm_count
	FROM trace_meta AS m, json_each(
		CASE WHEN json_valid(m.value) THEN m.value ELSE '[]' END) AS d
	WHERE m.key = 'deviceProperties' AND d.type = 'object')
SELECT name, compute, sm_count, memory_bytes,
	group_concat(device, ' ') AS devices
FROM (SELECT DISTINCT device, name, memory_bytes, compute, sm_count
	FROM device
	ORDER BY device)
GROUP BY name, compute, sm_count, memory_bytes
ORDER BY name, compute, sm_count, memory_bytes;
