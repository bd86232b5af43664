# SPDX-License-Identifier: MIT
"""Are slices what they should be?

usage: slice.py LIST    a result for each line of it, "SLICE|TRACE|whole|NAME"

Works out from TRACE which events belong to the window that SLICE names, and
compares; then loads SLICE by the rules of Perfetto's trace processor: ids are
u32 or texts; times are doubles of us, multiplied by 1000 and cut; ranges come in order of time,
and one that ends after the one around it is dropped; an arrow is bound to the
innermost open range of its thread.
"""
import collections
import functools
import json
import sys

import tracefile
from results import say
from tracefile import ns

LIMIT = 20


@functools.lru_cache(3)  # several slices of a trace follow each other
def load(path, parse_float=tracefile.Decimal):
    return tracefile.load(path, parse_float)


def track(e):
    tid = str(e.get("tid", ""))
    return str(e.get("pid", "")), tid.split(" overlap ")[0]


def args_key(e):
    args = dict(e.get("args") or {})
    args.pop("profan cut", None)
    return json.dumps(args, sort_keys=True, default=str)


STATES = tuple("NODVvc()=")  # of what takes no time


def pair(events):
    """B and E events as X."""
    out, stacks, last = [], collections.defaultdict(list), {}
    order = sorted((e for e in events if e.get("ph") in ("B", "E")),
                   key=lambda e: ns(e["ts"]))
    for e in events:
        if "ts" in e and e.get("ph") != "M":
            last[track(e)] = max(last.get(track(e), 0),
                                 ns(e["ts"]) + max(0, ns(e.get("dur", 0))))
    for e in order:
        stack = stacks[track(e)]
        if e["ph"] == "B":
            stack.append(e)
        elif stack:
            b = stack.pop()
            out.append((b, ns(b["ts"]), ns(e["ts"])))
    for t, stack in stacks.items():
        out += [(b, ns(b["ts"]), last[t]) for b in stack]
    return out


def expected(events, start, end, whole):
    ranges, others, flows = [], [], []
    for e in events:
        ph = e.get("ph")
        if ph == "X":
            at = ns(e["ts"])
            ranges.append((e, at, at + max(0, ns(e.get("dur", 0)))))
        elif ph in ("s", "t", "f"):
            if start <= ns(e["ts"]) < end:
                flows.append((e, ns(e["ts"])))
        elif ph not in ("M", "B", "E") and "ts" in e:
            if start <= ns(e["ts"]) < end:
                others.append((e, ns(e["ts"]), ns(e["ts"])))
    ranges += pair(events)
    for e, a, b in ranges:
        if a < end and (b > start or a >= start):
            if not whole:
                a, b = max(a, start), min(b, end)
            yield e, a, b
    yield from others
    phases = collections.defaultdict(set)
    key = lambda e: (str(e.get("cat", "")), str(e["name"]), str(e.get("id")))
    for e, _ in flows:
        phases[key(e)].add(e["ph"])
    for e, at in flows:
        if {"s", "f"} <= phases[key(e)]:
            yield e, at, at


def describe(e, a, b):
    ph = "X" if e["ph"] in ("X", "B") else e["ph"]
    return (ph, str(e.get("cat") or ""), str(e.get("name", "")), track(e), a,
            b, str(e.get("id", "")), str(e.get("bp", "")), args_key(e))


def same_events(trace, piece, whole, bad):
    _, events = load(trace)
    events = [e for e in events if e.get("ph") not in STATES]
    head, cut = load(piece)
    window = head["profan_slice"]
    shift = window["shift_ns"]
    spans = [(ns(e["ts"]), ns(e["ts"]) + max(0, ns(e.get("dur", 0))))
             for e in events if e.get("ph") not in ("M", None) and "ts" in e]
    first = min(a for a, _ in spans)
    start, end = first + window["from_ns"], first + window["to_ns"]
    want = collections.Counter(
        describe(e, a, b)
        for e, a, b in expected(events, start, end, whole))
    got = collections.Counter(
        describe(e, ns(e["ts"]) + shift,
                 ns(e["ts"]) + shift + ns(e.get("dur", 0)))
        for e in cut if e["ph"] != "M")
    for what, rest in (("missing", want - got), ("too many", got - want)):
        for k, n in sorted(rest.items(), key=str)[:LIMIT]:
            bad.append(f"{what}: {n} x {k}")
    names = collections.defaultdict(set)
    for e in events:
        if e.get("ph") == "M" and e.get("name") == "thread_name":
            names[track(e)].add(e["args"].get("name"))
    used = {track(e) for e in cut if e["ph"] != "M"}
    have = collections.defaultdict(set)
    for e in cut:
        if e["ph"] == "M" and e["name"] == "thread_name":
            have[track(e)].add(e["args"]["name"])
    for t in used:
        if names[t] - have[t]:
            bad.append(f"thread {t} lost its name {names[t]}")
    return len(got)


def viewer_track(e):
    """Numbers that are no u32 stand for none: the process's main thread."""
    fits = lambda n: not isinstance(n, int) or 0 <= n < 1 << 32
    pid = e.get("pid") if fits(e.get("pid")) else 0
    return str(pid), str(e.get("tid") if fits(e.get("tid")) else pid)


def trace_processor(piece, trace, bad):
    """Load as the viewer does: what would it drop or bind wrongly?"""
    _, events = load(piece, float)
    to_ns = lambda us: int(us * 1000.0) if isinstance(us, float) else us * 1000
    order = {"X": 0, "i": 1, "s": 1, "t": 1, "f": 1}
    todo = sorted((e for e in events if e["ph"] in order),
                  key=lambda e: (to_ns(e["ts"]), order[e["ph"]]))
    stacks = collections.defaultdict(list)
    empty = collections.defaultdict(set)
    _, original = load(trace)
    launches = {(e.get("args") or {}).get("correlation")
                for e in original if e.get("ph") == "X"}
    for e in todo:
        key = viewer_track(e)
        at = to_ns(e["ts"])
        stack = stacks[key]
        while stack and stack[-1][0] <= at and not (
                e["ph"] != "X" and stack[-1][0] == stack[-1][2] == at):
            stack.pop()
        if e["ph"] == "X":
            end = at + to_ns(e["dur"])
            if at < 0:
                bad.append(f"before 0: {e}")
            if stack and stack[-1][0] < end:
                bad.append(f"dropped: {e} in {stack[-1]}")
                continue
            stack.append((end, e, at))
            if end == at:
                empty[key, at].add((e.get("args") or {}).get("correlation"))
        elif e["ph"] in ("s", "f") and e.get("cat") in ("ac2g", "async"):
            number = e.get("id")
            # of several calls without length at one instant any will do:
            # the times of the trace tell no more
            if number not in launches or (
                    len(empty[key, at]) > 1 and number in empty[key, at]):
                continue
            if not stack or (stack[-1][1].get("args") or {}).get(
                    "correlation") != number:
                bad.append(f"arrow is bound elsewhere: {e}")


for line in open(sys.argv[1]):
    piece, trace, whole, name = line.rstrip("\n").split("|", 3)
    bad = []
    if not same_events(trace, piece, whole, bad):
        bad.append("no events")
    trace_processor(piece, trace, bad)
    say(f"{name}: every event, nested, arrows bound", bad[:LIMIT])
