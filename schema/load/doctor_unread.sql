-- What ingest counted of databases of other programs: rows of tables that are
-- not read, by table, and whole CUDA graphs (table NULL).  Parameters: none.
-- Order: count falling, table.
SELECT CASE WHEN key <> 'nsys_whole_graphs'
		THEN substr(key, instr(key, '_unread_') + 8) END AS table_name,
	sum(value) AS count
FROM trace_fact
WHERE key GLOB '*_unread_*' OR key = 'nsys_whole_graphs'
GROUP BY 1
HAVING sum(value) > 0
ORDER BY 2 DESC, 1;
