-- Each GPU of each rank: its time, and what that went to.  Parameters: none.
SELECT r.rank AS rank, c.name AS capture, d.device AS device,
	d.total_ns AS total_ns, d.busy_ns AS busy_ns, d.idle_ns AS idle_ns,
	d.computation_ns AS computation_ns,
	d.exposed_comm_ns AS exposed_comm_ns,
	d.exposed_copy_ns AS exposed_copy_ns,
	d.exposed_memset_ns AS exposed_memset_ns, d.comm_ns AS comm_ns,
	d.overlap_ns AS overlap_ns, d.event_count AS event_count
FROM device AS d
JOIN rank AS r ON r.id = d.rank_id
JOIN capture AS c ON c.id = r.capture_id
ORDER BY d.id;
