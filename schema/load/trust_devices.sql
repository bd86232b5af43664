-- The GPUs that work ran on: "0, 1, 2".  Parameters: none.  Order: one row.
WITH device AS (
	SELECT DISTINCT coalesce(c.device, CAST(t.pid AS INTEGER)) AS device
	FROM track AS t, gpu_event AS g
	LEFT JOIN gpu_config AS c ON c.id = g.config_id
	WHERE t.id = g.event_id >> 32 AND g.kind IN (7, 8, 9)
	ORDER BY device)
SELECT coalesce(group_concat(device, ', '), '') AS devices
FROM device
ORDER BY devices;
