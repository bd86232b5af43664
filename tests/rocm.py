#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures of AMD's profilers for tests/rocm.sh.

rocm.py make DIR             small captures as AMD's tools write them, and odd ones
rocm.py agree IN OUT.db      what profan stored against the records themselves
rocm.py golden OUT.db JSON   what profan stored against figures made apart
rocm.py kineto db|rpd        the events of twin.* as Kineto's JSON, to stdout
"""
import collections
import csv
import json
import os
import sqlite3
import subprocess
import sys

from results import judge

SECRET = "TEST_SECRET=4f0c-must-not-be-copied"
GUID = "0000abcd-0000-7000-8000-00000000000%d"
ID = "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT"
PLACE = ("nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, \"end\" BIGINT,"
         " event_id INTEGER, extdata JSONB")
ROCPD = {
    "metadata": "id INTEGER PRIMARY KEY, tag TEXT, value TEXT",
    "string": f"{ID}, string TEXT",
    "info_process": f"{ID}, nid INTEGER, pid INTEGER, command TEXT,"
                    " environment JSONB",
    "info_thread": f"{ID}, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT",
    "info_agent": f"{ID}, nid INTEGER, pid INTEGER, type TEXT,"
                  " absolute_index INTEGER, type_index INTEGER, name TEXT,"
                  " product_name TEXT, extdata JSONB",
    "info_kernel_symbol": f"{ID}, kernel_name TEXT, display_name TEXT,"
                          " arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
    "event": f"{ID}, category_id INTEGER, stack_id INTEGER,"
             " parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB",
    "arg": f"{ID}, event_id INTEGER, position INTEGER, name TEXT, value TEXT",
    "pmc_event": f"{ID}, event_id INTEGER, pmc_id INTEGER, value REAL",
    "region": f"{ID}, {PLACE}, name_id INTEGER",
    "kernel_dispatch": f"{ID}, {PLACE}, agent_id INTEGER, kernel_id INTEGER,"
                       " queue_id INTEGER, stream_id INTEGER,"
                       " private_segment_size INTEGER,"
                       " group_segment_size INTEGER, workgroup_size_x INTEGER,"
                       " workgroup_size_y INTEGER, workgroup_size_z INTEGER,"
                       " grid_size_x INTEGER, grid_size_y INTEGER,"
                       " grid_size_z INTEGER",
    "memory_copy": f"{ID}, {PLACE}, name_id INTEGER, dst_agent_id INTEGER,"
                   " src_agent_id INTEGER, size INTEGER, queue_id INTEGER,"
                   " stream_id INTEGER",
    "memory_allocate": f"{ID}, {PLACE}, agent_id INTEGER, type TEXT,"
                       " level TEXT, address INTEGER, size INTEGER",
}
COPY = {1: "MEMORY_COPY_HOST_TO_DEVICE", 2: "MEMORY_COPY_DEVICE_TO_HOST"}


class Rocpd:
    """A database of rocprofv3; one object a run, which has its own tables."""

    def __init__(self, path, run=0, pid=15, suffix=None, gpu=0, node=77):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("BEGIN")
        self.pid, self.node, self.link, self.gpu = pid, node, 0, gpu
        self.guid = GUID % run
        self.suffix = ("_" + self.guid.replace("-", "_") if suffix is None
                       else suffix)
        self.texts = {}
        for name, columns in ROCPD.items():
            self.db.execute(f'CREATE TABLE "rocpd_{name}{self.suffix}"'
                            f"({columns})")
            if self.suffix:
                self.db.execute(f'CREATE VIEW IF NOT EXISTS "rocpd_{name}" AS'
                                f' SELECT * FROM "rocpd_{name}{self.suffix}"')
        self.add("metadata", tag="schema_version", value="3")
        self.add("info_process", id=pid, nid=node, pid=pid,
                 command="./run --token " + SECRET, environment=SECRET)
        self.add("info_thread", id=pid, nid=node, pid=pid, tid=pid,
                 name="main thread")
        self.add("info_thread", id=99, nid=node, pid=pid, tid=99,
                 name=SECRET)
        for i in range(2):
            self.add("info_agent", id=i, nid=node, type="CPU",
                     absolute_index=i, type_index=i)
            self.add("info_agent", id=i + 2, nid=node, type="GPU",
                     absolute_index=i + 2, type_index=i, name="gfx942",
                     product_name="AMD Test", extdata='{"cu_count":100,'
                     '"wave_front_size":64,"max_waves_per_cu":32}')
        for i, name in enumerate(("void gemm<0>(int)", "void gemm<1>(int)")):
            self.add("info_kernel_symbol", id=i + 7, kernel_name=f"_Zk{i}.kd",
                     display_name=name, arch_vgpr_count=32 + i,
                     accum_vgpr_count=4)
        self.text(SECRET)

    def add(self, table, **v):
        if "guid" in ROCPD[table]:
            v["guid"] = self.guid
        names = ", ".join(f'"{k}"' for k in v)
        self.db.execute(f'INSERT INTO "rocpd_{table}{self.suffix}"({names})'
                        f' VALUES({", ".join("?" * len(v))})',
                        list(v.values()))
        return self.db.execute("SELECT last_insert_rowid()").fetchone()[0]

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = self.add("string", string=value)
        return self.texts[value]

    def event(self, category, link, extdata="{}"):
        return self.add("event", category_id=self.text(category),
                        stack_id=link, parent_stack_id=0, correlation_id=0,
                        extdata=extdata)

    def call(self, start, end, name, category="HIP_RUNTIME_API_EXT",
             extdata="{}", tid=None):
        self.link += 1
        e = self.event(category, self.link, extdata)
        self.add("region", nid=self.node, pid=self.pid, tid=tid or self.pid,
                 start=start, end=end, name_id=self.text(name), event_id=e)
        self.add("arg", event_id=e, position=0, name="ptr", value=SECRET)
        return self.link

    def range(self, start, end, text, function="roctxThreadRangeA"):
        self.call(start, end, function, "MARKER_CORE_RANGE_API",
                  json.dumps({"message": text}))

    def kernel(self, start, end, which, link, stream=3, **more):
        row = dict(nid=self.node, pid=self.pid, tid=self.pid, start=start,
                   end=end, agent_id=2 + self.gpu, kernel_id=7 + which,
                   queue_id=1, stream_id=stream, private_segment_size=0,
                   group_segment_size=1024, workgroup_size_x=128,
                   workgroup_size_y=1, workgroup_size_z=1,
                   grid_size_x=128 * 80, grid_size_y=2, grid_size_z=1,
                   event_id=self.event("KERNEL_DISPATCH", link))
        row.update(more)
        self.add("kernel_dispatch", **row)

    def copy(self, start, end, kind, link, size, stream=3):
        ends = (0, 2 + self.gpu) if kind == 1 else (2 + self.gpu, 0)
        self.add("memory_copy", nid=self.node, pid=self.pid, tid=self.pid,
                 start=start, end=end, name_id=self.text(COPY[kind]),
                 src_agent_id=ends[0], dst_agent_id=ends[1], size=size,
                 queue_id=1, stream_id=stream,
                 event_id=self.event("MEMORY_COPY", link))

    def done(self):
        self.db.commit()
        self.db.close()


class Rpd:
    """A database of rocmProfileData."""
    TABLES = {
        "string": "id INTEGER NOT NULL PRIMARY KEY, string TEXT",
        "metadata": "id INTEGER PRIMARY KEY, tag TEXT, value TEXT",
        "api": "id INTEGER NOT NULL PRIMARY KEY, pid INTEGER, tid INTEGER,"
               ' start INTEGER, "end" INTEGER, apiName_id INTEGER,'
               " args_id INTEGER",
        "op": "id INTEGER NOT NULL PRIMARY KEY, gpuId INTEGER,"
              ' queueId INTEGER, start INTEGER, "end" INTEGER,'
              " description_id INTEGER, opType_id INTEGER",
        "api_ops": "id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER",
        "kernelapi": "api_ptr_id INTEGER NOT NULL PRIMARY KEY, gridX INTEGER,"
                     " gridY INTEGER, gridZ INTEGER, workgroupX INTEGER,"
                     " workgroupY INTEGER, workgroupZ INTEGER,"
                     " kernelName_id INTEGER",
        "copyapi": "api_ptr_id INTEGER NOT NULL PRIMARY KEY, size INTEGER,"
                   " width INTEGER, height INTEGER",
        "monitor": "id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER,"
                   ' monitorType TEXT, start INTEGER, "end" INTEGER,'
                   " value TEXT",
        "barrierop": "op_ptr_id INTEGER PRIMARY KEY",
    }
    suffix = ""

    def __init__(self, path, pid=15):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("BEGIN")
        self.texts = {}
        self.pid = pid
        for name, columns in self.TABLES.items():
            self.db.execute(f"CREATE TABLE rocpd_{name}({columns})")
        self.text(SECRET)

    def add(self, table, **v):
        names = ", ".join(f'"{k}"' for k in v)
        self.db.execute(f"INSERT OR IGNORE INTO rocpd_{table}({names})"
                        f' VALUES({", ".join("?" * len(v))})',
                        list(v.values()))
        return self.db.execute("SELECT last_insert_rowid()").fetchone()[0]

    done = Rocpd.done

    def text(self, value):
        """Numbers far apart, as of texts of which other rows are between."""
        if value not in self.texts:
            self.texts[value] = self.add("string", string=value,
                                         id=1024 * len(self.texts) + 1)
        return self.texts[value]

    def call(self, start, end, name, args=""):
        return self.add("api", pid=self.pid, tid=self.pid, start=start,
                        end=end, apiName_id=self.text(name),
                        args_id=self.text(args))

    def range(self, start, end, text):
        self.call(start, end, "UserMarker", text)

    def op(self, start, end, type, link, name=""):
        op = self.add("op", gpuId=0, queueId=3, start=start, end=end,
                      description_id=self.text(name),
                      opType_id=self.text(type))
        if link:
            self.add("api_ops", api_id=link, op_id=op)

    def kernel(self, start, end, which, link):
        name = f"void gemm<{which}>(int)"
        self.op(start, end, "KernelExecution", link, name)
        self.add("kernelapi", api_ptr_id=link, gridX=80, gridY=2, gridZ=1,
                 workgroupX=128, workgroupY=1, workgroupZ=1,
                 kernelName_id=self.text(name))

    def copy(self, start, end, kind, link, size):
        self.op(start, end, "CopyHostToDevice" if kind == 1 else
                "CopyDeviceToHost", link)
        self.add("copyapi", api_ptr_id=link, size=size, width="", height="")


KINDS = ["NONE", "HIP_RUNTIME_API_EXT", "MARKER_CORE_RANGE_API", "MEMORY_COPY",
         "KERNEL_DISPATCH", "MEMORY_ALLOCATION", "HSA_CORE_API"]


class V3:
    """JSON and CSV of rocprofv3."""
    suffix = ""

    def __init__(self, path, pid=15):
        self.path, self.pid, self.link = path, pid, 0
        self.ops = {k: [] for k in KINDS}
        self.marks, self.lists = [], collections.defaultdict(list)
        self.csv = collections.defaultdict(list)

    def record(self, where, kind, op, start, end, link, **more):
        if op not in self.ops[kind]:
            self.ops[kind].append(op)
        self.lists[where].append(dict(
            size=64, kind=KINDS.index(kind), operation=self.ops[kind].index(op),
            thread_id=self.pid, correlation_id={"internal": link,
                                                "external": 0},
            start_timestamp=start, end_timestamp=end, **more))

    def row(self, file, start, end, **cells):
        self.csv[file].append(dict(cells, Start_Timestamp=start,
                                   End_Timestamp=end))

    def call(self, start, end, name, kind="HIP_RUNTIME_API_EXT",
             where="hip_api", text=None):
        self.link += 1
        self.record(where, kind, name, start, end, self.link)
        self.row(where, start, end, Domain=kind, Function=text or name,
                 Process_Id=self.pid, Thread_Id=self.pid,
                 Correlation_Id=self.link)
        return self.link

    def range(self, start, end, text):
        link = self.call(start, end, "roctxThreadRangeA",
                         "MARKER_CORE_RANGE_API", "marker_api", text)
        self.marks.append({"key": link, "value": text})

    def kernel(self, start, end, which, link, **more):
        size = lambda x, y: {"x": x, "y": y, "z": 1}
        info = dict(size=72, agent_id={"handle": 5002}, queue_id={"handle": 1},
                    kernel_id=7 + which, dispatch_id=link,
                    private_segment_size=0, group_segment_size=1024,
                    workgroup_size=size(128, 1), grid_size=size(128 * 80, 2))
        info.update(more)
        self.record("kernel_dispatch", "KERNEL_DISPATCH", "COMPLETE", start,
                    end, link, dispatch_info=info, stream_id={"handle": 3})
        self.row("kernel", start, end, Kind="KERNEL_DISPATCH",
                 Agent_Id="Agent 2", Queue_Id=1, Stream_Id=3,
                 Thread_Id=self.pid, Dispatch_Id=link, Kernel_Id=7 + which,
                 Kernel_Name=f"void gemm<{which}>(int)", Correlation_Id=link,
                 LDS_Block_Size=1024, Scratch_Size=0, VGPR_Count=32 + which,
                 Accum_VGPR_Count=4, Workgroup_Size_X=128, Workgroup_Size_Y=1,
                 Workgroup_Size_Z=1, Grid_Size_X=128 * 80, Grid_Size_Y=2,
                 Grid_Size_Z=1)

    def copy(self, start, end, kind, link, size):
        ends = (5000, 5002) if kind == 1 else (5002, 5000)
        self.record("memory_copy", "MEMORY_COPY", COPY[kind], start, end, link,
                    src_agent_id={"handle": ends[0]},
                    dst_agent_id={"handle": ends[1]}, bytes=size,
                    stream_id={"handle": 3})
        self.row("memory_copy", start, end, Kind="MEMORY_COPY",
                 Direction=COPY[kind], Stream_Id=3,
                 Source_Agent_Id=f"Agent {ends[0] - 5000}",
                 Destination_Agent_Id=f"Agent {ends[1] - 5000}",
                 Correlation_Id=link)

    def tool(self):
        agents = [{"size": 9, "id": {"handle": 5000 + i}, "type": 1 + i // 2,
                   "logical_node_type_id": i % 2, "node_id": i,
                   "cu_count": 100, "wave_front_size": 64,
                   "max_waves_per_cu": 32, "product_name": "AMD Test",
                   "caches": [[1, {"id": 2}], []]} for i in range(4)]
        symbols = [{"size": 9, "kernel_id": i + 7, "kernel_name": f"_Zk{i}.kd",
                    "arch_vgpr_count": 32 + i, "accum_vgpr_count": 4,
                    "formatted_kernel_name": f"void gemm<{i}>(int)"}
                   for i in range(2)]
        return {"metadata": {"node": {"pid": 9, "hostname": SECRET},
                             "pid": self.pid, "command": ["./run", SECRET],
                             "environment": {"TOKEN": SECRET}},
                "agents": agents, "counters": [],
                "strings": {"callback_records": [], "buffer_records": [
                    {"kind": k, "operations": self.ops[k]} for k in KINDS],
                    "marker_api": self.marks, "att_filenames": [SECRET]},
                "code_objects": [{"uri": SECRET}], "kernel_symbols": symbols,
                "host_functions": [],
                "callback_records": {"counter_collection": []},
                "buffer_records": dict(self.lists)}

    def done(self):
        json.dump({"rocprofiler-sdk-tool": [self.tool()]},
                  open(self.path, "w"))
        for name, lines in self.csv.items():
            at = self.path[:-5] + f"_{name}_trace.csv"
            with open(at, "w") as f:
                out = csv.writer(f, quoting=csv.QUOTE_NONNUMERIC,
                                 lineterminator="\n")
                out.writerow(lines[0])
                for line in lines:
                    out.writerow(line.values())


def odd_json(at):
    """Members of other kinds, places and orders; damaged text."""
    m = V3(at("odd.json"))
    big = 2 ** 63 - 1
    for start, end in ((None, 5), (10, None), (30, 20), ("a", "b"),
                       (2 ** 62 + 5, big), (-2 ** 63, big), (5, 5), (7.0, 9),
                       (1.5, 3), (2 ** 64 - 1, 4), ([1], {"a": 2}),
                       (100, 200)):
        m.call(start, end, "hipLaunchKernel")
        m.kernel(start, end, 0, 1)
        m.copy(start, end, 1, 1, -5)
        m.range(start, end, "r\\\"\u00e4\ud800 </script>\x1b[31m")
        m.record("memory_allocation", "MEMORY_ALLOCATION",
                 "MEMORY_ALLOCATION_ALLOCATE", start, end, 3,
                 agent_id={"handle": 5002}, address={"handle": 77},
                 allocation_size=4096)
    m.kernel(1, 2, 0, 1, kernel_id=4711, agent_id={"handle": 1},
             workgroup_size={"x": 0}, grid_size=7, queue_id=None)
    m.kernel(1, 2, 0, 1, agent_id=[], kernel_id="x")
    m.lists["hip_api"] += [{}, 7, [], "x", None, {"kind": 99, "operation": 4,
                           "start_timestamp": 1, "end_timestamp": 2}]
    m.lists["kernel_dispatch"].append({"start_timestamp": 1})
    m.lists["pc_sample_host_trap"] = [{"a": 1}, 2]
    m.lists["hsa_api"] = {"not": "a list"}
    one, two = m.tool(), m.tool()
    two["metadata"]["pid"] = 16
    late = {k: two[k] for k in reversed(two)}  # what it defines comes last
    json.dump({"rocprofiler-sdk-tool": [one, two, late, 5, []], "more": [1]},
              open(at("odd.json"), "w"), indent=1)
    open(at("none.json"), "w").write('{"rocprofiler-sdk-tool":[]}')
    text = open(at("v3.json")).read()
    open(at("bad_text.json"), "w").write(
        text.replace('"start_timestamp"', '}]]"start_timestamp"', 1))
    open(at("bad_deep.json"), "w").write('{"rocprofiler-sdk-tool":' +
                                         "[" * 200000)
    open(at("bad_long.json"), "w").write('{"rocprofiler-sdk-tool":["' +
                                         "x" * (40 << 20))
    head = '"Kind","Agent_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n'
    open(at("odd.csv"), "w").write(
        head + '"K","Agent 2","a",1,2\n"K",2,"b ""c"" \nd",3,4\n'
        '"K","x","b",x,4\n"K",2,"b",,4\n"K",2,"b",5,\n"K",2\n\n'
        '"K",2,"b",5,99999999999999999999\n"K",2,"b",9,8\n'
        '"K",2,"b",5,6,7,8\n"K",2,"cut",500,60')
    open(at("bad_long.csv"), "w").write(head + '"' + "x" * (2 << 20))


def step(m, at, n):
    """A step: copy, kernels, waits; every maker has these calls."""
    m.range(at, at + 90000, f"ProfilerStep#{n}")
    m.range(at + 100, at + 80000, "forward")
    m.copy(at + 5000, at + 9000, 1,
           m.call(at + 1000, at + 3000, "hipMemcpyAsync"), 65536)
    for k in range(4):
        t = at + 10000 + k * 8000
        m.range(t - 500, t + 3000, f"aten::mm, seq = {k}, op_id = {n * 9 + k},"
                " sizes = [[2, 3], []]")
        m.kernel(t + 4000, t + 11000, k % 2,
                 m.call(t, t + 2000, "hipLaunchKernel"))
    m.copy(at + 53000, at + 53500, 2,
           m.call(at + 50000, at + 52000, "hipMemcpyAsync"), 4096)
    for i, name in enumerate(("hipStreamSynchronize", "hipEventSynchronize",
                              "hipDeviceSynchronize")):
        m.call(at + 60000 + i * 4000, at + 63000 + i * 4000, name)


def twin(m):
    for n in range(5):
        step(m, 1000000 + n * 100000 + n * n, n)
    m.done()


class Kineto:
    """The same calls as Kineto's JSON, with what the database knows."""

    def __init__(self, like):
        self.events, self.link, self.like = [], 0, like

    def put(self, cat, name, pid, tid, start, end, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                            "tid": tid, "ts": start / 1000,
                            "dur": (end - start) / 1000, "args": args})

    def call(self, start, end, name):
        self.link += 1
        self.put("cuda_runtime", name, 15, 15, start, end,
                 correlation=self.link)
        return self.link

    def range(self, start, end, text):
        self.link += 1  # as all regions of rocprofv3 count
        name = text.split(", seq")[0]
        self.put("user_annotation" if text.startswith("ProfilerStep") else
                 "cpu_op" if name != text else "nvtx", name, 15, 15, start,
                 end)

    def kernel(self, start, end, which, link):
        more = {"registers per thread": 36 + which, "shared memory": 1024,
                "blocks per SM": 1.6, "warps per SM": 3.2}
        self.put("kernel", f"void gemm<{which}>(int)", 0, 3, start, end,
                 device=0, stream=3, correlation=link, grid=[80, 2, 1],
                 block=[128, 1, 1], **(more if self.like == "db" else {}))

    def copy(self, start, end, kind, link, size):
        name = ("Memcpy HtoD (Host -> Device)" if kind == 1 else
                "Memcpy DtoH (Device -> Host)")
        self.put("gpu_memcpy", name, 0, 3, start, end, device=0, stream=3,
                 correlation=link, bytes=size)

    def done(self):
        gpus = [{"id": i, "name": "AMD Test", "numSms": 100, "warpSize": 64,
                 "maxThreadsPerMultiprocessor": 2048} for i in range(2)]
        json.dump({"schemaVersion": 1, "deviceProperties":
                   gpus if self.like == "db" else [],
                   "traceEvents": self.events}, sys.stdout)


