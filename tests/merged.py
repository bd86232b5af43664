# SPDX-License-Identifier: MIT
"""Traces of ranks, made into one file as people do, against their folder.

usage: merged.py merge HOW IDS FOLDER OUT   write the file
       merged.py same NAME FOLDER MERGED    two folders of documents (JSON)
       merged.py cycles TRACE OUT           one process twice
       merged.py small HOW OUT             labels, silent or lists: a small file of two ranks
       merged.py crowd TRACE OUT            three kernels of one id

HOW: sglang  a label before each pid, one list behind the other
     sorted  the same, in order of time
     jq      one list behind the other, as they are
     marked  the same, with the end that Kineto writes in each
     named   the same without it, names of processes behind the rest
     fused   pids and ids of calls made other ones, those of operators not
     pids    pids and ids made other ones, in order of time
IDS: equal, shifted, wrapped: what ids of the ranks have in common
"""
import glob
import json
import os
import re
import sys

from results import say
from tracefile import load

NUMBERS = ("correlation", "External id", "Ev Idx", "Sequence number")


def renumber(events, rank, how):
    for e in events:
        for key in NUMBERS:
            n = e.get("args", {}).get(key)
            if n is None or how == "equal":
                continue
            if how == "shifted":
                e["args"][key] = n + 7 * rank
            else:
                e["args"][key] = (n + 2**32 - 20 - 3 * rank) % 2**32 or 2**32


def moved(events, rank, ids):
    """What TraceFusion does, with or without ids of operators."""
    for e in events:
        if isinstance(e.get("pid"), int):
            e["pid"] += 1000 * rank
        for key in ids:
            if key in e.get("args", {}):
                e["args"][key] += rank << 20


def change(how, events, rank):
    if how in ("sglang", "sorted"):
        for e in events:
            e["pid"] = f"[TP{rank:02d}] {e['pid']}"
    if how == "fused":
        moved(events, rank, ("correlation",))
    if how == "pids":
        moved(events, rank, ("correlation", "External id"))
    if how == "named":
        events.sort(key=lambda e: e["ph"] == "M")
    if how == "marked":
        events[:] = [e for e in events if e["ph"] != "M"]
        end = max(e["ts"] for e in events if "ts" in e)
        events.append({"name": "Record Window End", "ph": "i", "s": "g",
                       "pid": "", "tid": "", "ts": end})


def merge(how, ids, folder, out):
    merged, every = {}, []
    for rank, path in enumerate(sorted(glob.glob(folder + "/rank*.json"))):
        top, events = load(path, parse_float=float)
        renumber(events, rank, ids)
        own = json.loads(json.dumps(events))
        change(how, events, rank)
        if how == "marked":  # names of processes are not in it
            own = [e for e in own if e["ph"] != "M"]
        # the folder gets what the file is made of
        with open(path, "w") as f:
            json.dump(dict(top, traceEvents=own), f)
        every += events
        for key, value in top.items():
            merged.setdefault(key, value)
    if how in ("sorted", "pids"):
        every.sort(key=lambda e: e.get("ts", 0))
    with open(out, "w") as f:
        json.dump(dict(merged, traceEvents=every), f)


def is_of_file(row):
    """What doctor says of the merged file alone, which the test looks for."""
    name = row.get("check") if isinstance(row, dict) else row
    return str(name).startswith("several processes")


def plain(value, key=""):
    """A document without what says which file it is of, and of which machine:
    a merged file has that of one rank."""
    if isinstance(value, dict):
        return {k: plain(v, k) for k, v in value.items()
                if k not in ("path", "xxh128", "file_bytes", "json_bytes",
                             "name", "title", "capture", "world_size",
                             "host", "across_machines", "arrival_machine")}
    if isinstance(value, list):
        return [plain(v) for v in value if not is_of_file(v)]
    if isinstance(value, float):
        return round(value, 9)  # sums in another order
    if isinstance(value, str):
        return re.sub(r"\[TP\d\d\] ", "", value)
    return value


