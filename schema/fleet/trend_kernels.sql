-- Calls and time of each kernel by capture in order of time, all ranks
-- together.
-- Parameters: none.
SELECT k.name_id AS name_id, s.text AS name, k.capture_id AS capture_id,
	k.calls AS calls, k.total_ns AS total_ns
FROM (SELECT k.name_id AS name_id, r.capture_id AS capture_id,
		sum(k.calls) AS calls, sum(k.total_ns) AS total_ns
	FROM kernel AS k
	JOIN rank AS r ON r.id = k.rank_id
	GROUP BY k.name_id, r.capture_id) AS k
JOIN string AS s ON s.id = k.name_id
JOIN capture AS c ON c.id = k.capture_id
ORDER BY s.text, k.name_id, c.taken_ns IS NULL, c.taken_ns, c.id;
