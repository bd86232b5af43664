# SPDX-License-Identifier: MIT
"""Ranks that come late to collectives by times that are known.

usage: arrival.py make FOLDER KEY=VALUE...    writes FOLDER/rank-N.json
       arrival.py jobs FOLDER WORDS...        the same of each job, its keys in
                                              one word, into FOLDER/1, 2, ...
       arrival.py check FOLDER WORDS...       a result each: FOLDER/N.overlap and
                                              N.ranks against the traces

Keys of make: ranks, steps, late (ns that the last rank is late to each
all-reduce), jitter (ns that the first rank is late to every other one), groups
(0: the traces name none), host (one, several, none), skew (ns that the clock
of the last rank is ahead), base (1: times count from a base, another for each
rank), odd (count: a collective more on the last rank; kind: another one), per
(kernels of each collective), plain (1: no record_param_comms).
"""
import json
import os
import sys

from results import say

STEP = 1000000
DEFAULTS = {"ranks": 2, "steps": 4, "late": 0, "jitter": 0, "groups": 1,
            "host": "one", "skew": 0, "base": 0, "odd": "", "per": 1,
            "plain": 0}
COLLECTIVES = ("allreduce", "_allgather_base", "reduce_scatter", "broadcast",
               "allreduce", "send")
WAITS = ("allreduce", "_allgather_base", "reduce_scatter")


def us(ns):
    return f"@{ns // 1000}.{ns % 1000:03}@"


