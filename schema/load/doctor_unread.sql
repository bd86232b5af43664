-- Rows of other programs' tables that are not read, by table, as ingest counted
-- them; and (table NULL) graphs that are one event each, whoever recorded them.
-- is_version: one whose columns are not known in this version.
-- Where no name is such a graph's, nothing is read but names.
-- Parameters: none.  Order: count falling, table.
WITH graph(id) AS MATERIALIZED (SELECT id FROM string
	WHERE (text GLOB 'CUDA graph [0-9]*' OR text GLOB 'graph [0-9]*')
		AND text NOT GLOB '*graph *[^0-9]*'),
counted(table_name, count) AS (
	SELECT substr(key, instr(key, '_unread_') + 8), value
	FROM trace_fact
	WHERE key GLOB '*_unread_*'
	UNION ALL
	SELECT NULL, (SELECT count(*) FROM gpu_event
		WHERE kind = 7 AND name_id IN (SELECT id FROM graph))
	WHERE EXISTS (SELECT 1 FROM graph)
)
SELECT table_name, sum(count) AS count,
	table_name GLOB '*_V[0-9]*' AS is_version
FROM counted
GROUP BY 1
HAVING sum(count) > 0
ORDER BY 2 DESC, 1;
