# SPDX-License-Identifier: MIT
"""Figures that several commands print under one meaning are equal.

usage: agree.py FOLDER

FOLDER/NAME/COMMAND.json is what commands say of the trace NAME; empty if
one says nothing.  Each law names one meaning and the places where it is
printed; None is a place that does not know.  Nothing says a sentence
of more than 30 words.  The four traces of
tests/traces/good-{copy-ways,communication,origins,idle-gpu} must also say what
they were made to say.
"""
import json
import os
import re
import sys
from fractions import Fraction

from results import say

CLASSES = ("kernel", "copy", "memset", "comm", "runtime", "data", "cpu",
           "other")
WAYS = ("htod", "dtoh", "dtod", "ptop")

# What is known not to agree, by trace.  The list may only get shorter.
KNOWN = {
    "mi300_qwen": {"time of kernels"},
}

# What traces were made to say, by meaning.
PLANTED = {
    "good-copy-ways": {
        "copies htod of whole steps": 6, "copies dtoh of whole steps": 2,
        "copies dtod of whole steps": 4, "copies ptop of whole steps": 2,
        "bytes ptop of whole steps": 2040, "kernels of whole steps": 4},
    "good-communication": {
        "kernels of communication of whole steps": 18,
        "kernels of communication": 18},
    "good-origins": {
        "kernels of whole steps": 16,
        "GPU work launched before the capture": 4,
        "GPU work without a launch call": 5},
    "good-idle-gpu": {
        "GPUs": 2, "time in the window": 4000000,
        "idle share of GPUs": 0.9},
}


