# SPDX-License-Identifier: MIT
"""What 'profan timeline' draws against the events of the database.

usage: timeline.py PROFAN DB...
       timeline.py PROFAN --kept DB: what is asked of a database that stays open
"""
import json
import os
import random
import subprocess
import sys
from collections import Counter

import results

PROFAN = sys.argv[1]


def ask(*args):
    return json.loads(subprocess.run(
        [PROFAN, *args, "--format", "json"], check=True,
        stdin=subprocess.DEVNULL, capture_output=True).stdout)


def drawn(db, *args):
    doc = ask("timeline", db, *args)
    return doc["scalars"], doc["tables"]


FIRST = """SELECT min(first_ns) FROM track AS f
    WHERE f.trace_id = e.trace_id AND f.event_count > 0"""


def events_of(db):
    """Ranges and instants by id, on the clock of their trace."""
    rows = ask("query", db, f"""
        SELECT e.id, e.trace_id, e.track_id, e.name, e.dur_ns, e.ph,
            e.start_ns - ({FIRST}) AS start_ns
        FROM event AS e JOIN track AS t ON t.id = e.track_id
        WHERE t.class IN ('host', 'gpu') AND e.name <> '[memory]'
        ORDER BY e.id""")["tables"]
    return {r["id"]: r for r in next(iter(rows.values())) if r["ph"] in "Xi"}


def overlaps(event, low, high):
    end = event["start_ns"] + event["dur_ns"]
    return event["start_ns"] < high and (end > low or
                                         event["start_ns"] >= low)


