# SPDX-License-Identifier: MIT
"""What "profan doctor" must count in a trace, worked out from its JSON alone.

usage: doctor.py TRACE CSV

Prints one line a check: the check, count and GPU time here and in the csv
that profan printed; exits 1 if any differs.  Written from the definitions in
src/analysis/trust/doctor.h, not from the code.
"""
import bisect
import collections
import csv
import heapq
import json
import sys

from tracefile import load, ns

GPU_WORK = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset",
            "mtia_ccp_events", "hpu_op"}
GPU_OTHER = {"gpu_user_annotation", "cuda_sync", "xpu_sync", "mtia_insight",
             "cuda_profiler_range"}
HOST = {"cpu_op", "operator", "user_annotation", "python_function", "runtime",
        "overhead", "cpu_instant_event", "collective_comm", "cuda_event"}


class Event:
    def __init__(self, e, order):
        self.raw = e
        self.order = order
        self.cat = str(e.get("cat", "")).lower()
        self.name = e.get("name", "")
        self.args = e.get("args") if isinstance(e.get("args"), dict) else {}
        self.start = ns(e["ts"])
        self.dur = max(ns(e.get("dur", 0) or 0), 0)
        self.end = self.start + self.dur
        self.track = (str(e.get("pid")), str(e.get("tid")))
        self.correlation = self.args.get("correlation", 0)

    def is_call(self):
        return (self.cat == "runtime" or self.cat.endswith("_runtime")
                or self.cat.endswith("_driver"))

    def is_wait(self):
        """What a stream of a MTIA waits for, or marks, is no work."""
        return (self.cat == "mtia_ccp_events" and
                self.name in ("event_wait", "event_record"))


def read(path):
    _, raw = load(path)
    kept = [Event(e, i) for i, e in enumerate(raw)
            if e.get("ph") in ("X", "i", "I", "R") and e.get("cat") != "Trace"]
    return raw, kept


def by_track(events):
    tracks = collections.defaultdict(list)
    for e in events:
        tracks[e.track].append(e)
    for list_ in tracks.values():
        list_.sort(key=lambda e: (e.start, -e.dur, e.order))
    return tracks


def total(events):
    return len(events), sum(e.dur for e in events)


def orphans(work, linked):
    """Head orphans and other GPU work without a call."""
    first, first_of = None, {}
    for e in work:
        if e.correlation in linked:
            first = e.start if first is None else min(first, e.start)
            first_of[e.track] = min(first_of.get(e.track, e.start), e.start)
    head, rest = [], []
    for e in work:
        if e.correlation in linked:
            continue
        border = first_of.get(e.track, first)
        if first is not None and (e.start < first or e.start < border):
            head.append(e)
        else:
            rest.append(e)
    return head, rest


def overlaps(work):
    count = time = 0
    for events in by_track(work).values():
        end = None
        for e in events:
            twice = 0 if end is None else max(min(end, e.end) - e.start, 0)
            count += twice > 0
            time += twice
            end = e.end if end is None else max(end, e.end)
    return count, time


def crossings(host):
    """A range of the program's own may cross the functions that make it."""
    may = {"user_annotation": "python_function",
           "python_function": "user_annotation"}
    count = 0
    for events in by_track(host).values():
        open_ends = {}
        for e in events:
            if not e.dur:
                continue
            for ends in open_ends.values():
                while ends and ends[0] <= e.start:
                    heapq.heappop(ends)
            count += any(ends and ends[0] < e.end
                         for cat, ends in open_ends.items()
                         if cat != may.get(e.cat, ""))
            heapq.heappush(open_ends.setdefault(e.cat, []), e.end)
    return count


def slowed(host, raw):
    """Ranges of the busiest thread, where one begins every 20 us or less."""
    if not any(isinstance(r.get("args"), dict) and "External id" in r["args"]
               for r in raw):
        return 0  # not of torch
    events = max(by_track(host).values(), key=len, default=[])
    span = max((e.end for e in events), default=0) - \
        min((e.start for e in events), default=0)
    return len(events) if len(events) >= 1000 and \
        span // len(events) < 20000 else 0


def duplicates(events):
    seen = set()
    count = time = 0
    for e in events:
        key = json.dumps(e.raw, sort_keys=True, default=str)
        if key in seen:
            count += 1
            time += e.dur if e.cat in GPU_WORK else 0
        seen.add(key)
    return count, time


def without_op(work, calls, host):
    """GPU work whose call lies in no cpu_op of its thread."""
    ops = collections.defaultdict(list)
    for e in host:
        if e.cat in ("cpu_op", "operator") and e.dur:
            ops[e.track].append((e.start, e.end))
    starts, reach = {}, {}
    for track, spans in ops.items():
        spans.sort()
        starts[track] = [s for s, _ in spans]
        reach[track] = []
        for _, end in spans:
            before = reach[track][-1] if reach[track] else end
            reach[track].append(max(before, end))
    lone = []
    for e in work:
        call = calls.get(e.correlation)
        if not call:
            continue
        i = bisect.bisect_right(starts.get(call.track, []), call.start)
        if not i or reach[call.track][i - 1] < call.end:
            lone.append(e)
    return lone


