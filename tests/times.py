# SPDX-License-Identifier: MIT
"""What has no time or holds nothing is counted, said and in no figure."""
import contextlib
import json
import os
import pickle
import sqlite3
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), d) for d in ("", "gen")]
import mkxspace  # noqa: E402
import results  # noqa: E402

PROFAN, TMP = sys.argv[1:]
os.chdir(TMP)
HOUR = 3600e6  # us


def run(*args, env=None, code=0):
    done = subprocess.run([PROFAN, *args], capture_output=True, text=True,
                          env=dict(os.environ, **(env or {})))
    assert done.returncode == code, (args, done.returncode, done.stderr)
    return done.stdout


def ask(command, db, *more, code=0):
    return json.loads(run(command, db, "-f", "json", "--limit", "-1", *more,
                          code=code))


def query(db, sql):
    rows = run("query", db, sql, "--format", "csv").splitlines()[1:]
    return [[int(v) if v.lstrip("-").isdigit() else v for v in r.split(",")]
            for r in rows]


def ingest(name, trace, env=None, suffix=".json"):
    data = trace if isinstance(trace, (bytes, str)) else json.dumps(trace)
    with open(name + suffix, "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())
    run("ingest", "-q", name + suffix, "-o", name + ".db", env=env)
    return name + ".db"


def judged(check):
    bad = []
    try:
        check(bad)
    except (AssertionError, KeyError, IndexError, ValueError) as e:
        bad.append(f"{type(e).__name__}: {e}")
    results.say(check.__doc__, bad)


def differs(bad, what, got, want):
    if got != want:
        bad.append(f"{what}: {got}, not {want}")


# ---- traces ----


def event(name, cat, ts, dur, pid=1, tid=1, ph="X", **args):
    e = {"ph": ph, "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": ts}
    if ph == "X":
        e["dur"] = dur
    if args:
        e["args"] = args
    return e


def launch(at, number):
    """An operator, its call, and the kernel, 500 us long."""
    return [
        event("aten::mm", "cpu_op", at, 60, **{"External id": number}),
        event("cudaLaunchKernel", "cuda_runtime", at + 20, 10,
              correlation=number),
        event("gemm", "kernel", at + 50, 500, pid=0, tid=7, device=0, stream=7,
              correlation=number)]


def step(number, at, dur):
    return [event(f"ProfilerStep#{number}", "user_annotation", at, dur)]


def work(base, steps=3, length=10000):
    events = []
    for s in range(steps):
        at = base + s * length
        events += step(s, at, length - 100)
        for k in range(4):
            events += launch(at + 100 + 2000 * k, 100 * s + k + 1)
    return events


def trace(events):
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1750000000000000000,
            "traceEvents": events}


# ---- events without a time ----

FIGURES = ("steps", "gaps", "overlap", "path", "kernels", "launches", "syncs",
           "roofline")


def figures(db):
    said = {}
    for command in FIGURES:
        doc = ask(command, db)
        said[command] = doc["scalars"], doc["tables"]
    said["table"] = run("table", db)
    return said


def counts(db):
    return query(db, "SELECT event_count, stored_count, skipped_count,"
                 " event_count - stored_count - paired_count - metadata_count"
                 " - skipped_count, last_ns - first_ns FROM trace")[0]


