-- What an ingest brought, for the line at its end: events, GPUs with work
-- (captures of one process are of the same) and profiler steps.
-- Parameters: none.  One row.
SELECT (SELECT sum(event_count) FROM trace) AS events,
	(SELECT count(*) FROM (
		SELECT DISTINCT coalesce(t.worker, t.id), t.rank, c.device
		FROM gpu_event AS g
		JOIN trace AS t ON t.id = g.trace_id
		JOIN gpu_config AS c ON c.id = g.config_id
		WHERE c.device IS NOT NULL)) AS gpus,
	(SELECT count(*) FROM step) AS steps;
