# SPDX-License-Identifier: MIT
"""Memory snapshots: made here as pickles of plain dictionaries, and what
profan must say of one, worked out from the pickle alone.

usage: memsnap.py make DIR              good-*.pickle, odd-*.pickle, bad-*.pickle
       memsnap.py check PICKLE DB ANSWER  differences on stdout, exit status 1
       memsnap.py golden GOLDEN DB ANSWER   the same against a golden file
       memsnap.py keys PICKLE EVENTS      the same: arguments of events, as json
       memsnap.py flame PICKLE LINES      the same: lines of memory by stack
       memsnap.py damage PICKLE DIR N     N copies with bytes changed
"""
import collections
import gzip
import json
import os
import pickle
import random
import re
import sqlite3
import struct
import sys

OMIT_NAMES = ("unwind::unwind", "CapturedTraceback::gather",
              "gather_with_cpp", "_start", "__libc_start_main", "PyEval_",
              "PyObject_", "PyFunction_")
OMIT_FILES = ("core/boxing", "/Register", "/Redispatch", "pythonrun.c",
              "Modules/main.c", "Objects/call.c", "Objects/methodobject.c",
              "pycore_ceval.h", "ceval.c", "cpython/abstract.h")
SECRET = "canary-of-tests-7c1f"


# ---- what is made ----

def frame(file, line, name):
    return {"filename": file, "line": line, "name": name}


BASE = [frame("/opt/torch/nn/module.py", 9, "forward"),
        frame("/job/model.py", 3, "forward"), frame("/job/train.py", 71, "step"),
        frame("Objects/call.c", 5, "PyObject_Call"),
        frame("/job/train.py", 9, "<module>")]
OTHER = [frame("aten/Empty.cpp", 0, "at::empty"),
         frame("/job/train.py", 80, "loss"), frame("/job/train.py", 9, "<module>")]

NATIVE = [frame("CUDACachingAllocator.cpp", 0, "c10::CachingAllocator::malloc()"),
          frame("??", 0, "at::detail::empty_cuda(long)"),
          frame("??", 0, "at::_ops::mm::redispatch(at::Tensor)"),
          frame("??", 0, "at::_ops::bmm::call(at::Tensor)"),
          frame("??", 0, "torch::autograd::generated::MmBackward0::apply(T&&)"),
          frame("??", 0, "torch::autograd::Engine::thread_main()"),
          frame("/opt/torch/autograd/graph.py", 8, "backward")]


class Allocator:
    """Segments of one device, and the history of what happens in them."""

    def __init__(self, device, timed=True, base=None, stream=0):
        self.device, self.timed, self.now = device, timed, 1700000000000000
        self.base = (device + 1) << 40 if base is None else base
        self.stream = stream
        self.events, self.live, self.segments, self.at = [], {}, [], {}

    def note(self, action, addr, size, frames=(), **more):
        e = {"action": action, "addr": addr, "size": size,
             "stream": self.stream, "frames": list(frames), **more}
        self.now += 10
        if self.timed:
            e["time_us"] = self.now
        self.events.append(e)

    def segment(self, total):
        address = self.base + sum(s[1] for s in self.segments)
        self.segments.append((address, total))
        self.at[address] = address
        self.note("segment_alloc", address, total)
        return address

    def alloc(self, segment, size, frames):
        addr = self.at[segment]
        self.at[segment] += (size + 511) // 512 * 512
        self.live[addr] = (size, frames)
        self.note("alloc", addr, size, frames)
        return addr

    def free(self, addr):
        size, frames = self.live.pop(addr)
        self.note("free_requested", addr, size)
        self.note("free_completed", addr, size)

    def state(self):
        out = []
        for address, total in self.segments:
            blocks, at = [], address
            for addr in sorted(a for a in self.live
                               if address <= a < address + total):
                size, frames = self.live[addr]
                if addr > at:
                    blocks.append({"address": at, "size": addr - at,
                                   "requested_size": 0, "state": "inactive",
                                   "frames": []})
                rounded = (size + 511) // 512 * 512
                blocks.append({"address": addr, "size": rounded,
                               "requested_size": size,
                               "state": "active_allocated",
                               "frames": list(frames)})
                at = addr + rounded
            if at < address + total:
                blocks.append({"address": at, "size": address + total - at,
                               "requested_size": 0, "state": "inactive",
                               "frames": []})
            out.append({"device": self.device, "address": address,
                        "total_size": total, "allocated_size": 0,
                        "active_size": 0, "stream": self.stream, "frames": [],
                        "segment_type": "large" if total > 1 << 21 else "small",
                        "segment_pool_id": (0, 0), "is_expandable": False,
                        "blocks": blocks})
        return out


