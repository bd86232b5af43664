-- Does a call begin the capture of a graph: 1 or 0.
-- Parameters: none.  Order: one row.
SELECT EXISTS (SELECT 1 FROM string WHERE text GLOB '*StreamBeginCapture*')
	AS has_captures
ORDER BY has_captures;
