-- The kinds of events that occur: phase and category.  Parameters: none.
-- Order: type_id.
SELECT id AS type_id, category, ph
FROM event_type
ORDER BY id;
