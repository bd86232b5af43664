# SPDX-License-Identifier: MIT
"""Results as relay() of tap.sh reads them, for checkers that judge many things
in one start."""
import contextlib
import io
import os


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
