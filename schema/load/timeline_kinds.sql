-- How many events of each kind a trace has: key is 'kind_N' (schema/README.md
-- lists the kinds), value the number of events.  Parameter 1: trace.id.
SELECT key, value
FROM trace_fact
WHERE trace_id = ?1
	AND key LIKE 'kind\_%' ESCAPE '\'
ORDER BY key;