def untimed(name, base, real, planted, count):
    """Planted events are counted, and figures those of the rest alone."""
    bad = []
    try:
        clean = ingest(name + "0", trace(real))
        # between the others, so that several chunks have some
        both = [e for i, r in enumerate(real)
                for e in [r] + planted[i::len(real)]]
        db = ingest(name, trace(both))
        total, stored, skipped, lost, span = counts(db)
        was = counts(clean)
        differs(bad, "skipped", skipped, count)
        differs(bad, "stored", stored, was[1] + len(planted) - count)
        differs(bad, "lost", lost, 0)
        if count == len(planted):
            differs(bad, "span", span, was[4])
            a, b = figures(clean), figures(db)
            for command in a:
                differs(bad, command, b[command], a[command])
        rows = [c for c in ask("doctor", db)["tables"]["checks"]
                if c["check"] == "events without a time"]
        differs(bad, "doctor", [(c["count"], c["verdict"]) for c in rows],
                [(count, "bad" if count / total >= .01 else
                  "warn" if count else "ok")])
        with open(db, "rb") as f:
            want = f.read()
        for env in ({"PROFAN_CHUNK_BYTES": "700", "PROFAN_THREADS": "3"},
                    {"PROFAN_CHUNK_BYTES": "4096", "PROFAN_THREADS": "2"},
                    {"PROFAN_THREADS": "1"}):
            ingest(name, trace(both), env)
            with open(db, "rb") as f:
                if f.read() != want:
                    bad.append(f"other bytes with {env}")
    except (AssertionError, KeyError, IndexError, ValueError) as e:
        bad.append(f"{type(e).__name__}: {e}")
    results.say(f"without a time: {name}", bad)


def at(ts, dur=0, gpu_dur=None):
    """One of each kind of event, all at one time."""
    events = launch(ts, 9000) + step(9, ts, dur)
    for e in events:
        e["ts"], e["dur"] = ts, dur
    events[2]["dur"] = dur if gpu_dur is None else gpu_dur
    return events + [event("mark", "x", ts, 0, ph="i", tid=3),
                     event("flow", "ac2g", ts, 0, ph="s", id=77, tid=3)]


def judge_untimed():
    base = 7000e6
    real = work(base)
    untimed("zeros", base, real, at(0) * 5, 30)
    untimed("one zero among many", base, work(base, 40), at(0)[:1], 1)
    untimed("zeros that last", base, real, at(0, 5), 6)
    untimed("work that lasts from 0 to the others", base, real,
            at(0, 0, base + 5000), 6)
    untimed("minus one", base, real, at(-1), 6)
    untimed("zeros where times are of this century", 1.75e15, work(1.75e15),
            at(0, 3), 6)
    untimed("a clock that counts from the start of the machine", 1.75e15,
            work(1.75e15), at(5e9, 3), 6)
    untimed("times of this century among those from the start", 0, work(0.0),
            at(1.75e15, 3), 6)
    untimed("a range from 0 to the others is one", base, real,
            [event("main", "x", 0, base + 30000)], 0)
    untimed("zeros that are followed at once", 0, work(0), at(0) * 5, 0)
    untimed("zero half an hour before the others", 0, work(HOUR / 2), at(0), 0)
    untimed("zero before what lasts long itself", 0,
            work(2 * HOUR, 3, HOUR / 10), at(0), 0)
    untimed("two halves that are years apart", 0, work(1e9),
            work(1.75e15), 0)


def pairs(bad):
    """without a time: a begin and an end are one range"""
    both = [event("b", "x", 0, 0, ph=ph, tid=4) for ph in "BE"]
    db = ingest("pairs", trace(work(7000e6) + both))
    total, stored, skipped, lost, span = counts(db)
    differs(bad, "skipped, lost, span", (skipped, lost, span),
            (1, 0, 29900000))
    # one that lasts until the others is a range of the program
    both[1]["ts"] = 7000e6 + 10
    differs(bad, "long", counts(ingest("pairs", trace(work(7000e6) + both)))[2],
            0)


def all_zero(bad):
    """without a time: where nothing else is, 0 is a time"""
    db = ingest("allzero", trace(at(0) * 3))
    differs(bad, "skipped", counts(db)[2:4], [0, 0])


def strict(bad):
    """without a time: --strict refuses, and a warning says how many"""
    ingest("strict", trace(work(7000e6) + at(0)))
    done = subprocess.run([PROFAN, "ingest", "strict.json", "-o", "s.db"],
                          capture_output=True, text=True)
    if "events without a time skipped: 6" not in done.stderr:
        bad.append(done.stderr)
    run("ingest", "-q", "--strict", "strict.json", "-o", "t.db", code=3)


