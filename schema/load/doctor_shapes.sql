-- Do arguments of operators name the shapes of their inputs: 1 or 0.
-- Parameters: none.  Order: one row.
SELECT EXISTS (SELECT 1 FROM argset
	WHERE instr(text, '"Input Dims"') OR instr(text, '"Input dims"'))
	AS has_shapes
ORDER BY has_shapes;
