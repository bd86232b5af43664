# SPDX-License-Identifier: MIT
"""Changes single cells of a good database, as damage or malice would, and runs
every command on it: none may crash, hang or ask for more memory than there is.

usage: cells.py PROFAN DATABASE FOLDER COUNT [SEED]
"""
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys

profan, database, folder, count = sys.argv[1:4] + [int(sys.argv[4])]
seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1

COMMANDS = [
    ["info"], ["table"], ["steps"], ["gaps", "--per-stream"], ["syncs"],
    ["overlap"], ["kernels"], ["launches"], ["modules"], ["memory"],
    ["doctor"], ["trend"], ["table", "verdicts"], ["query", None,
     "SELECT count(args), sum(dur_ns) FROM event"],
    ["stacks", "--weight", "cpu", "-o", "out", "--force"],
    ["slice", "-o", "out", "--force"],
    ["report", "-o", "out", "--force"],
    ["diff", None, None, "--format", "html", "-o", "out", "--overwrite"],
]
INTEGERS = [0, 1, -1, 2, 7, 255, 2**22, 2**31 - 1, 2**31, 2**32 - 3,
            2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, -2**63, None]
TEXTS = ["", "x", "gpu", "host", "\x00", "%n%s", "[", "{\"a\":", "9" * 400,
         "\u00e9\u202e", None]
with open(profan, "rb") as f:  # it reserves terabytes of addresses
    SANITIZED = b"__asan_init" in f.read()


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def other_value(rng, kind, value):
    if isinstance(value, bytes) or kind == "BLOB":
        data = bytearray(value or b"")
        how = rng.randrange(4)
        if how == 0 or not data:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
        if how == 1:
            return bytes(data[:rng.randrange(len(data))])
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)
    if kind == "TEXT":
        return rng.choice(TEXTS)
    if kind == "REAL":
        return rng.choice([0.0, -1.0, 1e300, -1e300, 1e-300, None])
    number = rng.choice(INTEGERS)
    if number is not None and isinstance(value, int) and rng.randrange(3) == 0:
        number = max(-2**63, min(2**63 - 1, value + rng.choice([-1, 1, 4096])))
    return number


def mutate(rng, db):
    """One cell; returns what was done, or None if the schema refused it."""
    tables = [r[0] for r in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
        "name NOT LIKE 'sqlite_%' ORDER BY name")]
    table = rng.choice(tables)
    columns = db.execute(f"PRAGMA table_info({table})").fetchall()
    _, name, kind, _, _, _ = rng.choice(columns)
    keys = [c[1] for c in columns if c[5]] or ["rowid"]
    rows = db.execute(f"SELECT {', '.join(keys)}, \"{name}\" FROM {table} "
                      f"ORDER BY {', '.join(keys)}").fetchall()
    if not rows:
        return None
    row = rng.choice(rows)
    value = other_value(rng, kind, row[-1])
    where = " AND ".join(f"{k} = ?" for k in keys)
    try:
        db.execute(f"UPDATE {table} SET \"{name}\" = ? WHERE {where}",
                   (value, *row[:-1]))
    except sqlite3.Error:
        return None
    return f"{table}.{name} {row[:-1]}: {row[-1]!r:.60} -> {value!r:.60}"


bad = 0
path = os.path.join(folder, "cell.db")
for number in range(count):
    rng = random.Random(f"{seed} {number}")
    shutil.copy(database, path)
    db = sqlite3.connect(path)
    done = [mutate(rng, db) for _ in range(rng.choice([1, 1, 1, 3]))]
    db.commit()
    db.close()
    for command in COMMANDS:
        words = [path if w is None else w for w in command]
        if None not in command:
            words.append(path)
        try:
            end = subprocess.run([profan, *words], cwd=folder,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, timeout=60,
                                 preexec_fn=limit)
            code, said = end.returncode, end.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            code, said = "hangs", ""
        if code not in (0, 1, 3) or "out of memory" in said or "bug:" in said:
            bad += 1
            print(f"{number}: {'; '.join(d for d in done if d)}\n"
                  f"  {command[0]}: {code} {said[:300]}")
sys.exit(bad > 0)
