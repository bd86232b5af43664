-- One row: the text of a string.  Parameter 1: its id.
SELECT text
FROM string
WHERE id = ?1;
