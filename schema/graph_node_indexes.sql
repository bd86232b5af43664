-- Of the file of `profan graphs --store`.
CREATE INDEX graph_node_op ON graph_node(op_name);