def into_graphs(host):
    """Calls of a thread between those that begin and end a capture."""
    inside, captured = set(), set()
    for e in sorted(host, key=lambda e: (e.start, e.order)):
        thread = (e.raw.get("pid"), e.raw.get("tid"))
        if "StreamBeginCapture" in str(e.name):
            inside.add(thread)
        elif "StreamEndCapture" in str(e.name):
            inside.discard(thread)
        elif thread in inside and e.correlation > 0:
            captured.add(id(e))
    return captured


def lone_steps(host, gpu):
    """Steps that outlast all else, of threads that hold nothing else."""
    is_step = {id(e): str(e.name).startswith("ProfilerStep#") for e in host}
    tracks = by_track(host)
    lone = {t for t, all_ in tracks.items()
            if all(is_step[id(e)] for e in all_)}
    rest = [all_ for t, all_ in tracks.items() if t not in lone]
    rest += by_track(gpu).values()
    spans = [(min(e.start for e in all_), max(e.end for e in all_))
             for all_ in rest]
    spans = [s for s in spans if s[1] > s[0]]
    if not spans:
        return 0
    whole = max(s[1] for s in spans) - min(s[0] for s in spans)
    return sum(e.dur // 10 >= whole for t in lone for e in tracks[t])


def count(path):
    raw, events = read(path)
    gpu = [e for e in events if e.cat in GPU_WORK and not e.is_wait()]
    other = [e for e in events if e.cat in GPU_OTHER or e.is_wait()]
    unknown = [e for e in events
               if e.cat not in GPU_WORK | GPU_OTHER | HOST and not e.is_call()
               and e.raw.get("ph") == "X"]
    on_gpu = {id(e) for e in gpu + other}
    on_gpu |= {id(e) for e in unknown
               if "device" in e.args and "stream" in e.args}
    host = [e for e in events if id(e) not in on_gpu]
    calls = {}
    for e in host:
        if e.is_call() and e.correlation > 0:
            calls.setdefault(e.correlation, e)
    early = [e for e in gpu if e.correlation in calls
             and e.start < calls[e.correlation].start]
    clock = [e for e in early if e.end < calls[e.correlation].start]
    copies = [e for e in host if e.is_call() and e.correlation > 0
              and ("Memcpy" in e.name or "Memset" in e.name
                   or e.name.startswith("enqueueCommand memcpy"))]
    launches = [e for e in host if e.is_call() and e.correlation > 0
                and ("Launch" in e.name or e.name.startswith("runFunction"))
                and "Mem" not in e.name
                and "HostFunc" not in e.name]
    captured = into_graphs(host)
    copies = [e for e in copies if id(e) not in captured]
    launches = [e for e in launches if id(e) not in captured]
    done = {e.correlation for e in gpu}
    head, rest = orphans(gpu, calls)
    names = [e.get("name", "") for e in raw]
    overhead = [e for e in host if e.cat == "overhead"]
    ranges = [e for e in other if e.cat == "cuda_profiler_range"]
    text = json.dumps([e.args for e in events], default=str).lower()
    return {
        "truncated": (0, None),
        "lost events": (0, None),
        "negative durations": (0, None),
        "event cap": (0, None),
        "unknown categories": (len(unknown), None),
        "no GPU activity": (int(not gpu), None),
        "no runtime calls": (int(bool(gpu) and not any(
            e.is_call() for e in host)), None),
        "no stacks": (int(not any(e.cat == "python_function"
                                  for e in host)), None),
        "no shapes": (int('"input dims"' not in text), None),
        "no memory": (int("[memory]" not in names), None),
        "no steps": (int(not any(
            str(e.name).startswith("ProfilerStep#")
            and e.cat in ("user_annotation", "cpu_op", "operator")
            for e in host)), None),
        "counters kernel by kernel": (
            len(ranges) if len(ranges) > 1 else 0, None),
        "steps beyond the work": (lone_steps(host, gpu + other), None),
        "launched before capture": total(head),
        "no launch call": total(rest),
        "launches without GPU work": (
            sum(e.correlation not in done for e in launches), None),
        "copies without GPU work": (
            sum(e.correlation not in done for e in copies), None),
        "launches into graphs": (
            sum(e.is_call() and ("Launch" in e.name or "Mem" in e.name)
                for e in host if id(e) in captured), None),
        "no operator": total(without_op(gpu, calls, host)),
        "work before its launch": total(early),
        "clock problems": total(clock),
        "overlaps on one stream": overlaps(gpu),
        "GPU work of no length": (sum(not e.dur for e in gpu), 0),
        "crossing ranges": (crossings(host), None),
        "duplicates": duplicates(events),
        "profiler overhead": (len(overhead), None),
        "slowed host": (slowed(host + unknown, raw), None),
    }


def main():
    want = count(sys.argv[1])
    got = {}
    with open(sys.argv[2], newline="") as f:
        for row in csv.reader(f):
            if len(row) == 5 and row[0] != "check":
                got[row[0]] = (int(row[1]), int(row[2]) if row[2] else None)
    failed = False
    for check, figures in want.items():
        good = got.get(check) == figures
        failed |= not good
        print("ok" if good else "not ok", check, figures, got.get(check))
    return failed


sys.exit(main())
