# SPDX-License-Identifier: MIT
# The definitions of schema/query against the commands: python3 laws_sql.py
# PROFAN QUERIES DB...  Prints what differs, a line each.
import collections
import json
import os
import subprocess
import sys

PROFAN, QUERIES = sys.argv[1:3]


def document(db, command, *options):
    run = subprocess.run([PROFAN, command, db, *options, "--format", "json"],
                         capture_output=True, check=True)
    return json.loads(run.stdout)


def rows_of(db, statement):
    return list(document(db, "query", statement)["tables"].values())[0]


def law(db, name):
    with open(os.path.join(QUERIES, name + ".sql")) as f:
        return rows_of(db, f.read())


def keyed(rows, key, *values):
    """{key: values} of rows; names of columns may be tuples of both sides"""
    return {tuple(r[k] for k in key): tuple(r[v] for v in values)
            for r in rows}


def check(db, what, want, got):
    for key in sorted(set(want) | set(got), key=repr):
        if want.get(key) != got.get(key):
            print(f"{os.path.basename(db)}: {what} {key}: SQL "
                  f"{want.get(key)}, command {got.get(key)}")


def check_devices(db):
    key = ("trace_id", "device")
    overlap = document(db, "overlap")["tables"]["devices"]
    gaps = document(db, "gaps")["tables"]
    # a GPU whose work is all outside of the span has no row in SQL
    overlap = [d for d in overlap if d["busy_ns"] or d["event_count"]]
    used = [d for d in gaps["devices"] if d["event_count"]]
    busy = keyed(law(db, "busy"), key, "busy_ns")
    figures = ("computation_ns", "comm_ns", "overlap_ns", "exposed_comm_ns",
               "exposed_copy_ns", "exposed_memset_ns")
    check(db, "busy", busy, keyed(overlap, key, "busy_ns"))
    check(db, "busy", busy, keyed(used, key, "busy_ns"))
    check(db, "overlap", keyed(law(db, "comm_overlap"), key, *figures),
          keyed(overlap, key, *figures))
    idle = law(db, "idle_gaps")
    check(db, "idle", keyed(idle, key, "gap_count", "idle_ns"),
          keyed(used, key, "gap_count", "idle_ns"))
    if gaps["gaps"] and len(used) == len(gaps["devices"]):
        check(db, "longest gap", {(): max(d["longest_ns"] for d in idle)},
              {(): max(g["ns"] for g in gaps["gaps"])})


def check_steps(db):
    doc = document(db, "steps")["tables"]
    check(db, "copies by direction",
          keyed(law(db, "copies_by_direction"), ("direction",), "copy_count",
                "total_ns", "bytes"),
          sums(doc["copies"], "direction", "count", "total_ns", "bytes"))
    key = ("trace_id", "step", "start_ns")
    classes = ("dur_ns", "kernel_ns", "copy_ns", "memset_ns", "comm_ns")
    # what nobody recorded is null, and no row of it is there to be added up
    steps = [{k: 0 if v is None and k in classes else v for k, v in s.items()}
             for s in doc["steps"]
             if s["step"] is not None and not s["is_partial"]]
    check(db, "classes of steps",
          keyed(law(db, "step_classes"), key, *classes),
          keyed(steps, key, *classes))


def sums(rows, key, *values):
    out = {}
    for r in rows:
        old = out.get((r[key],), (None,) * len(values))
        out[(r[key],)] = tuple(
            r[v] if o is None else o if r[v] is None else o + r[v]
            for o, v in zip(old, values))
    return out


