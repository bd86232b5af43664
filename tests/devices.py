# SPDX-License-Identifier: MIT
"""Jobs of several GPUs and ranks: makes their traces, and works out what the
analyses must say about each GPU and rank.

usage: devices.py make FOLDER RANKS GPUS STYLE   writes FOLDER/rank-N.json
       devices.py check FOLDER SAID COMMAND GPUS RANKS
       devices.py npu [host] [flows]   prints a trace as torch_npu writes it,
                               of the processes of the host alone, with
                               arrows from operators to tasks

SAID/COMMAND-GPU-RANK is what a command printed as JSON; a GPU or rank is a
number or "all".  Each is held against the traces of FOLDER, and those of GPUS
with RANKS "all", or those of RANKS, add up to that of all.  Styles: cuda, hip
(AMD's names), graph (one call launches several kernels).
"""
import functools
import json
import os
import random
import sys

NAMES = {"cuda": ("cudaLaunchKernel", "ampere_sgemm_128x64_nn",
                  "Memcpy HtoD (Pinned -> Device)", "ncclDevKernel_AllReduce"),
         "hip": ("hipLaunchKernel", "Cijk_Ailk_Bljk_SB_MT64x64",
                 "CopyHostToDevice", "ncclDevKernel_Generic"),
         "graph": ("cudaGraphLaunch", "ampere_sgemm_128x64_nn",
                   "Memcpy DtoD (Device -> Device)", "ncclKernel_AllReduce")}


def us(ns):
    return f"@{ns // 1000}.{ns % 1000:03}@"


def event(cat, name, start, dur, pid, tid, args=None):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": us(start), "dur": us(dur), "args": args or {}}


def rank_trace(rank, ranks, gpus, style):
    rng = random.Random(f"{rank} {gpus} {style}")
    call, kernel, copy, comm = NAMES[style]
    events = []
    number = 1000 * rank
    now = 1000000
    free = {(gpu, s): now for gpu in range(gpus) for s in (7, 20)}
    # launched before the capture
    for gpu in range(0, gpus, 2):
        number += 1
        events.append(event("kernel", kernel, now - 5000 + gpu, 4000 + gpu,
                            gpu, 7, {"device": gpu, "stream": 7,
                                     "correlation": number}))
    for step in range(3):
        first = now
        for _ in range(40):
            gpu, stream = rng.choice(sorted(free))
            number += 1
            length = rng.randrange(1000, 6000)
            events.append(event("cpu_op", "aten::mm", now, length, 1, 100))
            events.append(event("cuda_runtime", call, now + 100, length - 200,
                                1, 100, {"correlation": number}))
            for _ in range(3 if style == "graph" else 1):
                name, cat = rng.choice(((kernel, "kernel"), (comm, "kernel"),
                                        (copy, "gpu_memcpy")))
                start = max(free[gpu, stream], now + rng.randrange(200, 9000))
                dur = rng.randrange(500, 20000)
                free[gpu, stream] = start + dur
                events.append(event(cat, name, start, dur, gpu, stream,
                                    {"device": gpu, "stream": stream,
                                     "correlation": number}))
            now += length + rng.randrange(0, 3000)
        events.append(event("cuda_runtime", "cudaStreamSynchronize", now,
                            500 + rank, 1, 100))
        now += 1000
        events.append(event("user_annotation", f"iteration {step}", first,
                            now - first, 1, 100))
    rng.shuffle(events)
    top = {"traceEvents": events}
    if ranks > 1:
        top["distributedInfo"] = {"rank": rank, "world_size": ranks}
    return json.dumps(top).replace('"@', "").replace('@"', "")


def make(folder, ranks, gpus, style):
    os.makedirs(folder, exist_ok=True)
    for rank in range(ranks):
        with open(f"{folder}/rank-{rank}.json", "w") as f:
            f.write(rank_trace(rank, ranks, gpus, style))


