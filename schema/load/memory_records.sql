-- How many allocation records a trace has: no row if it has none.
-- Parameter 1: trace.id.  At most one row.
SELECT sum(value) AS count
FROM trace_fact
WHERE trace_id = ?1 AND key IN ('kind_14', 'kind_15')
HAVING sum(value) > 0;
