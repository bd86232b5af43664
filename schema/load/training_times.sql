-- What the batches that a training script timed come to: the first apart, as
-- it holds what is done once; of the others the mean, and the times that half,
-- 90 % and 99 % of all are not above.  Parameters: none.  Order: trace_id.
WITH r AS (
	SELECT trace_id, batch_ns, ordinal,
		row_number() OVER (PARTITION BY trace_id ORDER BY batch_ns, ordinal)
			AS place,
		row_number() OVER (PARTITION BY trace_id ORDER BY ordinal) AS turn,
		count(*) OVER (PARTITION BY trace_id) AS n
	FROM train_row WHERE batch_ns IS NOT NULL)
SELECT trace_id, count(*) AS row_count,
	max(batch_ns) FILTER (WHERE turn = 1) AS first_ns,
	CAST(round(avg(batch_ns) FILTER (WHERE turn > 1)) AS INTEGER) AS mean_ns,
	max(batch_ns) FILTER (WHERE place = (n + 1) / 2) AS median_ns,
	max(batch_ns) FILTER (WHERE place = (9 * n + 9) / 10) AS p90_ns,
	max(batch_ns) FILTER (WHERE place = (99 * n + 99) / 100) AS p99_ns,
	max(batch_ns) AS longest_ns
FROM r GROUP BY trace_id ORDER BY trace_id;
