# SPDX-License-Identifier: MIT
"""Every call to the system fails once, or is short: the answer is right, or
there is one message and exit status 3; what was there before stays, and no
half file is left.

usage: faults_preload.py PROFAN LIBRARY FOLDER [all]
"""
import hashlib
import os
import shutil
import subprocess
import sys

profan, library, folder = sys.argv[1:4]
is_all = "all" in sys.argv[4:]
FAULTS = {
    "read": ["EIO", "EINTR", "short"], "pread": ["EIO", "EINTR", "short"],
    "write": ["EIO", "ENOSPC", "EINTR", "short"],
    "pwrite": ["EIO", "ENOSPC", "EINTR", "short"],
    "openat": ["EIO", "EMFILE"], "fsync": ["EIO", "ENOSPC"], "fstat": ["EIO"],
    "mmap": ["EIO"], "ftruncate": ["EIO", "ENOSPC"], "rename": ["EIO"],
    "close": ["EIO"], "stat": ["EIO"], "mkdir": ["EIO", "ENOSPC"],
    "realpath": ["EIO"], "opendir": ["EMFILE", "ENOMEM"],
    "readdir": ["EIO"],
}
CACHE = "t.json.profan.db"
FORCED = {"report", "slice", "stacks", "export"}
COMMANDS = [  # words, files that it writes
    (["ingest", "-q", "t.json", "-o", "out.db"], ["out.db"]),
    (["ingest", "-q", "-j", "2", "t.json", "u.json", "u.json.gz", "-o",
      "out.db"], ["out.db"]),
    (["merge", "-q", "t.json", "u.json", "-o", "out.db"], ["out.db"]),
    (["merge", "-q", "runs", "-o", "out.db"], ["out.db"]),
    (["summary", "-q", "t.json"], [CACHE]),
    (["ingest", "-q", "--keep-going", "runs", "-o", "out.db"], ["out.db"]),
    (["export", "-q", "--rows", "t.db", "-o", "out.db"], ["out.db"]),
    (["report", "-q", "t.db", "-o", "out.html"], ["out.html"]),
    (["table", "t.db"], []),
    (["gaps", "t.db", "-f", "json"], []),
    (["slice", "-q", "t.db", "-o", "out.json"], ["out.json"]),
    (["stacks", "-q", "t.db", "--weight", "cpu", "-o", "out.txt"],
     ["out.txt"]),
    (["query", "t.db", "SELECT count(*), sum(dur_ns) FROM event"], []),
    (["diff", "t.db", "t.db", "-f", "csv"], []),
]
if not is_all:
    COMMANDS = COMMANDS[:5] + COMMANDS[8:10]
hit = os.path.join(folder, "hit")
ours = set(os.listdir(folder)) | {"hit"}
bad = runs = 0


def content(name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def clean():
    for name in set(os.listdir(folder)) - ours | {"hit"}:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)


def run(words, fault=None):
    env = dict(os.environ, PROFAN_THREADS="1", TMPDIR=folder)
    if fault:
        env.update(LD_PRELOAD=library, FAULT=fault, FAULT_HIT=hit)
    try:
        end = subprocess.run([profan, *words], cwd=folder, env=env, timeout=30,
                             stdin=subprocess.DEVNULL, capture_output=True)
        return end.returncode, end.stdout, end.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "hangs", b"", ""


def complain(words, fault, what):
    global bad
    bad += 1
    print(f"{' '.join(words)}; {fault}: {what}"[:400])


def judge(words, files, fault, want_out, want):
    """One run with a fault: false if the fault was not reached."""
    clean()
    for name in set(files) - {CACHE}:  # an old one, which may be replaced
        shutil.copy(os.path.join(folder, "old." + name),
                    os.path.join(folder, name))
    before = {name: content(name) for name in files}
    inputs = content("t.db"), content("t.json")
    code, out, said = run(words + (["--force"] if words[0] in FORCED else []),
                          fault)
    if not os.path.exists(hit):
        return False
    after = {name: content(name) for name in files}
    if code == 0:
        # who cannot keep a cache answers without one
        if out != want_out or after not in (want, {CACHE: None}):
            complain(words, fault, "exit 0 with another answer")
    elif code == 2 and words[0] == "query":
        pass  # SQLite calls any trouble in planning a fault of the statement
    elif code != 3:
        complain(words, fault, f"exit {code}: {said}")
    else:
        if said.count("\n") != 1 or not said.startswith("profan: "):
            complain(words, fault, "says " + said)
        if after != before and after != want:
            complain(words, fault, "the old file is not what it was")
    left = set(os.listdir(folder)) - ours - set(files)
    if left:
        complain(words, fault, f"leaves {left}")
    if (content("t.db"), content("t.json")) != inputs:
        complain(words, fault, "changed an input")
    return True


for words, files in COMMANDS:
    clean()
    code, out, said = run(words)
    if code != 0:
        sys.exit(f"{words}: {code} {said}")
    want = {name: content(name) for name in files}
    for name in set(files) - {CACHE}:
        shutil.copy(os.path.join(folder, name),
                    os.path.join(folder, "old." + name))
        with open(os.path.join(folder, "old." + name), "ab") as f:
            f.write(b"\n")
        ours.add("old." + name)
    for name, hows in FAULTS.items():
        for how in hows if is_all else hows[-2:]:
            n = 1
            while judge(words, files, f"{name}:{n}:{how}", out, want):
                runs += 1
                # ever further apart, unless every one is asked for
                n += 1 if is_all else n
    clean()
print(f"# {runs} faults")
sys.exit(bad > 0)