def check_calls(db):
    kernels = document(db, "kernels", "--limit", "-1")["tables"]["kernels"]
    # a name has two rows if only some of its kernels are communication
    names = collections.Counter(k["name"] for k in kernels)
    sums = collections.defaultdict(lambda: [0, 0])
    for k in kernels:
        sums[k["name"]][0] += k["calls"]
        sums[k["name"]][1] += k["total_ns"]
    stated = law(db, "kernels_by_name")
    check(db, "kernels", {(k["name"],): [k["kernel_count"], k["total_ns"]]
                          for k in stated},
          {(name,): both for name, both in sums.items()})
    check(db, "kernels of one kind",
          keyed([k for k in stated if names[k["name"]] == 1], ("name",),
                "kernel_count", "total_ns", "median_ns", "min_ns", "max_ns"),
          keyed([k for k in kernels if names[k["name"]] == 1], ("name",),
                "calls", "total_ns", "median_ns", "min_ns", "max_ns"))
    launches = document(db, "launches", "--limit", "-1")
    check(db, "launch delay",
          keyed(law(db, "launch_delay"), ("call",), "launch_count",
                "median_ns", "max_ns"),
          keyed(launches["tables"]["calls"], ("call",), "count",
                "median_delay_ns", "max_delay_ns"))
    without = law(db, "launched_before")
    check(db, "without a launch call",
          {(): sum(t["before_count"] + t["migrated_count"] + t["no_call_count"]
                   for t in without)},
          {(): launches["scalars"]["orphan_count"]})
    checks = {c["check"]: c for c in document(db, "doctor")["tables"]["checks"]}
    for column, name in (("before", "launched before capture"),
                         ("migrated", "unified memory"),
                         ("no_call", "no launch call")):
        check(db, name, {(): (sum(t[column + "_count"] for t in without),
                              sum(t[column + "_ns"] for t in without))},
              {(): (checks[name]["count"], checks[name]["gpu_ns"] or 0)})


def check_syncs(db):
    sites = document(db, "syncs", "--limit", "-1")["tables"]["sites"]
    check(db, "blocked",
          keyed(law(db, "sync_blocked"), ("call",), "call_count",
                "blocked_ns"),
          sums([s for s in sites if s["kind"] == "sync"], "call", "count",
               "blocked_ns"))


def check_api(db):
    """Calls, and what they are made in, add up to what SQL says."""
    figures = ("total_ns", "min_ns", "median_ns", "max_ns")
    want = keyed(law(db, "calls_by_name"), ("name",), "call_count", *figures)
    rows = document(db, "calls", "--limit", "-1")["tables"]["calls"]
    check(db, "calls", want, keyed(rows, ("call",), "count", *figures))
    for by in ("op", "range"):
        rows = document(db, "calls", "--limit", "-1", "--by", by)
        check(db, f"calls by {by}", {k: v[:2] for k, v in want.items()},
              sums(rows["tables"]["calls"], "call", "count", "total_ns"))


def check_ranges(db):
    doc = document(db, "ranges", "--limit", "-1")
    figures = ("total_ns", "min_ns", "median_ns", "max_ns")
    check(db, "ranges",
          keyed(law(db, "ranges_by_name"), ("name",), "range_count", *figures),
          keyed(doc["tables"]["ranges"], ("range",), "count", *figures))
    check(db, "time in ranges", {(): law(db, "ranges_open")[0]["open_ns"]},
          {(): sum(r["self_ns"] for r in doc["tables"]["ranges"])})
    figures = ("work_count", "projected_ns", "busy_ns")
    check(db, "ranges on GPUs",
          keyed(law(db, "ranges_on_gpu"), ("name",), "range_count", *figures),
          keyed(doc["tables"]["gpu"], ("range",), "count", *figures))


def check_step_ranges(db):
    """Parts by range are what SQL says, and sum to the steps exactly."""
    tables = document(db, "steps", "--by-range")["tables"]
    if "ranges" not in tables:
        return
    parts, steps = tables["ranges"], tables["steps"]
    check(db, "parts of steps",
          {(): sum(s["dur_ns"] for s in steps if not s["is_partial"])},
          {(): sum(p["step_ns"] for p in parts)})
    if not steps or steps[0]["step"] is None:
        return
    want = {(r["part"], r["name"]): (r["host_ns"], r["step_ns"])
            for r in law(db, "step_ranges")}
    got = {(p["part"], p["range"] if p["part"] == "range" else None):
           (p["host_ns"], p["step_ns"]) for p in parts}
    # a range of no length holds no time, and has no row in SQL
    check(db, "steps by range", want,
          {k: v for k, v in got.items() if k in want or v != (0, 0)})


