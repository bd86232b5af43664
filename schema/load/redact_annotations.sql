-- Texts that users gave to ranges; not those of the profiler's steps.
-- Parameters: none.
SELECT DISTINCT s.text
FROM annotation AS a
JOIN string AS s ON s.id = a.name_id
WHERE s.text NOT LIKE 'ProfilerStep#%'
ORDER BY s.text;
