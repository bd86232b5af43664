-- Events of each category: how many and how long in total.  Durations of
-- nested events overlap, so the sums of host categories count time twice.
-- Parameters: none.  Order: category, ph.
SELECT category, ph, count(*) AS event_count, sum(dur_ns) AS dur_ns
FROM event
GROUP BY category, ph
ORDER BY category, ph;
