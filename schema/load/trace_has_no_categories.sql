-- A row if a trace is of a format whose events have no categories, so that none
-- of them is unknown.  Parameter 1: trace.id.  Order: one row.
SELECT 1 AS has_no_categories
FROM trace
WHERE id = ?1 AND format IN ('xspace', 'tf-json')
ORDER BY id;
