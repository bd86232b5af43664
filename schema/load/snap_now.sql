-- What the allocator of each GPU held when a memory snapshot was taken.  Free
-- are blocks that are inactive; a segment all of which is free is given back by
-- empty_cache(), a free block in another one is split.  Fragmentation as
-- memory_viz has it: the sum of squares of free blocks over that of reserved.
-- Parameters: none.  Order: trace_id, device.
WITH free AS (
	SELECT segment_id, count(*) AS blocks,
		sum(state = 'inactive') AS free_count,
		sum(CASE WHEN state = 'inactive' THEN size_bytes ELSE 0 END)
			AS free_bytes,
		max(CASE WHEN state = 'inactive' THEN size_bytes ELSE 0 END)
			AS largest,
		sum(CASE WHEN state = 'inactive'
			THEN 1.0 * size_bytes * size_bytes ELSE 0 END) AS squares,
		sum(CASE WHEN state = 'active_allocated'
			THEN requested_bytes ELSE 0 END) AS in_use,
		sum(CASE WHEN state <> 'inactive' THEN requested_bytes ELSE 0 END)
			AS requested,
		sum(CASE WHEN state <> 'inactive'
			THEN size_bytes - requested_bytes ELSE 0 END) AS rounding
	FROM mem_block
	GROUP BY segment_id
)
SELECT g.trace_id, g.device,
	count(*) AS segment_count,
	coalesce(sum(g.is_large = 1), 0) AS large_count,
	coalesce(sum(g.is_large = 0), 0) AS small_count,
	coalesce(sum(g.is_expandable = 1), 0) AS expandable_count,
	sum(g.total_bytes) AS reserved_bytes,
	coalesce(sum(f.in_use), 0) AS allocated_bytes,
	coalesce(sum(f.requested), 0) AS active_bytes,
	coalesce(sum(f.rounding), 0) AS rounding_bytes,
	coalesce(sum(f.free_count), 0) AS free_count,
	coalesce(sum(f.free_bytes), 0) AS free_bytes,
	coalesce(sum(f.free_bytes = g.total_bytes), 0) AS whole_count,
	coalesce(sum(CASE WHEN f.free_bytes = g.total_bytes
		THEN g.total_bytes END), 0) AS whole_bytes,
	coalesce(sum(CASE WHEN f.blocks > 1 THEN f.free_count END), 0)
		AS split_count,
	coalesce(sum(CASE WHEN f.blocks > 1 THEN f.free_bytes END), 0)
		AS split_bytes,
	coalesce(max(CASE WHEN f.blocks > 1 THEN f.largest END), 0)
		AS split_largest_bytes,
	coalesce(max(f.largest), 0) AS largest_bytes,
	1.0 * coalesce(sum(f.free_bytes), 0) / nullif(sum(g.total_bytes), 0)
		AS free_share,
	1.0 - 1.0 * max(f.largest) / nullif(sum(f.free_bytes), 0)
		AS external_share,
	coalesce(sum(f.squares), 0)
		/ nullif(1.0 * sum(g.total_bytes) * sum(g.total_bytes), 0)
		AS viz_share
FROM segment AS g
LEFT JOIN free AS f ON f.segment_id = g.id
GROUP BY g.trace_id, g.device
ORDER BY g.trace_id, g.device;
