# SPDX-License-Identifier: MIT
"""Changes single cells of a good database, as damage or malice would, or puts
something else in the place of a table, and runs every command on it: none may
crash, hang or ask for more memory than there is.  What opening can tell is
refused: other times of the trace, and no tables.

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
    table = rng.choice(tables_of(db))
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


def tables_of(db):
    return [r[0] for r in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
        "name NOT LIKE 'sqlite_%' ORDER BY name")]


def mutate_all(rng, db):
    """Numbers whose sum is none."""
    table = rng.choice(tables_of(db))
    column = rng.choice(db.execute(f"PRAGMA table_info({table})").fetchall())[1]
    value = rng.choice([2**63 - 1, -2**63, 2**62])
    try:
        db.execute(f"UPDATE {table} SET \"{column}\" = ?", (value,))
    except sqlite3.Error:
        return None
    return f"{table}.{column} all: {value}"


def say(db, table, text):
    """What a table is said to be, whatever is in it."""
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, table))
    version = db.execute("PRAGMA schema_version").fetchone()[0]
    db.execute(f"PRAGMA schema_version = {version + 1}")
    db.execute("PRAGMA writable_schema = OFF")


def mutate_loose(rng, db):
    """A NULL, or a value of another type, where the schema allows none."""
    table = rng.choice(tables_of(db))
    column = rng.choice(db.execute(f"PRAGMA table_info({table})").fetchall())[1]
    value = rng.choice([None, b"", b"x" * 70000, "text", 1.5, -1, 2**63 - 1])
    text = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?",
                      (table,)).fetchone()[0]
    loose = text.replace(" NOT NULL", "").replace(") STRICT, ", ") ")
    say(db, table, loose.removesuffix(" STRICT"))
    try:
        db.execute(f"UPDATE {table} SET \"{column}\" = ? WHERE \"{column}\" IS "
                   f"(SELECT \"{column}\" FROM {table} LIMIT 1)", (value,))
        done = f"{table}.{column} loose: {value!r:.20}"
    except sqlite3.Error:  # of a key
        done = None
    say(db, table, text)
    return done


def mutate_lengths(rng, db):
    """A block that says more, or fewer, events than its columns have, columns
    of one block under another, columns that are missing or too long."""
    how = rng.choice([
        "UPDATE block SET event_count = event_count + %d" %
        rng.choice([-1, 1, 1000, 2**31, -2**31, 2**40]),
        "UPDATE track SET event_count = event_count + %d" %
        rng.choice([-1, 1, 1000, 2**40]),
        "UPDATE block_column SET data = CAST(data || zeroblob(%d) AS BLOB)" %
        rng.choice([1, 9, 70000]),
        "UPDATE block_column SET data = substr(data, 1, length(data) / 2)",
        "DELETE FROM block_column WHERE column_id = %d" % rng.randrange(12),
        "UPDATE block_column SET data = (SELECT data FROM block_column AS o "
        "WHERE o.column_id = block_column.column_id "
        "ORDER BY block_id DESC LIMIT 1)",
        "UPDATE block SET names = zeroblob(%d)" % rng.choice([0, 1, 99999]),
        "UPDATE block SET track_id = track_id + 1",
        "UPDATE OR IGNORE block SET block_no = 9 - block_no",
    ])
    try:
        db.execute(how)
    except sqlite3.Error:
        return None
    return how


def replaced(db, table):
    """Ways to put something else in the place of a table."""
    db.execute(f"ALTER TABLE {table} RENAME TO real")
    columns = db.execute("PRAGMA table_info(real)").fetchall()
    names = ", ".join(f'"{c[1]}"' for c in columns)
    first = f'"{columns[0][1]}"'
    yield f"CREATE VIEW {table} AS SELECT * FROM real"
    yield (f"CREATE VIEW {table}({names}) AS WITH RECURSIVE n(i) AS (SELECT 1 "
           f"UNION ALL SELECT i + 1 FROM n) SELECT "
           + ", ".join("i" for _ in columns) + " FROM n")
    yield (f"CREATE TABLE {table}({names}, made AS (hex(zeroblob(1e8))))")
    yield f"CREATE VIRTUAL TABLE {table} USING fts5({first})"
    yield f"CREATE INDEX {table} ON real({first})"
    yield "SELECT 1"


def run(words):
    """Exit code (or "hangs") and what was said on stderr."""
    try:
        end = subprocess.run([profan, *words], cwd=folder,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             timeout=60, preexec_fn=limit)
        return end.returncode, end.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "hangs", ""


def copy():
    shutil.copy(database, path)
    return sqlite3.connect(path)


def must_be_refused(what, db):
    db.commit()
    db.close()
    code, said = run(["gaps", path])
    if code != 3 or "damaged" not in said:
        print(f"{what}: gaps: {code} {said[:300]}")
        return 1
    return 0


bad = 0
path = os.path.join(folder, "cell.db")
for column in "first_ns", "last_ns":
    for value in column + " - 1", column + " + 1", "0", "NULL", "1 << 62":
        db = copy()
        done = db.execute(f"UPDATE trace SET {column} = {value} "
                          f"WHERE {column} IS NOT {value}").rowcount
        if done:
            bad += must_be_refused(f"trace.{column} = {value}", db)
whole = sqlite3.connect(database)
for table in tables_of(whole):
    is_short = count < 100 and table not in ("trace", "step", "block")
    for n in [5] if is_short else range(6):
        db = copy()
        try:
            for _, how in zip(range(n + 1), replaced(db, table)):
                pass
            db.execute(how)
        except sqlite3.Error as e:
            print(f"# {how}: {e}")
            continue
        bad += must_be_refused(how, db)
MUTATORS = [mutate, mutate, mutate, mutate_all, mutate_loose, mutate_lengths]
for number in range(count):
    rng = random.Random(f"{seed} {number}")
    db = copy()
    mutator = rng.choice(MUTATORS)
    done = [mutator(rng, db) for _ in range(rng.choice([1, 1, 1, 3]))]
    db.commit()
    db.close()
    for command in COMMANDS:
        words = [path if w is None else w for w in command]
        if None not in command:
            words.append(path)
        code, said = run(words)
        if code not in (0, 1, 3) or "out of memory" in said or "bug:" in said:
            bad += 1
            print(f"{number}: {'; '.join(d for d in done if d)}\n"
                  f"  {command[0]}: {code} {said[:300]}")
sys.exit(bad > 0)
