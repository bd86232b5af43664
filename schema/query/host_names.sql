-- Names of host ranges that the breakdown of steps knows: whether each is one
-- of loading data (else it is a profiler step).  Parameters: none.
-- Order: id.
SELECT id, text GLOB 'enumerate(Data*' AS is_data
FROM string
WHERE text GLOB 'ProfilerStep#*' OR text GLOB 'enumerate(DataLoader)#*'
	OR text GLOB 'enumerate(DataPipe)#*'
ORDER BY id;