def npu_flows(events, i):
    """From operators to the kernel and the collective, as torch_npu has them
    (the id is the task's time) or as text, once with the end before the start;
    the copy has one end alone, and what begins with the kernel on another
    stream one of its own with the same id."""
    step = 1730000000000000 + 1000 * i

    def flow(ph, pid, tid, start, number):
        events.append({"ph": ph, "bp": "e", "name": "torch_to_npu",
                       "id": number, "pid": pid, "tid": tid,
                       "ts": f"{step + start}.000", "cat": "async_npu"})

    def op(name, start, dur):
        events.append({"ph": "X", "name": name, "pid": 100, "tid": 100,
                       "ts": f"{step + start}.000", "dur": dur,
                       "cat": "cpu_op", "args": {}})

    op("aten::linear", 5, 80)
    op("aten::t", 6, 2)
    op("aten::relu", 75, 5)
    op("c10d::allreduce_", 90, 30)
    events.append({"ph": "X", "name": "relu", "pid": 102, "tid": 7,
                   "ts": f"{step + 60}.000", "dur": 30,
                   "args": {"Task Type": "AI_VECTOR_CORE"}})
    number = (step + 60) * 1000 if i % 2 else f"5_{i}_x"
    if i == 3:
        flow("f", 102, 2, 60, number)
        flow("s", 100, 100, 10, number)
    else:
        for at, tid in ((10, 2), (75, 7)):
            flow("s", 100, 100, at, number)
            flow("f", 102, tid, 60, number)
    flow("s", 100, 100, 90, f"h{i}")
    flow("f", 103, 0, 500, f"h{i}")
    flow("f", 102, 2, 400, f"copy{i}")
    flow("s", 100, 100, 500, f"none{i}")


def npu(host_only, flows):
    """Four steps, each a kernel of 300 us and a collective of 100 us with their
    calls, a copy of 20 us without one, a call that waits for 450 us, a stream
    that waits for 400 us; what is derived from them, and parts of the
    collective, as they stand in other processes."""
    names, events = [], []
    for pid, name, label in ((100, "Python", "CPU"), (101, "CANN", "CPU"),
                             (102, "Ascend Hardware", "NPU 3"),
                             (103, "HCCL", "NPU 3"),
                             (104, "Overlap Analysis", "NPU 3")):
        for what, value in (("name", name), ("labels", label)):
            names.append({"ph": "M", "name": f"process_{what}", "pid": pid,
                          "tid": 0, "args": {what: value}})
    for pid, tid, name in ((102, 2, "Stream 2"), (103, 0, "Group 0 Communication"),
                           (103, 1, "Plane 0"), (104, 0, "Computing"),
                           (104, 1, "Communication"), (104, 2, "Free")):
        names.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid,
                      "args": {"name": name}})
    for i in range(4):
        def add(name, pid, tid, start, dur, args=None, cat=None, i=i):
            us = 1730000000000000 + 1000 * i + start
            events.append({"ph": "X", "name": name, "pid": pid, "tid": tid,
                           "ts": f"{us}.000", "dur": dur, "args": args or {}}
                          | ({"cat": cat} if cat else {}))
        add(f"ProfilerStep#{i}", 100, 100, 0, 990, cat="cpu_op")
        add("aten::mm", 100, 100, 10, 60, cat="cpu_op")
        add("AscendCL@aclnnMm", 101, 100, 20, 30, {"Mode": "ACL_OP"})
        add("Node@launch", 101, 100, 30, 10,
            {"item_id": "mm", "connection_id": 50 + i})
        add("Node@launch", 101, 100, 100, 10, {"connection_id": 90 + i})
        add("AscendCL@aclrtSynchronizeStreamWithTimeout", 101, 100, 200, 450)
        add("mm", 102, 2, 60, 300,
            {"Task Type": "AI_CORE", "connection_id": 50 + i})
        add("copy", 102, 2, 400, 20, {"Task Type": "MEMCPY_ASYNC"})
        add("none", 102, 2, 430, 20, {"Task Type": "PLACE_HOLDER_SQE"})
        add("wait", 102, 5, 60, 400, {"Task Type": "EVENT_WAIT_SQE"})
        add(f"hcom_allReduce__1_{i}", 103, 0, 500, 100,
            {"connection_id": 90 + i})
        add("Memcpy", 103, 1, 510, 50, {"transport type": "SDMA"})
        add("Computing", 104, 0, 60, 300)
        add("Communication", 104, 1, 500, 100)
        add("Free", 104, 2, 360, 140)
        if flows:
            npu_flows(events, i)
    return json.dumps([e for e in names + events
                       if not host_only or e["pid"] < 102])


def ns(value):
    return round(value * 1000)


@functools.cache
def read_work(folder, device, rank):
    """GPU work by (rank, device), calls of each rank, times of waits."""
    work, calls, waits = {}, {}, []
    for name in sorted(os.listdir(folder)):
        own = int(name.split("-")[1].split(".")[0])
        if rank not in ("all", str(own)):
            continue
        for e in json.load(open(f"{folder}/{name}"))["traceEvents"]:
            gpu = e["args"].get("device")
            if e["name"] == "cudaStreamSynchronize":
                waits.append(ns(e["dur"]))
            elif e["cat"] == "cuda_runtime":
                calls[own, e["args"]["correlation"]] = ns(e["ts"])
            if gpu is None or device not in ("all", str(gpu)):
                continue
            start = ns(e["ts"])
            work.setdefault((own, gpu), []).append(
                (start, start + ns(e["dur"]), e))
    for list_ in work.values():
        list_.sort(key=lambda w: w[:2])
    return work, calls, waits


