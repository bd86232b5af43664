# SPDX-License-Identifier: MIT
"""Every call to the system fails once, or is short: the answer is right, or
there is one message and exit status 3; what was there before stays, and no
half file is left, or a warning says where.

usage: faults_preload.py PROFAN LIBRARY FOLDER PROGRAM [all]
Each fails in one way, with $LONG in two, with "all" in every one.
PROGRAM is captured, with the agent that $PROFAN_AGENT names; '' if none is.
"""
import hashlib
import os
import shutil
import subprocess
import sys

profan, library, folder, program = sys.argv[1:5]
is_all = "all" in sys.argv[5:]
is_long = "LONG" in os.environ
last = None if is_all else -2 if is_long else -1  # of its ways
FAULTS = {
    "read": ["EIO", "EINTR", "short"], "pread": ["EIO", "EINTR", "short"],
    "write": ["EIO", "ENOSPC", "EINTR", "short"],
    "pwrite": ["EIO", "ENOSPC", "EINTR", "short"],
    "openat": ["EIO", "EMFILE"], "fsync": ["EIO", "ENOSPC"], "fstat": ["EIO"],
    "mmap": ["EIO"], "ftruncate": ["EIO", "ENOSPC"], "rename": ["EIO"],
    "unlink": ["EIO"], "close": ["EIO"], "stat": ["EIO"],
    "mkdir": ["EIO", "ENOSPC"], "realpath": ["EIO"], "opendir": ["EMFILE", "ENOMEM"],
    "readdir": ["EIO"],
}
CACHE = "t.json.profan.db"
NEW = {CACHE, "nodes.db"}  # not there before
KILLED = "out.db.partial"  # of a profan that was
FORCED = {"report": "--force", "slice": "--force", "stacks": "--force",
          "export": "--force", "view": "--force", "diff": "--overwrite"}
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
    (["diff", "-q", "t.db", "t.json", "-f", "html", "-o", "out.html"],
     ["out.html", CACHE]),
    (["view", "-q", "t.db", "-o", "out.html"], ["out.html"]),
    (["timeline", "t.db"], []),
    (["advise", "t.db", "-f", "json"], []),
    (["kernels", "t.db", "-f", "csv", "--output-dir", "tables"], ["tables"]),
    (["graphs", "-q", "g.db", "--store", "nodes.db"], ["nodes.db"]),
    (["merge", "-q", "runs", "--keep", "kept", "-o", "out.db"],
     ["out.db", "kept/"]),
    (["ingest", "-q", "runs", "-o", "many/"], ["many/runs.db"]),
    (["clean", "-q", "u.json"], ["u.json.profan.db"]),
    (["ingest", "-q", "t.json", "-o", "out.db"], ["out.db", KILLED]),
]
if not is_all:
    COMMANDS = [COMMANDS[i] for i in (1, 3, 4, 9, 15)]
hit = os.path.join(folder, "hit")
counts = os.path.join(folder, "counts")
ours = set(os.listdir(folder)) | {"hit", "counts"}
bad = runs = 0


def following(n):
    """The call after the n-th that fails: ever further apart, unless each is."""
    return n + 1 if is_all else 2 * n if is_long else 3 * n


def content(name):
    path = os.path.join(folder, name)
    if os.path.isdir(path):
        return {each: content(os.path.join(name, each))
                for each in os.listdir(path)}
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def clean():
    for name in set(os.listdir(folder)) - ours | {"hit", "counts"}:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)


def old(name):
    return os.path.join(folder, "old." + name.replace("/", "."))


def forced(words):
    return [FORCED[words[0]]] if words[0] in FORCED else []


def prepare(files):
    """What may be replaced is there; a cache and a folder are not."""
    clean()
    for name in files:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        if os.path.exists(old(name)):
            shutil.copy(old(name), os.path.join(folder, name))


def is_whole(after, before, want):
    """The old one or the new one; of a folder the files that are there."""
    if isinstance(want, dict):
        return all(each in want and after[each] == want[each]
                   for each in after or ())
    return after in (before, want)


def run(words, fault=None, is_counted=False):
    env = dict(os.environ, PROFAN_THREADS="1", TMPDIR=folder)
    if fault:
        env.update(LD_PRELOAD=library, FAULT=fault, FAULT_HIT=hit)
    elif is_counted:
        env.update(LD_PRELOAD=library, FAULT_COUNTS=counts)
    try:
        end = subprocess.run([profan, *words], cwd=folder, env=env, timeout=120,
                             stdin=subprocess.DEVNULL, capture_output=True)
        return end.returncode, end.stdout, end.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "hangs", b"", ""


def counted():
    """How often the last run made each call: beyond that no fault is met."""
    with open(counts, encoding="utf-8") as f:
        made = {name: int(count) for name, count in map(str.split, f)}
    if set(made) != set(FAULTS):
        sys.exit(f"counted are {sorted(made)}")
    return made


def met(judged, made):
    """Of calls that are made so often, those that fail: how many were met."""
    count = 0
    for name, hows in FAULTS.items():
        for how in hows[last:]:
            n = 1
            while n <= made[name] and judged(f"{name}:{n}:{how}"):
                count += 1
                n = following(n)
    return count


