# SPDX-License-Identifier: MIT
"""What profan.torch.handler() leaves to a process of its own: a trace becomes
a database, with a page if that was asked for, and is compressed or removed.

usage: python _later.py ORDER, where ORDER is JSON: program, trace, lock (a
descriptor), gzip, report, keep.
"""
import fcntl
import gzip
import json
import os
import shutil
import subprocess
import sys
from typing import Any, Dict, Optional


def _say(text: str) -> None:
    print(f"profan: {text}", file=sys.stderr, flush=True)


def _compressed(trace: str) -> str:
    """The trace as .gz, which has its name only when it is whole."""
    folder, name = os.path.split(trace)
    # folders that are read leave hidden files out
    partial = os.path.join(folder, f".{name}.gz.partial")
    with open(trace, "rb") as source, open(partial, "wb") as target:
        with gzip.GzipFile(name, "wb", 6, target) as packed:
            shutil.copyfileobj(source, packed, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
    os.rename(partial, trace + ".gz")
    os.remove(trace)
    return trace + ".gz"


def _why_kept(program: str, database: str) -> Optional[str]:
    """Why the trace may not go; None: the database has all of it."""
    done = subprocess.run([program, "info", database, "--check", "--format",
                           "json"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return "its database could not be read back"
    left_out = sum(row["skipped_count"] + row["lost_count"]
                   for row in json.loads(done.stdout)["tables"]["accounts"])
    if left_out:
        return f"{left_out} of its events are not in the database"
    return None


def work(order: Dict[str, Any]) -> int:
    os.nice(10)
    # a lock of this process, on a file that the training process's share
    fcntl.lockf(order["lock"], fcntl.LOCK_EX)
    program, trace = order["program"], order["trace"]
    if order["gzip"] and order["keep"]:
        trace = _compressed(trace)
    os.environ["PROFAN_THREADS"] = "1"
    if order["keep"]:
        # where commands look for the database of a trace
        database = trace
        done = subprocess.run([program, "info", "-q", trace],
                              stdout=subprocess.DEVNULL, check=False)
    else:
        database = trace + ".db"
        done = subprocess.run([program, "ingest", "-q", trace, "-o",
                               database], check=False)
    if not done.returncode and order["report"]:
        done = subprocess.run([program, "report", "-q", database, "-o",
                               trace + ".html"], check=False)
    if done.returncode or order["keep"]:
        return done.returncode
    why = _why_kept(program, database)
    if why:
        _say(f"'{trace}' is kept: {why}")
        return 1
    os.remove(trace)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(work(json.loads(sys.argv[1])))
    except OSError as error:
        _say(str(error))
        sys.exit(3)
