-- pageable_copies
-- The calls whose copies are from or to pageable memory: such calls wait.
-- Where no name says so, nothing is read but names.
-- Parameters: none.  Order: launch_id.
SELECT DISTINCT g.launch_id
FROM gpu_event AS g
WHERE EXISTS (SELECT 1 FROM string WHERE text LIKE '%Pageable%')
	AND g.kind = 8 AND g.launch_id IS NOT NULL
	AND g.name_id IN (SELECT id FROM string WHERE text LIKE '%Pageable%')
ORDER BY g.launch_id;