def complain(words, fault, what):
    global bad
    bad += 1
    print(f"{' '.join(words)}; {fault}: {what}"[:400])


def judge(words, files, fault, want_out, want):
    """One run with a fault: false if the fault was not reached."""
    prepare(files)
    before = {name: content(name) for name in files}
    inputs = content("t.db"), content("t.json")
    if fault.startswith("unlink:"):  # what stays is said, not with -q
        words = [word for word in words if word != "-q"]
    code, out, said = run(words + forced(words), fault)
    if not os.path.exists(hit):
        return False
    after = {name: content(name) for name in files}
    if code == 0:
        # who cannot keep a cache answers without one
        if out != want_out or any(
                after[name] != want[name] and (name != CACHE or after[name])
                for name in files):
            complain(words, fault, "exit 0 with another answer")
    elif code == 2 and words[0] == "query":
        pass  # SQLite calls any trouble in planning a fault of the statement
    elif code != 3:
        complain(words, fault, f"exit {code}: {said}")
    else:
        if said.count("\n") != 1 or not said.startswith("profan: "):
            complain(words, fault, "says " + said)
        if not all(is_whole(after[name], before[name], want[name])
                   for name in files):
            complain(words, fault, "the old file is not what it was")
    left = (set(os.listdir(folder)) - ours -
            {name.split("/")[0] for name in files})
    if any(f"warning: cannot remove '{os.path.join(folder, name)}'" not in said
           for name in left):
        complain(words, fault, f"leaves {left}")
    if (content("t.db"), content("t.json")) != inputs:
        complain(words, fault, "changed an input")
    return True


def events():
    """Of the database that a capture made."""
    return run(["query", "out.db", "SELECT count(*) FROM event"])[1]


def judge_capture(fault, is_agents, want):
    """
    As judge(), of a program that is captured, where profan's own call fails or
    one of the agent's: the program ends as it would, what is missing is said.
    """
    prepare(["out.db"])
    before = content("out.db")
    failing = ["env", "LD_PRELOAD=" + library,
               *(["FAULT=" + fault, "FAULT_HIT=" + hit] if fault else
                 ["FAULT_COUNTS=" + counts])] if is_agents else []
    words = ["capture", "-o", "run-%p.pfr", "--ingest", "out.db", "--",
             *failing, program]
    code, out, said = run(words, None if is_agents else fault, not is_agents)
    if not fault and (code != 0 or content("out.db") == before):
        sys.exit(f"{words}: {code} {said}")  # no fault would be met
    if fault and not os.path.exists(hit):
        return False
    is_old = content("out.db") == before
    what = fault and fault + (" (agent)" if is_agents else "")
    if code not in (0, 3) or out != b"done\n" and (is_agents or code == 0):
        complain(words[:1], what, f"exit {code}: {out} {said}")
    if code and "profan: capture: " not in said:
        complain(words[:1], what, f"exit {code}, says {said}")
    if fault and not code and (is_old or events() != want) and not any(
            each in said for each in ("profan: warning: ", "profan agent: ")):
        complain(words[:1], what, "something is missing, and not said")
    if code and not is_old and events() != want:
        complain(words[:1], what, "the old database is not what it was")
    left = {name for name in set(os.listdir(folder)) - ours - {"out.db"}
            if not name.startswith("run-") or not name.endswith(".pfr")}
    if left:
        complain(words[:1], what, f"leaves {left}")
    return True


for name in ("u.json.profan.db",):  # what clean is there for
    run(["summary", "-q", "u.json"])
    shutil.move(os.path.join(folder, name), old(name))
    ours.add(os.path.basename(old(name)))
for words, files in COMMANDS:
    prepare(files)
    for name in files:  # not those of the command before
        if words[0] != "clean" and os.path.exists(old(name)):
            os.unlink(os.path.join(folder, name))
    code, out, said = run(words)
    if code != 0:
        sys.exit(f"{words}: {code} {said}")
    want = {name: content(name) for name in files}
    for name in files:
        path = os.path.join(folder, name)
        if name == KILLED:
            path = os.path.join(folder, "out.db")
        if name in NEW or not os.path.isfile(path):
            continue
        shutil.copy(path, old(name))
        with open(old(name), "ab") as f:
            f.write(b"\n")
        ours.add(os.path.basename(old(name)))
    prepare(files)
    code, again, said = run(words + forced(words), is_counted=True)
    if (code, again) != (0, out):
        sys.exit(f"{words} in place of the old one: {code} {said}")
    runs += met(lambda fault: judge(words, files, fault, out, want), counted())
    clean()
if program:
    # a database, whatever the commands before made of that name
    shutil.copy(os.path.join(folder, "t.db"), old("out.db"))
    ours.add(os.path.basename(old("out.db")))
    for is_agents in (False, True):
        judge_capture("", is_agents, None)
        want = events()
        runs += met(lambda fault: judge_capture(fault, is_agents, want),
                    counted())
    clean()
print(f"# {runs} faults")
sys.exit(bad > 0)
