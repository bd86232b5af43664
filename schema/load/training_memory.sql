-- Memory as a training script saw it.  Parameters: none.
-- Order: trace_id, ordinal.
SELECT trace_id, ordinal, step, batch_idx, allocated_bytes, reserved_bytes,
	reserved_bytes - allocated_bytes AS slack_bytes,
	cpu_percent AS host_percent
FROM train_memory ORDER BY trace_id, ordinal;
