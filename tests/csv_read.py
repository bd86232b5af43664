# SPDX-License-Identifier: MIT
"""Tables of FOLDER are those of a document.

usage: csv_read.py DOCUMENT.json FOLDER
"""
import csv
import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    doc = json.load(f)
tables = {name: rows for name, rows in doc["tables"].items()}
tables["figures"] = [{"key": k, "value": v} for k, v in doc["scalars"].items()]
assert sorted(os.listdir(sys.argv[2])) == sorted(n + ".csv" for n in tables)
for name, rows in tables.items():
    path = os.path.join(sys.argv[2], name + ".csv")
    with open(path, encoding="utf-8", newline="") as f:
        header, *got = csv.reader(f, strict=True)
    assert all(len(row) == len(header) for row in got), path
    assert len(got) == len(rows), path
    for want, row in zip(rows, got):
        assert list(want) == header, path
        for value, cell in zip(want.values(), row):
            if isinstance(value, (int, float)):
                assert float(cell) == value, (path, cell, value)
            else:
                assert cell == (value or ""), (path, cell, value)
try:
    import pandas
except ImportError:
    sys.exit(0)
for name, rows in tables.items():
    frame = pandas.read_csv(os.path.join(sys.argv[2], name + ".csv"))
    assert len(frame) == len(rows), name
