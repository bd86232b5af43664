-- What GPU streams waited for, by kind of wait.  Parameters: none.
-- Order: name.
SELECT s.text AS name, count(*) AS count, sum(g.dur_ns) AS ns
FROM gpu_event AS g
JOIN string AS s ON s.id = g.name_id
WHERE g.kind = 11
GROUP BY s.text
ORDER BY s.text;
