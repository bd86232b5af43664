# SPDX-License-Identifier: MIT
"""Databases and files that were changed, and a command of all that there are
on each: an answer, or one message, and never a fault.  Half of the databases
have other values, where no constraint forbids them, half other bytes or pages;
files have other bytes, are cut, or have parts that come twice.

usage: attack.py PROFAN FOLDER db|file FIRST COUNT [SEED_FILE...]
Seed N does the same each time; a mutant that fails stays in FOLDER.
"""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

profan, folder, what = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
first, count = int(sys.argv[4]), int(sys.argv[5])
sources = [os.path.abspath(p) for p in sys.argv[6:]]
PAGE = 4096
VALUES = [None, 0, 1, -1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -2**63,
          1.5, 1e300, float("inf"), "", "x", "12", "{", "[1,[2", "\ud7ff\0\n",
          "<script>", "A" * 5000, b"", b"\xff\x00", bytes(300)]
LIMIT_S = 120


def commands():
    """Words of each; DB stands for what is attacked."""
    listed = json.loads(subprocess.run(
        [profan, "help", "--format", "json"], check=True,
        capture_output=True).stdout)["commands"]
    special = {
        "ingest": ["ingest", "DB", "-o", "out"],
        "merge": ["merge", "DB", "good.db", "-o", "out"],
        "diff": ["diff", "DB", "good.db"], "trend": ["trend", "DB", "good.db"],
        "ranks": ["ranks", "DB", "good.db"],
        "view": ["view", "DB", "-o", "out"],
        "report": ["report", "DB", "-o", "out"],
        "slice": ["slice", "DB", "-o", "out"],
        "export": ["export", "--rows", "DB", "-o", "out"],
        "query": ["query", "DB", "SELECT * FROM event"],
    }
    for c in listed:
        if c["name"] in ("capture", "clean", "help"):
            continue
        words = special.get(c["name"], [c["name"], "DB"])
        yield words
        if "out" not in words and \
                any(o["name"] == "format" for o in c["options"]):
            yield words + ["--format", "json"]


def change_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        how, at = rng.randrange(6), rng.randrange(len(data) or 1)
        if how < 3 and data:
            data[at] = rng.choice([0, 255, 128, 32, rng.randrange(256)])
        elif how == 3:
            del data[at:at + rng.choice([1, 4, 100])]
        elif how == 4:
            data[at:at] = data[at:at + rng.choice([1, 8, 200])]
        elif rng.random() < .3:
            del data[at:]
    return bytes(data)


def change_pages(rng, data):
    data = bytearray(data)
    pages = len(data) // PAGE
    for _ in range(rng.randrange(1, 8)):
        a, b = rng.randrange(pages), rng.randrange(pages)
        how = rng.randrange(4)
        if how == 0 and a and b:
            data[a * PAGE:(a + 1) * PAGE] = data[b * PAGE:(b + 1) * PAGE]
        elif how == 1:  # heads of pages: kinds, counts, offsets
            data[a * PAGE + rng.randrange(12) + 100 * (a == 0)] = \
                rng.randrange(256)
        else:
            data[rng.randrange(100, len(data))] = rng.randrange(256)
    return bytes(data)


def change_values(rng, path):
    db = sqlite3.connect(path)
    tables = [r[0] for r in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table'"
        " AND name NOT LIKE 'sqlite%' ORDER BY 1")]
    filled = [t for t in tables
              if db.execute(f'SELECT 1 FROM "{t}" LIMIT 1').fetchone()]
    for _ in range(rng.choice([1, 1, 2, 4])):
        table = rng.choice(filled)
        rows = db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        column = rng.choice(db.execute(
            f"SELECT name FROM pragma_table_info('{table}')").fetchall())[0]
        skip = rng.randrange(rows) if rows else 0
        value = rng.choice(VALUES)
        if rng.random() < .3:  # that of another row
            other = db.execute(f'SELECT "{column}" FROM "{table}" LIMIT 1'
                               f" OFFSET {rng.randrange(rows or 1)}").fetchone()
            value = other[0] if other else value
        key = db.execute(f'SELECT * FROM "{table}" LIMIT 1 OFFSET {skip}')
        names = [d[0] for d in key.description]
        row = key.fetchone()
        where = "" if row is None or rng.random() < .1 else " WHERE " + \
            " AND ".join(f'"{n}" IS ?' for n in names)
        try:
            if rng.random() < .15:
                db.execute(f'DELETE FROM "{table}"{where}',
                           row if where else ())
            else:
                db.execute(f'UPDATE "{table}" SET "{column}" = ?{where}',
                           (value, *row) if where else (value,))
        except (sqlite3.Error, OverflowError, UnicodeError):
            pass  # a constraint forbids it
    db.commit()
    db.close()


def make(rng, source):
    """The mutant's path."""
    path = os.path.join(folder, "m" + os.path.basename(source))
    with open(source, "rb") as f:
        data = f.read()
    by_value = what == "db" and rng.random() < .5
    if not by_value:
        data = (change_pages if what == "db" else change_bytes)(rng, data)
    with open(path, "wb") as f:
        f.write(data)
    if by_value:
        change_values(rng, path)
    return path


def judge(words, path):
    """What is wrong; whether there was an answer."""
    words = [path if w == "DB" else w for w in words]
    try:
        end = subprocess.run([profan, *words], cwd=folder, timeout=LIMIT_S,
                             stdin=subprocess.DEVNULL, capture_output=True)
    except subprocess.TimeoutExpired:
        return "hangs", False
    said = end.stderr.decode(errors="replace")
    if "Sanitizer" in said or "runtime error" in said or end.returncode < 0:
        return f"exit {end.returncode}: {said[:3000]}", False
    if end.returncode not in (0, 1, 2, 3):
        return f"exit {end.returncode}: {said[:400]}", False
    if end.returncode > 1 and "profan: " not in said:
        return f"exit {end.returncode} without a message", False
    return None, end.returncode < 2


def main():
    every = list(commands())
    keep = {os.path.basename(s) for s in sources} | {"good.db"}
    bad = answers = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        path = make(rng, rng.choice(sources))
        words = every[seed % len(every)]
        why, answered = judge(words, path)
        answers += answered
        if why:
            bad += 1
            name = f"bad-{seed}-{os.path.basename(path)}"
            shutil.copy(path, os.path.join(folder, name))
            keep.add(name)
            print(f"seed {seed}: {' '.join(words)}: {name}: {why}", flush=True)
        for name in set(os.listdir(folder)) - keep:
            os.unlink(os.path.join(folder, name))
    print(f"# {what}: {count} mutants, {len(every)} commands,"
          f" {answers} answered, {bad} bad")
    return 1 if bad else 0


sys.exit(main())
