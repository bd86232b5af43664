-- The batches that a training script timed, and what its rate counts.
-- Parameters: none.  Order: trace_id, ordinal.
SELECT trace_id, ordinal, step, batch_idx, batch_ns, rate,
	rate * batch_ns / 1e9 AS implied_count
FROM train_row ORDER BY trace_id, ordinal;