def run(device, rounds, timed=True, base=None, stream=0):
    a = Allocator(device, timed, base, stream)
    big, small = a.segment(1 << 24), a.segment(1 << 21)
    kept = [a.alloc(big, 100000 + i, BASE) for i in range(3)]
    for i in range(rounds):
        x = a.alloc(small, 700 + i % 5, OTHER)
        y = a.alloc(big, 5000, BASE)
        a.free(x)
        if i % 3:
            a.free(y)
    a.free(kept[1])
    return a


def snapshot(devices, lost=0):
    return {"segments": [s for a in devices for s in a.state()],
            "device_traces": [a.events[lost:] for a in devices],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "",
                                   "expandable_segments": False,
                                   "max_split_size": -1,
                                   "garbage_collection_threshold": 0.5,
                                   "roundup": {"1": 0, "2": 4}},
            "external_annotations": []}


def as_torch20(d):
    for s in d["segments"]:
        for key in ("segment_pool_id", "is_expandable", "frames"):
            del s[key]
        for b in s["blocks"]:
            requested, frames = b.pop("requested_size"), b.pop("frames")
            del b["address"]
            if b["state"] != "inactive":
                b["history"] = [{"addr": 0, "real_size": requested,
                                 "frames": frames},
                                {"addr": 0, "real_size": 1}]
            else:
                b["history"] = [{"addr": 0, "real_size": 100 + i,
                                 "frames": f} for i, f in
                                enumerate((OTHER, BASE, OTHER, []))]
    d["device_traces"] = [[] for _ in d["device_traces"]]
    return d


def as_texts(d, form):
    for s in d["segments"]:
        for e in (s, *s["blocks"]):
            e["address"] = form(e["address"])
        s["stream"] = form(s["stream"])
    for e in d["device_traces"][0]:
        e["addr"], e["stream"] = form(e["addr"]), form(e["stream"])
    return d


def number(key):
    return int(key, 0) if isinstance(key, str) else key


def seen_first(d):
    """Every file and function is a text that nobody asks for before it is
    one: in the entries' metadata, under unknown keys, in lists and tuples."""
    texts = [t for f in BASE + OTHER for t in (f["filename"], f["name"])]
    d["device_traces"][0][0]["user_metadata"] = texts[0]
    d["device_traces"][0][0]["future"] = (texts[1], texts[2])
    return {"future": [texts[3:6], {"x": texts[6:]}],
            "device_traces": d["device_traces"], **d}


# Pointers of some accelerators are 2^63 and more; keys are signed or unsigned.
KEYS = {
    "unsigned": ((1 << 64) - (1 << 40), (1 << 64) - 1),
    "around": ((1 << 63) - (1 << 20), (1 << 60) + 1),
    "negative": (-(1 << 40), -1),
    "least": (-(1 << 63), -(1 << 63)),
}