def event(cat, name, start, dur, pid, tid, args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": us(start), "dur": us(dur), "args": args}


def rank_trace(rank, o):
    last = rank == o["ranks"] - 1
    origin = 50_000_000 + (o["skew"] if last else 0)
    base = 1_700_000_000_000_000_000 + 7_000_000 * rank if o["base"] else 0
    if o["base"]:  # the same instants, counted from elsewhere
        origin -= 7_000_000 * rank
    events, n = [], 100000 * rank
    for step in range(o["steps"]):
        start = origin + step * STEP
        events.append(event("user_annotation", f"ProfilerStep#{step}", start,
                            STEP, 1, 1, {}))
        for k, what in enumerate(COLLECTIVES):
            at = start + 10000 + 150000 * k
            end = at + 120000
            if last:
                at += o["late"]
                if o["odd"] == "kind" and step == 1 and k == 0:
                    what = "reduce_scatter"
            elif rank == 0 and k % 2:
                at += o["jitter"]
            args = {"Collective name": what, "Group size": o["ranks"],
                    "dtype": "Float", "In msg nelems": 10,
                    "Out msg nelems": 10}
            if o["groups"]:
                args["Process Group Name"] = str(k % o["groups"])
            n += 1
            if not o["plain"]:
                events.append(event("cpu_op", "record_param_comms", at - 9000,
                                    5000, 1, 1, args))
            parts = o["per"]
            for part in range(parts):
                events.append(event("cuda_runtime", "cudaLaunchKernel",
                                    at - 8000 + 1000 * part, 500, 1, 1,
                                    {"correlation": n * 10 + part}))
                piece = (end - at) // parts
                events.append(event(
                    "kernel", "ncclDevKernel_" + {
                        "allreduce": "AllReduce_Sum_f32_RING_LL",
                        "_allgather_base": "AllGather_RING_LL",
                        "reduce_scatter": "ReduceScatter_Sum_f32_RING_LL",
                    }.get(what, "SendRecv"), at + part * piece,
                    piece if part < parts - 1 else end - at - part * piece,
                    0, 20, {"device": 0, "stream": 20,
                            "correlation": n * 10 + part}))
        if last and o["odd"] == "count" and step == 2:
            n += 1
            if not o["plain"]:
                events.append(event("cpu_op", "record_param_comms",
                                    start + 930000, 5000, 1, 1,
                                    {"Collective name": "allreduce",
                                     "Process Group Name": "0"}))
            events.append(event("cuda_runtime", "cudaLaunchKernel",
                                start + 931000, 500, 1, 1,
                                {"correlation": n * 10}))
            events.append(event("kernel", "ncclDevKernel_AllReduce",
                                start + 940000, 9000, 0, 20,
                                {"device": 0, "stream": 20,
                                 "correlation": n * 10}))
    host = {"one": "node-1", "several": f"node-{rank}", "none": None}[o["host"]]
    top = {"schemaVersion": 1, "distributedInfo": {
        "rank": rank, "world_size": o["ranks"]}, "traceEvents": events}
    if o["base"]:
        top["baseTimeNanoseconds"] = base
    if host:
        top["host_name"] = host
    return json.dumps(top).replace('"@', "").replace('@"', "")


def make(folder, options):
    o = dict(DEFAULTS)
    for option in options:
        key, value = option.split("=")
        o[key] = value if isinstance(DEFAULTS[key], str) else int(value)
    os.makedirs(folder, exist_ok=True)
    for rank in range(o["ranks"]):
        with open(f"{folder}/rank-{rank}.json", "w") as f:
            f.write(rank_trace(rank, o))


def ns(us_text):
    return round(us_text * 1000)


def starts(trace):
    """By group, when each collective starts: of its first kernel."""
    base = trace.get("baseTimeNanoseconds", 0)
    events = trace["traceEvents"]
    ops = [e for e in events if e["name"] == "record_param_comms"]
    calls = {e["args"]["correlation"]: e for e in events
             if e["cat"] == "cuda_runtime"}
    found, seen = {}, set()
    kernels = sorted((e for e in events if e["cat"] == "kernel"),
                     key=lambda e: e["ts"])
    for e in kernels:
        call = calls[e["args"]["correlation"]]
        around = [o for o in ops if o["ts"] <= call["ts"] and
                  call["ts"] + call["dur"] <= o["ts"] + o["dur"]]
        if around:
            if id(around[0]) in seen:
                continue
            seen.add(id(around[0]))
            args = around[0]["args"]
            if args["Collective name"] not in WAITS:
                continue
            group = args.get("Process Group Name", "")
        else:
            if not any(w in e["name"] for w in
                       ("AllReduce", "AllGather", "ReduceScatter")):
                continue
            group = ""
        found.setdefault(group, []).append(base + ns(e["ts"]))
    return found


def check(path, folder, ranks):
    """What is wrong, by its name."""
    doc = json.load(open(path))
    traces = [json.load(open(f"{folder}/{name}"))
              for name in sorted(os.listdir(folder))]
    per_rank = [starts(t) for t in traces]
    late = [0] * len(traces)
    waited, gain, lasts = list(late), list(late), list(late)
    count = spread = 0
    for group in per_rank[0]:
        for at in zip(*(p[group] for p in per_rank)):
            count += 1
            first, last = min(at), max(at)
            spread += last - first
            for r, own in enumerate(at):
                waited[r] += last - own
            if at.count(last) == 1:
                r = at.index(last)
                late[r] += last - first
                lasts[r] += 1
                gain[r] += last - sorted(at)[-2]
    got = doc["scalars"]
    want = {"arrival_count": count, "arrival_spread_ns": spread}
    named = [r for r in json.load(open(ranks))["tables"]["ranks"]
             if r["saved_ns"] and r["saved_ns"] > 0]
    finding = json.load(open(ranks))["scalars"]["finding"]
    if finding.startswith("Rank "):
        worst = max(named, key=lambda r: r["saved_ns"])
        assert finding.startswith(f"Rank {worst['rank']} "), finding
        want |= {"straggler_rank": worst["rank"],
                 "straggler_ns": late[worst["rank"]],
                 "straggler_gain_ns": gain[worst["rank"]],
                 "straggler_saved_ns": worst["saved_ns"]}
    else:
        want |= {"straggler_rank": None, "straggler_saved_ns": None}
    bad = {k: (v, got.get(k)) for k, v in want.items() if got.get(k) != v}
    for r, row in enumerate(doc["tables"].get("arrivals", [])):
        mine = (r, count, lasts[r], late[r], waited[r], gain[r])
        theirs = tuple(row[k] for k in ("rank", "count", "last_count",
                                        "late_ns", "waited_ns", "gain_ns"))
        if mine != theirs:
            bad[f"rank {r}"] = (mine, theirs)
    if len(doc["tables"].get("arrivals", [])) != len(traces):
        bad["arrivals"] = doc["tables"].get("arrivals")
    return bad


what, folder, *words = sys.argv[1:]
if what == "make":
    make(folder, words)
for n, word in enumerate(words, 1):
    own = f"{folder}/{n}"
    if what == "jobs":
        make(own, word.split())
    elif what == "check":
        bad = check(own + ".overlap", own, own + ".ranks")
        say(f"exact: {word}", [f"{k} {v}" for k, v in bad.items()])
