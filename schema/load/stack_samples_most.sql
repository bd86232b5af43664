-- The frame in which most of what files of folded stacks count ends, with its
-- sum, the sum of all, and how many stacks there are.  Parameters: none.  At
-- most one row.
SELECT n.text AS name, total(s.value) AS ends,
	(SELECT total(value) FROM sample) AS of_all,
	(SELECT count(*) FROM sample) AS stacks
FROM sample s
JOIN stack t ON t.id = s.stack_id
JOIN stack_frame f ON f.id = t.frame_id
JOIN string n ON n.id = f.name_id
GROUP BY n.text
ORDER BY ends DESC, n.text
LIMIT 1;
