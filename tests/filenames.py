# SPDX-License-Identifier: MIT
"""Names of files and folders that would steer a terminal, begin lines of their
own or are no UTF-8: every command shows them so that they only show, whatever
it says of them, on a terminal and elsewhere.

usage: filenames.py PROFAN FOLDER TRACE
"""
import json
import os
import pty
import shutil
import subprocess
import sys

profan, folder, trace = (os.path.abspath(p) for p in sys.argv[1:4])
ACTS = b"\nFORGED\r\x1b[31m\x07\xc2\x9b\xe2\x80\xae\xff"
LATER = {"capture", "clean", "help"}  # run nothing; remove what others read
failed = count = 0


def named(text, end=b""):
    return text + ACTS + end


def lay_out():
    os.mkdir(named(b"runs"))
    shutil.copy(trace, named(b"one", b".json"))
    for rank in b"01":
        shutil.copy(trace, named(b"runs") + b"/rank%c" % rank
                    + named(b"", b".json"))
    for path, content in ((named(b"cut", b".json"), b'{"traceEvents":[{"ph":'),
                          (named(b"other", b".json"), b"hello"),
                          (named(b"runs") + named(b"/other", b".json"), b"hi"),
                          (named(b"runs") + named(b"/log", b".txt"), b"hi")):
        with open(path, "wb") as f:
            f.write(content)
    os.mkdir(named(b"kept"))
    os.mkdir(named(b"many"))


def on_terminal(words):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        ["sh", "-c", '"$@"; printf "\\004"', "sh", profan, *words],
        env={**os.environ, "NO_COLOR": "1"}, stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=theirs)
    text = b""
    while not text.endswith(b"\x04"):
        text += os.read(ours, 65536)
    child.wait()
    os.close(theirs)
    os.close(ours)
    return text[:-1].replace(b"\r\n", b"\n")


def piped(words):
    end = subprocess.run([profan, *words], stdin=subprocess.DEVNULL,
                         capture_output=True, check=False)
    if end.returncode not in (0, 1, 2, 3):
        yield f"exit {end.returncode}".encode()
    yield end.stdout
    yield end.stderr


def what_acts(text):
    try:
        text.decode()
    except UnicodeDecodeError as e:
        yield e.start
    for part in (b"\nFORGED", b"\r", b"\x1b", b"\x07", b"\xc2\x9b",
                 b"\xe2\x80\xae"):
        if part in text:
            yield text.index(part)


def judge(words, *texts):
    global failed, count
    count += 1
    for text in texts:
        at = next(what_acts(text), None)
        if at is not None:
            failed += 1
            print(f"{words}: {text[max(at - 60, 0):at + 60]!r}")


def words_of(command, of):
    """One that is enough for it, with files that are overwritten."""
    name, out = command["name"], named(b"out")
    more = {"ingest": ["--keep-going", "-o", out],
            "merge": ["--keep", named(b"kept"), "-o", out],
            "diff": [named(b"db")], "trend": [named(b"db")],
            "ranks": [named(b"db")], "report": ["--force", "-o", out],
            "view": ["--force", "-o", out], "slice": ["--force", "-o", out],
            "export": ["--rows", "--force", "-o", out],
            "query": [b"SELECT * FROM rank" if of == named(b"fleet")
                      else b"SELECT * FROM trace"]}
    return [name, of, *more.get(name, [])]


def main():
    lay_out()
    for words in (["ingest", named(b"one", b".json"), "-o", named(b"db")],
                  ["ingest", named(b"runs"), "-o", named(b"many", b"/")],
                  ["merge", named(b"runs"), named(b"one", b".json"),
                   named(b"cut", b".json"), named(b"nowhere"), "--keep",
                   named(b"kept"), "-o", named(b"fleet")]):
        judge(words, *piped(words))
    for path in (named(b"db"), named(b"fleet")):
        if not os.path.exists(path):
            sys.exit(f"{path} was not made")
    commands = json.loads(subprocess.run(
        [profan, "help", "--format", "json"], check=True,
        capture_output=True).stdout)["commands"]
    for command in commands:
        if command["name"] in LATER:
            continue
        formats = next((o["choices"] for o in command["options"]
                        if o["name"] == "format"), [])
        for of in (named(b"one", b".json"), named(b"runs"), named(b"db"),
                   named(b"fleet"), named(b"cut", b".json"),
                   named(b"other", b".json"), named(b"nowhere")):
            words = words_of(command, of)
            judge(words, *piped(words))
            if of == named(b"fleet") or of == named(b"runs"):
                for how in [f for f in ("md", "json") if f in formats]:
                    judge(words + ["-f", how], *piped(words + ["-f", how]))
                judge(words, on_terminal(words))
                if "csv" in formats:
                    judge(words, on_terminal(words + ["-f", "csv"]))
    judge(["clean"], *piped(["clean", "."]))
    print(f"# {count} runs, {failed} show what acts")
    return 1 if failed else 0


os.chdir(folder)
sys.exit(main())
