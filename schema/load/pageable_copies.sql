-- pageable_copies
-- The calls whose copies are from or to pageable memory, or whose fills are of
-- memory that the host sees: such calls wait, unless they are asynchronous
-- fills.  Where no name says so, nothing is read but names.
-- Parameters: none.  Order: launch_id.
SELECT DISTINCT g.launch_id
FROM (SELECT 1 FROM string WHERE text LIKE '%Pageable%'
		OR text LIKE 'Memset (Pinned%' OR text LIKE 'Memset (Managed%'
	LIMIT 1)
CROSS JOIN gpu_event AS g
WHERE g.kind IN (8, 9) AND g.launch_id IS NOT NULL
	AND CASE g.kind WHEN 8
		THEN g.name_id IN (SELECT id FROM string
			WHERE text LIKE '%Pageable%')
		ELSE g.name_id IN (SELECT id FROM string
			WHERE text LIKE 'Memset (Pinned%'
			OR text LIKE 'Memset (Managed%')
		END
ORDER BY g.launch_id;
