-- Texts that name a Python file with an absolute path.  Parameters: none.
SELECT text
FROM string
WHERE text LIKE '/%.py%'
ORDER BY id;
