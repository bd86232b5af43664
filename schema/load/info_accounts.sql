-- Where the events of each file went (the first law: stored + paired +
-- metadata + skipped = events).  "paired" are end events that closed a begin
-- event; "lost" is what is not accounted for and must be 0; json_bytes is
-- the text that was read, decompressed.  Parameters: none.
-- Order: trace_id.
SELECT id AS trace_id, event_count, stored_count, paired_count,
	metadata_count, skipped_count,
	event_count - stored_count - paired_count - metadata_count
		- skipped_count AS lost_count, json_bytes
FROM trace
ORDER BY id;