def extras(m):
    """What not every run has."""
    m.call(900000, 900100, "hsa_queue_create", "HSA_CORE_API")
    m.call(900200, 900300, "ncclAllReduce", "RCCL_API")
    m.call(900400, 900500, "__hipRegisterFunction", "HIP_COMPILER_API_EXT")
    m.range(900600, 900600, "a mark", "roctxMarkA")
    m.range(900700, 999000, "over threads", "roctxProcessRangeA")
    m.range(900800, 900900, 'quoted "text" \u00e4 \\')
    for type, size in (("ALLOC", 4096), ("FREE", 0)):
        m.add("memory_allocate", nid=m.node, pid=m.pid, tid=m.pid,
              start=901000, end=901100, agent_id=2, type=type, level="REAL",
              address=0x7f0000001000, size=size,
              event_id=m.event("MEMORY_ALLOCATION", m.link))
    m.add("pmc_event", event_id=1, pmc_id=1, value=2.5)
    m.kernel(1900000, 1900100, 0, 0, stream=None)


def hostile(m):
    big = 2 ** 63 - 1
    for start, end in ((None, 5), (10, None), (30, 20), ("a", "b"),
                       (2 ** 62 + 5, big), (-2 ** 63, big), (5, 5), (7.0, 9.0),
                       (1.5, 3), (b"\0\1", 4), (-50, -10), (100, 200)):
        m.call(start, end, "hipLaunchKernel")
        m.kernel(start, end, 0, 1)
        m.copy(start, end, 1, 1, -5)
        if isinstance(m, Rocpd):
            m.range(start, end, "r")
            m.add("memory_allocate", start=start, end=end, type=b"\xff",
                  level=3, address="x", size=big)
    if isinstance(m, Rocpd):
        m.kernel(300, 310, 0, big, stream=2 ** 40, agent_id=4711)
        m.kernel(300, 310, 0, -1, kernel_id=4711, workgroup_size_x=0)
        m.kernel(300, 310, 0, -1, kernel_id="x", grid_size_x=big,
                 workgroup_size_x=big, agent_id=None)
        m.kernel(300, 310, 0, -1, event_id="none", group_segment_size=-3)
        m.add("kernel_dispatch", start=320, end=330)
        m.add("region", start=1, end=2, name_id="x", pid="y", tid=big)
        m.add("region", start=1, end=2, name_id=4711, pid=-big, tid=-big)
        m.range(1, 2, "x" * 300000)
        m.range(1, 2, "</script><b>\x1b[31m\u202e\u0000")
        m.call(1, 2, "roctxThreadRangeA", "MARKER_CORE_API", '{"message": "\\')
        m.call(1, 2, "roctxThreadRangeA", "MARKER_CORE_API", b"\xff\xfe")
    else:
        m.add("op", start=1, end=2, gpuId=-3, queueId="q", opType_id=4711)
        m.add("op", start=1, end=2, gpuId=2 ** 50, queueId=big, opType_id="t",
              description_id=b"\0")
        m.add("api", start=1, end=2, pid="p", apiName_id=4711)
        m.op(400, 500, "BarrierOp", 0)
        for value in ("N/A", "", "nan", "1e999", "0x10zz", "12.5"):
            m.add("monitor", deviceType="gpu", deviceId=0, start=5, end=6,
                  monitorType="sclk", value=value)
    m.done()