class Trace:
    """What every command said."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def document(self, command):
        if command not in self.known:
            path = f"{self.folder}/{command}.json"
            if not os.path.exists(path):
                return None
            with open(path, "rb") as f:
                self.known[command] = json.loads(
                    f.read().decode("utf-8", "replace") or "null")
        return self.known[command]

    def scalar(self, command, key):
        d = self.document(command)
        return d and d["scalars"].get(key)

    def rows(self, command, table):
        d = self.document(command)
        return d["tables"].get(table, []) if d else None

    def total(self, command, table, key, keep=lambda row: True):
        rows = self.rows(command, table)
        if rows is None:
            return None
        return sum(r[key] for r in rows if keep(r) and r[key] is not None)

    def count(self, command, table):
        rows = self.rows(command, table)
        return None if rows is None else len(rows)

    def steps(self, key):
        return self.total("steps", "steps", key, lambda r: not r["is_partial"])

    def trend(self, key, times="steps", form=round):
        """Over all steps; means are printed as exactly as a double can."""
        rows = self.rows("trend", "trend")
        if not rows or rows[0].get(key) is None:
            return None
        return form(Fraction(rows[0][key]) *
                    (rows[0][times] if times else 1))

    def diff(self, key, side="a"):
        for row in self.rows("diff", "structure") or []:
            if row["what"] == key:
                return row[side + "_sum"]
        return None

    def note(self, command, pattern):
        """The number in a note; 0 if there is no such note."""
        d = self.document(command)
        if not d:
            return None
        for note in d.get("notes", []):
            found = re.search(pattern, note)
            if found:
                return int(found[1].replace(",", ""))
        return 0

    def check(self, name, key="count"):
        for row in self.rows("doctor", "checks") or []:
            if row["check"] == name:
                return row[key]
        return None


# What advice is about, by the cause of idle time.
ADVICE = {
    "allocator": {"A12"}, "data loading": {"A1"}, "sync": {"A3"},
    "copy": {"A2", "A3"}, "first use": {"A22"}, "gc": {"A14"},
    "compile": {"A5"}, "launch latency": {"A4"},
    **dict.fromkeys(("operators", "runtime", "python"),
                    {"A4", "A21", "A22"}),
}
DOMINANT = 0.3  # of the window


def advice(t):
    """What holds most of the idle time is what some advice is about, unless
    that is the capture of graphs, which run nothing."""
    causes, rows = t.rows("gaps", "causes"), t.rows("advise", "advice")
    verdicts = t.rows("report", "verdicts")
    if rows is not None and verdicts is not None:
        # but for places, whose paths reports begin with their package
        def list_of(rows, key):
            return "; ".join("%s %s %s" % (r["id"], r[key], re.split(
                r"\. (?:Most of it is|The largest part, [^ ]+ %, is|On it the host waits longest, [^,]+,) in ", r["sentence"])[0])
                for r in rows)
        yield "the causes, in their order, and what each would save", {
            "advise": list_of(rows, "at_most_ns"), "report": list_of(
                [r for r in verdicts if r["id"].startswith("A")],
                "recoverable_ns")}
    for row in rows or []:
        if row["id"] == "A22":
            first = t.total("path", "categories", "ns",
                            lambda r: r["category"] == "first use")
            alone = "First uses, which" in row["sentence"]
            yield "time of first uses" + (", at least" * (not alone)), {
                "path": first, "advise": row["on_path_ns"] if alone
                else min(first, row["on_path_ns"])}
    # the command that shows a piece of advice says its figure
    asked = {r["question"]: r for r in t.rows("asked", "what_if") or []}
    for row in t.rows("advise", "how") or []:
        question = re.search("^see: .* --what-if (?:'([^']*)'|(\\S+))",
                             row["text"])
        if not question:
            continue
        answer = asked.get(question[1] or question[2]) or {}
        shown = next(r for r in rows if r["id"] == row["id"])
        yield f"what {row['id']} saves at most", {
            "advise": shown["at_most_ns"],
            "path": answer.get("saved_ns", "no answer")}
        if shown["likely_ns"] is not None and "hiding" not in shown["sentence"]:
            yield f"what {row['id']} saves at least", {
                "advise": shown["likely_ns"], "path": answer.get("least_ns")}
    # one meaning has its own words: "Without loading data ... 12 %"
    says = [("advise", r["sentence"]) for r in rows or []]
    says.append(("path", t.scalar("path", "finding") or ""))
    without = {}
    for place, text in says:
        for what, share in re.findall(
                r"Without (.+?) (?:at most )?([\d.]+ %)", text):
            without.setdefault(what, {})[place] = share
    yield "what is behind the path", {
        place: "".join(re.findall(
            r"(\S+ %) of [^.]+(?:\.\d+[^.]*)*? is behind", text))
        for place, text in ((c, t.scalar(c, "finding"))
                            for c in ("path", "advise")) if text}
    for what, places in without.items():
        yield f"what is saved without {what}", places
    window = t.scalar("gaps", "window_ns")
    if not causes or rows is None or t.folder.endswith("_capture"):
        return
    cause = causes[0]["cause"]
    if causes[0]["ns"] < DOMINANT * window or cause not in ADVICE:
        return
    given = {r["id"] for r in rows}
    yield "the cause of most idle time", {
        "gaps": cause, "advise": cause if given & ADVICE[cause] else
        " ".join(sorted(given))}


def worst(t):
    """The worst check, and what a capture of graphs is, in one wording."""
    says = re.search(r"^Of \d+ checks .*?: (.+)$",
                     t.scalar("doctor", "finding") or "")
    for row in t.rows("report", "verdicts") or []:
        if row["id"] == "V9" and says:
            yield "the worst check", {
                "doctor": says[1], "report": says[1]
                if says[1] in row["sentence"] else row["sentence"]}
        if row["id"] == "V17":
            into = (t.scalar("gaps", "finding") or "").split(". ")[0]
            yield "what is recorded into graphs", {
                "gaps": into, "report": into if into in row["sentence"]
                else row["sentence"]}


def launches(t):
    """Calls by what they launch, and calls whose work is recorded."""
    yield "calls that launch kernels or graphs, of whole steps", {
        "steps": t.steps("kernel_launch_count"),
        "trend": t.trend("launches"),
        "diff A": t.diff("launches"), "diff B": t.diff("launches", "b")}
    yield "calls that launch graphs, of whole steps", {
        "trend": t.trend("graph_launches"),
        "diff A": t.diff("graph_launches")}
    yield "calls with GPU work", {
        "launches": t.scalar("launches", "launch_count"),
        "its calls": t.total("launches", "calls", "count"),
        "its delays": t.total("launches", "delays", "count"),
        "its streams": t.total("launches", "streams", "launch_count")}


def waits(t):
    """Calls that wait for a GPU, and how long the host is blocked."""
    def is_sync(row):
        return row["kind"] == "sync"

    per_step = t.scalar("report", "syncs_per_step")
    whole = len([r for r in t.rows("steps", "steps") or []
                 if not r["is_partial"]])
    in_steps = t.scalar("syncs", "in_steps_count")
    if per_step is not None:
        per_step = round(per_step * whole)
    said = re.match(r"(?:No call waits for a GPU, but )?([\d,]+) calls?\b",
                    t.scalar("syncs", "finding") or "")
    yield "calls that block, in the window", {
        "syncs": t.scalar("syncs", "count"),
        "its sentence": int(said[1].replace(",", "")) if said else None,
        "report": per_step if in_steps is None else None,
        "its sites": t.total("syncs", "sites", "count")}
    yield "host blocked, in the window", {
        "syncs": t.scalar("syncs", "blocked_ns"),
        "its sites": t.total("syncs", "sites", "blocked_ns")}
    steps = len([r for r in t.rows("steps", "steps") or []
                 if not r["is_partial"]])
    # what gaps give to calls that wait is what syncs say the GPU idles there
    sites, culprits = t.rows("syncs", "sites"), t.rows("gaps", "culprits")
    if sites and culprits is not None and sites[0].get("idle_ns") is not None:
        calls = {r["call"] for r in sites}
        yield "idle time of GPUs in calls that wait", {
            "syncs": t.scalar("syncs", "idle_ns"),
            "its sites": t.total("syncs", "sites", "idle_ns"),
            "gaps": sum(r["ns"] for r in culprits if r["cause"] in (
                "sync", "blocking copy", "allocator") and r["culprit"] in calls)}
    blocked = t.scalar("syncs", "in_steps_ns")
    yield "calls that wait, of whole steps", {
        "syncs": in_steps, "report": None if in_steps is None else per_step,
        "trend": t.trend("syncs"), "diff A": t.diff("syncs"),
        "diff's sites": t.total("diff", "sync_sites", "a_calls")}
    yield "host blocked, mean of whole steps", {
        "syncs": None if blocked is None or not steps else
        (2 * blocked + steps) // (2 * steps),
        "diff's sites": t.total("diff", "sync_sites", "a_blocked_ns")}
    yield "calls that synchronize, of whole steps", {
        "steps": t.steps("synchronize_count"),
        "diff's sites": t.total("diff", "sync_sites", "a_calls", is_sync)}


def laws(t):
    """(meaning, {place: figure}) of a trace."""
    for count, column in (("kernels", "kernel_count"),
                          ("memsets", "memset_count")):
        yield f"{count} of whole steps", {
            "steps": t.steps(column), "trend": t.trend(count),
            "diff A": t.diff(count), "diff B": t.diff(count, "b")}
    for way in WAYS:
        for of, suffix in (("copies", "count"), ("bytes", "bytes")):
            yield f"{of} {way} of whole steps", {
                "steps": t.steps(f"{way}_{suffix}"),
                "steps' copies": t.total(
                    "steps", "copies", suffix,
                    lambda r, way=way: r["direction"].lower() == way),
                "trend": t.trend(f"{of}_{way}"),
                "diff A": t.diff(f"{of}_{way}")}
    yield "kernels of communication of whole steps", {
        "trend": t.trend("collectives"), "diff A": t.diff("collectives")}
    yield "busy share of steps", {
        "steps": t.scalar("steps", "busy_share"),
        "trend": t.trend("busy_share", None, float)}
    yield "share of the time between steps", {
        "steps": t.scalar("steps", "between_share"),
        "trend": t.trend("between_share", None, float)}
    for name in CLASSES:
        steps = t.total("steps", "classes", "mean_ns",
                        lambda r, name=name: r["class"] == name)
        trend = t.trend(f"{name}_ns", None)
        # trend rounds so that they add up to the step
        is_near = None not in (steps, trend) and abs(steps - trend) <= 1
        yield f"mean of class {name}", {
            "steps": steps, "trend": steps if is_near else trend}
    yield from launches(t)
    yield from waits(t)
    yield from advice(t)
    yield from worst(t)
    yield "GPU work launched before the capture", {
        "doctor": t.check("launched before capture"),
        "diff": t.note("diff", r"A, ([\d,]+) GPU events? "
                       r"(?:was|were) launched before")}
    yield "GPU work without a launch call", {
        "doctor": t.check("no launch call"),
        "diff": t.note("diff", r"A, ([\d,]+) GPU events? "
                       r"(?:has|have) no launch call")}
    # of the path, and of idle time, which may be more
    queued, what = t.scalar("path", "queued_ns"), "queued behind"
    idle = (t.total("gaps", "causes", "ns", lambda r: r["cause"] == what) or 0
            ) + (t.scalar("gaps", "before_cause") == what and
                 t.scalar("gaps", "before_most_ns"))
    yield "idle time queued behind what was not recorded, at least", {
        "path": queued, "gaps": min(queued or 0, idle) if t.document("gaps")
        else None}
    yield "GPU work that moves pages of unified memory", {
        "doctor": t.check("unified memory"),
        "diff": t.note("diff", r"A, ([\d,]+) GPU events? moves? pages")}
    orphans = [t.check(name) for name in ("launched before capture", "unified memory",
                                          "no launch call")]
    yield "all GPU work without a launch call", {
        "doctor": None if None in orphans else sum(orphans),
        "launches": t.scalar("launches", "orphan_count")}
    yield "busy time of GPUs", {
        "gaps": t.scalar("gaps", "busy_ns"),
        "overlap": t.scalar("overlap", "busy_ns")}
    yield "GPU work in the window", {
        "gaps": t.total("gaps", "devices", "event_count"),
        "overlap": t.total("overlap", "devices", "event_count")}
    yield "GPUs", {
        "gaps": t.count("gaps", "devices"),
        "overlap": t.count("overlap", "devices"),
        "steps": t.count("steps", "devices")}
    busy, total = (t.scalar("overlap", k) for k in ("busy_ns", "total_ns"))
    yield "busy share of GPUs", {
        "overlap": busy / total if total else None,
        "report": t.scalar("report", "busy_share")}
    yield "idle share of GPUs", {
        "gaps": t.scalar("gaps", "idle_share"),
        "report": t.scalar("report", "idle_share")}
    yield "time in the window", {
        "gaps": t.scalar("gaps", "window_ns"),
        "overlap": t.scalar("overlap", "total_ns"),
        "gaps' parts": t.document("gaps") and
        t.scalar("gaps", "busy_ns") + t.scalar("gaps", "idle_ns")}
    yield "idle time", {
        "gaps": t.scalar("gaps", "idle_ns"),
        "its causes": t.total("gaps", "causes", "ns")}
    yield "time of kernels", {
        "kernels": t.scalar("kernels", "kernel_ns"),
        "its groups": t.total("kernels", "kernels", "total_ns"),
        "its classes": t.total("kernels", "classes", "total_ns"),
        "its streams": t.total("kernels", "streams", "total_ns"),
        "steps": t.total("steps", "devices", "kernel_ns")}

    def is_comm(row):
        return row["class"] == "communication"

    yield "time of kernels of communication", {
        "kernels": t.total("kernels", "kernels", "total_ns", is_comm),
        "its classes": t.total("kernels", "classes", "total_ns", is_comm),
        "overlap": t.total("overlap", "comm_rules", "total_ns"),
        "its collectives": t.total("overlap", "collectives", "total_ns")}
    yield "kernels of communication", {
        "kernels": t.total("kernels", "kernels", "calls", is_comm),
        "overlap": t.total("overlap", "comm_rules", "count"),
        "its collectives": t.total("overlap", "collectives", "count")}


WORDS = 30  # of a sentence, at most
SAYING = ("finding", "sentence", "remedy")


def texts(d):
    """What a document says, and all else that it calls by its name."""
    cells = [("finding", d["scalars"].get("finding"))]
    for table in d["tables"].values():
        cells += [cell for row in table for cell in row.items()]
    texts = {key in SAYING: [] for key in ("", *SAYING)}
    for key, text in cells:
        if isinstance(text, str):
            texts[key in SAYING].append(text)
    return texts[True], texts[False]


def long_sentences(t):
    """One thought each; a name is a word."""
    for file in sorted(os.listdir(t.folder)):
        d = t.document(file.removesuffix(".json"))
        if not d:
            continue
        said, names = texts(d)
        names = sorted({n for n in names if " " in n and
                        re.search("[<(:]", n)}, key=len)[::-1]
        for text in said:
            for name in names if len(text.split()) > WORDS else ():
                text = text.replace(name, "NAME")
            for sentence in re.split(r"\. (?=[A-Z0-9-])", text):
                count = len(sentence.split())
                if count > WORDS:
                    yield f"{d['command']}: {count} words: {sentence}"


def judge(name, folder):
    bad = list(long_sentences(Trace(folder)))
    known = KNOWN.get(name, set())
    planted = PLANTED.get(name, {})
    for meaning, places in laws(Trace(folder)):
        figures = {k: v for k, v in places.items()
                   if v is not None or meaning in planted}
        wanted = set(figures.values())
        if meaning in planted:
            wanted.add(planted[meaning])
        if (len(wanted) > 1) == (meaning in known):
            continue
        bad.append(meaning + ": " + ", ".join(
            f"{place} {figure}" for place, figure in figures.items()))
        if meaning in known:
            bad.append("  agrees now: remove it from KNOWN of agree.py")
        if meaning in planted:
            bad.append(f"  was made to be {planted[meaning]}")
    say(name, bad)


if __name__ == "__main__":
    for name in sorted(os.listdir(sys.argv[1])):
        judge(name, os.path.join(sys.argv[1], name))
