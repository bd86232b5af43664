-- Run once per file that could not be read with "ingest --keep-going": what
-- its format wrote while it was read.  ?1 = trace.id, ?2 and ?3 = the last
-- stack.id and stack_frame.id before it.

DELETE FROM mem_past
WHERE block_id IN (SELECT b.id FROM mem_block AS b
	JOIN segment AS s ON s.id = b.segment_id WHERE s.trace_id = ?1);
DELETE FROM mem_block
WHERE ?1 = (SELECT trace_id FROM segment AS s WHERE s.id = segment_id);
DELETE FROM segment WHERE trace_id = ?1;
DELETE FROM mem_setting WHERE trace_id = ?1;
DELETE FROM mem_history WHERE trace_id = ?1;
DELETE FROM train_row WHERE trace_id = ?1;
DELETE FROM train_memory WHERE trace_id = ?1;
DELETE FROM train_fact WHERE trace_id = ?1;
DELETE FROM sample WHERE trace_id = ?1;
DELETE FROM stack WHERE id > ?2;
DELETE FROM stack_frame WHERE id > ?3;