def copied(path):
    """Rows that were copied: no keys, no types."""
    db = sqlite3.connect(path)
    for (name,) in db.execute("SELECT name FROM sqlite_schema"
                              " WHERE type = 'view'").fetchall():
        db.execute(f'DROP VIEW "{name}"')
    for (name,) in db.execute("SELECT name FROM sqlite_schema"
                              " WHERE type = 'table' AND name NOT LIKE"
                              " 'sqlite%'").fetchall():
        db.execute(f'CREATE TABLE copy AS SELECT * FROM "{name}"')
        db.execute(f'DROP TABLE "{name}"')
        db.execute(f'ALTER TABLE copy RENAME TO "{name}"')
    db.commit()
    db.close()


def make(folder):
    at = lambda name: os.path.join(folder, name)
    twin(Rocpd(at("twin.db")))
    for name, suffix in (("plain", None), ("bare", ""), ("copied", None)):
        m = Rocpd(at(name + ".db"), suffix=suffix)
        extras(m)
        twin(m)
    # two runs of one file, with equal numbers: one machine, then two
    for name, node in (("runs", 77), ("nodes", 78)):
        for run in range(2):
            m = Rocpd(at(name + ".db"), run, pid=15 + (node == 77) * run,
                      gpu=run if node == 77 else 0, node=77 if not run else node)
            step(m, 1000000 + run * 17, run)
            m.done()
    hostile(Rocpd(at("hostile.db")))
    copied(at("copied.db"))
    m = Rpd(at("twin.rpd"))
    twin(m)
    m = Rpd(at("plain.rpd"))
    m.op(990000, 990100, "FillBuffer", m.call(980000, 980100,
                                              "hipMemsetAsync"))
    link = m.call(981000, 981100, "hipExtModuleLaunchKernel")
    m.op(991000, 991100, "KernelExecution", link, "void items()")
    m.add("kernelapi", api_ptr_id=link, gridX=1000, gridY=2, gridZ=1,
          workgroupX=256, workgroupY=1, workgroupZ=1,
          kernelName_id=m.text("void items()"))
    link = m.call(982000, 982100, "hipMemcpyPeer")
    for i in range(2):  # one call, two operations: bytes of neither are known
        m.op(992000 + i * 100, 992100 + i * 100, "CopyDeviceToDevice", link)
    m.add("copyapi", api_ptr_id=link, size=1000, width="", height="")
    m.call(983000, 983100, "OpTable::writeRows", "count=5")
    m.add("monitor", deviceType="gpu", deviceId=0, monitorType="sclk",
          start=990000, end=999000, value="1700")
    m.add("barrierop", op_ptr_id=1)
    twin(m)
    hostile(Rpd(at("hostile.rpd")))
    twin(V3(at("v3.json")))
    odd_json(at)
    m = Rpd(at("copied.rpd"))
    twin(m)
    copied(at("copied.rpd"))
    bad(at)


