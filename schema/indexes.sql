-- Built last, when every row is in place.
CREATE INDEX annotation_by_start ON annotation(trace_id, start_ns);
CREATE UNIQUE INDEX block_by_track ON block(track_id, block_no);
