-- The GPUs that each trace describes (deviceProperties), equal ones of a trace
-- once.  Parameters: none.  Order: trace_id, then the remaining columns.
SELECT DISTINCT m.trace_id, d.value ->> '$.name' AS name,
	d.value ->> '$.numSms' AS sm_count,
	d.value ->> '$.totalGlobalMem' AS memory_bytes,
	d.value ->> '$.memoryBandwidth' AS bytes_per_second
FROM trace_meta AS m, json_each(
	CASE WHEN json_valid(m.value) THEN m.value ELSE '[]' END) AS d
WHERE m.key = 'deviceProperties' AND d.type = 'object'
ORDER BY m.trace_id, name, sm_count, memory_bytes,
	bytes_per_second;