def bad(at):
    m = Rocpd(at("bad_mixed.db"), suffix="")
    m.guid = GUID % 5
    m.add("info_process", id=16, pid=16)
    m.done()
    db = sqlite3.connect(at("bad_view.db"))
    db.execute("CREATE VIEW rocpd_kernel_dispatch AS SELECT 1")
    db.execute("CREATE TABLE rocpd_metadata(x)")
    db.commit()
    db.close()
    for name in ("plain.db", "plain.rpd"):
        data = open(at(name), "rb").read()
        open(at("bad_cut_" + name), "wb").write(data[:len(data) * 2 // 3])


# ---- against the records ----

def table(db, stem):
    return [r[0] for r in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name = ?1 OR"
        " name LIKE ?1 || '\\_0%' ESCAPE '\\') ORDER BY name", (stem,))]


def rows(db, name, columns):
    have = {r[1] for r in db.execute(f'PRAGMA table_info("{name}")')}
    return db.execute("SELECT " + ", ".join(
        f'"{c}"' if c in have else "NULL" for c in columns) +
        f' FROM "{name}"').fetchall()


class Checker:
    def __init__(self, stored):
        self.stored = stored
        self.out = sqlite3.connect(stored)
        self.failed = 0

    def query(self, sql):
        """Of the tables that profan alone can read."""
        text = subprocess.run(
            [os.environ["PROFAN"], "query", self.stored, sql, "--format",
             "json"], check=True, capture_output=True).stdout
        return [list(r.values()) for r in json.loads(text)["tables"]["rows"]]

    def check(self, what, got, want):
        if got != want:
            self.failed += 1
            print(f"{what}: got {str(got)[:300]} want {str(want)[:300]}")

    def sums(self, what, sql, want):
        self.check(what, {n: [c, t] for n, c, t in self.query(sql)}, want)


def add(sums, name, start, end):
    sums.setdefault(name, [0, 0])
    sums[name][0] += 1
    sums[name][1] += end - start


KERNELS = "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY 1"
CALLS = "SELECT name, count(*), sum(dur_ns) FROM event WHERE kind IN (4, 5) GROUP BY 1"


def agree_v3(source, stored):
    c, kernels, calls, linked = Checker(stored), {}, {}, 0
    if source.endswith(".json"):
        t, = json.load(open(source))["rocprofiler-sdk-tool"]
        lists = t["buffer_records"]
        name = {k["kernel_id"]: k["formatted_kernel_name"]
                for k in t["kernel_symbols"]}
        kinds = t["strings"]["buffer_records"]
        for r in lists.get("kernel_dispatch", ()):
            add(kernels, name[r["dispatch_info"]["kernel_id"]],
                r["start_timestamp"], r["end_timestamp"])
        ids = set()
        for r in lists.get("hip_api", ()):
            add(calls, kinds[r["kind"]]["operations"][r["operation"]],
                r["start_timestamp"], r["end_timestamp"])
            ids.add(r["correlation_id"]["internal"])
        linked = sum(r["correlation_id"]["internal"] in ids for k in
                     ("kernel_dispatch", "memory_copy")
                     for r in lists.get(k, ()))
        events = sum(map(len, lists.values()))
    else:
        lines = list(csv.DictReader(open(source)))
        events = len(lines)
        for r in lines:
            start, end = int(r["Start_Timestamp"]), int(r["End_Timestamp"])
            if "Kernel_Name" in r:
                add(kernels, r["Kernel_Name"], start, end)
            elif r.get("Domain", "").startswith("HIP_"):
                add(calls, r["Function"], start, end)
    c.sums("kernels", KERNELS, kernels)
    c.sums("calls", CALLS, calls)
    one = lambda sql: c.out.execute(sql).fetchone()
    c.check("links", one("SELECT count(*) FROM gpu_work"
                         " WHERE launch_id IS NOT NULL")[0], linked)
    c.check("stored", one("SELECT event_count, stored_count FROM trace"),
            (events, events))
    return c.failed


def agree(source, stored):
    if source.endswith((".json", ".csv")):
        return agree_v3(source, stored)
    db, c = sqlite3.connect(source), Checker(stored)
    kernels, calls, events, linked = {}, {}, 0, 0
    if source.endswith(".rpd"):
        text = dict(rows(db, "rocpd_string", ["id", "string"]))
        for s, e, n in rows(db, "rocpd_api", ["start", "end", "apiName_id"]):
            events += 1
            if text[n].startswith("hip"):
                add(calls, text[n], s, e)
        for s, e, n, t in rows(db, "rocpd_op", ["start", "end",
                                                "description_id", "opType_id"]):
            events += 1
            if text[t] == "KernelExecution":
                add(kernels, text[n], s, e)
        linked = len({o for (o,) in rows(db, "rocpd_api_ops", ["op_id"])})
        for name in ("monitor", "barrierop"):
            events += len(rows(db, "rocpd_" + name, ["id"]))
    else:
        for name in table(db, "rocpd_kernel_dispatch"):
            end = name[len("rocpd_kernel_dispatch"):]
            text = dict(rows(db, "rocpd_string" + end, ["id", "string"]))
            symbol = dict(rows(db, "rocpd_info_kernel_symbol" + end,
                               ["id", "display_name"]))
            event = {i: (text.get(k), l) for i, k, l in rows(
                db, "rocpd_event" + end, ["id", "category_id", "stack_id"])}
            ids = set()
            for s, e, n, v in rows(db, "rocpd_region" + end,
                                   ["start", "end", "name_id", "event_id"]):
                events += 1
                if event[v][0].startswith(("HIP_", "HSA_")):
                    add(calls, text[n], s, e)
                    ids.add(event[v][1])
            for s, e, k, v in rows(db, name, ["start", "end", "kernel_id",
                                              "event_id"]):
                events += 1
                add(kernels, symbol[k], s, e)
                linked += event[v][1] in ids
            for s, e, v in rows(db, "rocpd_memory_copy" + end,
                                ["start", "end", "event_id"]):
                events += 1
                linked += event[v][1] in ids
            for more in ("memory_allocate", "pmc_event"):
                events += len(rows(db, f"rocpd_{more}{end}", ["id"]))
    c.sums("kernels", KERNELS, kernels)
    c.sums("calls", CALLS, calls)
    one = lambda sql: c.out.execute(sql).fetchone()
    c.check("links", one("SELECT count(*) FROM gpu_work"
                         " WHERE launch_id IS NOT NULL")[0], linked)
    c.check("events", *one("SELECT event_count - metadata_count FROM trace"),
            events)
    c.check("accounts", *[one(f"SELECT {x} FROM trace")[0] for x in (
        "stored_count + metadata_count + paired_count + skipped_count",
        "event_count")])
    c.check("base", one("SELECT base_ns FROM trace")[0], None)
    return c.failed


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def golden(stored, figures):
    want, c = json.load(open(figures)), Checker(stored)
    if "kernels_by_name" in want:
        names = {k["name"]: [k["count"], k["total"]]
                 for k in want["kernels_by_name"]}
        got = {n: [k, t] for n, k, t in c.out.execute(KERNELS)}
        c.check("kernels", {n: got.get(n) for n in names}, names)
        c.check("names", len(got), want.get("kernel_names", len(names)))
    if "api_by_name" in want:
        got = {n: [k, t] for n, k, t in c.query(
            "SELECT name, count(*), sum(dur_ns) FROM event WHERE kind IN"
            " (4, 5, 6) GROUP BY 1")}
        for a in want["api_by_name"]:
            c.check(a["name"], got.get(a["name"]), [a["count"], a["total"]])
    if "geometry" in want:
        c.check("geometry", sorted(c.out.execute(
            "SELECT block_x, block_y, block_z, grid_x, grid_y, grid_z,"
            " count(*) FROM kernels GROUP BY name, 1, 2, 3, 4, 5, 6")),
            sorted(tuple(g["block"] + g["grid_in_blocks"] + [g["count"]])
                   for g in want["geometry"]))
    spans = collections.defaultdict(list)
    for d, s, e in c.out.execute("SELECT device, start_ns, end_ns"
                                 " FROM gpu_work"):
        spans[d].append((s, e))
    c.check("busy", sorted((len(v), union(v)) for v in spans.values()),
            sorted((d["work"], d["union"]) for d in want["devices"].values()))
    links = want.get("kernels_linked_by_stack_id", want.get("ops_linked"))
    if links is not None:
        c.check("links", c.out.execute(
            "SELECT count(*) FROM gpu_work WHERE launch_id IS NOT NULL"
            ).fetchone()[0], links)
    return c.failed


def main():
    what, *rest = sys.argv[1:]
    if what == "make":
        make(*rest)
    elif what == "kineto":
        twin(Kineto(*rest))
    elif what == "agree":
        judge(rest, agree, "as the records say")
    else:
        sys.exit(golden(*rest) > 0)


main()
