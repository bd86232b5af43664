# SPDX-License-Identifier: MIT
"""Prints a trace whose times and sizes are as large as they may be.

usage: extremes.py SCALE
SCALE in us: 4.6e15 is just inside of what is taken in (146 years).
"""
import json
import sys

SCALE = float(sys.argv[1])
events = []


def add(cat, name, pid, tid, ts, dur, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                   "ts": ts, "dur": dur, "args": args})


def gpu(cat, name, stream, ts, dur, correlation, **args):
    device = correlation % 2
    add(cat, name, device, stream, ts, dur, device=device, stream=stream,
        correlation=correlation, **args)


correlation = 0
for at in (-.95, -.4, 0, 1e-6, .4, .9):
    for length in (1e-15, .1, .4, .9):
        ts, dur = at * SCALE, length * SCALE
        correlation += 1
        gpu("kernel", "k%d" % (correlation % 3), 7, ts, dur, correlation)
        gpu("kernel", "ncclKernel_AllReduce", 8, ts, dur, correlation,
            **{"Collective name": "allreduce", "In msg nelems": 2**62,
               "dtype": "Float", "Group size": 8})
        gpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, ts, dur,
            correlation + 1000, bytes=2**62)
        add("cuda_runtime", "cudaLaunchKernel", 10, 10, ts - 5, dur,
            correlation=correlation)
        add("cuda_runtime", "cudaMemcpy", 10, 10, ts - 5, dur,
            correlation=correlation + 1000)
        add("cpu_op", "aten::mm", 10, 10, ts - 6, dur + 1)
for i in range(3):
    add("user_annotation", "ProfilerStep#%d" % i, 10, 10,
        (i * .6 - .9) * SCALE, .6 * SCALE)
for i in range(4):
    ts = (i * .4 - .8) * SCALE
    add("cuda_runtime", "cudaDeviceSynchronize", 10, 10, ts, .9 * SCALE)
    events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]",
                   "pid": 10, "tid": 10, "ts": ts,
                   "args": {"Bytes": 2**62, "Addr": i, "Device Type": 1,
                            "Device Id": 0, "Total Allocated": 2**62,
                            "Total Reserved": 2**63 - 1}})
sys.stdout.write(json.dumps({
    "traceEvents": events,
    "baseTimeNanoseconds": 2**63 - 1 if SCALE > 1e15 else 1}))
