# SPDX-License-Identifier: MIT
"""Damages captures in many ways and ingests each: it is read, and every event
is accounted for, or refused in one sentence, and nothing is left behind.

usage: damage.py PROFAN FOLDER COUNT CAPTURE...   what is wrong on stdout, exit 1
"""
import os
import random
import sqlite3
import subprocess
import sys

PAGE = 4096


def damage(data, seed):
    rng = random.Random(seed)
    data = bytearray(data)
    pages = len(data) // PAGE
    kind = seed % 4
    if kind == 0:
        for _ in range(rng.randrange(1, 60)):
            data[rng.randrange(100, len(data))] = rng.randrange(256)
    elif kind == 1 and pages > 2:  # pages in each other's place
        a, b = rng.randrange(1, pages), rng.randrange(1, pages)
        data[a * PAGE:a * PAGE + PAGE] = data[b * PAGE:b * PAGE + PAGE]
    elif kind == 2:
        del data[rng.randrange(100, len(data)):]
    else:  # heads of pages: kinds, counts, offsets
        page = rng.randrange(0, max(1, pages)) * PAGE
        for _ in range(3):
            at = page + rng.randrange(12) + (100 if page == 0 else 0)
            data[at % len(data)] = rng.randrange(256)
    return bytes(data)


def unaccounted(path):
    db = sqlite3.connect(path)
    try:
        return db.execute(
            "SELECT count(*) FROM trace WHERE event_count <> stored_count"
            " + metadata_count + paired_count + skipped_count").fetchone()[0]
    finally:
        db.close()


def judge(profan, mutant, out):
    try:
        end = subprocess.run([profan, "ingest", "-q", mutant, "-o", out],
                             stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=60)
    except subprocess.TimeoutExpired:
        return "hangs"
    said = end.stderr.decode(errors="replace")
    if end.returncode == 0:
        if unaccounted(out):
            return "events are not accounted for"
        os.unlink(out)
    elif end.returncode != 3 or said.count("\n") != 1:
        return f"exit {end.returncode}: {said[:400]}"
    left = os.listdir(os.path.dirname(out))
    return f"left behind: {left}" if left else None


def main(profan, folder, count, *captures):
    left = os.path.join(folder, "left")
    os.makedirs(left)
    datas = [open(path, "rb").read() for path in captures]
    bad = 0
    for seed in range(int(count)):
        # a kind of damage for each, a capture after the other
        which = seed // 4 % len(captures)
        mutant = os.path.join(folder, os.path.basename(captures[which]))
        with open(mutant, "wb") as f:
            f.write(damage(datas[which], seed))
        why = judge(profan, mutant, os.path.join(left, "m.db"))
        if why:
            bad += 1
            print(f"seed {seed}, {os.path.basename(mutant)}: {why}")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
