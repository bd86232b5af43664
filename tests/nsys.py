#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports of Nsight Systems for tests/nsys.sh.

nsys.py make DIR                small databases as nsys writes them, and odd ones
nsys.py agree IN.sqlite OUT.db  what profan stored against the rows themselves
nsys.py golden OUT.db IN.json   what profan stored against figures made apart
nsys.py kineto IN.sqlite        the same events as Kineto's JSON, to stdout
"""
import collections
import json
import os
import re
import sqlite3
import sys

from results import judge

KIND = "CUPTI_ACTIVITY_KIND_"
SECRET = "TEST_SECRET=4f0c-must-not-be-copied"
PLACE = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,"
         " streamId INTEGER, correlationId INTEGER, globalPid INTEGER")
TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "META_DATA_EXPORT": "name TEXT, value TEXT",
    "META_DATA_CAPTURE": "name TEXT, value TEXT",
    "TARGET_INFO_SYSTEM_ENV": "globalVid INTEGER, name TEXT, nameEnum INTEGER,"
                              " value TEXT",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT",
    "TARGET_INFO_GPU": "id INTEGER, name TEXT, cuDevice INTEGER,"
                       " smCount INTEGER, threadsPerWarp INTEGER,"
                       " maxWarpsPerSm INTEGER, totalMemory INTEGER,"
                       " memoryBandwidth INTEGER",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER, pid INTEGER",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "ThreadNames": "nameId INTEGER, priority INTEGER, globalTid INTEGER",
    KIND + "RUNTIME": "start INTEGER, end INTEGER, eventClass INTEGER,"
                      " globalTid INTEGER, correlationId INTEGER,"
                      " nameId INTEGER, returnValue INTEGER",
    KIND + "KERNEL": PLACE + ", demangledName INTEGER, shortName INTEGER,"
                     " mangledName INTEGER, launchType INTEGER,"
                     " registersPerThread INTEGER, gridX INTEGER,"
                     " gridY INTEGER, gridZ INTEGER, blockX INTEGER,"
                     " blockY INTEGER, blockZ INTEGER,"
                     " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,"
                     " localMemoryPerThread INTEGER, graphNodeId INTEGER",
    KIND + "MEMCPY": PLACE + ", bytes INTEGER, copyKind INTEGER,"
                     " srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER",
    KIND + "MEMSET": PLACE + ", bytes INTEGER, value INTEGER, memKind INTEGER",
    KIND + "SYNCHRONIZATION": PLACE + ", syncType INTEGER, eventId INTEGER",
    KIND + "GRAPH_TRACE": PLACE + ", graphId INTEGER, graphExecId INTEGER",
    KIND + "CUDA_EVENT": "deviceId INTEGER, contextId INTEGER, streamId INTEGER,"
                         " correlationId INTEGER, globalPid INTEGER,"
                         " eventId INTEGER",
    "PROFILER_OVERHEAD": "start INTEGER, end INTEGER, globalTid INTEGER,"
                         " nameId INTEGER",
    "OSRT_API": "start INTEGER, end INTEGER, globalTid INTEGER,"
                " nameId INTEGER, returnValue INTEGER",
    "SCHED_EVENTS": "start INTEGER, cpu INTEGER, isSchedIn INTEGER,"
                    " globalTid INTEGER",
    "NVTX_EVENTS": "start INTEGER, end INTEGER, eventType INTEGER,"
                   " rangeId INTEGER, category INTEGER, color INTEGER,"
                   " text TEXT, globalTid INTEGER, endGlobalTid INTEGER,"
                   " textId INTEGER, domainId INTEGER, uint64Value INTEGER,"
                   " doubleValue REAL",
}


def gpid(pid):
    return (1 << 48) + (pid << 24)


class Maker:
    """A database of one or more processes, each with its own numbers."""

    def __init__(self, path, schema="3.25.0", without=()):
        if os.path.exists(path):
            os.unlink(path)
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("BEGIN")
        self.without = set(without)
        self.texts = {}
        self.schema = schema
        for name, columns in TABLES.items():
            if name in self.without:
                continue
            if schema >= "3.24" and name == KIND + "CUDA_EVENT":
                columns = "timestamp INTEGER, " + columns
            columns = columns.replace(" end ", ' "end" ')
            self.db.execute(f'CREATE TABLE "{name}" ({columns})')
        for i in range(5):
            self.text(f"{SECRET} {i}")
        self.add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value=schema)
        self.add("META_DATA_EXPORT", name="EXPORT_PRODUCT_VERSION",
                 value="2026.1.1")
        self.add("META_DATA_CAPTURE", name="ENV", value=SECRET)
        self.add("TARGET_INFO_SYSTEM_ENV", name="DeviceEnvironment",
                 value=SECRET)
        self.add("TARGET_INFO_SESSION_START_TIME",
                 utcEpochNs=1700000000123456789)

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = len(self.texts) + 10
            if "StringIds" not in self.without:
                self.db.execute("INSERT INTO StringIds VALUES(?, ?)",
                                (self.texts[value], value))
        return self.texts[value]

    def add(self, table, **values):
        if table in self.without:
            return
        names = ", ".join(f'"{k}"' for k in values)
        marks = ", ".join("?" * len(values))
        self.db.execute(f'INSERT INTO "{table}"({names}) VALUES({marks})',
                        list(values.values()))

    def gpu(self, id, **more):
        self.add("TARGET_INFO_GPU", id=id, name="NVIDIA Test", cuDevice=id,
                 smCount=100, threadsPerWarp=32, maxWarpsPerSm=64,
                 totalMemory=1 << 34, **{"memoryBandwidth": 576064000000,
                                         **more})

    def call(self, pid, start, end, name, correlation, tid=None, driver=0):
        self.add(KIND + "RUNTIME", start=start, end=end, eventClass=driver,
                 globalTid=gpid(pid) + (tid or pid), nameId=self.text(name),
                 correlationId=correlation, returnValue=0)

    def kernel(self, pid, start, end, name, correlation, device=0, stream=7,
               **more):
        self.add(KIND + "KERNEL", start=start, end=end, deviceId=device,
                 contextId=1, streamId=stream, correlationId=correlation,
                 globalPid=gpid(pid), demangledName=self.text(name),
                 shortName=self.text(name), gridX=80, gridY=2, gridZ=1,
                 blockX=128, blockY=1, blockZ=1, registersPerThread=32,
                 staticSharedMemory=1024, dynamicSharedMemory=0,
                 localMemoryPerThread=0, launchType=1, **more)

    def copy(self, pid, start, end, kind, correlation, size, device=0,
             stream=7, **more):
        self.add(KIND + "MEMCPY", start=start, end=end, deviceId=device,
                 contextId=1, streamId=stream, correlationId=correlation,
                 globalPid=gpid(pid), bytes=size, copyKind=kind, srcKind=1,
                 dstKind=2, **more)

    def range(self, pid, start, end, text, type=59, tid=None, **more):
        self.add("NVTX_EVENTS", start=start, end=end, eventType=type, text=text,
                 globalTid=gpid(pid) + (tid or pid), domainId=0, **more)

    def step(self, pid, at, n, device=0, stream=7):
        """A step: copy, kernels, a wait."""
        c = n * 100
        self.range(pid, at, at + 90000, f"ProfilerStep#{n}")
        self.range(pid, at + 100, at + 80000, "forward")
        self.call(pid, at + 1000, at + 3000, "cudaMemcpyAsync_v3020", c + 1)
        self.copy(pid, at + 5000, at + 9000, 1, c + 1, 65536, device, stream)
        for k in range(4):
            t = at + 10000 + k * 8000
            name = f"aten::mm, seq = {k}, op_id = {c + k}, sizes = [[2, 3], []]"
            self.range(pid, t - 500, t + 3000, name)
            self.call(pid, t, t + 2000, "cudaLaunchKernel_v7000", c + 10 + k)
            self.kernel(pid, t + 4000, t + 11000, f"void gemm<{k % 2}>(int)",
                        c + 10 + k, device, stream)
        self.call(pid, at + 50000, at + 52000, "cudaMemsetAsync_v3020", c + 30)
        self.add(KIND + "MEMSET", start=at + 53000, end=at + 53500,
                 deviceId=device, contextId=1, streamId=stream,
                 correlationId=c + 30, globalPid=gpid(pid), bytes=4096, value=0,
                 memKind=2)
        for i, (name, type) in enumerate((
                ("cudaStreamSynchronize_v3020", 2),
                ("cudaEventSynchronize_v3020", 0),
                ("cudaDeviceSynchronize_v3020", 4),
                ("cudaStreamWaitEvent_v3020", 2))):
            t = at + 60000 + i * 4000
            self.call(pid, t, t + 3000, name, c + 40 + i)
            self.add(KIND + "SYNCHRONIZATION", start=t + 100, end=t + 2900,
                     deviceId=device, contextId=1, streamId=stream,
                     correlationId=c + 40 + i, globalPid=gpid(pid),
                     syncType=type, eventId=5)

    def process(self, pid, name="python3"):
        self.add("PROCESSES", globalPid=gpid(pid), pid=pid,
                 name="/usr/bin/" + name)
        self.add("ThreadNames", nameId=self.text("worker of " + name),
                 globalTid=gpid(pid) + pid)

    def done(self):
        self.db.commit()
        self.db.close()


def plain(path, schema="3.25.0", without=(), processes=1, shift=0):
    m = Maker(path, schema, without)
    m.gpu(0)
    m.add("PROCESSES", globalPid=gpid(99), pid=99, name="foreign --token " + SECRET)
    m.add("ThreadNames", nameId=m.text("foreign " + SECRET),
          globalTid=gpid(99) + 99)
    for p in range(processes):
        m.process(1000 + p)
        for n in range(3):
            m.step(1000 + p, shift + n * 100000 + p * 17, n, stream=7 + p % 2)
    t = gpid(1000) + 1000
    m.add("OSRT_API", start=shift + 1, end=shift + 50, globalTid=t,
          nameId=m.text("poll"))
    m.add("SCHED_EVENTS", start=shift, cpu=1, globalTid=t)
    m.add("PROFILER_OVERHEAD", start=shift + 99000, end=shift + 99500,
          globalTid=t, nameId=m.text("CUPTI Buffer flush"))
    m.add(KIND + "CUDA_EVENT", deviceId=0, contextId=1, streamId=7,
          correlationId=1, globalPid=gpid(1000), eventId=3)
    m.add("NVTX_EVENTS", start=shift + 6, eventType=75, text="NCCL",
          globalTid=t, domainId=1)
    m.add("NVTX_EVENTS", start=shift + 7, eventType=33, text="phase",
          globalTid=t, domainId=1, category=4)
    m.add("NVTX_EVENTS", start=shift + 95000, end=shift + 96000, eventType=59,
          textId=m.text("ncclAllReduce"), globalTid=t, domainId=1, category=4,
          uint64Value=12345, color=0xff00ff00)
    m.range(1000, shift + 95000, shift + 99000, "over threads", 60, rangeId=3)
    m.range(1000, shift + 96000, None, "a mark", 34)
    m.range(1000, shift + 99600, None, "never closed")
    m.done()


def spans(path, cross=False):
    """Start/end ranges of two processes, which cross and change threads."""
    m = Maker(path)
    m.gpu(0)
    for pid in (1000, 1001):
        m.process(pid)
    for n in range(6):
        at = n * 100000
        m.range(1000, at, at + 90000, f"iteration {n}", 60)
        m.range(1001, at + 50000, at + 150000 + n, "request", 60)
        m.call(1000, at + 1000, at + 3000, "cudaLaunchKernel", n + 1)
        m.kernel(1000, at + 4000, at + 44000, "void k()", n + 1)
    m.range(1001, 5, None, "request", 60)
    if cross:
        m.range(1000, 45000, 95000, "iteration 9", 60)
    m.done()


def versions(path, known):
    """The tables of plain under other versions, as nsys may call them."""
    plain(path)
    db = sqlite3.connect(path)
    for name, version in (("NVTX_EVENTS", 2), (KIND + "KERNEL", 3),
                          (KIND + "RUNTIME", 2), (KIND + "MEMCPY", 12)):
        db.execute(f'ALTER TABLE "{name}" RENAME TO "{name}_V{version}"')
        if not known:
            db.execute(f'ALTER TABLE "{name}_V{version}" RENAME "start"'
                       ' TO "startNs"')
        if known:
            db.execute(f'CREATE TABLE "{name}_V1"(x)')
    db.commit()
    db.close()


def named(path):
    """A GPU without a compute capability; overhead on several threads."""
    m = Maker(path)
    m.add("TARGET_INFO_GPU", id=0, name="NVIDIA A100-SXM4-40GB", cuDevice=0,
          smCount=108, totalMemory=40 << 30)
    m.process(1000)
    for n in range(3):
        m.step(1000, n * 100000, n)
    for tid in range(4):
        m.add("PROFILER_OVERHEAD", start=0, end=250000,
              globalTid=gpid(1000) + 2000 + tid, nameId=m.text("flush"))
    m.done()


def graphs(path, nodes):
    m = Maker(path)
    m.gpu(0)
    m.process(1000)
    for i in range(3):
        t = i * 50000
        m.call(1000, t, t + 2000, "cudaGraphLaunch_v10000", 10 + i)
        if nodes:
            m.kernel(1000, t + 3000, t + 9000, "void node()", 10 + i,
                     graphNodeId=(4 << 32) + i)
        m.add(KIND + "GRAPH_TRACE", start=t + 3000, end=t + 20000, deviceId=0,
              contextId=1, streamId=7, correlationId=10 + i,
              globalPid=gpid(1000), graphId=12, graphExecId=13)
    m.done()


def unified(path):
    """A kernel that waits 6 ms until its pages have come."""
    m = Maker(path)
    m.gpu(0)
    m.process(1000)
    m.call(1000, 1000, 20000, "cudaMemPrefetchAsync_v8000", 1)
    m.call(1000, 21000, 23000, "cudaLaunchKernel_v7000", 2)
    for i in range(3):
        at = 10000 + i * 2000000
        m.copy(1000, at, at + 1900000, 11, 0, 4096)
    m.kernel(1000, 6000000, 6500000, "void add()", 2)
    for i in range(2):
        at = 7000000 + i * 1000
        m.copy(1000, at, at + 500, 12, 0, 4096)
    m.done()


def hostile(path):
    m = Maker(path)
    m.gpu(0)
    big = 2 ** 63 - 1
    for start, end in ((None, 5), (10, None), (30, 20), ("a", "b"),
                       (2 ** 62 + 5, big), (-2 ** 63, big), (5, 5), (7.0, 9.0),
                       (1.5, 3), (b"\0\1", 4), (-50, -10), (100, 200)):
        m.kernel(1, start, end, "k", 1)
        m.call(1, start, end, "cudaLaunchKernel", 1)
        m.copy(1, start, end, 99, 1, -5)
        m.range(1, start, end, "r")
        m.range(1, start, end, "s", 60)
        m.range(1, start, end, "m", 34)
        m.range(1, start, end, "?", 12)
    m.kernel(1, 300, 310, "k", 0, device=2 ** 40, stream=-1, graphNodeId=big)
    m.kernel(1, 300, 310, "k", big, device=-3, stream=big)
    m.add(KIND + "KERNEL", start=320, end=330, demangledName=4711)
    m.add(KIND + "KERNEL", start=340, end=350)
    m.add(KIND + "RUNTIME", start=1, end=2, nameId="x", globalTid="y")
    m.add("NVTX_EVENTS", start=1, end=2, eventType=59, globalTid=None,
          text=b"\xff\xfe\0bad", doubleValue=float("inf"))
    m.add("NVTX_EVENTS", start=1, end=2, eventType=59, textId=10 ** 12,
          globalTid=-1, category=-5, domainId=-7)
    m.range(1, 1, 2, "x" * 300000)
    m.range(1, 1, 2, "</script><b>\x1b[31m\u202e\u0000")
    m.done()


def make(folder):
    at = lambda name: os.path.join(folder, name)
    plain(at("plain.sqlite"))
    plain(at("old.sqlite"), "", ("META_DATA_EXPORT", "TARGET_INFO_GPU",
                                 "TARGET_INFO_CUDA_DEVICE",
                                 "TARGET_INFO_SESSION_START_TIME"))
    plain(at("negative.sqlite"), "3.16.1", shift=-2000000000)
    plain(at("several.sqlite"), processes=3)
    m = Maker(at("twin.sqlite"), without=(KIND + "SYNCHRONIZATION",))
    m.process(1000)
    for n in range(5):
        m.step(1000, n * 100000 + n * n, n)
    m.done()
    versions(at("versions.sqlite"), True)
    versions(at("unknown.sqlite"), False)
    named(at("named.sqlite"))
    spans(at("spans.sqlite"))
    spans(at("spans_cross.sqlite"), True)
    graphs(at("graphs.sqlite"), False)
    graphs(at("nodes.sqlite"), True)
    unified(at("unified.sqlite"))
    hostile(at("hostile.sqlite"))
    plain(at("nostrings.sqlite"), without=("StringIds",))
    # a database whose rows were copied: no keys, no types
    plain(at("copied.sqlite"))
    db = sqlite3.connect(at("copied.sqlite"))
    for (name,) in db.execute("SELECT name FROM sqlite_schema"
                              " WHERE type = 'table'").fetchall():
        db.execute(f'CREATE TABLE copy AS SELECT * FROM "{name}"')
        db.execute(f'DROP TABLE "{name}"')
        db.execute(f'ALTER TABLE copy RENAME TO "{name}"')
    db.commit()
    db.close()
    # two processes that mean two GPUs by 0
    m = Maker(at("two_gpus.sqlite"))
    for p in range(2):
        m.gpu(p)
        m.add("TARGET_INFO_CUDA_DEVICE", gpuId=p, cudaId=0, pid=1000 + p)
        m.step(1000 + p, p * 7, 1)
    m.done()
    # columns that a table lacks, one of another case
    db = sqlite3.connect(at("columns.sqlite"))
    db.execute(f"CREATE TABLE {KIND}KERNEL(START INTEGER, \"END\" INTEGER,"
               " DEVICEID INTEGER)")
    db.execute(f"INSERT INTO {KIND}KERNEL VALUES(10, 20, 0)")
    db.execute("CREATE TABLE NVTX_EVENTS(start INTEGER, eventType INTEGER,"
               " text TEXT)")
    db.execute("INSERT INTO NVTX_EVENTS VALUES(1, 59, 'a')")
    db.commit()
    db.close()
    # a write-ahead log in the head, and none beside it
    data = bytearray(open(at("plain.sqlite"), "rb").read())
    data[18:20] = b"\2\2"
    open(at("wal.sqlite"), "wb").write(data)
    bad(at)


def bad(at):
    """Databases that are refused, and why."""
    def other(name, *statements):
        db = sqlite3.connect(at(name))
        for s in statements:
            db.execute(s)
        db.commit()
        db.close()

    other("bad_view.sqlite", "CREATE TABLE StringIds(id INTEGER PRIMARY KEY,"
          " value TEXT)", f"CREATE VIEW {KIND}KERNEL AS WITH RECURSIVE x(i) AS"
          " (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT i AS start FROM x")
    other("bad_unknown.sqlite", *(f"CREATE TABLE t{i}(a)" for i in range(12)))
    other("bad_rocprof.sqlite", "CREATE TABLE KERN(a)")
    other("bad_dlprof.sqlite", "CREATE TABLE read_only_ops(a)",
          "CREATE TABLE db_version(a)")
    data = open(at("plain.sqlite"), "rb").read()
    open(at("bad_cut.sqlite"), "wb").write(data[:len(data) * 2 // 3])
    open(at("bad_head.sqlite"), "wb").write(data[:100] + b"\xff" * 5000)


# ---- what is stored against the rows ----

def rows_of(db, table, names):
    tables = [r[0] for r in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    if table not in tables:
        return []
    have = {r[1].lower(): r[1] for r in db.execute(f'PRAGMA table_info("{table}")')}
    picked = ", ".join(f'"{have[n.lower()]}"' if n.lower() in have else "NULL"
                       for n in names)
    return db.execute(f'SELECT {picked} FROM "{table}"').fetchall()


def opened(path):
    db = sqlite3.connect(f"file:{path}?immutable=1&mode=ro", uri=True)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    return db


DESCRIPTIONS = re.compile(
    r"(?i)sqlite_|StringIds|META_DATA_|EXPORT_META_DATA|TARGET_INFO_|ENUM_"
    r"|ANALYSIS_|ProcessStreams|PROCESSES|ThreadNames|NVTX_PAYLOAD_|SystemInfo"
    r"|.*_CALLCHAINS$")


def agree(source, stored):
    raw, out = opened(source), sqlite3.connect(stored)
    texts = dict(rows_of(raw, "StringIds", ["id", "value"]))
    pid = lambda g: None if g is None else g & ~0xffffff
    place = ["start", "end", "deviceId", "streamId", "correlationId",
             "globalPid"]
    calls = {(pid(t), c) for t, c in
             rows_of(raw, KIND + "RUNTIME", ["globalTid", "correlationId"])
             if c and c > 0}
    failed = 0

    def check(what, got, want):
        nonlocal failed
        if got != want:
            failed += 1
            print(f"{what}: got {str(got)[:300]} want {str(want)[:300]}")

    one = lambda sql: out.execute(sql).fetchone()
    names = collections.defaultdict(lambda: [0, 0])
    linked = 0
    work = 0
    for table, kind in (("KERNEL", 7), ("MEMCPY", 8), ("MEMSET", 9)):
        rows = rows_of(raw, KIND + table,
                       place + ["demangledName", "bytes", "graphNodeId"])
        linked += sum((r[5], r[4]) in calls for r in rows)
        work += len(rows)
        check(table, one("SELECT count(*), coalesce(sum(dur_ns), 0),"
                         " coalesce(sum(bytes), 0) FROM gpu_event WHERE"
                         f" kind = {kind} AND name_id NOT IN (SELECT id FROM"
                         " string WHERE text GLOB 'CUDA graph [0-9]*')"),
              (len(rows), sum(r[1] - r[0] for r in rows),
               sum(r[7] or 0 for r in rows)))
        if kind == 7:
            nodes = {(r[5], r[4]) for r in rows if r[8]}
            for r in rows:
                name = texts.get(r[6], f"string {r[6]}")
                names[name][0] += 1
                names[name][1] += r[1] - r[0]
    graphs = [r for r in rows_of(raw, KIND + "GRAPH_TRACE", place)
              if (r[5], r[4]) not in nodes]
    linked += sum((r[5], r[4]) in calls for r in graphs)
    check("kernels by name",
          {n: [c, t] for n, c, t in out.execute(
              "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY 1")},
          dict(names))
    check("whole graphs", one("SELECT count(*) FROM gpu_work"
                              " WHERE what = 'graph'")[0], len(graphs))
    check("links", one("SELECT count(*) FROM gpu_work WHERE launch_id IS NOT"
                       " NULL")[0], linked)
    events = 0
    for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE"
                               " type = 'table'").fetchall():
        if not DESCRIPTIONS.match(name):
            events += raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
    named = one("SELECT count(*) FROM metadata_event WHERE json_extract(json,"
                " '$.name') IN ('thread_name', 'process_name')")[0]
    check("rows", one("SELECT event_count FROM trace")[0] - named, events)
    check("accounts", one("SELECT stored_count + metadata_count + paired_count"
                          " + skipped_count FROM trace"),
          one("SELECT event_count FROM trace"))
    utc = rows_of(raw, "TARGET_INFO_SESSION_START_TIME", ["utcEpochNs"])
    check("base", one("SELECT base_ns FROM trace")[0],
          utc[0][0] if utc else None)
    return failed


def golden(stored, figures):
    """The figures of another program: sums by name, unions, waits."""
    want = json.load(open(figures))
    out = sqlite3.connect(stored)
    failed = 0

    def check(what, got, want):
        nonlocal failed
        if got != want:
            failed += 1
            print(f"{what}: got {str(got)[:300]} want {str(want)[:300]}")

    check("kernels", {n: (c, t) for n, c, t in out.execute(
        "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY 1")},
        {k["name"]: (k["count"], k["total"]) for k in want["kernels_by_name"]})
    spans = collections.defaultdict(list)
    for device, start, end in out.execute(
            "SELECT device, start_ns, end_ns FROM gpu_work"):
        spans[device].append((start, end))
    check("busy", {str(d): union(v) for d, v in spans.items()},
          {d: v["union"] for d, v in want.get("devices", {}).items()})
    words = {"event": "Event Sync", "stream": "Stream Sync",
             "context": "Context Sync",
             "stream waits for event": "Stream Wait Event"}
    waits = collections.defaultdict(lambda: [0, 0])
    for kind, v in want.get("sync_by_call", {}).items():
        if kind in words:
            waits[words[kind]] = [v["count"], v["total"]]
    if not set(want.get("sync_by_call", {})) - set(words):
        check("waits", {n: [c, t] for n, c, t in out.execute(
            "SELECT s.text, count(*), sum(dur_ns) FROM gpu_event AS g"
            " JOIN string AS s ON s.id = g.name_id WHERE kind = 11"
            " GROUP BY 1")}, dict(waits))
    return failed


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


# ---- as Kineto writes it ----

MEMORY = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static",
          "Managed Static"]
COPY = [None, "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD",
        "HtoH", "PtoP"]


def kineto(source):
    raw = opened(source)
    texts = dict(rows_of(raw, "StringIds", ["id", "value"]))
    events = []

    def put(cat, name, pid, tid, start, end, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                       "tid": tid, "ts": start / 1000, "dur":
                       (end - start) / 1000, "args": args})

    for s, e, c, t, n, k in rows_of(raw, KIND + "RUNTIME", [
            "start", "end", "eventClass", "globalTid", "nameId",
            "correlationId"]):
        put("cuda_driver" if c else "cuda_runtime",
            re.sub(r"_v\d{4,}$", "", texts[n]), t >> 24 & 0xffffff,
            t & 0xffffff, s, e, correlation=k)
    for s, e, d, x, st, k, n, r, *v in rows_of(raw, KIND + "KERNEL", [
            "start", "end", "deviceId", "contextId", "streamId",
            "correlationId", "demangledName", "registersPerThread", "gridX",
            "gridY", "gridZ", "blockX", "blockY", "blockZ",
            "staticSharedMemory", "dynamicSharedMemory"]):
        put("kernel", texts[n], d, st, s, e, device=d, context=x, stream=st,
            correlation=k, **{"registers per thread": r, "grid": v[:3],
                              "block": v[3:6], "shared memory": v[6] + v[7]})
    for s, e, d, x, st, k, b, c, a, z in rows_of(raw, KIND + "MEMCPY", [
            "start", "end", "deviceId", "contextId", "streamId",
            "correlationId", "bytes", "copyKind", "srcKind", "dstKind"]):
        put("gpu_memcpy", f"Memcpy {COPY[c]} ({MEMORY[a]} -> {MEMORY[z]})", d,
            st, s, e, device=d, context=x, stream=st, correlation=k, bytes=b)
    for s, e, d, x, st, k, b, m in rows_of(raw, KIND + "MEMSET", [
            "start", "end", "deviceId", "contextId", "streamId",
            "correlationId", "bytes", "memKind"]):
        put("gpu_memset", f"Memset ({MEMORY[m]})", d, st, s, e, device=d,
            context=x, stream=st, correlation=k, bytes=b)
    for s, e, n, t in rows_of(raw, "NVTX_EVENTS", ["start", "end", "text",
                                                   "globalTid"]):
        if e is not None and n is not None:
            step = n.startswith("ProfilerStep#")
            op = re.split(r", (?:seq|op_id) = ", n)[0]
            put("user_annotation" if step else "cpu_op" if op != n else "nvtx",
                op, t >> 24 & 0xffffff, t & 0xffffff, s, e)
    json.dump({"schemaVersion": 1, "deviceProperties": [], "traceEvents":
               events}, sys.stdout)


def main():
    what, *rest = sys.argv[1:]
    if what == "make":
        make(*rest)
    elif what == "kineto":
        kineto(*rest)
    elif what == "agree":
        judge(rest, agree, "as the rows say")
    else:
        sys.exit(golden(*rest) > 0)


main()
