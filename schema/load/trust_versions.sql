-- Rows of tables of Nsight Systems in a version whose columns are not known: what
-- they hold is in no figure.  Parameters: none.  Order: trace_id, table_name.
SELECT trace_id, substr(key, length('nsys_unread_') + 1) AS table_name,
	value AS row_count
FROM trace_fact
WHERE key GLOB 'nsys_unread_*_V[0-9]*'
ORDER BY 1, 2;