def good():
    two = [run(0, 40), run(1, 7)]
    yield "two", 4, snapshot(two)
    yield "two-p2", 2, snapshot(two)
    yield "two-p5", 5, snapshot(two)
    yield "ring", 4, snapshot([run(0, 60)], lost=100)
    yield "untimed", 4, snapshot([run(0, 20, timed=False)])
    yield "torch20", 4, as_torch20(snapshot([run(0, 9)]))
    yield "list", 4, snapshot([run(0, 5)])["segments"]
    yield "empty", 4, {"segments": [], "device_traces": [[], []]}
    d = snapshot([run(0, 30)])
    last = d["device_traces"][0][-1]
    d["device_traces"][0].append(
        {"action": "oom", "device_free": 4096, "size": 1 << 23, "stream": 0,
         "time_us": last["time_us"] + 1, "frames": BASE})
    d["external_annotations"] = [
        {"stage": "START", "name": "Optimizer", "device": 0,
         "time_us": last["time_us"] - 50},
        {"stage": "END", "name": "Optimizer", "device": 0,
         "time_us": last["time_us"]}]
    yield "oom", 4, d
    # what is new, and nobody's business: neither read nor kept
    d = snapshot([run(0, 3)])
    d = {"future": [[1, 2], (3, 4, 5, 6), {"frames": BASE, "x": {}}],
         "environment": {"TOKEN": SECRET}, **d}
    d["segments"][0]["blocks"][0]["user_metadata"] = {"key": SECRET,
                                                      "frames": []}
    d["device_traces"][0][0]["user_metadata"] = SECRET
    d["device_traces"][0][1]["compile_context"] = {}
    yield "secret", 4, d
    for name, (base, stream) in KEYS.items():
        yield name, 4, snapshot([run(0, 5, base=base, stream=stream)])
    base, stream = KEYS["unsigned"]
    d = snapshot([run(0, 5, base=base, stream=stream)])
    yield "hex", 4, as_texts(d, hex)
    d = snapshot([run(0, 5, base=base, stream=stream)])
    yield "digits", 2, as_texts(d, str)
    yield "seen-first", 4, seen_first(snapshot([run(0, 5)]))
    # lines of C++ alone, and of torch's Python
    a = Allocator(0)
    s = a.segment(1 << 27)
    for i in range(len(NATIVE)):
        a.alloc(s, 1000 * (i + 1), NATIVE[:i + 1])
        a.alloc(s, 64, NATIVE[i:])
    yield "native", 4, snapshot([a])
    # a list of one item, and of many more than one batch
    a = Allocator(0)
    s = a.segment(1 << 27)
    for i in range(2100):
        a.alloc(s, 64, BASE[i % 4:] if i % 7 else BASE[:1])
    yield "long", 4, snapshot([a])


