# SPDX-License-Identifier: MIT
"""usage: color.py PROFAN DB

What commands print on a terminal and elsewhere, a TAP line each: colors are on a
terminal alone, and without them it is the same text.
"""
import os
import pty
import re
import subprocess
import sys

CODES = re.compile(rb"\x1b\[[0-9;]*m")
COMMANDS = ["summary", "steps", "gaps", "kernels", "doctor", "syncs",
            "syncs --max-per-step 0", "memory", "info", "table"]
OTHERS = ["--format csv", "--format json", "--format md",
          "--format github --max-per-step 0"]


def environment(more):
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    return {**env, "TERM": "xterm", "COLUMNS": "80", **more}


def piped(arguments, **more):
    return subprocess.run(arguments, env=environment(more),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout


def on_terminal(arguments, **more):
    """What a terminal gets.  Its side stays open until the end was read: once all
    have closed it, systems differ in what of the rest can still be read."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(["sh", "-c", '"$@"; printf "\\004"', "sh",
                              *arguments], env=environment(more),
                             stdout=theirs, stderr=subprocess.DEVNULL)
    text = b""
    while not text.endswith(b"\x04"):
        text += os.read(ours, 65536)
    child.wait()
    os.close(theirs)
    os.close(ours)
    return text[:-1].replace(b"\r\n", b"\n")


def judge(run):
    """Why not, or nothing."""
    plain = piped(run)
    painted = piped([*run, "--color", "always"])
    shown = on_terminal(run)
    if not plain or CODES.search(plain):
        yield "a file has colors, or nothing"
    for said in (painted, shown):
        if CODES.sub(b"", said) != plain:
            yield f"the text is another: {plain!r}, {said!r}"
    if run[1] != "table" and not CODES.search(shown) or shown != painted:
        yield "a terminal has no colors"
    for said in (on_terminal(run, NO_COLOR="1"), on_terminal(run, TERM="dumb"),
                 on_terminal([*run, "--color", "never"])):
        if said != plain:
            yield "colors that were declined"
    if on_terminal(run, NO_COLOR="") != shown:
        yield "an empty $NO_COLOR declines nothing"


def main(profan, db):
    for command in COMMANDS:
        word, *options = command.split()
        bad = list(judge([profan, word, db, *options]))
        print("not ok" if bad else "ok", "-", command)
        print("".join(f"# {line}\n" for line in bad), end="")
    for options in OTHERS:
        said = piped([profan, "syncs", db, *options.split(), "--color",
                      "always"])
        print("ok" if said and b"\x1b" not in said else "not ok", "-", options)


main(*sys.argv[1:])
