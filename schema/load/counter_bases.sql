-- The time of day of time 0 of each trace, NULL if it is not known.
-- Parameters: none.  Order: trace_id.
SELECT id AS trace_id, base_ns FROM trace ORDER BY id;
