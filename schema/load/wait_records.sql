-- Can it be known what streams waited for?  Whether there are records of such
-- waits, and whether the calls are ROCm's, which has none.  Parameters: none.
-- One row.
SELECT EXISTS (SELECT 1 FROM event_type WHERE kind = 11) AS has_records,
	EXISTS (SELECT 1 FROM string WHERE text GLOB 'hip[A-Z]*') AS is_rocm;
