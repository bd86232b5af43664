# SPDX-License-Identifier: MIT
"""The rows of agent/gpu-check.sh.  Each is a function that returns a text
with numbers (PASS), or raises Fail or Skip; its files stay in the folder."""
import argparse
import ctypes
import glob
import importlib.util
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

ROWS = []
US = 1000.0


class Fail(Exception):
    pass


class Skip(Exception):
    pass


def row(name, text, torch=False, slow=False):
    def add(fn):
        ROWS.append((name, text, fn, torch, slow))
        return fn
    return add


def need(condition, text):
    if not condition:
        raise Fail(text)


class Run:
    """A program under the agent: its files, output and time."""

    def __init__(self, name, command, env=None, agent=True, how="both",
                 kill=None, timeout=300, codes=(0,)):
        base = os.path.join(ARGS.out, name)
        for old in glob.glob(base + ".*"):
            os.unlink(old)
        full = {k: v for k, v in os.environ.items()
                if not k.startswith("PROFAN_") and
                k not in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")}
        if agent:
            full["PROFAN_OUT"] = base + ".%p.pfr"
            full["PROFAN_VERBOSE"] = "1"
            if how == "preload":
                full["LD_PRELOAD"] = ARGS.agent
            elif how == "both":
                full["CUDA_INJECTION64_PATH"] = ARGS.agent
                full["NVTX_INJECTION64_PATH"] = ARGS.agent
        full.update(env or {})
        with open(base + ".out", "w") as out, open(base + ".err", "w") as err:
            begin = time.time()
            p = subprocess.Popen([str(x) for x in command], env=full,
                                 stdout=out, stderr=err)
            try:
                if kill:
                    time.sleep(kill)
                    p.send_signal(signal.SIGKILL)
                self.code = p.wait(timeout)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                raise Fail("still running after %d s: %s" % (timeout, name))
            self.seconds = time.time() - begin
        self.out = open(base + ".out").read()
        self.err = open(base + ".err").read()
        self.files = sorted(glob.glob(base + ".*.pfr*"))
        need(self.code in codes or kill, "%s ended with %d: %s" % (
            name, self.code, (self.err.strip().split("\n") or [""])[-1]))

    def value(self, key):
        m = re.search("^%s=(.*)$" % key, self.out, re.M)
        need(m, "the program did not print %s" % key)
        return float(m[1])

    def values(self, key):
        return re.findall("^%s=(.*)$" % key, self.out, re.M)

    def one(self, whole=True):
        need(len(self.files) == 1, "%d capture files, not 1" % len(self.files))
        return load(self.files[0], whole)


def load(path, whole=True):
    """A file with what is wrong in it as an exception."""
    with open(path, "rb") as f:
        p = pfr.Pfr(f.read())
    if whole:
        bad = p.problems()
        need(not bad, "%s: %s" % (os.path.basename(path), ", ".join(bad)))
        for key in ("dropped_cupti", "dropped_queue", "dropped_nvtx",
                    "discarded", "unknown", "bad", "bad_buffers"):
            need(int(p.stat.get(key, 0)) == 0,
                 "%s=%s" % (key, p.stat.get(key)))
    p.rows = [p.show(v) for v in p.events]
    return p


def kind(p, *names):
    return [v for v in p.rows if v["ev"] in names]


def stem(name):
    name = name.decode().lstrip("_")
    while True:
        short = re.sub(r"(_ptsz|_ptds|_v[0-9]{4,})$", "", name)
        if short == name:
            return name
        name = short


def launches(p):
    return [v for v in kind(p, "API")
            if re.match("(cu|cuda)Launch", stem(v["call"]))]


def program(name, *args, **more):
    return Run(name, [ARGS.program] + list(args), **more)


def exact(p, n):
    k, calls = kind(p, "KERNEL", "KERNEL_INLINE"), launches(p)
    need(len(k) == n, "%d kernels, not %d" % (len(k), n))
    need(len(calls) == n, "%d launch calls, not %d" % (len(calls), n))
    need(len({v["c"] for v in k}) == n, "correlations repeat")
    need({v["c"] for v in k} == {v["c"] for v in calls},
         "kernels and launches do not match")
    need(all(v["start"] is not None and v["start"] <= v["end"] for v in k),
         "kernels without times, or that end before they start")
    return "%d kernels, %d launch calls" % (len(k), len(calls))


# ---- ways in ----

@row("G01", "the driver loads the agent by CUDA_INJECTION64_PATH")
def g01():
    return exact(program("g01", "launch", 100).one(), 100)


@row("G02", "the same through LD_PRELOAD")
def g02():
    return exact(program("g02", "launch", 100, how="preload").one(), 100)


@row("G03", "late attach by profan_start from ctypes")
def g03():
    code = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
dev, ctx, ptr = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuDeviceGet(ctypes.byref(dev), 0)
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), dev) == 0
assert cuda.cuCtxSetCurrent(ctx) == 0
assert ctypes.CDLL(sys.argv[1]).profan_start() == 1, "profan_start"
assert cuda.cuMemAlloc_v2(ctypes.byref(ptr), ctypes.c_size_t(4096)) == 0
for i in range(50):
    assert cuda.cuMemsetD8_v2(ptr, ctypes.c_ubyte(i), ctypes.c_size_t(4096)) == 0
