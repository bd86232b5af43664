-- Which profiler wrote the traces, for what can be said of its options: 0
-- PyTorch's (if any of them is), 1 profan's own agent (if all are), 3 memory
-- snapshots of PyTorch (if all are), 4 Nsight Systems (if all are), 5 rocprofv3
-- or rocmProfileData (if all are), 6 what stands beside traces (memory
-- timelines, folded stacks, rows of training scripts, logs of GPUs, if all are),
-- 2 another.  PyTorch's with calls of another device than CUDA's or HIP's: 7 XPU,
-- 8 MTIA, 9 HPU, 10 torch_npu, 11 a device that names itself.  12 PyTorch's
-- with calls of CUDA or HIP.  13 PyTorch's before Kineto (its processes have
-- these names and no numbers, its events no categories).
-- Parameters: none.  One row.
SELECT CASE
	WHEN EXISTS (SELECT 1 FROM trace)
		AND NOT EXISTS (SELECT 1 FROM trace WHERE format <> 'memsnap')
	THEN 3
	WHEN EXISTS (SELECT 1 FROM trace)
		AND NOT EXISTS (SELECT 1 FROM trace WHERE format <> 'pfr')
	THEN 1
	WHEN EXISTS (SELECT 1 FROM trace)
		AND NOT EXISTS (SELECT 1 FROM trace WHERE format <> 'nsys')
	THEN 4
	WHEN EXISTS (SELECT 1 FROM trace)
		AND NOT EXISTS (SELECT 1 FROM trace
			WHERE format NOT IN ('rocpd', 'rpd', 'rocprofv3'))
	THEN 5
	WHEN EXISTS (SELECT 1 FROM trace)
		AND NOT EXISTS (SELECT 1 FROM trace
			WHERE format NOT IN ('memtimeline', 'folded', 'rave',
				'smi', 'dmon', 'dcgmi'))
	THEN 6
	WHEN NOT EXISTS (SELECT 1 FROM trace WHERE format NOT IN ('xspace', 'tf-json'))
	THEN 2
	WHEN EXISTS (SELECT 1 FROM trace_meta WHERE key = 'schemaVersion')
		OR EXISTS (SELECT 1 FROM event_type WHERE category IN (
			'cpu_op', 'Operator', 'python_function', 'kernel',
			'Kernel', 'cuda_runtime', 'cuda_driver', 'Runtime'))
	THEN CASE
		WHEN EXISTS (SELECT 1 FROM event_type
			WHERE category GLOB 'cuda_*' OR category = 'Runtime')
		THEN 12
		WHEN EXISTS (SELECT 1 FROM event_type WHERE category GLOB 'xpu_*')
		THEN 7
		WHEN EXISTS (SELECT 1 FROM event_type WHERE category GLOB 'mtia_*')
		THEN 8
		WHEN EXISTS (SELECT 1 FROM event_type WHERE category GLOB 'hpu_*')
		THEN 9
		WHEN EXISTS (SELECT 1 FROM process
			WHERE name IN ('CANN', 'Ascend Hardware'))
		THEN 10
		WHEN EXISTS (SELECT 1 FROM event_type
			WHERE category GLOB 'privateuse1_*')
		THEN 11
		ELSE 0 END
	WHEN EXISTS (SELECT 1 FROM track
		WHERE pid IN ('CPU functions', 'CUDA functions'))
	THEN 13
	ELSE 2 END AS producer;
