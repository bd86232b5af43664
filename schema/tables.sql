-- The database of profan.  Every column is documented in schema/README.md.
-- Conventions: _ns = nanoseconds, _bytes = bytes; NULL = the input did not
-- say.  event id = track_id << 32 | seq.  A database whose tables were made in other
-- words is refused (store/db.c).

CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE trace (
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL,
	format TEXT NOT NULL,
	compression TEXT NOT NULL,
	file_bytes INTEGER,
	json_bytes INTEGER NOT NULL,
	base_ns INTEGER,
	rank INTEGER,
	world_size INTEGER,
	first_ns INTEGER,
	last_ns INTEGER,
	event_count INTEGER NOT NULL,
	stored_count INTEGER NOT NULL,
	metadata_count INTEGER NOT NULL,
	paired_count INTEGER NOT NULL,
	skipped_count INTEGER NOT NULL,
	xxh128 TEXT,
	worker TEXT,
	span INTEGER
) STRICT;

-- Files that ingest --keep-going left out; id: the trace that it would be.
CREATE TABLE unread (
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL,
	file_bytes INTEGER,
	rank INTEGER,
	why TEXT NOT NULL
) STRICT;

-- Every top-level key of the file but the event list, as JSON text.
CREATE TABLE trace_meta (
	trace_id INTEGER NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (trace_id, key)
) STRICT, WITHOUT ROWID;

