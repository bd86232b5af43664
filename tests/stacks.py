# SPDX-License-Identifier: MIT
"""Are the lines of 'profan stacks' what a trace says?

usage: stacks.py TRACE gpu|cpu LINES    differences on stdout, exit status 1
"""
import collections
import sys

from tracefile import load, ns

GPU = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset",
       "mtia_ccp_events", "hpu_op")
RUNTIME = ("runtime", "cuda_runtime", "cuda_driver", "mtia_runtime")
NO_HOST = GPU + ("cuda_sync", "xpu_sync", "gpu_user_annotation", "trace",
                 "mtia_insight", "cuda_profiler_range", "overhead_")


def frame(name):
    if name.startswith("ProfilerStep#"):
        return "ProfilerStep"
    out = []
    for c in name:
        bad = c == ";" or ord(c) < 0x20 or ord(c) == 0x7f
        out.append(f"\\x{ord(c):02x}" if bad else c)
    return "".join(out) or "(no name)"


def category(e):
    return str(e.get("cat") or "").lower()


def is_work(e):
    """Of a GPU; what a stream of a MTIA waits for, or marks, is none."""
    return (e.get("ph") == "X" and category(e) in GPU and
            e["name"] not in ("event_wait", "event_record"))


def frame_of(e):
    return frame(e["name"])


def threads_of(events):
    out = collections.defaultdict(list)
    for order, e in enumerate(events):
        if e.get("ph") != "X" or category(e) in NO_HOST:
            continue
        if e["name"] == "[memory]":
            continue
        start = ns(e["ts"])
        out[str(e.get("pid")), str(e.get("tid"))].append(
            (start, -(start + max(0, ns(e.get("dur", 0)))), order, e))
    return {t: sorted(rows, key=lambda r: r[:3]) for t, rows in out.items()}


def walk(rows, entry, on_time, on_event):
    """Time of the innermost range, and the stack of each event, of entries.

    Python's functions nest: what outlives the one it began in is a range that
    __enter__() opened, or a function whose end was lost."""
    stack, at = [], None

    def go_to(now):
        nonlocal at
        while stack:
            end = stack[-1][0] if now is None else min(stack[-1][0], now)
            if at is not None and end > at:
                on_time(stack[-1][1], end - at)
            at = max(at, end)
            if now is not None and stack[-1][0] > now:
                break
            stack.pop()
        at = now

    for start, end, _, e in rows:
        go_to(start)
        crossed = [i for i, open_range in enumerate(stack) if open_range[0] < -end]
        functions = [i for i in crossed if stack[i][2]]
        if functions:  # goes under what it outlives: that holds its own
            place = functions[0]
        else:
            del stack[len(stack) - len(crossed):]
            place = len(stack)
        chain = (stack[place - 1][1] if place else []) + [entry(e)]
        stack.insert(place, (-end, chain, category(e) == "python_function" and not functions))
        on_event(chain, e)
    go_to(None)


def cpu(events):
    lines = collections.Counter()

    def on_time(stack, time):
        lines[";".join(stack)] += time

    for rows in threads_of(events).values():
        walk(rows, frame_of, on_time, lambda stack, e: None)
    return lines


def gpu(events):
    calls = {}

    def on_event(stack, e):
        number = (e.get("args") or {}).get("correlation")
        if category(e) in RUNTIME and number is not None:
            calls.setdefault(number, stack)

    for rows in threads_of(events).values():
        walk(rows, frame_of, lambda stack, time: None, on_event)
    lines = collections.Counter()
    for e in events:
        if not is_work(e):
            continue
        stack = calls.get((e.get("args") or {}).get("correlation"),
                          ["(no launch call)"])
        time = max(0, ns(e.get("dur", 0)))
        if time:
            lines[";".join(stack + [frame(e["name"])])] += time
    return lines


def main(trace, weight, path):
    want = {"cpu": cpu, "gpu": gpu}[weight](load(trace)[1])
    got = collections.Counter()
    last = b""
    with open(path, "rb") as f:
        for line in f:
            stack, _, number = line.decode().rstrip("\n").rpartition(" ")
            if stack in got:
                print(f"twice: {stack}")
            got[stack] += int(number)
            last = line
    bad = [f"{k}: {want[k]} expected, {got[k]} found"
           for k in sorted(set(want) | set(got)) if want[k] != got[k]]
    for line in bad[:10]:
        print(line[-600:])
    if not got or not last.endswith(b"\n"):
        print("no lines")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
