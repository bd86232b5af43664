# SPDX-License-Identifier: MIT
"""Traces whose structure was changed, read by Python's json and by profan: what
is stored, paired, metadata or skipped are all elements of event lists, events
that no change touched are stored as they are, and the database does not depend
on chunks and readers.

usage: mutants.py PROFAN FOLDER COUNT [SEED]
"""
import json
import os
import random
import sqlite3
import subprocess
import sys

profan, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
seed = sys.argv[4] if len(sys.argv) > 4 else "1"
KINDS = {"cpu_op": 1, "user_annotation": 2, "python_function": 3,
         "cuda_runtime": 4, "cuda_driver": 5, "overhead": 6, "own_category": 0}
VALUES = [None, True, False, 0, -1, 7.5, 1e300, -1e-9, 2**70, "", "x", "12",
          "\u0000", "\ud83d\ude00", "\n", [], {}, [[1]], {"ph": "X", "ts": 1},
          {"traceEvents": [{"ph": "X"}]}, "}]", "{\"ph\":\"M\"}", "$a", "\\"]
ELEMENTS = VALUES + [{"ph": p} for p in ("X", "M", "B", "E", "i", "?", "", 5)]


def event(rng, number):
    return {"ph": "X", "cat": rng.choice(sorted(KINDS)), "name": f"n{number}",
            "pid": rng.randrange(2), "tid": rng.randrange(3),
            "ts": number * 10, "dur": rng.randrange(9),
            "args": {"External id": number, "Input Dims": [[number % 5, 2]],
                     "note": rng.choice(["a", "b{", "c]}", "d\"\\"])}}


def change(rng, ev):
    """A changed copy, as a JSON text: keys may come twice."""
    ev = dict(ev)
    for _ in range(rng.choice([1, 1, 2, 4])):
        inner = rng.random() < 0.4 and isinstance(ev.get("args"), dict)
        target = ev["args"] = dict(ev["args"]) if inner else None
        if not inner:
            target = ev
            if target.get("args") is None:
                target["args"] = {}
        key = rng.choice(sorted(target) + ["extra"])
        how = rng.randrange(3)
        if how == 0:
            target.pop(key, None)
        elif how == 1:
            target[key] = rng.choice(VALUES)
        else:
            target[rng.choice(["ph", "id", "s", "bp", "cname", "\u00e9", ""])] \
                = rng.choice(VALUES)
    text = json.dumps(ev)
    if rng.random() < 0.2 and len(ev) > 1:  # a key twice: the last one wins
        text = text[:-1] + ", " + json.dumps(rng.choice(VALUES)).join(
            ["\"dur\": ", "}"])
    return text


def document(rng, kept, numbers):
    texts = []
    for _ in range(rng.choice([0, 1, 5, 60])):
        ev = event(rng, next(numbers))
        how = rng.randrange(8)
        if how == 0:
            texts.append(change(rng, ev))
        elif how == 1:
            texts.append(json.dumps(rng.choice(ELEMENTS)))
        else:
            kept.append(ev)
            items = list(ev.items())
            rng.shuffle(items)
            texts.append(json.dumps(dict(items), indent=rng.choice([None, 1])))
    events = "[" + rng.choice([",", ", ", "\n,\n"]).join(texts) + "]"
    if rng.random() < 0.2:
        return events, len(texts)
    members = ["\"traceEvents\": " + events]
    for _ in range(rng.randrange(4)):
        members.insert(rng.randrange(len(members) + 1), json.dumps(
            f"m{rng.randrange(99)}") + ": " + json.dumps(rng.choice(VALUES)))
    return "{" + ", ".join(members) + "}", len(texts)


def ingest(path, chunk, readers):
    out = os.path.join(folder, "mutant.db")
    env = dict(os.environ, PROFAN_CHUNK_BYTES=str(chunk))
    if os.path.exists(out):
        os.unlink(out)
    end = subprocess.run([profan, "ingest", "-q", "-j", str(readers), path,
                          "-o", out], env=env, capture_output=True, timeout=60)
    if end.returncode:
        return end.returncode, end.stderr
    with open(out, "rb") as f:
        return 0, f.read()


def query(sql):
    out = subprocess.run([profan, "query", "-f", "json",
                          os.path.join(folder, "mutant.db"), sql],
                         check=True, capture_output=True).stdout
    return list(json.loads(out)["tables"].values())[0]


def judge(total, kept):
    t = query("SELECT * FROM trace")[0]
    if t["event_count"] != total:
        return f"{t['event_count']} events, Python has {total}"
    if total != sum(t[k + "_count"] for k in
                    ("stored", "metadata", "paired", "skipped")):
        return f"counts do not add up: {t}"
    rows = {r["name"]: r for r in query(
        "SELECT name, category, kind, start_ns, dur_ns, args FROM event "
        "WHERE name GLOB 'n[0-9]*'")}
    for ev in kept:
        r = rows.get(ev["name"])
        want = (ev["cat"], KINDS[ev["cat"]], ev["ts"] * 1000, ev["dur"] * 1000,
                ev["args"])
        if not r or (r["category"], r["kind"], r["start_ns"], r["dur_ns"],
                     json.loads(r["args"])) != want:
            return f"{want} became {r}"
    return None


bad = 0
for number in range(count):
    rng = random.Random(f"{seed} {number}")
    kept, total, texts, numbers = [], 0, [], iter(range(10**6))
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        text, n = document(rng, kept, numbers)
        total += n
        texts.append(text)
        assert json.loads(text) is not None
    path = os.path.join(folder, "mutant.json")
    with open(path, "w") as f:
        f.write(rng.choice(["", "\n", " "]).join(texts))
    first = ingest(path, 1 << 30, 1)
    what = judge(total, kept) if first[0] == 0 else \
        first[1].decode() if first[0] != 3 or kept else None
    for chunk, readers in (64, 1), (64, 4), (1000, 2), (4096, 4):
        if what is None and ingest(path, chunk, readers) != first:
            what = f"differs with chunks of {chunk} and {readers} readers"
    if what:
        bad += 1
        print(f"{number}: {what}")
        os.rename(path, f"{path}.{number}")
sys.exit(bad > 0)
