-- The fleet database of "profan merge": a summary of each rank, no events.
-- Conventions: _ns = nanoseconds, _bytes = bytes; NULL = not known; columns
-- that end in _id hold string.id, but for rank_id and capture_id.  What is of
-- one rank lies together: id = rank_id << 24 | number of the row in the rank.
-- Ranks are in the order of capture, rank and digest, strings in that of their
-- first use, so that the same ranks give the same bytes.

CREATE TABLE string (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL
) STRICT;

-- taken_ns: when the first event of its ranks began, UTC, where traces say it.
CREATE TABLE capture (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	taken_ns INTEGER
) STRICT;

-- Of each trace that was merged, also of one that could not be read (error).
-- db: the database of the rank, as seen from the folder of this one; labels:
-- a JSON object; xxh128: of the file of the trace; made_by: the program that
-- wrote the summary.
CREATE TABLE rank (
	id INTEGER PRIMARY KEY,
	capture_id INTEGER NOT NULL,
	rank INTEGER,
	world_size INTEGER,
	labels TEXT,
	error TEXT,
	path TEXT NOT NULL,
	db TEXT,
	xxh128 TEXT,
	format TEXT,
	file_bytes INTEGER,
	json_bytes INTEGER,
	base_ns INTEGER,
	first_ns INTEGER,
	last_ns INTEGER,
	event_count INTEGER,
	stored_count INTEGER,
	metadata_count INTEGER,
	paired_count INTEGER,
	skipped_count INTEGER,
	made_by TEXT NOT NULL
) STRICT;

-- "profan steps": step NULL: the trace has no steps, and is one.
CREATE TABLE step (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	step INTEGER,
	is_partial INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	kernel_ns INTEGER NOT NULL,
	copy_ns INTEGER NOT NULL,
	memset_ns INTEGER NOT NULL,
	comm_ns INTEGER NOT NULL,
	runtime_ns INTEGER NOT NULL,
	data_ns INTEGER NOT NULL,
	cpu_ns INTEGER NOT NULL,
	other_ns INTEGER NOT NULL,
	busy_ns INTEGER NOT NULL,
	kernel_count INTEGER NOT NULL,
	copy_count INTEGER NOT NULL,
	memset_count INTEGER NOT NULL,
	launch_count INTEGER NOT NULL,
	sync_count INTEGER NOT NULL
) STRICT;

-- "profan kernels".
CREATE TABLE kernel (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	name_id INTEGER NOT NULL,
	class_id INTEGER,
	precision_id INTEGER,
	calls INTEGER NOT NULL,
	total_ns INTEGER NOT NULL,
	min_ns INTEGER NOT NULL,
	median_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	sd_ns REAL
) STRICT;

-- "profan table": key_averages() in the order of torch's list.
CREATE TABLE op (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	name_id INTEGER NOT NULL,
	is_device INTEGER NOT NULL,
	is_user_annotation INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	self_cpu_ns INTEGER NOT NULL,
	cpu_total_ns INTEGER NOT NULL,
	self_device_ns INTEGER NOT NULL,
	device_total_ns INTEGER NOT NULL,
	self_cpu_mem_bytes INTEGER NOT NULL,
	cpu_mem_bytes INTEGER NOT NULL,
	self_device_mem_bytes INTEGER NOT NULL,
	device_mem_bytes INTEGER NOT NULL,
	flops INTEGER
) STRICT;

-- "profan gaps": idle time by cause, and the 64 largest places of it.
CREATE TABLE idle (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	cause_id INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	gap_count INTEGER NOT NULL,
	longest_ns INTEGER NOT NULL,
	recoverable_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE idle_site (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	cause_id INTEGER NOT NULL,
	name_id INTEGER,
	op_id INTEGER,
	frame_id INTEGER,
	ns INTEGER NOT NULL,
	gap_count INTEGER NOT NULL,
	longest_ns INTEGER NOT NULL
) STRICT;

-- "profan overlap": devices and collectives.
CREATE TABLE device (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	device INTEGER,
	total_ns INTEGER NOT NULL,
	busy_ns INTEGER NOT NULL,
	idle_ns INTEGER NOT NULL,
	computation_ns INTEGER NOT NULL,
	exposed_comm_ns INTEGER NOT NULL,
	exposed_copy_ns INTEGER NOT NULL,
	exposed_memset_ns INTEGER NOT NULL,
	comm_ns INTEGER NOT NULL,
	copy_ns INTEGER NOT NULL,
	memset_ns INTEGER NOT NULL,
	overlap_ns INTEGER NOT NULL,
	event_count INTEGER NOT NULL
) STRICT;

CREATE TABLE collective (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	collective_id INTEGER,
	group_id INTEGER,
	description_id INTEGER,
	dtype_id INTEGER,
	group_size INTEGER,
	calls INTEGER NOT NULL,
	total_ns INTEGER NOT NULL,
	min_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	message_count INTEGER NOT NULL,
	in_bytes INTEGER,
	out_bytes INTEGER
) STRICT;

-- "profan doctor": checks that found something.
CREATE TABLE finding (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	check_id INTEGER NOT NULL,
	verdict_id INTEGER NOT NULL,
	count INTEGER NOT NULL,
	gpu_ns INTEGER
) STRICT;

-- "profan memory".
CREATE TABLE memory (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	is_absolute INTEGER NOT NULL,
	peak_bytes INTEGER,
	capacity_bytes INTEGER,
	peak_reserved_bytes INTEGER,
	unused_bytes INTEGER,
	allocation_count INTEGER,
	allocated_bytes INTEGER,
	freed_count INTEGER,
	freed_bytes INTEGER,
	kept_count INTEGER,
	kept_bytes INTEGER,
	oom_count INTEGER
) STRICT;

-- "profan ranks": what is compared of a rank, its collectives, sends and
-- receives, and the work between them (src/analysis/ranks/digest.h), as a zstd frame.
CREATE TABLE digest (
	id INTEGER PRIMARY KEY,
	rank_id INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT;
