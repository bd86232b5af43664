-- What a training script says of itself.  Parameters: none.
-- Order: trace_id, key.
SELECT trace_id, key, value FROM train_fact ORDER BY trace_id, key;