assert cuda.cuCtxSynchronize() == 0
"""
    r = Run("g03", [sys.executable, "-c", code, ARGS.agent], how="none")
    n = len(kind(r.one(), "MEMSET"))
    need(n == 50, "%d memsets, not 50" % n)
    return "50 memsets"


@row("G04", "the libcupti in use is the one PyTorch loaded", torch=True)
def g04():
    r = Run("g04", [sys.executable, "-c", TORCH_MAPS])
    paths = set(r.values("map"))
    need(len(paths) == 1, "loaded: %s" % ", ".join(sorted(paths)))
    used = r.one().meta.get("cupti_path", b"").decode()
    need(os.path.realpath(used) == os.path.realpath(paths.pop()),
         "the agent uses %s" % used)
    return used


@row("G05", "record sizes inside cuInit equal those outside")
def g05():
    p = program("g05", "launch", 1).one()
    need(int(p.meta.get("cupti_version", 0)) > 0, "no version inside cuInit")
    lib = ctypes.CDLL(p.meta["cupti_path"].decode())
    outside = []
    for k in range(1, 64):
        buf = (ctypes.c_uint64 * 512)(*[k] * 512)
        at = ctypes.c_void_p()
        where = []
        for _ in range(2):
            if lib.cuptiActivityGetNextRecord(
                    ctypes.byref(buf), ctypes.c_size_t(4096),
                    ctypes.byref(at)):
                break
            where.append(at.value)
        if len(where) == 2:
            outside.append((k, where[1] - where[0]))
    inside = dict(tuple(map(int, x.split(":")))
                  for x in p.meta["record_sizes"].decode().split(","))
    if not outside:
        raise Skip("this libcupti answers only where the driver is")
    wrong = [(k, n, inside.get(k)) for k, n in outside if inside.get(k) != n]
    need(not wrong, "kind, outside, inside: %s" % wrong)
    return "CUPTI %s, %d kinds" % (p.meta["cupti_version"].decode(),
                                   len(inside))


@row("G06", "a CUPTI that the driver is too old for is named")
def g06():
    cupti = os.environ.get("GPU_CHECK_OTHER_CUPTI")
    if not cupti:
        raise Skip("GPU_CHECK_OTHER_CUPTI names no other libcupti")
    r = program("g06", "launch", 100, env={"PROFAN_CUPTI": cupti})
    if r.files:
        return exact(r.one(), 100)
    need("CUPTI is not used" in r.err, "no message: %r" % r.err[-200:])
    return r.err.strip().split("\n")[-1]


# ---- what is recorded ----

@row("G07", "100 000 launches: all of them, once")
def g07():
    return exact(program("g07", "launch", 100000).one(), 100000)


def launch_delays(p):
    calls = {v["c"]: v for v in launches(p)}
    return [(k["start"], k["start"] - calls[k["c"]]["start"])
            for k in kind(p, "KERNEL") if k["c"] in calls]


@row("G08", "kernels start after their calls; no drift of the clocks")
def g08():
    seconds = 20 if ARGS.fast else 90
    both = {}
    for clock in ("monotonic", "realtime"):
        p = program("g08-" + clock, "pace", seconds,
                    env={"PROFAN_CLOCK": clock}).one()
        need(p.meta["clock"].decode() == clock, "the clock is %s" %
             p.meta["clock"].decode())
        both[clock] = launch_delays(p)
    d = sorted(x for _, x in both["monotonic"])
    r = sorted(x for _, x in both["realtime"])
    need(d[0] >= 0, "a kernel starts %d ns before its call" % -d[0])
    # calls of a busy machine take longer at times: short delays are the clock's
    text = "delay us: 1 %% %.2f (realtime %.2f), 99.9 %% %.2f (%.2f)" % (
        d[len(d) // 100] / US, r[len(r) // 100] / US,
        d[len(d) * 999 // 1000] / US, r[len(r) * 999 // 1000] / US)
    need(abs(d[len(d) // 100] - r[len(r) // 100]) <= 1000, text)
    least = {}
    first = both["monotonic"][0][0]
    for t, x in both["monotonic"]:
        s = (t - first) // 10**9
        least[s] = min(least.get(s, x), x)
    xs, ys = list(least), list(least.values())
    mx, my = statistics.mean(xs), statistics.mean(ys)
    slope = (sum((x - mx) * (y - my) for x, y in zip(xs, ys)) /
             max(1, sum((x - mx) ** 2 for x in xs))) * 60 / US
    text += ", drift %.2f us/min" % slope
    need(abs(slope) < 10, text)
    return text


@row("G09", "spin kernels of 1, 10 and 100 ms have that duration")
def g09():
    r = program("g09", "spin")
    k = [v["end"] - v["start"] for v in kind(r.one(), "KERNEL")]
    want = [float(x) for x in r.values("spin_ns")]
    need(len(k) == len(want) == 3, "%d kernels" % len(k))
    text = ", ".join("%.4f" % (a / b) for a, b in zip(sorted(k), want))
    need(all(abs(a / b - 1) < 0.01 for a, b in zip(sorted(k), want)), text)
    return "recorded over own: " + text


@row("G10", "graph replay, node mode: every kernel, with its node")
def g10():
    p = program("g10", "graph", 20, 50).one()
    k = kind(p, "KERNEL")
    need(len(k) == 20 * 51, "%d kernels, not %d" % (len(k), 20 * 51))
    need(all(v["graph"] and v["node"] for v in k), "ids of graphs missing")
    need(len({v["node"] for v in k}) == 20, "%d nodes, not 20" %
         len({v["node"] for v in k}))
    calls = {v["c"] for v in kind(p, "API")
             if "GraphLaunch" in stem(v["call"])}
    need({v["c"] for v in k} <= calls and len(calls) == 51,
         "kernels do not lead to their graph launch")
    return "51 launches, 20 kernels each"


@row("G11", "graph replay, graph mode: a record for each launch")
def g11():
    p = program("g11", "graph", 20, 50, env={"PROFAN_GRAPH": "graph"}).one()
    g, k = kind(p, "GRAPH"), kind(p, "KERNEL")
    need(len(g) == 51, "%d graph records, not 51" % len(g))
    need(not k, "%d kernels" % len(k))
    return "51 launches"


@row("G12", "copies and memsets: bytes, direction, kinds of memory")
def g12():
    r = program("g12", "copies")
    p = r.one()
    got = {v["bytes"]: v for v in kind(p, "MEMCPY")}
    for line in r.values("copy"):
        direction, src, dst, size = map(int, line.split())
        v = got.get(size)
        need(v, "no copy of %d bytes" % size)
        need((v["kind"], v["places"]) == (direction, src << 4 | dst),
             "%s: kind %d, memory %x" % (line, v["kind"], v["places"]))
    m = [v for v in kind(p, "MEMSET") if v["bytes"] == 100007]
    need(m and m[0]["value"] & 255 == 7, "the memset")
    peers = r.values("peer")
    for size in peers:
        v = got.get(int(size))
        need(v and v["kind"] == 10 and v["srcdev"] != v["dstdev"], "the peer copy")
    managed = got.get(100006)
    return "%d copies, %s, managed: %s" % (
        len(got), "peer" if peers else "one GPU: no peer copy",
        "memory %x" % managed["places"] if managed else "no record")


@row("G13", "synchronisation of each type")
def g13():
    p = program("g13", "syncs").one()
    types = {}
    for v in kind(p, "SYNC"):
        types.setdefault(v["type"], []).append(v)
    need(set(types) >= {1, 2, 3, 4}, "types %s" % sorted(types))
    need(all(v["stream"] != 0xFFFFFFFF for v in types[2] + types[3]),
         "a stream is missing")
    return ", ".join("%d of type %d" % (len(v), t)
                     for t, v in sorted(types.items()))


# ---- ends ----

@row("G14", "ends of the process")
def g14():
    exact(program("g14-exit", "end", "exit").one(), 1100)
    notes = []
    for how, preload, codes in (("_exit", False, (0,)), ("_exit", True, (0,)),
                                ("abort", False, (-6,))):
        r = program("g14-%s%d" % (how, preload), "end", how, codes=codes,
                    how="preload" if preload else "both")
        if preload:
            exact(r.one(), 1100)
            continue
        p = r.one(whole=False)
        n = len(kind(p, "KERNEL"))
        need(p.damage_at is None and not p.end and 1000 <= n <= 1100,
             "%s: %d kernels" % (how, n))
        notes.append("%s %d of 1100" % (how, n))
    for i in range(5 if ARGS.fast else 20):
        r = program("g14-kill%d" % i, "end", "hang",
                    kill=2 + random.random() * 4)
        for f in r.files:
            p = load(f, whole=False)
            need(p.damage_at is None or p.damage_at >= p.good_end,
                 "damage inside after SIGKILL")
    r = program("g14-fork", "fork")
    child = {int(load(f).meta["pid"]): len(kind(load(f), "KERNEL"))
             for f in r.files}
    want = {int(r.value("parent")): 300, int(r.value("child")): 500}
    need(child == want, "fork: %s, not %s" % (child, want))
    return ", ".join(notes) + ", kills, fork"


# ---- against PyTorch ----

@row("G15", "counts equal torch.profiler's", torch=True)
def g15():
    ours, theirs = torch_pair(0)
    need(ours["counts"] == theirs["counts"], "differ: %s" % sorted(
        set(ours["counts"].items()) ^ set(theirs["counts"].items()))[:6])
    return "%d names, %d events" % (len(ours["counts"]),
                                    sum(ours["counts"].values()))


@row("G16", "durations equal torch.profiler's", torch=True)
def g16():
    """Where memory lies moves a kernel by 5 %: of five runs each, in which it
    lies elsewhere, the medians must meet."""
    ours, theirs = zip(*(torch_pair(i) for i in range(5)))

    def medians(runs, name):
        need(all(name in x["times"] for x in runs),
             "not in each run: '%s'" % name[:60])
        return [statistics.median(x["times"][name]) for x in runs]
    bad = []
    for name in ours[0]["times"]:
        a, b = medians(ours, name), medians(theirs, name)
        off = max(min(a) - max(b), min(b) - max(a))
        if off > max(0.02 * max(b), 200):
            bad.append((name[:60], a, b))
    need(not bad, "medians differ: %s" % bad[:3])
    a, b = (sum(sum(map(sum, x["times"].values())) for x in runs)
            for runs in (ours, theirs))
    need(abs(a / b - 1) < 0.02, "sum %.0f against %.0f ns" % (a, b))
    return "%d names, sum of GPU time %.4f of torch's" % (
        len(ours[0]["times"]), a / b)


# ---- cost ----

def median_of(name, *args, runs=7, key="ns_per_launch", **more):
    return statistics.median(
        program("%s-%d" % (name, i), *args, **more).value(key)
        for i in range(3 if ARGS.fast else runs))


@row("G17", "cost of a launch")
def g17():
    n = 200000
    plain = median_of("g17-none", "timed", n, agent=False)
    ours = median_of("g17-agent", "timed", n)
    whole = median_of("g17-graph", "timed", n, env={"PROFAN_GRAPH": "graph"})
    text = "ns per launch: %.0f without, %.0f with, %.0f graph=graph" % (
        plain, ours, whole)
    nsys = subprocess.run(["sh", "-c", "command -v nsys"],
                          stdout=subprocess.DEVNULL).returncode == 0
    if nsys:
        times = []
        for i in range(3):
            r = Run("g17-nsys-%d" % i,
                    ["nsys", "profile", "-t", "cuda,nvtx", "-f", "true", "-o",
                     os.path.join(ARGS.out, "g17-nsys"), ARGS.program,
                     "timed", n], agent=False)
            times.append(r.value("ns_per_launch"))
        theirs = statistics.median(times)
        text += ", nsys %.0f" % theirs
        need(ours <= 1.1 * theirs, text)
    return text


@row("G17T", "cost of training steps", torch=True)
def g17t():
    times = {}
    for i in range(3 if ARGS.fast else 7):
        for how in ("none", "agent", "profiler"):
            r = Run("g17t-%s-%d" % (how, i),
                    [sys.executable, "-c", TORCH_STEPS, how],
                    agent=how == "agent")
            us = r.value("step_us")
            times[how] = min(us, times.get(how, us))
    text = "us per step, least: " + ", ".join("%s %.1f" % x for x in times.items())
    need(times["agent"] <= 1.05 * times["none"] or
         times["agent"] <= times["profiler"], text)
    return text


@row("G18", "graph replay of 1 000 short kernels; memory; no drops")
def g18():
    out = []
    memory = program("g18-rss", "graph", 1000, 200, agent=False)
    out.append("none %.0f us" % (memory.value("ns_per_launch") / US))
    for mode in ("node", "graph"):
        r = program("g18-" + mode, "graph", 1000, 200,
                    env={"PROFAN_GRAPH": mode})
        r.one()
        grown = (r.value("rss_kb") - memory.value("rss_kb")) / 1024
        out.append("%s %.0f us, +%.0f MiB" % (
            mode, r.value("ns_per_launch") / US, grown))
        need(grown <= 64, "memory: " + ", ".join(out))
    return "per launch of the graph: " + ", ".join(out)


@row("G19", "30 million kernels", slow=True)
def g19():
    out = []
    for buffers in ("", "1000"):
        env = {"PROFAN_DEVICE_BUFFERS": buffers} if buffers else {}
        r = program("g19" + buffers, "launch", 30000000, env=env, timeout=3600)
        need(len(r.files) == 1, "%d files" % len(r.files))
        stat, size = last_stat(r.files[0])
        need(stat.get("kind.10") == "30000000", "%s kernels" % stat.get("kind.10"))
        out.append("%s%s invalid, %s dropped, %.2f bytes per event" % (
            "buffers=%s: " % buffers if buffers else "",
            stat.get("invalid_time", "0"), stat.get("dropped_queue", "0"),
            size / int(stat["events"])))
        need(stat.get("dropped_queue", "0") == "0", out[-1])
    return "; ".join(out)


def last_stat(path):
    with open(path, "rb") as f:
        f.seek(0, 2)
        size = f.tell()
        f.seek(max(0, size - 65536))
        tail = f.read()
    at = tail.rfind(b"PFRM\x06\0")
    need(at >= 0, "no STAT frame at the end")
    length = int.from_bytes(tail[at + 12:at + 16], "little")
    text = tail[at + 24:at + 24 + length].decode()
    return dict(x.split("=", 1) for x in text.split("\n") if x), size


# ---- neighbours and windows ----

@row("G20", "torch.profiler in the same process: no harm is done", torch=True)
def g20():
    """CUPTI has one subscriber: the agent records on, and the other profiler
    says that it gets no GPU work."""
    r = Run("g20", [sys.executable, "-c", TORCH_TAKEOVER], timeout=600)
    need(r.values("done") == ["1"], "the program did not end well")
    p = r.one()
    n, torch_n = len(kind(p, "KERNEL")), r.value("torch_kernels")
    want = r.value("kernels")
    need(n == want, "%d kernels, not %d" % (n, want))
    need(torch_n or "MULTIPLE_SUBSCRIBERS" in r.err,
         "torch has no kernels and does not say why")
    return "%d kernels here, %d in torch's trace" % (n, torch_n)


@row("G20N", "Nsight Compute alongside")
def g20n():
    if subprocess.run(["sh", "-c", "command -v ncu"],
                      stdout=subprocess.DEVNULL).returncode:
        raise Skip("ncu is not here")
    r = Run("g20n", ["ncu", "--launch-count", "1", ARGS.program, "launch", 10],
            codes=(0, 1))
    need(r.code == 0 or "CUDA_INJECTION64_PATH" in r.out + r.err,
         "ncu ended with %d" % r.code)
    return r.code and "it refuses, and names the variable" or "both record"


@row("G21", "windows: api, off, delay, duration")
def g21():
    p = program("g21-api", "window", 1000, env={"PROFAN_START": "api"}).one()
    exact(p, 1000)
    r = program("g21-off", "launch", 1000, env={"PROFAN_START": "off"})
    need(not r.files, "a file although nothing was to be recorded")
    p = program("g21-delay", "delay", 500, env={"PROFAN_DELAY_S": "1.5"}).one()
    need(len(kind(p, "KERNEL")) == 1000, "delay: %d kernels" %
         len(kind(p, "KERNEL")))
    p = program("g21-duration", "delay", 500,
                env={"PROFAN_DURATION_S": "2.5"}).one()
    need(len(kind(p, "KERNEL")) == 500, "duration: %d kernels" %
         len(kind(p, "KERNEL")))
    plain = program("g21-plain", "window", 1000, agent=False).seconds
    api = program("g21-stall", "window", 1000,
                  env={"PROFAN_START": "api"}).seconds
    return "late start and all: %+.0f ms" % ((api - plain) * 1000)


@row("G22", "device reset")
def g22():
    r = program("g22", "reset", 100)
    n = sum(len(kind(load(f), "KERNEL")) for f in r.files)
    need(n == 200, "%d kernels, not 200" % n)
    r = program("g22-none", "info", env={"CUDA_VISIBLE_DEVICES": ""})
    need(not r.files, "a file without a device")
    return "200 kernels over a reset; no device, no file"


@row("G23", "files to keep as test data")
def g23():
    program("fixture-eager", "launch", 50, env={"PROFAN_CMDLINE": "0"}).one()
    program("fixture-graph", "graph", 5, 4, env={"PROFAN_CMDLINE": "0"}).one()
    return "fixture-*.pfr in %s" % ARGS.out


# ---- PyTorch programs ----

TORCH_MODEL = """
import sys, torch
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(),
                            torch.nn.Linear(1024, 512)).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(256, 512, device="cuda")
