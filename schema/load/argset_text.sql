-- One row: the arguments of an event as JSON text in which numbers that vary
-- are $a, $b, ...  Parameter 1: id of the arguments.
SELECT text
FROM argset
WHERE id = ?1;
