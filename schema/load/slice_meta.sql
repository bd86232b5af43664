-- What a trace says about itself, to be said again by a part of it.
-- Parameter 1: trace.id.  Order: key.
SELECT key, value
FROM trace_meta
WHERE trace_id = ?1
	AND key NOT IN ('baseTimeNanoseconds', 'profan_slice', 'traceEvents')
	AND json_valid(value)
ORDER BY key;