def odd():
    d = snapshot([run(0, 10)])
    d["segments"][0]["blocks"][0]["requested_size"] += 7
    yield "disagrees", d
    d = snapshot([run(0, 10)])
    d["device_traces"][0][5]["time_us"] -= 1000
    yield "late", d
    d = snapshot([run(0, 10)])
    del d["device_traces"][0][0]["time_us"]
    yield "first", d
    d = snapshot([run(0, 10)])
    d["segments"][0]["total_size"] += 512
    yield "sums", d
    d = snapshot([run(0, 10)])
    for e in d["device_traces"][0]:
        del e["frames"]
    for s in d["segments"]:
        for b in s["blocks"]:
            del b["frames"]
    yield "bare", d
    d = snapshot([run(0, 10)])
    del d["device_traces"][0][:-1]
    yield "one", d
    d = snapshot([run(0, 10)])
    d["device_traces"][0][4]["size"] = "many"
    d["device_traces"][0].append(17)
    d["device_traces"][0].append({"size": -1, "action": "alloc", "addr": 1})
    yield "types", d
    # keys beyond 64 bits, and what is none
    for name, key in (("keys", 1 << 64), ("low", -(1 << 63) - 1),
                      ("words", "18446744073709551616")):
        d = snapshot([run(0, 10)])
        for s in d["segments"]:
            s["address"] = key
        for e in d["device_traces"][0]:
            e["addr"] = key
        yield name, d


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def make(folder):
    for name, protocol, d in good():
        write(folder, f"good-{name}.pickle", pickle.dumps(d, protocol))
    for name, d in odd():
        write(folder, f"odd-{name}.pickle", pickle.dumps(d, 4))
    # LONG4, and more bytes than needed, in place of LONG1
    base, stream = KEYS["unsigned"]
    d = snapshot([run(0, 5, base=base, stream=stream)])
    data = pickle.dumps(d, 2)
    for at in range(len(data) - 11, 0, -1):
        if data[at:at + 2] == b"\x8a\x09" and data[at + 10] == 0:
            data = (data[:at] + b"\x8b" + struct.pack("<I", 12) +
                    data[at + 2:at + 11] + bytes(3) + data[at + 11:])
    assert pickle.loads(data) == d and b"\x8a\x09" not in data
    write(folder, "good-long4.pickle", data)
    # every entry of the memo a million after the last one
    write(folder, "bad-memo-steps.pickle", b"\x80\x04]" + b"".join(
        b"r" + struct.pack("<I", i << 20) for i in range(1, 4000)) + b".")
    small = pickle.dumps(snapshot([run(0, 1)]), 4)
    write(folder, "small.pickle", small)
    for protocol in (2, 4):
        write(folder, f"bad-object-{protocol}.pickle",
              pickle.dumps({"segments": [Evil()]}, protocol))
    write(folder, "bad-other.pickle", pickle.dumps({"weights": [1, 2]}, 4))
    write(folder, "bad-number.pickle", pickle.dumps(17, 4))
    write(folder, "bad-bytes.pickle", pickle.dumps({"segments": b"x"}, 4))
    write(folder, "bad-deep.pickle",
          b"\x80\x04" + b"]" * 5000 + b"a" * 4999 + b".")
    write(folder, "bad-op.pickle", b"\x80\x04}\xfe.")
    write(folder, "bad-protocol.pickle", b"\x80\x04\x80\x09}.")
    # a mark among so many items that some are handed over, and then too many POPs
    write(folder, "bad-pops.pickle",
          b"\x80\x04](" + b"N" * 20 + b"(" + b"N" * 44 + b"0" * 45 + b"(.")
    write(folder, "bad-memo.pickle", b"\x80\x04]r\xff\xff\xff\x7f.")
    write(folder, "bad-text.pickle",
          b"\x80\x04}X" + struct.pack("<I", 0xfffffff0) + b"segments")
    write(folder, "bad-zip.pickle", b"PK\3\4" + bytes(60))
    write(folder, "bad-lfs.pickle",
          b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with gzip.GzipFile(os.path.join(folder, "two.pickle.gz"), "wb",
                       mtime=0) as f:
        f.write(pickle.dumps(snapshot([run(0, 40), run(1, 7)]), 4))


def damage(path, folder, count):
    with open(path, "rb") as f:
        data = f.read()
    rng = random.Random(7)
    for i in range(count):
        b = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 8))):
            b[rng.randrange(2, len(b))] = rng.randrange(256)
        write(folder, f"damaged{i}.pickle", bytes(b))


# ---- what must be said ----

def keep(f):
    return not any(o in f["name"] for o in OMIT_NAMES) and not any(
        o in f["filename"] for o in OMIT_FILES)


def stack_key(frames):
    return tuple((f["filename"], f["line"], f["name"])
                 for f in reversed(frames or []) if keep(f))


def line_of(key):
    inside = list(reversed(key))
    for is_one in (lambda file: "/torch/" not in file, lambda file: True):
        for file, line, name in inside:
            if file.endswith(".py") and is_one(file):
                return f"{file}:{line}:{name}"
    for pattern in (r"torch::autograd::generated::(.*)::apply\(.*",
                    r"(at::_ops::.*?)(::.*)?"):
        for _, _, name in inside:
            match = re.fullmatch(pattern, name)
            if match:
                return match[1]
    for frame in inside:
        if "Allocator" not in frame[2]:
            return "%s:%d:%s" % frame
    return "%s:%d:%s" % key[-1] if key else None


def blocks_of(s):
    at = number(s["address"])
    for b in s["blocks"]:
        past = (b.get("history") or [{}])[0]
        asked = b.get("requested_size", past.get("real_size", b["size"]))
        yield (at, b["size"], asked, b["state"],
               b.get("frames", past.get("frames", [])))
        at += b["size"]


