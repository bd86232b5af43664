-- One row: the shapes of the inputs in the arguments of an operator.
-- Parameter 1: id of the arguments.
SELECT substr(rest, 1, instr(rest || ',"', ',"') - 1) AS shapes
FROM (SELECT substr(text, instr(text, '"Input Dims":') + 13) AS rest
	FROM argset
	WHERE id = ?1 AND instr(text, '"Input Dims":') > 0);
