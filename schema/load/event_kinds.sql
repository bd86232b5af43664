-- What kind of event each type is, and whether it is of NVTX: a range that the
-- program names itself.  Parameters: none.  Order: id.
SELECT id, kind, category = 'nvtx' AS is_nvtx
FROM event_type
ORDER BY id;