def step():
    opt.zero_grad(set_to_none=False)
    model(x).square().mean().backward()
    opt.step()
"""
TORCH_MAPS = TORCH_MODEL + """
from torch.profiler import profile
step(); torch.cuda.synchronize()
for p in sorted({l.split()[-1] for l in open("/proc/self/maps")
                 if "libcupti.so" in l}):
    print("map=" + p)
"""
TORCH_PAIR = """
import sys, torch
how = sys.argv[1]
before = torch.empty(int(sys.argv[-1]) << 26, dtype=torch.uint8, device="cuda")
""" + TORCH_MODEL + """
if how == "profiler":
    from torch.profiler import profile, ProfilerActivity
    for i in range(3): step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        for i in range(20): step()
        torch.cuda.synchronize()
    prof.export_chrome_trace(sys.argv[2])
else:
    for i in range(3): step()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for i in range(20): step()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
"""
TORCH_STEPS = TORCH_MODEL + """
import time
from torch.profiler import profile, ProfilerActivity
from contextlib import nullcontext
for i in range(20): step()
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CUDA]) if sys.argv[1] == "profiler" \\
        else nullcontext():
    for i in range(20): step()
    torch.cuda.synchronize()
    rounds = []
    for r in range(12):
        t = time.perf_counter()
        for i in range(100): step()
        torch.cuda.synchronize()
        rounds.append(time.perf_counter() - t)
