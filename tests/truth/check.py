#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare profan with what torch itself said (see capture.py); prints TAP.

usage: check.py PROFAN FOLDER...

A folder holds the files that capture.py wrote for one workload.  Tables are
compared byte for byte, averages value by value, and the release that profan
recognises must have the rules of the one that wrote the trace.  differences.txt
beside this file names what cannot be equal, and why:

    VERSION WORKLOAD CHECK REASON

where each of the first three may be a pattern of the shell and CHECK is ingest,
release, averages or tables.  What is named there must indeed differ, unless the
line begins with "~".
"""
import csv
import difflib
import fnmatch
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

GROUPINGS = {"none": [], "shape": ["--group-by-input-shape"],
             "overload": ["--group-by-overload-name"],
             "stack5": ["--group-by-stack", "5"]}

# First releases of a set of rules, as far as they show without a GPU; the
# one of 2.14 shows only with Python functions, that of 2.8 only with memory.
RULES = [(2, 3), (2, 4), (2, 6), (2, 12)]

# 2.11 writes just what 2.8 to 2.10 write, but its tables count memory at the
# borders of events exactly: profan must be told.
NOT_SEEN = [(2, 11)]


class Report:
    def __init__(self, known):
        self.known, self.count, self.failed = known, 0, 0

    def reason(self, version, workload, check):
        """Why it may differ, and whether it must."""
        for line in self.known:
            v, w, c, why = line.lstrip("~").split(None, 3)
            if all(map(fnmatch.fnmatchcase, (version, workload, check), (v, w, c))):
                return why, line[0] != "~"
        return None, False

    def result(self, version, workload, check, difference):
        self.count += 1
        name = f"{version} {workload}: {check}"
        why, must = self.reason(version, workload, check)
        if why and difference:
            name += f" differ: {why}"
        if bool(difference) == must or bool(difference) == bool(why):
            print(f"ok {self.count} - {name}")
            return
        self.failed += 1
        print(f"not ok {self.count} - {name}")
        for line in (difference or ["equal, against differences.txt"])[:40]:
            print("#", line.rstrip("\n"))


def run(*command):
    done = subprocess.run(command, capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def unified(want, got):
    return list(difflib.unified_diff(want, got, "torch", "profan", lineterm="", n=1))


def sections(path):
    """The tables of a file: pairs of options and text."""
    with gzip.open(path) as file:
        parts = re.split(rb"^### (.*)\n", file.read(), flags=re.M)
    return [(parts[i].decode().split(), parts[i + 1]) for i in range(1, len(parts), 2)]


def told(truth):
    release = tuple(map(int, truth["torch"].split(".")[:2]))
    return ["--torch", "%d.%d" % release] if release in NOT_SEEN else []


def check_tables(report, version, workload, folder, db, profan, more):
    difference = []
    for options, want in sections(os.path.join(folder, "tables.txt.gz")):
        code, got, err = run(profan, "table", db, *options, *more)
        if code or got != want:
            lines = [text.decode("utf-8", "replace").split("\n") for text in (want, got)]
            difference += [" ".join(options)] + unified(*lines) + ([err] if code else [])
    report.result(version, workload, "tables", difference)


def ns(text):
    return str(round(float(text) * 1000))


def torch_rows(folder):
    rows = {name: [] for name in GROUPINGS}
    with gzip.open(os.path.join(folder, "averages.csv.gz"), "rt", encoding="utf-8",
                   errors="surrogateescape", newline="") as file:
        for r in csv.DictReader(file):
            shape = r["input_shapes"] if r["grouping"] == "shape" else ""
            stack = json.loads(r["stack"]) if r["grouping"] == "stack5" else []
            rows[r["grouping"]].append([
                r["key"], shape, "\n".join(stack[:5]), r["device_type"],
                r["is_user_annotation"], r["count"],
                ns(r["self_cpu_time_total"]), ns(r["cpu_time_total"]),
                ns(r["self_device_time_total"]), ns(r["device_time_total"]),
                r["self_cpu_memory_usage"], r["cpu_memory_usage"],
                r["self_device_memory_usage"], r["device_memory_usage"], r["flops"]]
                + ([r["overload_name"]] if r["grouping"] == "overload" else []))
    return rows


def profan_rows(text, grouping):
    rows = list(csv.reader(text.decode("utf-8", "surrogateescape").splitlines(keepends=True)))[1:]
    for row in rows:
        if grouping != "shape":
            row[1] = ""
        if grouping != "stack5":
            row[2] = ""
    return rows


def check_averages(report, version, workload, folder, db, profan, more):
    difference = []
    for grouping, want in torch_rows(folder).items():
        if grouping == "overload" and not want:
            continue  # not asked of this workload
        code, out, err = run(profan, "table", db, "--format", "csv", *GROUPINGS[grouping], *more)
        got = [[err]] if code else profan_rows(out, grouping)
        for row in got if not want or want[0][4] == "" else []:
            row[4:5] = [""]  # not known before 2.5
        if got != want:
            difference += [grouping] + unified(*([" | ".join(row).replace("\n", "\\n") for row in rows]
                                                 for rows in (want, got)))
    report.result(version, workload, "averages", difference)


def rules_of(release, seen):
    first = RULES + ([(2, 14)] if b'"python_function"' in seen else []) \
        + ([(2, 8)] if b"[memory]" in seen else [])
    return max(start for start in [(0, 0)] + first if start <= release)


def check_recognised(report, version, workload, folder, truth, db, profan):
    _, out, _ = run(profan, "info", db)
    found = re.search(rb"rules of torch (\d+)\.(\d+)", out)
    found = tuple(map(int, found.groups())) if found else (0, 0)
    own = tuple(map(int, truth["torch"].split(".")[:2]))
    with gzip.open(os.path.join(folder, "trace.json.gz")) as file:
        seen = file.read()
    difference = None
    if rules_of(found, seen) != rules_of(own, seen):
        difference = [f"rules of {found}, not of {own}"]
    report.result(version, workload, "release", difference)


def check(report, profan, folder):
    version, workload = folder.rstrip("/").split("/")[-2:]
    with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    with tempfile.TemporaryDirectory() as scratch:
        db = os.path.join(scratch, "t.db")
        code, _, err = run(profan, "ingest", "-q", "-o", db, os.path.join(folder, "trace.json.gz"))
        report.result(version, workload, "ingest", [err] if code else None)
        if code:
            return
        check_recognised(report, version, workload, folder, truth, db, profan)
        check_averages(report, version, workload, folder, db, profan, told(truth))
        check_tables(report, version, workload, folder, db, profan, told(truth))


def main():
    known = []
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.txt")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = [line for line in file.read().splitlines() if line and line[0] != "#"]
    report = Report(known)
    for folder in sys.argv[2:]:
        check(report, sys.argv[1], folder)
    print(f"1..{report.count}")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