def amd_csv(bad):
    """without a time: rows of rocprofv3 whose start is 0"""
    head = ('"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id",'
            '"Start_Timestamp","End_Timestamp"\n')
    first = 5 * 10**14
    rows = [(first + i * 10**6, first + i * 10**6 + 10**5) for i in range(9)]
    text = head + "".join(
        f'"KERNEL_DISPATCH","Agent 1",1,"k",{i},{a},{b}\n'
        for i, (a, b) in enumerate(rows + [(0, 0), (0, first + 10)]))
    db = ingest("v3_kernel_trace", text, suffix=".csv")
    differs(bad, "counts", counts(db), [11, 9, 2, 0, 8100000])


def xspace(bad):
    """without a time: a line of an XSpace that is on another clock"""
    lines = [mkxspace.line(n, str(n), ts, *[
        mkxspace.event(1, i * 10**9, 10**8) for i in range(count)])
             for n, ts, count in ((1, 1750000000 * 10**9, 9), (2, 1000, 2))]
    db = ingest("clock", mkxspace.plane(
        "/host:CPU", *lines, mkxspace.names({1: "x"})), suffix=".xplane.pb")
    differs(bad, "counts", counts(db), [11, 9, 2, 0, 8100000])


def nvidia_smi(bad):
    """without a time: samples before a log's clock was set"""
    text = "timestamp, utilization.gpu [%]\n" + "".join(
        f"{day} 00:00:0{i}.000, 5 %\n" for day, count in
        (("2000/01/01", 2), ("2026/01/01", 9)) for i in range(count))
    db = ingest("log", text, suffix=".csv")
    differs(bad, "counts", counts(db), [11, 9, 2, 0, 8000000000])


# ---- steps that hold nothing ----


def cpu_steps(*durs, empty=(), first=5, gap=30):
    events, now = [], 1000.0
    for i, dur in enumerate(durs):
        events += step(first + i, now, dur)
        if i not in empty:
            events.append(event("aten::mm", "cpu_op", now + dur * .01,
                                dur * .98, **{"External id": i + 1}))
        now += dur + gap
    return events


def steps_of(db, *more):
    doc = ask("steps", db, *more)
    return (doc["scalars"]["step_count"], doc["scalars"].get("mean_ns"),
            [s["step"] for s in doc["tables"]["steps"] if s["is_empty"]])


def empty_case(name, events, want):
    bad = []
    try:
        db = ingest("stub", trace(events))
        differs(bad, "steps", steps_of(db), want)
        view = query(db, "SELECT step FROM steps WHERE is_empty")
        differs(bad, "view", [r[0] for r in view], want[2])
        rows = {c["check"]: c["count"]
                for c in ask("doctor", db)["tables"]["checks"]}
        differs(bad, "doctor", rows["empty steps"], len(want[2]))
        said = "left out" in ask("steps", db)["scalars"]["finding"]
        differs(bad, "said", said, bool(want[2]))
        differs(bad, "summary", "left out" in run("summary", db), said)
        # torch's own table counts all of them
        own = [r["count"] for r in ask("table", db)["tables"]["key_averages"]
               if r["name"] == "ProfilerStep*"]
        differs(bad, "table", own, [sum(
            e["name"].startswith("ProfilerStep") for e in events)])
    except (AssertionError, KeyError, IndexError, ValueError) as e:
        bad.append(f"{type(e).__name__}: {e}")
    results.say(f"steps that hold nothing: {name}", bad)


