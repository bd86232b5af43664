-- Names that a program gave to ranges of its own, on the host and on GPUs, or
-- that another tool wrote under categories of its own; not those of the
-- profiler's steps.  Parameters: none.
SELECT DISTINCT name
FROM event
WHERE (kind IN (0, 2, 10, 12, 19, 21) OR category = 'nvtx')
	AND name IS NOT NULL
	AND name NOT LIKE 'ProfilerStep#%'
ORDER BY name;
