# SPDX-License-Identifier: MIT
"""Results as relay() of tap.sh reads them, for checkers that judge many things
in one start.

usage: results.py LIST    runs each line of LIST, "NAME<tab>CHECKER<tab>ARGUMENT...",
                          as if it were started alone: a result each
"""
import contextlib
import io
import os
import sys
import traceback


def say(name, bad):
    """bad: lines that say what is wrong."""
    print(f"not ok - {name}" if bad else f"ok - {name}")
    for line in bad:
        print("#", line)


def judge(files, agree, words):
    """A result for each file and its database: agree() prints what is wrong."""
    for source, stored in zip(files[::2], files[1::2]):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            failed = agree(source, stored)
        say(f"{os.path.basename(source)}: {words}",
            said.getvalue().splitlines() or ["?"] if failed else [])


def ends_well(checker, arguments, codes):
    """Runs a program in Python as its own start would; what it defines is gone."""
    sys.argv, sys.path[0] = [checker, *arguments], os.path.dirname(checker)
    if checker not in codes:
        with open(checker, encoding="utf-8") as f:
            codes[checker] = compile(f.read(), checker, "exec")
    try:
        exec(codes[checker], {"__name__": "__main__", "__file__": checker})
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code)
        return not end.code
    except Exception:
        print(traceback.format_exc())
        return False
    return True


def main():
    codes = {}
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    for name, checker, *arguments in lines:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            is_well = ends_well(checker, arguments, codes)
        say(name, [] if is_well else said.getvalue().splitlines() or ["?"])


if __name__ == "__main__":
    main()
