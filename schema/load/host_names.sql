-- Names of host events that the breakdown of steps knows: 1 a profiler step, 2
-- loading of data, 3 a call that waits for the GPU, 4 a call that launches GPU
-- work.  Parameters: none.  Order: id.
SELECT id, CASE
		WHEN text GLOB 'ProfilerStep#*' THEN 1
		WHEN text GLOB 'enumerate(Data*' OR text GLOB 'IteratorGetNext*'
			THEN 2
		WHEN text LIKE '%Synchronize%' THEN 3
		ELSE 4
	END AS class
FROM string
WHERE text GLOB 'ProfilerStep#*' OR text GLOB 'enumerate(DataLoader)#*'
	OR text GLOB 'enumerate(DataPipe)#*' OR text GLOB 'IteratorGetNext*'
	OR text GLOB '*DeviceSynchronize*' OR text GLOB '*CtxSynchronize*'
	OR text GLOB '*StreamSynchronize*' OR text GLOB '*EventSynchronize*'
	OR (text GLOB '*Launch*' AND text NOT GLOB '*HostFunc*')
	OR text GLOB '*Memcpy*' OR text GLOB '*Memset*'
ORDER BY id;
