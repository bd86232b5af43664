# SPDX-License-Identifier: MIT
"""What 'profan memory -f json' must say, worked out from the trace alone.

usage: memory.py TRACE ANSWER    differences on stdout, exit status 1
       memory.py plant KIND FILE  a trace whose steps keep memory, or not
"""
import json
import sys

from tracefile import load, ns

LABELS = ("ProfilerStep#", "Optimizer.step#", "Optimizer.zero_grad#",
          "enumerate(DataLoader)#", "enumerate(DataPipe)#")


def records_of(events):
    out = {}
    for order, e in enumerate(events):
        if e.get("name") != "[memory]" or e.get("ph") not in ("i", "I"):
            continue
        a = e["args"]
        device = (int(a["Device Type"]), int(a["Device Id"]))
        out.setdefault(device, []).append(
            (ns(e["ts"]), order, int(a["Bytes"]), a.get("Addr"),
             a.get("Total Allocated"), (str(e["pid"]), str(e["tid"]))))
    return {d: with_shared(d, sorted(r, key=lambda r: r[:2]))
            for d, r in out.items()}


def with_shared(device, rows):
    """On the CPU the records say it all: what is allocated is what they sum
    to, from what was there before and is freed.  (Totals lack tensors in
    shared memory, whose records have a total of 0.)"""
    if device[0] or not any(
            r[4] == 0 and before[4] is not None and before[4] + r[2]
            for before, r in zip(rows, rows[1:])):
        return rows
    alive, level = set(), 0
    for r in rows:
        if r[2] > 0:
            alive.add(r[3])
        elif r[3] not in alive:
            level -= r[2]
        else:
            alive.remove(r[3])
    out = []
    for r in rows:
        level += r[2]
        out.append(r[:4] + (level,) + r[5:])
    return out


def ops_of(events):
    """Ops of each thread as (start, -end, order, name), in nesting order."""
    out = {}
    for order, e in enumerate(events):
        if e.get("ph") != "X" or str(e.get("cat")).lower() not in (
                "cpu_op", "operator"):
            continue
        if str(e["name"]).startswith(LABELS):
            continue
        start = ns(e["ts"])
        out.setdefault((str(e["pid"]), str(e["tid"])), []).append(
            (start, -(start + ns(e["dur"])), order, e["name"]))
    return {t: sorted(o) for t, o in out.items()}


def attribute(records, ops):
    """Self and total sums of ops, by brute force over what is open."""
    threads = {}
    for device, rows in records.items():
        for r in rows:
            threads.setdefault(r[5], []).append((r[0], device, r[2]))
    sums = {}

    def add(device, name, what, n):
        s = sums.setdefault((device, name), [0] * 6)
        if n > 0:
            s[what] += 1
            s[what + 1] += n
        s[what + 2] += n

    for thread, rows in threads.items():
        nest, at, here = [], 0, ops.get(thread, [])
        for time, device, n in sorted(rows, key=lambda r: r[0]):
            while at < len(here) and here[at][0] <= time:
                nest.append(here[at])
                at += 1
            nest = [o for o in nest if -o[1] > time]
            add(device, nest[-1][3] if nest else None, 0, n)
            for name in {o[3] for o in nest} or {None}:
                add(device, name, 3, n)
    return sums


def follow(rows):
    """Peak, what is alive at it, and what is left, of one device."""
    level = 0 if rows[0][4] is None else rows[0][4] - rows[0][2]
    peak, peak_at = level, 0
    for i, r in enumerate(rows):
        level = level + r[2] if rows[0][4] is None else r[4]
        if level > peak:
            peak, peak_at = level, i + 1
    alive, at_peak = {}, {}
    for i, r in enumerate(rows):
        if i == peak_at:
            at_peak = dict(alive)
        if r[3] is None:
            continue
        alive.pop(r[3], None)
        if r[2] > 0:
            alive[r[3]] = r[2]
    if peak_at == len(rows):
        at_peak = dict(alive)
    return peak, sum(at_peak.values()), len(at_peak), sum(
        alive.values()), len(alive)


def steps_of(events):
    """Steps of the thread that has most of them, as (start, end)."""
    out = {}
    for e in events:
        if e.get("ph") == "X" and str(e["name"]).startswith("ProfilerStep#"):
            start = ns(e["ts"])
            out.setdefault((str(e["pid"]), str(e["tid"])), []).append(
                (start, start + ns(e["dur"])))
    return sorted(max(out.values(), key=len)) if out else []


def growth(rows, steps):
    """What the last steps add at least, and how many they are; or None."""
    level = 0 if rows[0][4] is None else rows[0][4] - rows[0][2]
    levels = [(r[0], r[4]) for r in rows]
    if rows[0][4] is None:
        levels, at = [], 0
        for r in rows:
            at += r[2]
            levels.append((r[0], at))

    def at(time):
        return ([level] + [n for t, n in levels if t < time])[-1]

    marks = [at(steps[0][0])] + [at(end) for _, end in steps] if steps else []
    added = [b - a for a, b in zip(marks, marks[1:])]
    last = next((n for n in range(len(added), 0, -1)
                 if min(added[-n:]) > 0 and
                 max(added[-n:]) <= 1.25 * min(added[-n:])), 0)
    if last < 3 or 2 * last < len(added) or min(added) < 0:
        return None, None
    return min(added[-last:]), last