def differences(a, b, where=""):
    if type(a) is not type(b):
        yield f"{where}: {a!r}, merged {b!r}"
    elif isinstance(a, dict):
        for key in sorted(set(a) | set(b)):
            yield from differences(a.get(key), b.get(key), f"{where}.{key}")
    elif isinstance(a, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{where}[{i}]")
    elif a != b:
        yield f"{where}: {a!r}, merged {b!r}"


def same(name, folder, merged):
    bad = []
    for path in sorted(glob.glob(folder + "/*.json")):
        command = os.path.basename(path)
        docs = [plain(json.load(open(f"{d}/{command}")))
                for d in (folder, merged)]
        bad += [f"{command}{d}" for d in differences(*docs)][:8]
    if os.path.exists(merged + "/doctor.json"):
        checks, ranks = (
            json.load(open(f"{merged}/{name}.json"))["tables"].get(table, [])
            for name, table in (("doctor", "checks"), ("ranks", "ranks")))
        if [c["count"] for c in checks if is_of_file(c)] != [
                len({row["rank"] for row in ranks})]:
            bad.append("doctor does not say of how many processes it is")
    say(name, bad)


def small(rank, begin=1000.0, label=""):
    """As Kineto writes it, ids the same in each."""
    events = []

    def add(ph, name, pid, tid, ts, **more):
        events.append(dict(ph=ph, name=name, pid=f"{label}{pid}" if label
                           else pid, tid=tid, ts=ts, **more))

    for i in range(3):
        add("X", "aten::mm", 700, 700, begin + 100 * i + 3 * rank, dur=40.0,
            cat="cpu_op", args={"External id": i + 1})
    for i in range(3):
        ts, ids = begin + 100 * i + 3 * rank, {"External id": i + 1,
                                               "correlation": i + 11}
        add("X", "cudaLaunchKernel", 700, 700, ts + 10, dur=8.0,
            cat="cuda_runtime", args=ids)
        add("s", "ac2g", 700, 700, ts + 10, cat="ac2g", id=i + 11)
        add("X", "gemm", 0, 7, ts + 30, dur=50.0 + rank, cat="kernel",
            args=dict(ids, device=0, stream=7))
        add("f", "ac2g", 0, 7, ts + 30, cat="ac2g", id=i + 11, bp="e")
    for pid, labels in ((700, "CPU"), (0, "GPU 0")):
        add("M", "process_name", pid, 0, begin, args={"name": "python"})
        add("M", "process_labels", pid, 0, begin, args={"labels": labels})
    add("X", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", begin,
        dur=400.0, cat="Trace")
    add("i", "Record Window End", "", "", begin + 400, s="g")
    return events


def write_small(how, out):
    """Two ranks with labels, or the second without calls; or two of one pid,
    and a later cycle of one."""
    events = small(0) + small(1) + small(0, 5000.0)
    if how != "lists":
        events = small(0, label="[TP00] ") + [
            e for e in small(1, label="[TP01] ")
            if how == "labels" or e.get("cat") != "cuda_runtime"]
    with open(out, "w") as f:
        json.dump({"schemaVersion": 1, "traceEvents": events}, f)


def crowd(path, out):
    """The work of two calls has the id of the first, whose is a third."""
    top, events = load(path, parse_float=float)
    works = [e for e in events if e.get("cat") == "kernel"][:3]
    for e in works:
        e["args"]["correlation"] = works[0]["args"]["correlation"]
    with open(out, "w") as f:
        json.dump(dict(top, traceEvents=events), f)


def cycles(path, out):
    """One process, profiled twice: ids begin anew, a second later."""
    top, events = load(path, parse_float=float)
    again = json.loads(json.dumps(events))
    for e in again:
        if "ts" in e:
            e["ts"] += 1e6
    with open(out, "w") as f:
        json.dump(dict(top, traceEvents=events + again), f)


if __name__ == "__main__":
    {"merge": merge, "same": same, "cycles": cycles,
     "crowd": crowd, "small": write_small}[sys.argv[1]](*sys.argv[2:])
