-- Copies by direction that begin in the steps (else all): count, duration, and
-- bytes where they are known.  The name says the direction, else the argument
-- "direction".  Parameters: none.
-- Order: direction.
WITH pattern(n, direction, part) AS (VALUES
	(1, 'HtoD', '*HtoD*'), (2, 'HtoD', '*H2D*'),
	(3, 'HtoD', '*HOST_TO_DEVICE*'), (4, 'HtoD', '*HostToDevice*'),
	(5, 'HtoD', '*M2D*'),
	(6, 'DtoH', '*DtoH*'), (7, 'DtoH', '*D2H*'),
	(8, 'DtoH', '*DEVICE_TO_HOST*'), (9, 'DtoH', '*DeviceToHost*'),
	(10, 'DtoH', '*D2M*'),
	(11, 'DtoD', '*DtoD*'), (12, 'DtoD', '*D2D*'),
	(13, 'DtoD', '*DEVICE_TO_DEVICE*'), (14, 'DtoD', '*DeviceToDevice*'),
	(15, 'PtoP', '*PtoP*'), (16, 'PtoP', '*P2P*'),
	(17, 'PtoP', '*PEER_TO_PEER*'), (18, 'PtoP', '*PeerToPeer*')),
copy AS (
	SELECT s.text AS name, g.dur_ns, g.bytes,
		substr(a.text, nullif(instr(a.text, '"direction":"'), 0) + 13)
			AS said
	FROM gpu_event AS g
	JOIN work AS w ON w.id = g.id AND w.class = 'copy'
	JOIN span AS p ON p.trace_id = g.trace_id AND g.start_ns >= p.from_ns
		AND g.start_ns < p.to_ns
	JOIN string AS s ON s.id = g.name_id
	LEFT JOIN argset AS a ON a.id = g.config_id),
way AS (
	SELECT coalesce(
		(SELECT direction FROM pattern WHERE name GLOB part
			ORDER BY n LIMIT 1),
		(SELECT direction FROM pattern
			WHERE substr(said, 1, instr(said, '"') - 1) GLOB part
			ORDER BY n LIMIT 1),
		'other') AS direction, dur_ns, bytes
	FROM copy)
SELECT direction, count(*) AS copy_count, sum(dur_ns) AS total_ns,
	sum(bytes) AS bytes
FROM way
GROUP BY direction
ORDER BY direction;
