-- Built last, when every row of an export is in place.
CREATE INDEX event_by_track ON event(track_id, start_ns);
CREATE INDEX event_by_name ON event(name_id);
CREATE INDEX arg_by_event ON arg(event_id);
CREATE INDEX annotation_by_start ON annotation(trace_id, start_ns);
