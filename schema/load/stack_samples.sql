-- Stacks of files of folded stacks with what these count.  Parameters: none.
-- Order: id.
SELECT trace_id, stack_id, value FROM sample ORDER BY id;