AVERAGES = ("count", "self_cpu_ns", "cpu_total_ns", "self_device_ns",
            "device_total_ns", "cpu_mem_bytes", "self_device_mem_bytes")
OPERATORS = ("calls", "cpu_ns", "work_count", "gpu_ns") # not torch's


def table(db, trace, *options):
    tables = document(db, "table", "--trace", trace, *options)["tables"]
    is_torch = "key_averages" in tables
    rows = tables["key_averages" if is_torch else "operators"]
    figures = AVERAGES if is_torch else OPERATORS
    return {(r["name"], r.get("device_type", "CPU"),
             r.get("is_user_annotation", 0)): [r[f] or 0 for f in figures]
            for r in rows}


def check_table(db):
    """Parts of the time, cut where events begin, add up to all of it, and
    have as many calls of an operator as begin in them."""
    traces = rows_of(
        db, "SELECT trace_id, min(first_ns) AS first FROM track WHERE "
        "event_count > 0 GROUP BY trace_id ORDER BY trace_id LIMIT 1")
    if not traces:
        return
    trace, first = str(traces[0]["trace_id"]), traces[0]["first"]
    calls = [(r["at"], r["name"]) for r in rows_of(
        db, f"SELECT name, start_ns - ({first}) AS at FROM event WHERE "
        f"trace_id = {trace} AND kind = 1 ORDER BY at")]
    if not calls:
        return
    cuts = sorted({calls[len(calls) * i // 3][0] for i in (1, 2)} - {0})
    whole, sums = table(db, trace), {}
    for a, b in zip([None, *cuts], [*cuts, None]):
        options = ([] if a is None else ["--from", f"{a}ns"]) + (
            [] if b is None else ["--to", f"{b}ns"])
        part = table(db, trace, *options)
        for key, row in part.items():
            sums[key] = [sum(x) for x in zip(row, sums.get(
                key, [0] * len(row)))]
        inside = collections.Counter(
            name for at, name in calls
            if (a is None or at >= a) and (b is None or at < b))
        of_all = collections.Counter(name for _, name in calls)
        for (name, device, is_range), row in whole.items():
            key = name, device, is_range
            if device == "CPU" and row[0] == of_all[name]:
                check(db, f"calls {a}..{b}", {key: inside[name]},
                      {key: part.get(key, [0])[0]})
    check(db, "parts of the table", whole, sums)


def check_windows(db):
    """A window that ends inside of a gap has the gaps before it as they are,
    of this one what is around it, and all devices."""
    key = ("trace_id", "device", "start_ns", "ns", "cause", "culprit",
           "before", "after")
    ends = ("trace_id", "device", "start_ns", "before", "after")
    whole = document(db, "gaps", "--whole-capture", "--limit", "-1")["tables"]
    gaps = [g for g in whole.get("gaps", []) if g["before"] is not None]
    for gap in [g for g in gaps if g["ns"] > 1][:40:9]:
        to = gap["start_ns"] + gap["ns"] - 1
        part = document(db, "gaps", "--limit", "-1", "--from", "0", "--to",
                        f"{to}ns")["tables"]
        part_gaps = part["gaps"]
        check(db, f"gaps before {to}",
              keyed([g for g in gaps if g["start_ns"] + g["ns"] < to], key),
              keyed([g for g in part_gaps if g["start_ns"] + g["ns"] < to and
                     g["before"] is not None], key))
        check(db, "what is around one", keyed([gap], ends, "start_ns"),
              keyed([g for g in part_gaps if g["start_ns"] ==
                     gap["start_ns"]], ends, "start_ns"))
        check(db, f"devices before {to}",
              keyed(whole["devices"], ("trace_id", "device")),
              keyed(part["devices"], ("trace_id", "device")))


for path in sys.argv[3:]:
    check_table(path)
    check_windows(path)
    check_devices(path)
    check_steps(path)
    check_calls(path)
    check_syncs(path)
    check_api(path)
    check_ranges(path)
    check_step_ranges(path)
