-- Arguments of operators whose first input is in double precision, by torch's names
-- of types.  Order: id.
SELECT id
FROM argset
WHERE instr(text, '"Input type":["double"')
ORDER BY id;
