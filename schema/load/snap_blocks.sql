-- Blocks of memory snapshots and the stream of their segment.
-- Parameters: none.  Order: mem_block.id.
SELECT g.trace_id, g.device, g.stream, b.state, b.size_bytes,
	b.requested_bytes, b.stack_id, b.id
FROM mem_block AS b JOIN segment AS g ON g.id = b.segment_id
ORDER BY b.id;
