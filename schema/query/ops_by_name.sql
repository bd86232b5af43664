-- Host operators (category cpu_op and its old spelling) by name: count and
-- total duration with everything inside them, in nanoseconds.
-- Parameters: none.  Order: total_ns falling, name.
SELECT name, count(*) AS op_count, sum(dur_ns) AS total_ns
FROM event
WHERE kind = 1
GROUP BY name
ORDER BY total_ns DESC, name;