def busy(spans):
    total, end = 0, None
    for s, e, _ in spans:
        if end is None or s > end:
            total += e - s
            end = e
        elif e > end:
            total += e - end
            end = e
    return total


def window_of(folder, rank):
    """From the first to the last work of any GPU of a rank."""
    work, _, _ = read_work(folder, "all", rank)
    spans = [w for list_ in work.values() for w in list_]
    return max(e for _, e, _ in spans) - min(s for s, _, _ in spans)


def figures(command, folder, device, rank):
    work, calls, waits = read_work(folder, device, rank)
    every = [(own, w) for (own, _), list_ in work.items() for w in list_]
    window = sum(window_of(folder, str(own)) for own, _ in work)
    used = sum(busy(w) for w in work.values())
    kernels = [w for _, w in every if w[2]["cat"] == "kernel"]
    linked = {(own, w[2]["args"]["correlation"]) for own, w in every
              if (own, w[2]["args"]["correlation"]) in calls}
    return {
        "syncs": {"count": len(waits), "blocked_ns": sum(waits)},
        "steps": {"step_count": len(waits)},  # one in each
        "overlap": {"total_ns": window, "idle_ns": window - used},
        "gaps": {"window_ns": window, "busy_ns": used,
                 "idle_ns": window - used},
        "kernels": {"kernel_count": len(kernels),
                    "kernel_ns": sum(e - s for s, e, _ in kernels)},
        "launches": {"launch_count": len(linked),
                     "orphan_count": sum(
                         (own, w[2]["args"]["correlation"]) not in calls
                         for own, w in every)},
    }[command]


def check_rows(folder, rows):
    """The table of GPUs: each row against its own work."""
    bad = {}
    for row in rows:
        rank = "all" if row["rank"] is None else str(row["rank"])
        work, _, _ = read_work(folder, str(row["device"]), rank)
        (spans,) = work.values()
        total = window_of(folder, rank)
        want = (busy(spans), total - busy(spans), len(spans))
        got = (row["busy_ns"], row["idle_ns"], row["event_count"])
        if want != got:
            bad[rank, row["device"]] = (want, got)
    return bad


def check_one(folder, command, device, rank, doc):
    got = doc["scalars"]
    want = figures(command, folder, device, rank)
    bad = {}
    if command in ("overlap", "gaps"):
        bad = check_rows(folder, doc["tables"]["devices"])
    bad |= {k: (v, got.get(k)) for k, v in want.items() if got.get(k) != v}
    for k, (w, g) in bad.items():
        print(f"GPU {device}, rank {rank}: {k}: {w} wanted, {g} got")
    return bool(bad)


SUMS = {"overlap": ("busy_ns", "idle_ns", "total_ns", "computation_ns",
                    "exposed_comm_ns", "comm_ns", "copy_ns"),
        "gaps": ("busy_ns", "idle_ns", "window_ns"),
        "kernels": ("kernel_count", "kernel_ns"),
        "launches": ("launch_count", "orphan_count", "cpu_ns"),
        "syncs": ("blocked_ns", "count", "useful_ns", "idle_ns"),
        "steps": ("step_count",)}


def sums(command, whole, parts):
    bad = [k for k in SUMS[command]
           if whole[k] != sum(p[k] for p in parts)]
    for k in bad:
        print("parts do not add up:", k, whole[k], [p[k] for p in parts])
    return bool(bad)


def check(folder, said, command, gpus, ranks):
    docs = {}
    for name in os.listdir(said):
        own, device, rank = name.split("-")
        if own == command:
            docs[device, rank] = json.load(open(f"{said}/{name}"))
    bad = sum(check_one(folder, command, *key, docs[key])
              for key in sorted(docs))
    parts = ([(gpu, "all") for gpu in gpus.split()] or
             [("all", rank) for rank in ranks.split()] or [("all", "all")])
    figures_of = {key: docs[key]["scalars"] for key in docs}
    return sums(command, figures_of["all", "all"],
                [figures_of[part] for part in parts]) or bool(bad)


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
elif sys.argv[1] == "npu":
    print(npu("host" in sys.argv, "flows" in sys.argv))
else:
    sys.exit(check(*sys.argv[2:]))
