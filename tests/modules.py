# SPDX-License-Identifier: MIT
"""Is what 'profan modules' says what a trace says?

usage: modules.py TRACE DEPTH JSON [DEPTH JSON...]    differences on stdout,
exit status 1
"""
import collections
import json
import sys

import stacks
from tracefile import load, ns

PREFIX = "nn.Module: "
FIELDS = ("calls", "op_count", "gpu_self_ns", "gpu_total_ns", "host_self_ns",
          "host_total_ns")


def path_of(stack, depth):
    names = [n[len(PREFIX):] for n, is_python in stack
             if is_python and n.startswith(PREFIX)]
    return tuple(names[:depth])


def entry_of(e):
    """A name, whether it is Python's, and whether it is an operator."""
    category = stacks.category(e)
    return ((e["name"], category == "python_function"),
            category in ("cpu_op", "operator"))


class Tree:
    def __init__(self, events, depth):
        self.depth = depth
        self.rows = collections.defaultdict(collections.Counter)
        self.unlaunched = 0
        self.calls = {}
        self.raw = raw_in_modules(events)
        for rows in stacks.threads_of(events).values():
            self.walk(rows)
        for e in events:
            if stacks.is_work(e):
                self.work(e)

    def walk(self, rows):
        def on_time(stack, time):
            self.rows[self.path(stack)]["host_self_ns"] += time

        stacks.walk(rows, entry_of, on_time, self.event)

    def path(self, stack):
        return path_of([s[0] for s in stack], self.depth)

    def event(self, stack, e):
        path, above = self.path(stack), self.path(stack[:-1])
        if path != above:
            self.rows[path]["calls"] += 1
        if stack[-1][1]:
            # no operator since the innermost module that is a row
            n, first = len(stack) - 1, len(stack) - 1
            while first > 0 and self.path(stack[:first]) == path:
                first -= 1
            if not any(s[1] for s in stack[first:n]):
                self.rows[path]["op_count"] += 1
        number = (e.get("args") or {}).get("correlation")
        if stacks.category(e) in stacks.RUNTIME and number is not None:
            self.calls.setdefault(number, path)

    def work(self, e):
        time = max(0, ns(e.get("dur", 0)))
        number = (e.get("args") or {}).get("correlation")
        if number in self.calls:
            self.rows[self.calls[number]]["gpu_self_ns"] += time
        else:
            self.unlaunched += time

    def totals(self):
        for path, row in list(self.rows.items()):
            for field in ("gpu", "host"):
                for n in range(len(path) + 1):
                    self.rows[path[:n]][field + "_total_ns"] += \
                        row[field + "_self_ns"]


def raw_in_modules(events):
    """Of GPU work: what a call launched that began within a module's range.

    No stack is drawn: a range covers its thread from its start to its end."""
    calls = {}
    for rows in stacks.threads_of(events).values():
        until = None
        for start, end, _, e in rows:
            if stacks.category(e) == "python_function" and e["name"].startswith(PREFIX):
                until = max(until or -end, -end)
            number = (e.get("args") or {}).get("correlation")
            if stacks.category(e) in stacks.RUNTIME and number is not None:
                calls.setdefault(number, until is not None and start < until)
    return sum(max(0, ns(e.get("dur", 0))) for e in events
               if stacks.is_work(e)
               and calls.get((e.get("args") or {}).get("correlation")))


def compare(want, tree, got):
    rows = {tuple(r["path"].split("/")): r for r in got["modules"]}
    if len(rows) != len(got["modules"]):
        yield "a path is there twice"
    for path in sorted(set(want) | set(rows)):
        a = [want[path][f] for f in FIELDS]
        b = [rows[path][f] for f in FIELDS] if path in rows else [0] * 6
        if a != b:
            yield f"{path}: {a} expected, {b} found"
    root = tree.rows[()]
    figures = {
        "gpu_in_modules_ns": tree.raw,
        "gpu_ns": root["gpu_total_ns"] + tree.unlaunched,
        "gpu_outside_ns": root["gpu_self_ns"],
        "gpu_no_launch_ns": tree.unlaunched,
        "host_ns": root["host_total_ns"],
        "host_outside_ns": root["host_self_ns"],
    }
    if not figures["gpu_ns"]:  # nothing is known of a GPU, which is not 0
        figures = {k: v if k.startswith("host") else None
                   for k, v in figures.items()}
    if not rows:  # nor of modules, where none was recorded
        figures["gpu_outside_ns"] = figures["host_outside_ns"] = None
        figures["gpu_in_modules_ns"] = None
    for key, value in figures.items():
        if got.get(key) != value:
            yield f"{key}: {value} expected, {got.get(key)} found"
    # the parts are the whole
    for table in ("modules", "classes"):
        extra = {"gpu": 0, "host": 0}
        if table == "modules":
            extra = {"gpu": root["gpu_self_ns"] + tree.unlaunched,
                     "host": root["host_self_ns"]}
        for field, rest in extra.items():
            total = rest + sum(r[field + "_self_ns"] or 0
                               for r in got[table])
            if got[table] and total != got.get(field + "_ns", 0):
                yield f"{table}: {field} adds up to {total}"


def differences(events, depth, path):
    tree = Tree(events, int(depth))
    tree.totals()
    with open(path, "rb") as f:
        answer = json.load(f)
    got = {**answer["scalars"], **answer["tables"]}
    want = {p: r for p, r in tree.rows.items() if p}
    return compare(collections.defaultdict(collections.Counter, want), tree,
                   got)


def main(trace, *answers):
    events = load(trace)[1]
    bad = [f"{depth} deep: {line}"
           for depth, path in zip(answers[::2], answers[1::2])
           for line in differences(events, depth, path)]
    for line in bad[:10]:
        print(line)
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