def replay(events, segments, device):
    """(before, peak, end, alive at the peak by stack, never freed)"""
    open_at, before, level = {}, 0, 0
    levels = []
    for e in events:
        if e["action"] == "alloc":
            open_at[number(e["addr"])] = e
            level += e["size"]
        elif e["action"] == "free_completed":
            was = open_at.pop(number(e["addr"]), None)
            if not was:
                before += e["size"]
            level -= was["size"] if was else e["size"]
        else:
            continue
        levels.append((level, e))
    for s in segments:
        if s["device"] == device:
            for at, _, asked, state, _ in blocks_of(s):
                if state == "active_allocated" and at not in open_at:
                    before += asked
    peak = max([0] + [n for n, _ in levels])
    alive = {}
    if peak:
        for n, e in levels:
            if e["action"] == "alloc":
                alive[e["addr"]] = e
            else:
                alive.pop(e["addr"], None)
            if n == peak:
                break
    groups = collections.Counter()
    for e in alive.values():
        groups[stack_key(e.get("frames"))] += e["size"]
    never = collections.Counter()
    for e in open_at.values():
        never[stack_key(e.get("frames"))] += e["size"]
    return before, before + peak, before + level, groups, never


def now_of(segments, device):
    mine = [s for s in segments if s["device"] == device]
    free = [b[1] for s in mine for b in blocks_of(s) if b[3] == "inactive"]
    split = [b[1] for s in mine if len(s["blocks"]) > 1
             for b in blocks_of(s) if b[3] == "inactive"]
    reserved = sum(s["total_size"] for s in mine)
    whole = [s for s in mine
             if sum(b[1] for b in blocks_of(s) if b[3] == "inactive") ==
             s["total_size"]]
    used = [b for s in mine for b in blocks_of(s) if b[3] != "inactive"]
    return {"segment_count": len(mine), "reserved_bytes": reserved,
            "allocated_bytes": sum(b[2] for b in used
                                   if b[3] == "active_allocated"),
            "active_bytes": sum(b[2] for b in used),
            "rounding_bytes": sum(b[1] - b[2] for b in used),
            "free_count": len(free), "free_bytes": sum(free),
            "whole_count": len(whole),
            "whole_bytes": sum(s["total_size"] for s in whole),
            "split_count": len(split), "split_bytes": sum(split),
            "largest_bytes": max(free, default=0)}


def same(bad, what, want, got):
    if want != got:
        bad.append(f"{what}: {want} expected, {got} found")


def rows_by_line(rows, device):
    out = collections.Counter()
    for r in rows:
        if r["device"] == f"GPU {device}" and r["frame"]:
            out[r["frame"]] += r["bytes"]
    return out


def lines(groups):
    out = collections.Counter()
    for key, n in groups.items():
        if key:
            out[line_of(key)] += n
    return out


def check_times(bad, d, i, tables):
    """Entries without times: no time is said; the peak is told by its entry."""
    events, gpu = d["device_traces"][i], f"GPU {i}"
    row = [r for r in tables["devices"] if r["device"] == gpu][0]
    is_timed = any("time_us" in e for e in events)
    times = [r[key] for name, keys in (("devices", ("peak_ns",)),
                                       ("alive", ("age_ns",)),
                                       ("oom", ("time_ns",)))
             for r in tables[name] if r["device"] == gpu
             and r.get("count", 0) is not None for key in keys]
    if is_timed:
        same(bad, f"{gpu} times", [], [t for t in times if t is None])
        return same(bad, f"{gpu} entry of the peak", None, row["peak_entry"])
    level, best, entry, live = 0, 0, 0, {}
    for n, e in enumerate(events, 1):
        if e["action"] == "alloc":
            live[e["addr"]] = e["size"]
            level += e["size"]
        elif e["action"] == "free_completed":
            level -= live.pop(e["addr"], e["size"])
        if level > best:
            best, entry = level, n
    same(bad, f"{gpu} times", [], [t for t in times if t is not None])
    if best:
        same(bad, f"{gpu} entry of the peak", entry, row["peak_entry"])
    return None


def check_device(bad, d, i, tables):
    before, peak, end, alive, never = replay(
        d["device_traces"][i], d["segments"], i)
    row = [r for r in tables["devices"] if r["device_number"] == i]
    if not any(e["action"] in ("alloc", "free_completed")
               for e in d["device_traces"][i]):
        return same(bad, f"GPU {i} has no row", [], row)
    row = row[0]
    same(bad, f"GPU {i} before", before, row["start_bytes"])
    same(bad, f"GPU {i} peak", peak, row["peak_bytes"])
    same(bad, f"GPU {i} end", end, row["end_bytes"])
    check_times(bad, d, i, tables)
    mine = [r for r in tables["alive"] if r["device"] == f"GPU {i}"]
    same(bad, f"GPU {i} alive and before", peak,
         sum(r["bytes"] for r in mine))
    same(bad, f"GPU {i} alive by line", lines(alive),
         rows_by_line(tables["alive"], i))
    same(bad, f"GPU {i} never freed", lines(never),
         rows_by_line(tables["kept"], i))
    return None


