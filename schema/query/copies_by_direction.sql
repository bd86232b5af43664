-- Copies by direction, which the name says, that begin in the steps (else all):
-- count, duration, and bytes where they are known.  Parameters: none.
-- Order: direction.
WITH way AS (
	SELECT CASE
		WHEN name GLOB '*HtoD*' OR name GLOB '*H2D*'
			OR name GLOB '*HOST_TO_DEVICE*'
			OR name GLOB '*HostToDevice*' OR name GLOB '*M2D*'
			THEN 'HtoD'
		WHEN name GLOB '*DtoH*' OR name GLOB '*D2H*'
			OR name GLOB '*DEVICE_TO_HOST*'
			OR name GLOB '*DeviceToHost*' OR name GLOB '*D2M*'
			THEN 'DtoH'
		WHEN name GLOB '*DtoD*' OR name GLOB '*D2D*'
			OR name GLOB '*DEVICE_TO_DEVICE*'
			OR name GLOB '*DeviceToDevice*' THEN 'DtoD'
		WHEN name GLOB '*PtoP*' OR name GLOB '*P2P*'
			OR name GLOB '*PEER_TO_PEER*'
			OR name GLOB '*PeerToPeer*' THEN 'PtoP'
		ELSE 'other' END AS direction, g.dur_ns, g.bytes
	FROM gpu_event AS g
	JOIN work AS w ON w.id = g.id AND w.class = 'copy'
	JOIN span AS p ON p.trace_id = g.trace_id AND g.start_ns >= p.from_ns
		AND g.start_ns < p.to_ns
	JOIN (SELECT id, text AS name FROM string) AS s ON s.id = g.name_id)
SELECT direction, count(*) AS copy_count, sum(dur_ns) AS total_ns,
	sum(bytes) AS bytes
FROM way
GROUP BY direction
ORDER BY direction;