def covers(event, low, length, pixels):
    """Does it cover more than half of a column?"""
    start = max(event["start_ns"], low)
    end = min(event["start_ns"] + event["dur_ns"], low + length)
    if end <= start:
        return False
    first = (start - low) * pixels // length
    last = (end - 1 - low) * pixels // length
    for column in {first, first + 1, last - 1, last} & set(
            range(first, last + 1)):
        left = low - (-column * length // pixels)
        right = low - (-(column + 1) * length // pixels)
        if 2 * (min(end, right) - max(start, left)) > right - left:
            return True
    return False


def check_sums(db, events):
    """Each event of a window is in one slice; slices are events."""
    last = max(e["start_ns"] + e["dur_ns"] for e in events.values())
    for low, high in [(0, last + 1), (last // 3, last // 2),
                      (last // 2, last // 2 + 1000)]:
        want = Counter(e["track_id"] for e in events.values()
                       if overlaps(e, low, high))
        for pixels in 1, 7, 500:
            figures, tables = drawn(db, "--from", f"{low}ns", "--to",
                                    f"{high}ns", "--pixels", str(pixels))
            where = f"{low}..{high} in {pixels}: "
            names = {n["name"]: n["text"] for n in tables["names"]}
            seen, rows = Counter(), Counter()
            ends = {}
            for s in tables["slices"]:
                seen[s["track"]] += s["events"]
                row = s["track"], s["depth"]
                rows[row] += 1
                if s["start_ns"] < ends.get(row, -1):
                    yield f"{where}slices of {row} overlap"
                ends[row] = s["start_ns"] + s["dur_ns"]
                if s["event_id"] is None:
                    continue
                e = events[s["event_id"]]
                if (e["start_ns"], e["dur_ns"], e["name"]) != (
                        s["start_ns"], s["dur_ns"], names[s["name"]]):
                    yield f"{where}{s} is not {e}"
            lanes = {t["track"] for t in tables["tracks"]
                     if t["group"] == "ranges"}
            got = Counter({k: v for k, v in seen.items() if k not in lanes})
            if got != want:
                yield f"{where}{got} events are not {want}"
            if sum(seen.values()) != figures["events"]:
                yield f"{where}{figures} is not the sum"
            length = figures["to_ns"] - low
            ids = {s["event_id"] for s in tables["slices"]}
            for e in events.values():
                if e["id"] not in ids and overlaps(e, low, high) and \
                        covers(e, low, length, pixels):
                    yield f"{where}{e} covers most of a column"
            if rows and max(rows.values()) > pixels:
                yield f"{where}more slices than columns"


def check_found(db, events):
    """Every event is drawn where there is room for it."""
    for i, e in sorted(events.items())[::max(len(events) // 60, 1)]:
        low = e["start_ns"]
        _, tables = drawn(db, "--from", f"{low}ns", "--to",
                          f"{low + max(e['dur_ns'], 1)}ns", "--pixels",
                          "100000")
        if i not in {s["event_id"] for s in tables["slices"]}:
            yield f"{e} is not drawn"


def check_tracks(db):
    _, tables = drawn(db)
    for which, groups in (("gpu", {"gpu"}), ("host", {"host", "ranges"})):
        _, some = drawn(db, "--tracks", which)
        if some["tracks"] != [t for t in tables["tracks"]
                              if t["group"] in groups]:
            yield f"--tracks {which}: {some['tracks']}"


def made(db, which, trace, *more):
    """What tracks that no trace has show: start, time, and name if idle."""
    figures, tables = drawn(db, "--tracks", which, "--trace", str(trace),
                            "--pixels", "100000", *more)
    names = {n["name"]: n["text"] for n in tables["names"]}
    return {(s["start_ns"], s["dur_ns"], which == "idle" and
             names[s["name"]]) for s in tables["slices"]}, figures


def check_made(db):
    """Idle time and the path: what 'profan gaps' and 'profan path' say."""
    for trace in ask("info", db)["tables"]["traces"]:
        n = str(trace["trace_id"])
        for which, command, of in (("idle", ["gaps"], "gaps"),
                                   ("path", ["path", "--list"], "tiles")):
            for more in ([], ["--from", "0.3ms", "--to", "2ms"]):
                said = ask(*command, db, "--trace", n, "--limit", "-1", *more)
                seen, figures = made(db, which, n, *more)
                rows = [r for r in said["tables"].get(of, []) if
                        r["start_ns"] < figures["to_ns"]]
                want = {(r["start_ns"], r["ns"], which == "idle" and
                         r["cause"]) for r in rows}
                column = max(figures["to_ns"] - figures["from_ns"],
                             1) / 100000
                if not seen <= want:
                    yield f"{which} {more}: {sorted(seen - want)[:3]}"
                if {w for w in want if w[1] > 2 * column} - seen:
                    yield f"{which} {more}: {sorted(want - seen)[:3]}"
                if figures["events"] != len(rows):
                    yield f"{which} {more}: {figures}, not {len(rows)}"


def series_of(db):
    """Of each series of numbers its trace, and time and value in order."""
    series = {}
    rows = ask("query", db, f"""
        SELECT e.trace_id, e.track_id, e.name, e.args, e.start_ns - ({FIRST})
            AS at FROM event AS e WHERE e.kind IN (14, 17) ORDER BY at, e.id
        """)["tables"]
    for r in next(iter(rows.values())):
        args, trace = json.loads(r["args"]), r["trace_id"]
        if r["name"] == "[memory]":
            found = [((trace, args["Device Type"], args["Device Id"], k), k)
                     for k in ("Total Allocated", "Total Reserved")]
        else:
            found = [((trace, r["track_id"], r["name"], k), k) for k, v
                     in args.items() if isinstance(v, (int, float))]
        for key, k in found:
            series.setdefault(key, []).append((r["at"], args[k]))
    return [(key[0], points) for key, points in series.items() if
            key[-1] != "Total Reserved" or any(v for _, v in points)]


def check_counters(db, events):
    """In each column the least, the most and the last value; what was before
    the window holds from its start."""
    last = max(e["start_ns"] + e["dur_ns"] for e in events.values())
    series = series_of(db)
    for low, high in [(0, last + 1), (last // 3, last // 2),
                      (last // 2, last // 2 + 1000)]:
        for pixels in 1, 7, 500:
            figures, tables = drawn(
                db, "--from", f"{low}ns", "--to", f"{high}ns", "--pixels",
                str(pixels), "--tracks", "counters")
            length, want = figures["to_ns"] - low, []
            for trace, points in series:
                columns = {}
                for at, value in points:
                    if at < low:
                        columns[-1] = [trace, low, 0, value, value, value]
                    elif at < high:
                        row = columns.setdefault(
                            (at - low) * pixels // length,
                            [trace, at, 0, value, value, value])
                        row[2:] = [row[2] + 1, min(row[3], value),
                                   max(row[4], value), value]
                want += columns.values()
            trace_of = {t["track"]: t["trace_id"] for t in tables["tracks"]}
            got = [[trace_of[s["track"]], *(s[k] for k in (
                "start_ns", "events", "least", "most", "last"))]
                for s in tables["samples"]]
            if sorted(got) != sorted(want):
                yield (f"{low}..{high} in {pixels}: {sorted(got)[:3]}, not "
                       f"{sorted(want)[:3]}")
            for t in tables["tracks"]:
                if [t["least"], t["most"]] not in [
                        [min(v for _, v in p), max(v for _, v in p)]
                        for _, p in series]:
                    yield f"{t} is no extent"


def check_kept(db):
    """What is kept of long tracks gives what reading them gives."""
    rng = random.Random(5)
    span = drawn(db, "--pixels", "1")[0]["to_ns"]
    server = subprocess.Popen([PROFAN, "--serve"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    for _ in range(150 if os.environ.get("LONG") else 50):
        unit = 1 << rng.randrange(5, span.bit_length() - 5)
        low = rng.randrange(span // unit) * unit
        high = low + unit * rng.choice((1, 40, 2000))
        if rng.random() < 0.2:
            low += rng.randrange(unit)
        if rng.random() < 0.2:
            high += rng.randrange(unit)
        if rng.random() < 0.1:
            low, high = 0, span + unit
        if high - low > 50000 * unit:
            high = low + 50000 * unit
        words = ["timeline", db, "--from", f"{low}ns", "--to", f"{high}ns",
                 "--column", f"{unit}ns", "--limit", "-1", "--format", "json"]
        server.stdin.write(b"".join(w.encode() + b"\0" for w in (
            str(len(words) + 1), "profan", *words)))
        server.stdin.flush()
        code, size = map(int, server.stdout.readline().split())
        got = server.stdout.read(size)
        want = subprocess.run([PROFAN, *words], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        if (code, got) != (want.returncode, want.stdout):
            yield f"{' '.join(words)}: exit code {code}, {got[:300]}"
    server.stdin.close()
    server.wait()


if sys.argv[2] == "--kept":
    results.say(f"{sys.argv[3]}: the same of a database that stays open",
                list(check_kept(sys.argv[3])))
    sys.exit()
for path in sys.argv[2:]:
    known = events_of(path)
    results.say(f"{path}: each event of a window is in one slice, and slices "
                "are events", list(check_sums(path, known)))
    results.say(f"{path}: every event is found when zoomed in",
                list(check_found(path, known)))
    results.say(f"{path}: tracks by kind", list(check_tracks(path)))
    results.say(f"{path}: idle time by cause, and the path",
                list(check_made(path)))
    results.say(f"{path}: counters", list(check_counters(path, known)))
