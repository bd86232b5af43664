-- key_averages() by name over all ranks.  Parameters: none.
SELECT s.text AS name,
	CASE WHEN o.is_device THEN 'CUDA' ELSE 'CPU' END AS device_type,
	count(DISTINCT o.rank_id) AS rank_count, sum(o.calls) AS count,
	sum(o.self_cpu_ns) AS self_cpu_ns, sum(o.cpu_total_ns) AS cpu_total_ns,
	sum(o.self_device_ns) AS self_device_ns,
	sum(o.device_total_ns) AS device_total_ns,
	sum(o.self_cpu_mem_bytes) AS self_cpu_mem_bytes,
	sum(o.self_device_mem_bytes) AS self_device_mem_bytes,
	CASE WHEN count(o.flops) = count(*) THEN sum(o.flops) END AS flops
FROM op AS o
JOIN string AS s ON s.id = o.name_id
GROUP BY o.name_id, o.is_device
ORDER BY self_device_ns DESC, self_cpu_ns DESC, name, device_type;
