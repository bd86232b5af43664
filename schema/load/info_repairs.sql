-- What was mended or skipped while reading, by trace.  first_offset is the
-- byte of the (decompressed) text where it happened first, NULL if unknown.
-- Parameters: none.  Order: trace_id, id.
SELECT trace_id, kind, CASE is_skip WHEN 0 THEN 'mended' ELSE 'skipped' END
		AS action, count, first_offset
FROM repair
ORDER BY trace_id, id;
