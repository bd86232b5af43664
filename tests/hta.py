# SPDX-License-Identifier: MIT
"""Is the idle time of streams what HTA says?

usage: hta.py HTA.csv TRACE GAPS.json
"""
import csv
import json
import sys

path, trace, doc = sys.argv[1:]
streams = {row["stream"]: row
           for row in json.load(open(doc))["tables"]["streams"]}
figures = 0
for row in csv.DictReader(open(path)):
    if row["trace"] != trace:
        continue
    stream = streams[int(row["stream"])]
    got = stream[row["idle_category"] + "_ns"] / 1000
    # HTA keeps times as doubles: of times since 1970 it loses 0.25 us, and
    # with them which of two times that are nearly equal came first
    slack = 60 if trace == "v100_ns_resolution" else 0.02
    assert abs(got - float(row["idle_time"])) < slack, (row, got)
    figures += 1
print(figures, "figures")