def check_db(bad, d, db):
    c = sqlite3.connect(db)
    same(bad, "settings", sum(len(v) if isinstance(v, dict) else 1 for v in
                              (d.get("allocator_settings") or {}).values()),
         c.execute("SELECT count(*) FROM mem_setting").fetchone()[0])
    blocks = [b for s in d["segments"] for b in blocks_of(s)]
    same(bad, "blocks", [b[:4] for b in blocks],
         [(number(at), *rest) for at, *rest in c.execute(
             "SELECT address, size_bytes, requested_bytes, state"
             " FROM mem_block ORDER BY id")])
    same(bad, "segments", [(number(s["address"]), number(s["stream"]))
                           for s in d["segments"]],
         [tuple(map(number, row)) for row in c.execute(
             "SELECT address, stream FROM segment ORDER BY id")])
    of = {}
    for id_, parent, file, line, name in c.execute(
            "SELECT s.id, s.parent_id, f.text, frame.line, n.text FROM stack s"
            " JOIN stack_frame frame ON frame.id = s.frame_id"
            " JOIN string f ON f.id = frame.file_id"
            " JOIN string n ON n.id = frame.name_id ORDER BY s.id"):
        of[id_] = of.get(parent, ()) + ((file, line, name),)
    same(bad, "stacks of blocks", [stack_key(b[4]) for b in blocks],
         [of.get(r[0], ()) for r in c.execute(
             "SELECT stack_id FROM mem_block ORDER BY id")])
    same(bad, "accounts", sum(map(len, d["device_traces"])) +
         len(d.get("external_annotations", [])),
         c.execute("SELECT sum(event_count) FROM trace").fetchone()[0])


def check(path, db, answer):
    with open(path, "rb") as f:
        d = pickle.load(f)
    if isinstance(d, list):
        d = {"segments": d, "device_traces": []}
    with open(answer) as f:
        tables = json.load(f)["tables"]
    bad = []
    for i in range(len(d["device_traces"])):
        check_device(bad, d, i, tables)
    for row in tables["now"]:
        for key, n in now_of(d["segments"], row["device"]).items():
            same(bad, f"GPU {row['device']} {key}", n, row[key])
    same(bad, "devices of segments", sorted({s["device"]
                                             for s in d["segments"]}),
         [r["device"] for r in tables["now"]])
    check_db(bad, d, db)
    return bad


# ---- goldens: torch's own figures and an independent replay ----

STATE = {"segments": "segment_count", "reserved": "reserved_bytes",
         "large_segments": "large_count", "small_segments": "small_count",
         "expandable_segments": "expandable_count",
         "requested": "active_bytes", "rounding_waste": "rounding_bytes",
         "blocks_inactive": "free_count", "bytes_inactive": "free_bytes",
         "fully_free_segments": "whole_count",
         "fully_free_bytes": "whole_bytes",
         "inactive_split_blocks": "split_count",
         "inactive_split_bytes": "split_bytes",
         "largest_free_block": "largest_bytes"}
SHARES = {"fragmentation_viz": "viz_share",
          "external_fragmentation": "external_share",
          "reserved_unused_share": "free_share"}


def flame(path, lines):
    """The lines of memory_viz' memory(), which has all of a history."""
    with open(path, "rb") as f:
        d = pickle.load(f)
    with open(lines) as f:
        got = sorted(f.read().splitlines())
    want, bad = [], []
    for s in d["segments"]:
        for b in s["blocks"]:
            head = f"stream_{s['stream']};{b['state']};"
            rest = b["size"]
            for h in b.get("history") or [
                    {"real_size": b.get("requested_size", b["size"]),
                     "frames": b.get("frames")}]:
                rest -= h["real_size"]
                frames = ";".join(
                    f"{os.path.basename(file)}:{line}:{name}"
                    for file, line, name in stack_key(h.get("frames")))
                want.append(f"{head}{frames or '<non-python>'}"
                            f" {h['real_size']}")
            if rest:
                want.append(f"{head}<gaps> {rest}")
    same(bad, "lines", sorted(want), got)
    return bad


