# SPDX-License-Identifier: MIT
"""Is the idle time of streams what HTA says?  And are figures of ranks?

usage: hta.py HTA.csv TRACE GAPS.json
       hta.py --ranks HTA.csv PROFAN DB
"""
import csv
import json
import subprocess
import sys


def tables(profan, *args):
    text = subprocess.run([profan, *args, "-f", "json"], check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)


def figures_of(profan, db, rank):
    """What HTA's figures of a rank are called here, in its microseconds."""
    of = (db, "--rank", rank, "--whole-capture")
    device = tables(profan, "overlap", *of)["tables"]["devices"][0]
    streams = tables(profan, "gaps", *of, "--hta")["tables"]["streams"]
    kernels = tables(profan, "kernels", *of)["tables"]["kernels"]
    found = {(k, ""): device[k] / 1000
             for k in ("total_ns", "idle_ns", "computation_ns")}
    # all that is not computation: exposed communication and copies
    found["other_ns", ""] = (device["busy_ns"] -
                             device["computation_ns"]) / 1000
    found["overlap", ""] = 100 * device["overlap_ns"] / device["comm_ns"]
    for s in streams:
        for key in ("host_wait_ns", "kernel_wait_ns", "other_ns"):
            found[key, str(s["stream"])] = s[key] / 1000
    by_name = {}
    for k in kernels:
        by_name[k["name"]] = by_name.get(k["name"], 0) + k["total_ns"] / 1000
    found["kernel_count", ""] = len(by_name)
    found["kernels_ns", ""] = sum(by_name.values())
    found.update({("kernel_ns", name): us for name, us in by_name.items()})
    return found


def check_ranks(path, profan, db):
    found, count = {}, 0
    for row in csv.DictReader(open(path)):
        rank = row["rank"]
        if rank not in found:
            found[rank] = figures_of(profan, db, rank)
        got = found[rank][row["figure"], row["of"]]
        assert abs(got - float(row["value"])) < 0.00501, (row, got)
        count += 1
    print(count, "figures")


if sys.argv[1] == "--ranks":
    check_ranks(*sys.argv[2:])
    sys.exit()
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
