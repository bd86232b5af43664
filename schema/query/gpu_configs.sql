-- Device and stream of every launch configuration.  Parameters: none.
-- Order: id.
SELECT id, device, stream
FROM gpu_config
ORDER BY id;
