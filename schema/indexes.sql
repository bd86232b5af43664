-- Built last, when every row is in place.
CREATE INDEX annotation_by_start ON annotation(trace_id, start_ns);
CREATE UNIQUE INDEX block_by_track ON block(track_id, block_no);
CREATE INDEX gpu_event_wait ON gpu_event(trace_id, start_ns) WHERE kind = 11;
