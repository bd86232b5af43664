-- The plan of a merge: every rank of every input, and what labels ranks get.
-- part: the number of the input; part_rank: rank.id in it; db: absolute.
CREATE TABLE entry (
	part INTEGER NOT NULL,
	part_rank INTEGER NOT NULL,
	capture TEXT NOT NULL,
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
);

-- rank NULL: of all; ordinal: later ones win.
CREATE TABLE label (
	ordinal INTEGER PRIMARY KEY,
	rank INTEGER,
	key TEXT NOT NULL,
	value TEXT NOT NULL
);

CREATE INDEX entry_by_digest ON entry(capture, xxh128) WHERE error IS NULL;
