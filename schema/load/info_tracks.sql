-- The tracks (threads, streams, counters) by class.  Parameters: none.
-- Order: class.
SELECT class, count(*) AS track_count, sum(event_count) AS event_count
FROM track
GROUP BY class
ORDER BY class;
