-- The memory of each GPU that the traces describe (deviceProperties).
-- Parameters: none.  Order: trace_id, device.
SELECT m.trace_id, d.value ->> '$.id' AS device,
	max(d.value ->> '$.totalGlobalMem') AS memory_bytes
FROM trace_meta AS m, json_each(
	CASE WHEN json_valid(m.value) THEN m.value ELSE '[]' END) AS d
WHERE m.key = 'deviceProperties' AND d.type = 'object'
	AND json_type(d.value, '$.id') = 'integer'
	AND json_type(d.value, '$.totalGlobalMem') = 'integer'
GROUP BY m.trace_id, d.value ->> '$.id'
ORDER BY m.trace_id, d.value ->> '$.id';