def plant(kind, file):
    """Six steps in which an op allocates and frees, and another keeps."""
    events, levels = [], {}

    def memory(at, n, address, device=(0, -1)):
        level = levels[device] = levels.get(device, 0) + n
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t",
                       "name": "[memory]", "pid": 1, "tid": 1, "ts": at,
                       "args": {"Device Type": device[0],
                                "Device Id": device[1], "Bytes": n, "Addr": address,
                                "Total Allocated": level,
                                "Total Reserved": 0}})

    def op(at, name):
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1,
                       "tid": 1, "ts": at, "dur": 10, "args": {}})

    kept = []
    for i in range(6):
        at = 1000 + 100 * i
        events.append({"ph": "X", "cat": "user_annotation", "pid": 1,
                       "name": f"ProfilerStep#{i}", "tid": 1, "ts": at,
                       "dur": 100})
        op(at + 10, "aten::mm")
        memory(at + 11, 8192, 64)
        if i == 0:                       # what any program keeps
            op(at + 30, "aten::zeros_like")
            memory(at + 31, 65536, 128)
        n = {"warm-up": 0, "leak": 4096, "sawtooth": 4096, "small": 16,
             "others": 4096,
             "uneven": (4096, 4608)[i % 2],
             "noise": (4096, 512, 9000, 64, 5000, 700)[i]}[kind]
        if n:
            op(at + 50, "aten::mul")
            memory(at + 51, n, 4096 + 64 * i)
            kept.append((n, 4096 + 64 * i))
        if kind == "others":             # of which one keeps more
            for number, n in enumerate((2048, 8192, 1024)):
                memory(at + 52, n, 4096 + 64 * i, (1, number))
        if kind == "sawtooth" and len(kept) == 3:
            for k, (n, address) in enumerate(kept):
                memory(at + 70 + k, -n, address)
            kept = []
        memory(at + 90, -8192, 64)
    with open(file, "w") as f:
        json.dump({"schemaVersion": 1, "traceEvents": events}, f)


def main(trace, answer):
    _, events = load(trace)
    records = records_of(events)
    with open(answer) as f:
        tables = json.load(f)["tables"]
    bad = []

    def check(what, want, got):
        if want != got:
            bad.append(f"{what}: {want} expected, {got} found")

    steps = steps_of(events)
    key = lambda r: (r["device_type"],
                     -1 if r["device_number"] is None else r["device_number"])
    check("devices", sorted(records), sorted(map(key, tables["devices"])))
    for row in tables["devices"]:
        device, rows = key(row), records[key(row)]
        peak, alive, blocks, kept, kept_count = follow(rows)
        has_total, has_address = rows[0][4] is not None, rows[0][3] is not None
        check(f"{device} peak", peak if has_total else None,
              row["peak_bytes"])
        if has_address:
            check(f"{device} alive", (alive, blocks),
                  (row["alive_bytes"], row["alive_count"]))
            check(f"{device} kept", (kept, kept_count),
                  (row["kept_bytes"], row["kept_count"]))
            check(f"{device} rows of alive", peak if has_total else alive,
                  sum(r["bytes"] for r in tables["alive"]
                      if key(r) == device))
            check(f"{device} rows of kept", kept,
                  sum(r["bytes"] for r in tables["kept"]
                      if key(r) == device))
        if all("GPU" not in str(e.get("cat")).upper() and
               e.get("cat") != "kernel" for e in events):
            # else a last step that is cut off counts for nothing
            check(f"{device} growth", growth(rows, steps),
                  (row["step_growth_bytes"], row["growing_steps"]))
        check(f"{device} allocated", sum(r[2] for r in rows if r[2] > 0),
              row["allocated_bytes"])
        check(f"{device} freed", -sum(r[2] for r in rows if r[2] < 0),
              row["freed_bytes"])
        if has_total:
            curve = [r for r in tables["curve"] if key(r) == device]
            check(f"{device} curve's peak", peak,
                  max(r["high_bytes"] for r in curve))
            check(f"{device} curve's end", rows[-1][4],
                  curve[-1]["last_bytes"])
    want = attribute(records, ops_of(events))
    got = {(key(r), r["op"] if r["op"] != "(outside of ops)" else None):
           [r["self_allocation_count"], r["self_allocated_bytes"],
            r["self_increase_bytes"], r["allocation_count"],
            r["allocated_bytes"], r["increase_bytes"]]
           for r in tables["ops"]}
    check("ops", sorted(map(str, want)), sorted(map(str, got)))
    for k in want:
        check(f"op {k}", want[k], got.get(k))
    for line in bad[:20]:
        print(line)
    return 1 if bad else 0


if sys.argv[1] == "plant":
    plant(*sys.argv[2:])
else:
    sys.exit(main(*sys.argv[1:]))