def judge_steps():
    five = [25000] * 5
    whole = 25000000
    empty_case("the last", cpu_steps(*five, 37.3, empty=[5]), (5, whole, [10]))
    empty_case("the first", cpu_steps(40, *five, empty=[0]), (5, whole, [5]))
    empty_case("of two", cpu_steps(25000, 53, empty=[1]), (1, whole, [6]))
    empty_case("of each cycle", cpu_steps(
        25000, 40, 25000, 40, 25000, 40, empty=[1, 3, 5]),
        (3, whole, [6, 8, 10]))
    empty_case("an operator is something", cpu_steps(*five, 37.3),
               (6, (5 * whole + 37300) // 6, []))
    empty_case("on another thread, too", cpu_steps(*five, 37.3, empty=[5]) + [
        event("aten::add", "cpu_op", 126160, 5, tid=2)],
        (6, (5 * whole + 37300) // 6, []))
    empty_case("a hundredth is a step", cpu_steps(*five, 250, empty=[5]),
               (6, (5 * whole + 250000) // 6, []))
    empty_case("one alone is compared with none", cpu_steps(37, empty=[0]),
               (1, 37000, []))
    empty_case("where no operators are recorded, who knows", cpu_steps(
        *five, 37.3, empty=range(6)), (6, (5 * whole + 37300) // 6, []))
    empty_case("beside GPU work", work(0) + step(3, 30000, 40),
               (3, 9900000, [3]))


def asked(bad):
    """steps that hold nothing: who asks for one gets it"""
    db = ingest("asked", trace(cpu_steps(*[25000] * 5, 37.3, empty=[5])))
    doc = ask("steps", db, "--step", "10")
    differs(bad, "steps", [s["dur_ns"] for s in doc["tables"]["steps"]],
            [37300])
    differs(bad, "path", ask("path", db, "--step", "10")["scalars"]
            ["window_ns"], 37300)
    differs(bad, "path of all", ask("path", db)["scalars"]["window_ns"],
            125120000)
    for more, want in (("--skip-first", "4"), (1, 25000000)), \
            (("--step", "9..10"), (1, 25000000)):
        differs(bad, more, steps_of(db, *more)[:2], want)
    differs(bad, "skipped", ask("path", db, "--skip-first", "4")["scalars"]
            ["window_ns"], 25000000)
    doc = ask("steps", db, "--steps", "ProfilerStep")
    differs(bad, "by name", doc["scalars"]["step_count"], 6)
    # an empty one is none of those that are left out
    db = ingest("asked", trace(cpu_steps(40, *[25000] * 5, empty=[0])))
    differs(bad, "the first", steps_of(db, "--skip-first", "4")[0], 1)
    db = ingest("asked", trace(step(7, -90, 40) + work(0) + step(8, 29990, 40)))
    for command, name in ("gaps", "window_ns"), ("overlap", "total_ns"), \
            ("path", "window_ns"):
        differs(bad, command, ask(command, db)["scalars"].get(name), 29900000)
    # between two others it is in their window, and no step of it
    db = ingest("asked", trace(work(0, 2) + step(8, 9910, 40)))
    for command in "gaps", "overlap", "path":
        for more in (), ("--step", "0..8"):
            finding = ask(command, db, *more)["scalars"]["finding"]
            if " of 2 steps" not in finding:
                bad.append(f"{command} {more}: {finding}")


def captures(bad):
    """steps that hold nothing: diff, trend and fleets"""
    plain = ingest("plain", trace(cpu_steps(*[25000] * 5)))
    stub = ingest("tail", trace(cpu_steps(*[25000] * 5, 37.3, empty=[5])))
    doc = run("diff", plain, stub)
    if "25.000 ms" not in doc or "20.8" in doc:
        bad.append(doc)
    sums = [(r["steps"], r["step_sum_ns"])
            for r in ask("trend", plain, stub)["tables"]["trend"]]
    differs(bad, "trend", sums, [(5, 125000000)] * 2)
    fleet = "fleet.db"
    run("merge", "tail.json", "-o", fleet)
    mean = query(fleet, "SELECT sum(dur_ns) / count(*), count(*) FROM step"
                 " WHERE is_partial = 0")
    differs(bad, "fleet", mean, [[25000000, 5]])


# ---- traces that hold nothing ----


def nothing(name, data, suffix):
    bad = []
    try:
        db = ingest("nothing", data, suffix=suffix)
        for command in "steps", "summary":
            text = run(command, db)
            if "There are no events" not in text or "0 ns" in text or \
                    "%" in text:
                bad += text.splitlines()
        doc = ask("doctor", db)
        found = [c["check"] for c in doc["tables"]["checks"]
                 if c["verdict"] == "bad"]
        differs(bad, "doctor", found, ["no events"])
        for command in FIGURES + ("memory", "table", "modules", "stacks"):
            text = run(command, db)
            if "%" in text.replace("Self CPU %", "").replace("CPU total %", ""):
                bad += [command] + text.splitlines()
    except (AssertionError, KeyError, IndexError, ValueError) as e:
        bad.append(f"{type(e).__name__}: {e}")
    results.say(f"no events: {name}", bad)


EXPORTS = {
    "an export of nsys without rows": (
        "StringIds(id INTEGER, value TEXT)",
        "CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER,"
        " deviceId INTEGER, contextId INTEGER, streamId INTEGER,"
        " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,"
        " shortName INTEGER)"),
    "an RPD without rows": (
        "rocpd_string(id INTEGER PRIMARY KEY, string TEXT)",
        "rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER,"
        " sequenceId INTEGER, completionSignal TEXT, start INTEGER,"
        " end INTEGER, description_id INTEGER, opType_id INTEGER)",
        "rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER,"
        " start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER)"),
}


def judge_nothing():
    named = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0,
             "ts": 17e14, "args": {"name": "python"}}
    nothing("metadata alone", trace([named]), ".json")
    nothing("an empty list", "[]", ".json")
    nothing("a plane without lines", mkxspace.plane("/host:CPU"), ".xplane.pb")
    for name, tables in EXPORTS.items():
        if os.path.exists("export"):
            os.remove("export")
        with contextlib.closing(sqlite3.connect("export")) as export:
            for table in tables:
                export.execute("CREATE TABLE " + table)
        with open("export", "rb") as f:
            nothing(name, f.read(), ".sqlite")
    nothing("a table without rows", '"Kind","Agent_Id","Kernel_Name",'
            '"Start_Timestamp","End_Timestamp"\n', "_kernel_trace.csv")


def snapshot(bad):
    """no events: a snapshot of memory without segments"""
    for segments, want in ([], "bad"), ([{
            "device": 0, "address": 4096, "total_size": 512, "blocks": [{
                "size": 512, "address": 4096, "state": "inactive"}]}], "ok"):
        db = ingest("snapshot", pickle.dumps({
            "segments": segments, "device_traces": [[]]}), suffix=".pickle")
        found = [c["verdict"] for c in ask("doctor", db)["tables"]["checks"]
                 if c["check"] == "no events"]
        differs(bad, segments, found, [want])
    if "%" in run("summary", db):
        bad.append(run("summary", db))


def instant(bad):
    """no time: all at one instant has no shares"""
    events = [event("cudaLaunchKernel", "cuda_runtime", 5, 0, correlation=1),
              event("gemm", "kernel", 5, 0, pid=0, tid=7, device=0, stream=7,
                    correlation=1)]
    for planted in [event("i", "x", 5, 0, ph="i")] * 3, events:
        db = ingest("instant", trace(planted))
        for command in "steps", "gaps", "overlap", "path", "kernels", "calls":
            text = run(command, db)
            if "%" in text:
                bad += [command] + text.splitlines()
        text = run("steps", db)
        if "no time that could be divided" not in " ".join(text.split()):
            bad += text.splitlines()


# ---- which steps ----


def cut(bad):
    """steps: a last one that is cut off is in no command's window, and said"""
    said = "1 step at the end of its trace is cut off and left out"
    last = step(3, 30000, 9900) + launch(30100, 301)
    db = ingest("cut", trace(work(0) + last))
    for more, count in ((), 3), (("--skip-first", "1"), 2):
        whole = count * 10000000 - 100000
        for command in "gaps", "overlap", "path", "advise", "syncs":
            doc = ask(command, db, *more)
            differs(bad, (command, more, "notes"),
                    doc["notes"].count(said), 1)
            if command != "syncs":
                differs(bad, (command, more), [
                    v for k, v in doc["scalars"].items()
                    if k in ("window_ns", "total_ns")], [whole])
        text = " ".join(run("steps", db, *more).split())
        differs(bad, ("steps", more, text), text.count(said), 1)
    text = " ".join(run("summary", db).split())
    differs(bad, text, text.count(said), 1)
    differs(bad, "asked for", ask("path", db, "--step", "0..3")["scalars"][
        "window_ns"], 39900000)


def within(bad):
    """steps: those of a time lie in it; times are printed as people write"""
    db = ingest("within", trace(work(0)))
    for times, count in ((("--to", "5ms"), 0), (("--from", "1us"), 2),
                         (("--from", "10ms", "--to", "29.9ms"), 2),
                         (("--from", "0", "--to", "29899us"), 2)):
        differs(bad, times,
                ask("steps", db, *times)["scalars"]["step_count"], count)
        text = " ".join(run("summary", db, *times).split())
        differs(bad, (times, text), "There are no complete steps" in text,
                not count)
        differs(bad, (times, text), "A step takes" in text, count > 0)
    text = run("summary", db, "--from", "0ns", "--to", "5000000ns")
    differs(bad, text, "within.db --from 0 --to 5ms\n" in text, True)


def ahead(bad):
    """steps: where the host runs ahead, a step's two lengths are told apart"""
    events = []
    for s in range(4):
        events += step(s, 1000 * s, 990)
        for k in range(2):
            number = 2 * s + k + 1
            op, call, kernel = launch(1000 * s + 100 + 400 * k, number)
            kernel.update(ts=200 + 2000 * number, dur=2000)
            events += op, call, kernel
    db = ingest("ahead", trace(events))
    said = "From its begin on the host to its end the step takes"
    for number, own, whole in (2, 4000, 12200), (3, 4000, 15200):
        asked = "--step", str(number)
        differs(bad, number, ask("steps", db, *asked)["scalars"]["mean_ns"],
                1000 * own)
        differs(bad, number, ask("path", db, *asked)["scalars"]["window_ns"],
                1000 * whole)
        for command in "steps", "path", "summary":
            text = " ".join(run(command, db, *asked).split())
            differs(bad, (command, text),
                    text.count(f"{said} {whole / 1000:.3f} ms"), 1)
    text = " ".join(run("steps", db, "--step", "2..3").split())
    differs(bad, text, "From the first begin on the host to the last end the 2 "
            "steps take 16.200 ms" in text, True)
    differs(bad, "all", "begin on the host" in run("summary", db), False)


# ---- memory ----


def memory(calls, gpu):
    events, now = [], 1000
    for i in range(calls):
        for name in "hipMalloc", "hipFree":
            events.append(event(name, "cuda_runtime", now, 5,
                                correlation=len(events) + 1))
            now += 10
    for device in (0,) + (1,) * gpu:
        events.append(event("[memory]", "cpu_instant_event", now, 0, ph="i", **{
            "Device Type": device, "Device Id": device - 1, "Addr": 64,
            "Bytes": 8, "Total Allocated": 8, "Total Reserved": 0}))
    return trace(events)


def direct(bad):
    """memory: a GPU without records, whose blocks are calls each"""
    for calls, gpu, want in (120, 0, True), (120, 1, False), (99, 0, False):
        doc = ask("memory", ingest("memory", memory(calls, gpu)))
        said = f"hipMalloc was called {calls} times, hipFree {calls} times"
        finding = doc["scalars"]["finding"]
        differs(bad, (calls, gpu), said in finding, want)
        # numbers on the CPU are not what holds the memory
        differs(bad, (calls, gpu), "8 B" in finding, not want)


judge_untimed()
judge_steps()
judge_nothing()
for check in (pairs, all_zero, strict, amd_csv, xspace, nvidia_smi, asked,
              captures, snapshot, instant, cut, within, ahead, direct):
    judged(check)