-- Facts about the events that ingest counted on the way, such as how the
-- kernels' ids relate to their calls (schema/README.md lists the keys).
CREATE TABLE trace_fact (
	trace_id INTEGER NOT NULL,
	key TEXT NOT NULL,
	value INTEGER NOT NULL,
	PRIMARY KEY (trace_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE process (
	trace_id INTEGER NOT NULL,
	pid TEXT NOT NULL,
	name TEXT,
	labels TEXT,
	sort_index INTEGER,
	PRIMARY KEY (trace_id, pid)
) STRICT, WITHOUT ROWID;

CREATE TABLE track (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	class TEXT NOT NULL,
	pid TEXT NOT NULL,
	tid TEXT NOT NULL,
	name TEXT,
	sort_index INTEGER,
	event_count INTEGER NOT NULL,
	first_ns INTEGER,
	last_ns INTEGER
) STRICT;

-- From the start: averages look at the tracks of each trace while ingest writes
-- those of the next.
CREATE INDEX track_by_trace ON track(trace_id);

-- Metadata events (ph M) as they were; equal ones are one row.
CREATE TABLE metadata_event (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	file_order INTEGER NOT NULL,
	json TEXT NOT NULL,
	count INTEGER NOT NULL
) STRICT;

CREATE TABLE string (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL
) STRICT;

CREATE TABLE argset (
	id INTEGER PRIMARY KEY,
	mask INTEGER NOT NULL,
	text TEXT NOT NULL
) STRICT;

CREATE TABLE event_type (
	id INTEGER PRIMARY KEY,
	ph TEXT NOT NULL,
	category TEXT NOT NULL,
	kind INTEGER NOT NULL
) STRICT;

CREATE TABLE block (
	id INTEGER PRIMARY KEY,
	track_id INTEGER NOT NULL,
	block_no INTEGER NOT NULL,
	event_count INTEGER NOT NULL,
	first_start_ns INTEGER NOT NULL,
	last_start_ns INTEGER NOT NULL,
	max_end_ns INTEGER NOT NULL,
	names BLOB NOT NULL
) STRICT;

CREATE TABLE block_column (
	block_id INTEGER NOT NULL,
	column_id INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (block_id, column_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE gpu_event (
	id INTEGER PRIMARY KEY,
	event_id INTEGER NOT NULL,
	trace_id INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	name_id INTEGER NOT NULL,
	config_id INTEGER,
	correlation INTEGER,
	external_id INTEGER,
	launch_id INTEGER,
	op_id INTEGER,
	step INTEGER,
	bytes INTEGER
) STRICT;

-- What streams and events were waited for.  Few rows are of it: with them it
-- costs nothing, at the end all of gpu_event would be read again.
CREATE INDEX gpu_event_wait ON gpu_event(trace_id, start_ns) WHERE kind = 11;

CREATE TABLE gpu_config (
	id INTEGER PRIMARY KEY,
	device INTEGER,
	stream INTEGER,
	context INTEGER,
	grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
	block_x INTEGER, block_y INTEGER, block_z INTEGER,
	registers_per_thread INTEGER,
	shared_memory_bytes INTEGER,
	blocks_per_sm REAL,
	warps_per_sm REAL,
	occupancy_percent REAL,
	op_name TEXT
) STRICT;

CREATE TABLE annotation (
	id INTEGER PRIMARY KEY,
	event_id INTEGER NOT NULL,
	trace_id INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	name_id INTEGER NOT NULL
) STRICT;

CREATE TABLE step (
	trace_id INTEGER NOT NULL,
	step INTEGER NOT NULL,
	track_id INTEGER NOT NULL,
	event_id INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	gpu_count INTEGER NOT NULL,
	gpu_end_ns INTEGER,
	PRIMARY KEY (trace_id, start_ns, event_id)
) STRICT, WITHOUT ROWID;

-- GPU work that an operator of communication launched, in order of gpu_event.
-- rule: see events/gpu.h.
CREATE TABLE comm_event (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	event_id INTEGER NOT NULL,
	rule INTEGER NOT NULL,
	record_id INTEGER,
	record_args INTEGER,
	name_id INTEGER
) STRICT;

-- key_averages() of the whole trace under the rules recognised at ingest.
-- grouping: 0 none, 1 by input shape.
CREATE TABLE average (
	trace_id INTEGER NOT NULL,
	grouping INTEGER NOT NULL,
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	input_shapes TEXT NOT NULL,
	device_type TEXT NOT NULL,
	is_user_annotation INTEGER NOT NULL,
	is_async INTEGER NOT NULL,
	has_parent INTEGER NOT NULL,
	count INTEGER NOT NULL,
	self_cpu_ns INTEGER NOT NULL,
	cpu_total_ns INTEGER NOT NULL,
	self_device_ns INTEGER NOT NULL,
	device_total_ns INTEGER NOT NULL,
	self_cpu_us REAL NOT NULL,
	cpu_total_us REAL NOT NULL,
	self_device_us REAL NOT NULL,
	device_total_us REAL NOT NULL,
	self_cpu_mem_bytes INTEGER NOT NULL,
	cpu_mem_bytes INTEGER NOT NULL,
	self_device_mem_bytes INTEGER NOT NULL,
	device_mem_bytes INTEGER NOT NULL,
	flops INTEGER,
	PRIMARY KEY (trace_id, grouping, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE repair (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	is_skip INTEGER NOT NULL,
	count INTEGER NOT NULL,
	first_offset INTEGER
) STRICT;

-- Of memory snapshots: what the allocator of each GPU held when they were taken.
-- Addresses and streams are integers, and texts of digits from 2^63 on.
CREATE TABLE segment (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	device INTEGER NOT NULL,
	address ANY,
	total_bytes INTEGER NOT NULL,
	stream ANY,
	pool TEXT,
	is_expandable INTEGER,
	is_large INTEGER,
	stack_id INTEGER
) STRICT;

CREATE TABLE mem_block (
	id INTEGER PRIMARY KEY,
	segment_id INTEGER NOT NULL,
	address ANY,
	size_bytes INTEGER NOT NULL,
	requested_bytes INTEGER NOT NULL,
	state TEXT NOT NULL,
	stack_id INTEGER
) STRICT;

-- What was in a block before what it has or last had, of snapshots of torch 2.0.
CREATE TABLE mem_past (
	block_id INTEGER NOT NULL,
	size_bytes INTEGER NOT NULL,
	stack_id INTEGER
) STRICT;

-- Lines of programs, and call stacks as a tree with the root first.
CREATE TABLE stack_frame (
	id INTEGER PRIMARY KEY,
	file_id INTEGER NOT NULL,
	line INTEGER,
	name_id INTEGER NOT NULL
) STRICT;

CREATE TABLE stack (
	id INTEGER PRIMARY KEY,
	parent_id INTEGER,
	frame_id INTEGER NOT NULL
) STRICT;

CREATE TABLE mem_setting (
	trace_id INTEGER NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (trace_id, key)
) STRICT, WITHOUT ROWID;

-- What RAVE's training script writes: a row for each batch that it timed, or
-- whose memory it looked at, and its summary.
CREATE TABLE train_row (
	trace_id INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	step INTEGER NOT NULL,
	batch_idx INTEGER,
	batch_ns INTEGER,
	rate REAL,
	PRIMARY KEY (trace_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE train_memory (
	trace_id INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	step INTEGER NOT NULL,
	batch_idx INTEGER,
	cpu_percent REAL,
	allocated_bytes INTEGER,
	reserved_bytes INTEGER,
	PRIMARY KEY (trace_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE train_fact (
	trace_id INTEGER NOT NULL,
	key TEXT NOT NULL,
	value REAL NOT NULL,
	PRIMARY KEY (trace_id, key)
) STRICT, WITHOUT ROWID;

-- Stacks with a weight, as a file of them says (folded stacks).
CREATE TABLE sample (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	stack_id INTEGER NOT NULL,
	value INTEGER NOT NULL,
	unit TEXT
) STRICT;

-- What the history of a GPU has, and how it agrees with the final state.
CREATE TABLE mem_history (
	trace_id INTEGER NOT NULL,
	device INTEGER NOT NULL,
	entry_count INTEGER NOT NULL,
	timed_count INTEGER NOT NULL,
	before_bytes INTEGER NOT NULL,
	before_count INTEGER NOT NULL,
	early_count INTEGER NOT NULL,
	end_bytes INTEGER NOT NULL,
	in_use_bytes INTEGER NOT NULL,
	twice_count INTEGER NOT NULL,
	differ_count INTEGER NOT NULL,
	no_block_count INTEGER NOT NULL,
	late_count INTEGER NOT NULL,
	fits_reserved INTEGER NOT NULL,
	PRIMARY KEY (trace_id, device)
) STRICT, WITHOUT ROWID;
