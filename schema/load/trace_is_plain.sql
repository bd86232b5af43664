-- A row if a trace has neither operators nor annotations, so that all ranges of
-- its threads are what the user named.  Parameter 1: trace.id.  Order: one row.
SELECT 1 AS is_plain
WHERE NOT EXISTS (SELECT 1 FROM trace_fact WHERE trace_id = ?1
	AND key IN ('kind_1', 'kind_2') AND value > 0)
ORDER BY is_plain;
