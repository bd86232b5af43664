-- All texts.  Parameters: none.  Order: id.
SELECT id, text
FROM string
ORDER BY id;
