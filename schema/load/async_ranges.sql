-- Ranges that are no thread's: those that a program starts and ends anywhere
-- (NVTX, roctx), and pairs of asynchronous events (ph b and e, S and F), where
-- each end closes the last begin of its category, id and scope (and name, of S
-- and F) that is open.  dur_ns is NULL of a begin or end without the other.
-- Parameter 1: trace.id.  Order: track_id, start_ns, file_order, id.
WITH seen AS (
	SELECT e.id, e.track_id, e.name, e.start_ns, e.dur_ns, e.ph,
		e.file_order, e.category, t.pid,
		CASE WHEN json_valid(e.args) THEN e.args ELSE '{}' END AS args
	FROM track AS t
	CROSS JOIN event AS e ON e.track_id = t.id
	WHERE t.trace_id = ?1 AND t.class = 'async' AND e.kind = 19
		AND e.ph IN ('X', 'b', 'e', 'S', 'F')),
half AS (
	SELECT id, track_id, name, start_ns, file_order,
		ph IN ('b', 'S') AS is_begin,
		json_array(CASE WHEN ph IN ('S', 'F') THEN name END, category,
			args ->> '$."@scope"',
			args ->> '$."@id"' || '',
			args ->> '$."@id2".global' || '',
			CASE WHEN args -> '$."@id2".local' IS NOT NULL THEN
				pid || ' ' || (args ->> '$."@id2".local') END)
			AS key
	FROM seen
	WHERE ph <> 'X'),
-- how many are open after a begin, and before an end
deep AS (
	SELECT *, sum(is_begin * 2 - 1) OVER (
			PARTITION BY key ORDER BY start_ns, file_order, id)
			+ 1 - is_begin AS depth
	FROM half),
pair AS (
	SELECT *, lead(is_begin) OVER w AS next_is_begin,
		lead(start_ns) OVER w AS end_ns,
		lag(is_begin) OVER w AS last_is_begin
	FROM deep
	WINDOW w AS (PARTITION BY key, depth ORDER BY start_ns, file_order, id))
SELECT track_id, name, start_ns, dur_ns
FROM (
	SELECT id, track_id, name, start_ns, dur_ns, file_order
	FROM seen
	WHERE ph = 'X'
	UNION ALL
	SELECT id, track_id, name, start_ns,
		CASE WHEN is_begin AND next_is_begin = 0
			THEN end_ns - start_ns END, file_order
	FROM pair
	WHERE is_begin OR last_is_begin IS NOT 1)
ORDER BY track_id, start_ns, file_order, id;
