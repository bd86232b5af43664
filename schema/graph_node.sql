-- What `profan graphs --store` writes: the nodes of each launch of a graph.
-- Position counts the launch's GPU work by (start_ns, id) of gpu_event, from
-- 0; layer is null outside of layers; how: see profan(1), graphs.

CREATE TABLE graph_node (
	trace_id INTEGER NOT NULL,
	launch_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	role TEXT NOT NULL,
	layer INTEGER,
	part TEXT,
	op_name TEXT,
	module TEXT,
	how TEXT NOT NULL,
	PRIMARY KEY (launch_id, position)
) STRICT, WITHOUT ROWID;
