-- What `profan export --rows` adds to the row tables of tables.sql in place
-- of the column blocks: the virtual tables event and arg as plain ones.

DROP TABLE block_column;
DROP TABLE block;
DROP TABLE argset;
DROP TABLE event_type;

CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	trace_id INTEGER NOT NULL,
	track_id INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	ph TEXT,
	category TEXT,
	kind INTEGER,
	name TEXT,
	name_id INTEGER,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	parent_id INTEGER,
	external_id INTEGER,
	correlation INTEGER,
	args TEXT,
	flow_id INTEGER,
	file_order INTEGER NOT NULL
) STRICT;

CREATE TABLE arg (
	event_id INTEGER NOT NULL,
	key TEXT NOT NULL,
	value ANY,
	type TEXT NOT NULL
) STRICT;
