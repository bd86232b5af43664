-- Built last, when every row is in place.
CREATE INDEX rank_by_number ON rank(rank);
