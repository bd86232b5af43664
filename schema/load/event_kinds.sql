-- What kind of event each type is; whether it is of NVTX: a range that the
-- program names itself; and whether its begin and its end were written apart.
-- Parameters: none.  Order: id.
SELECT id, kind, category = 'nvtx' AS is_nvtx, ph = 'B' AS is_paired
FROM event_type
ORDER BY id;
