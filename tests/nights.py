# SPDX-License-Identifier: MIT
"""Nights of one job in a fleet, and what 'profan trend' says of them.

usage: nights.py plant BASE.db OUT.db SEED NIGHTS AT PART
           OUT: copies of the rank of BASE, a night each; from night AT on
           the longer 35 of 72 kernels and the steps are PART longer (AT -1: none)
       nights.py check TREND.json NIGHTS.json
           the night is named, all that changed is found, nothing else
"""
import datetime
import json
import random
import shutil
import sqlite3
import sys

CHANGED, ALL = 35, 72


def plant(base, out, seed, nights, at, part):
    rnd = random.Random(int(seed))
    nights, at, part = int(nights), int(at), float(part)
    shutil.copy(base, out)
    db = sqlite3.connect(out)
    columns = [r[1] for r in db.execute("PRAGMA table_info(rank)")]
    rank = dict(zip(columns, db.execute("SELECT * FROM rank").fetchone()))
    step = db.execute("SELECT * FROM step WHERE is_partial = 0").fetchone()
    names = [r[1] for r in db.execute("PRAGMA table_info(step)")]
    for t in ("rank", "step", "kernel", "capture"):
        db.execute("DELETE FROM " + t)
    first = db.execute("SELECT max(id) FROM string").fetchone()[0] + 1
    for k in range(ALL):
        db.execute("INSERT INTO string VALUES(?, ?)",
                   (first + k, "void k%02d<float, 4>(int)" % k))
    start = datetime.datetime(2026, 9, 1, 2, tzinfo=datetime.timezone.utc)
    said = []
    for n in range(nights):
        # ids in another order than time, as names of captures give them
        i = n * 7 % nights + 1 if nights % 7 else n + 1
        when = start + datetime.timedelta(days=n)
        db.execute("INSERT INTO capture VALUES(?, ?, ?)",
                   (i, "night %d" % n, int(when.timestamp()) * 10**9))
        row = dict(rank, id=i, capture_id=i, xxh128="%032x" % n,
                   labels=json.dumps({"commit": "c%04d" % n, "n": str(n % 2)}))
        db.execute("INSERT INTO rank VALUES(%s)" % ",".join("?" * len(row)),
                   [row[c] for c in columns])
        whole = 0
        for k in range(ALL):
            calls = 20 + k
            mean = (1000 + 137 * k) * (1 + rnd.gauss(0, 0.003))
            if 0 <= at <= n and k >= ALL - CHANGED:
                mean *= 1 + part
            total = round(mean * calls)
            whole += total
            db.execute("INSERT INTO kernel VALUES(?,?,?,NULL,NULL,?,?,?,?,?,0)",
                       (i << 24 | k, i, first + k, calls, total,
                        int(mean), int(mean), int(mean) + 1))
        rest = round(2000000 * (1 + rnd.gauss(0, 0.003)))
        one = dict(zip(names, step), id=i << 24, rank_id=i)
        for c in names:
            if c.endswith("_ns"):
                one[c] = 0
        one.update(kernel_ns=whole, busy_ns=whole, cpu_ns=rest,
                   dur_ns=whole + rest)
        db.execute("INSERT INTO step VALUES(%s)" % ",".join("?" * len(one)),
                   [one[c] for c in names])
        said.append({"taken": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                     "commit": "c%04d" % n, "capture": "night %d" % n,
                     "step_ns": whole + rest, "kernel_ns": whole})
    db.commit()
    db.close()
    json.dump({"nights": said, "at": at, "part": part},
              open(out + ".json", "w"))


def check(path, truth_path):
    doc, truth = json.load(open(path)), json.load(open(truth_path))
    bad, at = [], truth["at"]
    rows = doc["tables"]["trend"]
    for got, want in zip(rows, truth["nights"]):
        for key, value in want.items():
            if got[key] != value:
                bad.append("%s: %s, not %s" % (key, got[key], value))
    if len(rows) != len(truth["nights"]):
        bad.append("%d nights" % len(rows))
    changes = doc["tables"]["changes"]
    kernels = {c["name"]: c for c in changes if c["of"] == "kernel"}
    steps = {c["name"]: c for c in changes if c["of"] == "step"}
    want = {"void k%02d<float, 4>(int)" % k for k in range(ALL - CHANGED, ALL)}
    if at < 0:
        want = set()
        if doc["scalars"]["finding"].split()[:3] != ["No", "change", "in"]:
            bad.append(doc["scalars"]["finding"])
    if set(kernels) - want:
        bad.append("not changed: %s" % sorted(set(kernels) - want))
    if want - set(kernels):
        bad.append("not found: %s" % sorted(want - set(kernels)))
    if set(steps) != ({"step_time", "kernel", "gpu_busy"} if want else set()):
        bad.append("of steps: %s" % sorted(steps))
    for c in list(steps.values()) + list(kernels.values()):
        # three standard errors of a night's 0.3 % are 0.25 %
        if c["of"] == "kernel" and abs(c["change"] - truth["part"]) > 0.004:
            bad.append("%s: %s" % (c["name"], c["change"]))
        night = truth["nights"][at]
        if c["of"] == "step" and (c["taken"], c["commit"], c["capture"]) != (
                night["taken"], night["commit"], night["capture"]):
            bad.append("%s since %s" % (c["name"], c["capture"]))
        if not c["shift_low"] <= c["shift"] <= c["shift_high"]:
            bad.append("%s: interval" % c["name"])
    near = sum(c["capture"] == "night %d" % at for c in kernels.values())
    if near < 0.8 * len(want):
        bad.append("%d of %d kernels since that night" % (near, len(want)))
    if want and not doc["scalars"]["finding"].startswith(
            "Since %s (night %d, commit c%04d): step +" % (
                truth["nights"][at]["taken"][:10], at, at)):
        bad.append(doc["scalars"]["finding"])
    print("\n".join(bad))
    sys.exit(bool(bad))


if __name__ == "__main__":
    {"plant": plant, "check": check}[sys.argv[1]](*sys.argv[2:])
