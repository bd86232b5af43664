-- Are files of folded stacks all there is?  Parameters: none.  One row.
SELECT EXISTS (SELECT 1 FROM sample)
	AND NOT EXISTS (SELECT 1 FROM trace WHERE format <> 'folded') AS is_only;
