# SPDX-License-Identifier: MIT
"""path.py JSON [NAME FOLDER]: what `profan path` prints adds up,
and equals figures that were worked out without profan."""
import collections
import csv
import json
import sys

OTHER = {"communication": "comm", "inferred wait": "inferred",
         "no launch record": "before"}


def golden(folder, table, name):
    with open(f"{folder}/path_{table}.csv", newline="") as f:
        return [r for r in csv.DictReader(f) if r["trace"] == name]


def check_sums(doc):
    scalars, tables = doc["scalars"], doc["tables"]
    window = scalars["window_ns"]
    assert scalars["replay_ns"] == 0, scalars["replay_ns"]
    for table in "categories", "rows", "tiles":
        if table in tables:
            total = sum(r["ns"] for r in tables[table])
            assert total == window, (table, total, window)
    parts = ("host_ns", "gpu_ns", "between_ns", "unexplained_ns")
    assert sum(scalars[k] for k in parts) == window, scalars
    at = scalars["start_ns"]
    for t in tables.get("tiles", []):
        assert t["start_ns"] == at and t["ns"] > 0, (t, at)
        at += t["ns"]
    if "tiles" in tables:
        assert at == scalars["start_ns"] + window


def check_golden(doc, name, folder):
    scalars, tiles = doc["scalars"], doc["tables"]["tiles"]
    window = golden(folder, "window", name)
    if not window:
        return False
    window = window[0]
    pairs = [("T_ns", "window_ns"), ("works", "work_count"),
             ("launch_floor_ns", "launch_floor_ns"),
             ("gap_floor_ns", "gap_floor_ns"),
             ("queue_length", "queue_length"),
             ("blocking_waits", "return_count"),
             ("handoffs_on_path", "handoff_count")]
    for theirs, ours in pairs:
        want = int(window[theirs]) if window[theirs] else None
        assert scalars[ours] == want, (ours, scalars[ours], want)
    kinds, names = collections.Counter(), collections.Counter()
    for t in tiles:
        kind = OTHER.get(t["kind"], t["kind"])
        kinds[kind] += t["ns"]
        names[kind, t["name"] or ""] += t["ns"]
    want = {r["category"]: int(r["ns"])
            for r in golden(folder, "categories", name)}
    assert dict(kinds) == want, {k: (kinds.get(k), want.get(k))
                                 for k in kinds | want
                                 if kinds.get(k) != want.get(k)}
    for r in golden(folder, "top", name):
        if "): " in r["name"]:
            continue  # lines are written in another way
        got = names[r["category"], r["name"]]
        assert got == int(r["ns"]), (r, got)
    return True


def main():
    doc = json.load(open(sys.argv[1]))
    check_sums(doc)
    done = len(sys.argv) > 3 and check_golden(doc, *sys.argv[2:])
    print("equal to the golden path" if done else "adds up")


if __name__ == "__main__":
    main()