print("step_us=%f" % (min(rounds) * 1e6 / 100))
"""
TORCH_TAKEOVER = """
import torch
from torch.profiler import profile, ProfilerActivity
def step():
    torch.cuda._sleep(1000)
for i in range(20): step()
with profile(activities=[ProfilerActivity.CUDA]) as prof:
    for i in range(20): step()
    torch.cuda.synchronize()
for i in range(20): step()
torch.cuda.synchronize()
print("torch_kernels=%d" % sum("spin" in e.name for e in prof.events()))
print("kernels=60")
print("done=1")
"""
PAIRS = {}


def demangle(names):
    r = subprocess.run(["c++filt"], input="\n".join(names), text=True,
                       stdout=subprocess.PIPE, check=True)
    return dict(zip(names, r.stdout.split("\n")))


def torch_pair(i):
    """The same steps under the agent and under torch.profiler, run i."""
    import json
    if i in PAIRS:
        return PAIRS[i]
    r = Run("g15-agent-%d" % i, [sys.executable, "-c", TORCH_PAIR, "agent", i],
            env={"PROFAN_START": "api"})
    p = r.one()
    trace = os.path.join(ARGS.out, "g15-torch-%d.json" % i)
    Run("g15-torch-%d" % i,
        [sys.executable, "-c", TORCH_PAIR, "profiler", trace, i], agent=False)
    ours, theirs = [{"counts": {}, "times": {}} for _ in range(2)]

    def add(to, name, ns):
        to["counts"][name] = to["counts"].get(name, 0) + 1
        to["times"].setdefault(name, []).append(ns)
    kernels = kind(p, "KERNEL")
    plain = demangle(sorted({v["name"].decode() for v in kernels}))
    for v in kernels:
        add(ours, plain[v["name"].decode()], v["end"] - v["start"])
    for v in kind(p, "MEMCPY", "MEMSET"):
        add(ours, "Memcpy" if v["ev"] == "MEMCPY" else "Memset",
            v["end"] - v["start"])
    with open(trace) as f:
        events = json.load(f)["traceEvents"]
    for e in events:
        if e.get("cat") == "kernel":
            add(theirs, e["name"], e["dur"] * US)
        elif e.get("cat") in ("gpu_memcpy", "gpu_memset"):
            add(theirs, e["name"].split()[0], e["dur"] * US)
    PAIRS[i] = ours, theirs
    return PAIRS[i]


def has_torch():
    try:
        r = subprocess.run(
            [sys.executable, "-c",
             "import torch; assert torch.cuda.is_available()"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    except subprocess.TimeoutExpired:
        return False
    return r.returncode == 0


def check(name, text, fn, torch, slow, with_torch):
    if torch and not with_torch:
        return "SKIP", "PyTorch with CUDA is not here"
    if slow and ARGS.fast:
        return "SKIP", "--fast"
    try:
        return "PASS", fn()
    except Skip as e:
        return "SKIP", str(e)
    except Fail as e:
        return "FAIL", str(e)
    except Exception as e:  # a row that breaks is a row that fails
        return "FAIL", "%s: %s" % (type(e).__name__, e)


def main():
    count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    wanted = [r for r in ROWS if not ARGS.rows or r[0] in ARGS.rows]
    if len(wanted) < len(set(ARGS.rows)):
        sys.exit("gpu-check: no such row; there are: " +
                 " ".join(r[0] for r in ROWS))
    with_torch = any(r[3] for r in wanted) and has_torch()
    for r in wanted:
        result, text = check(*r, with_torch)
        count[result] += 1
        print("%s %s %s: %s" % (result, r[0], r[1], text), flush=True)
    print("%d passed, %d failed, %d skipped" % (
        count["PASS"], count["FAIL"], count["SKIP"]))
    return 1 if count["FAIL"] else 0


parser = argparse.ArgumentParser()
for option in ("agent", "out", "program", "reader"):
    parser.add_argument("--" + option, required=True)
parser.add_argument("--fast", action="store_true")
parser.add_argument("rows", nargs="*")
ARGS = parser.parse_args()
for option in ("agent", "out", "program"):
    setattr(ARGS, option, os.path.abspath(getattr(ARGS, option)))
spec = importlib.util.spec_from_file_location(
    "pfr", os.path.join(ARGS.reader, "pfr.py"))
pfr = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pfr)
sys.exit(main())