def keys(path, events):
    with open(path, "rb") as f:
        d = pickle.load(f)
    with open(events) as f:
        rows = [json.loads(r["args"]) for r in json.load(f)["tables"]["rows"]]
    bad = []
    same(bad, "keys", [(number(e["addr"]), number(e["stream"]))
                       for t in d["device_traces"] for e in t],
         [(r["Addr"], r["stream"]) for r in rows])
    return bad


def golden_state(bad, want, row):
    for key, column in STATE.items():
        same(bad, f"{key}", want.get(key, 0), row[column])
    for key, column in SHARES.items():
        if abs(want[key] - (row[column] or 0.0)) > 1e-9:
            same(bad, key, want[key], row[column])


def golden_groups(bad, what, want, rows):
    """The largest: bytes and blocks of each stack."""
    rows = sorted(((r["bytes"], r["count"]) for r in rows
                   if r["count"] is not None), reverse=True)
    want = sorted(((r["bytes"], r["count"]) for r in want), reverse=True)
    same(bad, what, want[:10], rows[:10])


def golden_device(bad, i, g, tables):
    mine = lambda name: [r for r in tables[name] if r["device"] == f"GPU {i}"]
    row, t = mine("devices"), g["timeline"]
    if not row:
        return
    row = row[0]
    same(bad, f"GPU {i} peak", t["peak"], row["peak_bytes"])
    same(bad, f"GPU {i} end", t["at_end"], row["end_bytes"])
    same(bad, f"GPU {i} before", t["before_first_event"], row["start_bytes"])
    if g["first_time_us"] is not None and t["peak_time_us"] is not None:
        first = tables["first_us"]
        same(bad, f"GPU {i} time of the peak",
             (t["peak_time_us"] - first) * 1000, row["peak_ns"])
    same(bad, f"GPU {i} never freed",
         (g["never_freed"]["count"], g["never_freed"]["bytes"]),
         (row["kept_count"], row["kept_bytes"]))
    golden_groups(bad, f"GPU {i} never freed by stack",
                  g["never_freed"]["by_stack"], mine("kept"))
    if not t["allocated_before_trace"]:
        golden_groups(bad, f"GPU {i} at the peak by stack",
                      t["peak_by_stack"], mine("alive"))
    same(bad, f"GPU {i} allocated", g["alloc_bytes"], row["allocated_bytes"])
    same(bad, f"GPU {i} allocated by stack",
         sorted((r["bytes"] for r in g["alloc_by_stack"]), reverse=True)[:10],
         sorted((r["allocated_bytes"] for r in mine("stacks")
                 if r["allocated_bytes"]), reverse=True)[:10])
    same(bad, f"GPU {i} out of memory",
         [(o["requested"], o["device_free"]) for o in g["oom"]],
         [(o["bytes"], o["device_free_bytes"]) for o in mine("oom")])


def golden(path, db, answer):
    with open(path) as f:
        g = json.load(f)
    with open(answer) as f:
        tables = json.load(f)["tables"]
    bad = []
    same(bad, "devices", sorted(g["state"]),
         sorted(str(r["device"]) for r in tables["now"]))
    for row in tables["now"]:
        golden_state(bad, g["state"][str(row["device"])], row)
    first_ns = sqlite3.connect(db).execute(
        "SELECT base_ns FROM trace").fetchone()[0]
    tables["first_us"] = (first_ns or 0) // 1000
    for i, d in g["devices"].items():
        golden_device(bad, i, d, tables)
    return bad


def main(what, *args):
    if what == "make":
        make(*args)
        return 0
    if what in ("keys", "flame"):
        bad = (keys if what == "keys" else flame)(*args)
        print("\n".join(bad))
        return bool(bad)
    if what == "damage":
        damage(args[0], args[1], int(args[2]))
        return 0
    bad = check(*args) if what == "check" else golden(*args)
    for line in bad[:20]:
        print(line)
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
