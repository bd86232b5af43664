-- What kind of event each type is.  Parameters: none.  Order: id.
SELECT id, kind
FROM event_type
ORDER BY id;
