-- Names of host ranges under which GPU work is communication, each with its
-- rule: 2 record_param_comms, 3 c10d::, 4 nccl:, 5 gloo:.  Parameters: none.
-- Order: id.
SELECT id, CASE
		WHEN text GLOB 'record_param_comms*' THEN 2
		WHEN text GLOB 'c10d::*' THEN 3
		WHEN text GLOB 'nccl:*' THEN 4
		ELSE 5
	END AS rule
FROM string
WHERE text GLOB 'record_param_comms*' OR text GLOB 'c10d::*'
	OR text GLOB 'nccl:*' OR text GLOB 'gloo:*'
ORDER BY id;
