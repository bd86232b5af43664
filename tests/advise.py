# SPDX-License-Identifier: MIT
"""Programs with causes planted, and what advice says of them.

usage: advise.py --make FOLDER N NAME...   writes FOLDER/NAME.json, a trace
                                    each: of each N-th one, whose names it
                                    prints, and of those that are named
       advise.py --planted FOLDER   a result for each FOLDER/NAME.json, what
       advise.py --real FOLDER      is advised of it
       advise.py --diff A.json B.json DIFF.json

A program has STEPS steps of one thread and one stream.  NAME is an advice (it
must come first, with exactly the ns that were planted) or its counter-test,
"A1-not": the same program where it must not be given, or "A6-roof": with
shapes, by which some of what was planted stays.  "A1=" is a program and "A1=+"
the same when the advice was followed as far as can be: what that saves is no
more than was said at most, and no less than was said at least.
"data~600" is a cause with its amount, "data~-600" the program without it,
"data~hidden" where it costs nothing; "data+fp32~" has two, the larger first;
"&data.0&gc.2~" has some by chance, with the place of their amount.
"""
import contextlib
import functools
import json
import os
import random
import statistics
import sys
from contextlib import nullcontext

from results import say

STEPS = 4
US = 1000
QUICK, SLOW = 30, 400  # us of a kernel
RETURN = 2  # us from the end of what a call waits for to that of the call
# us of an op before its call, of the call, and until its kernel starts: what
# the path of a step begins with
HOST, CALL, DELAY = 4, 8, 2
FIRST = HOST + CALL + DELAY
BEGIN = 100  # us of the first step
HOST_PID = 4242  # also the tid of its main thread
MAIN, ENGINE, WAITER = HOST_PID, 4243, 4244
V100 = {"id": 0, "name": "Tesla V100-SXM2-16GB", "totalGlobalMem": 16945512448,
        "computeMajor": 7, "computeMinor": 0, "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536,
        "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 80,
        "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 98304,
        "sharedMemPerMultiprocessor": 98304}
CBID = {"cudaLaunchKernel": 211, "cudaMemcpyAsync": 41, "cudaMalloc": 20,
        "cudaFree": 22, "cudaDeviceSynchronize": 165, "cudaGraphLaunch": 311,
        "cudaStreamSynchronize": 131, "cudaStreamBeginCapture": 273,
        "cudaStreamEndCapture": 274, "cudaEventRecord": 135,
        "cudaStreamWaitEvent": 147, "cudaEventSynchronize": 137,
        "hipMemcpyWithStream": 0}


class Program:
    """A host of some threads, and streams, by the rules of CUDA."""

    def __init__(self):
        self.events, self.number, self.gap = [], 0, 0
        self.tid, self.clocks, self.open = MAIN, {MAIN: BEGIN}, {}
        self.ranges = 0
        self.ends = {}  # of the work of streams
        self.marks = {}  # of events recorded
        self.holds = {}  # of streams that wait for events

    @property
    def at(self):
        return self.clocks[self.tid]

    @at.setter
    def at(self, us):
        self.clocks[self.tid] = us

    @property
    def free(self):
        return max(self.ends.values(), default=0)

    @property
    def end(self):
        return max(self.free, self.clocks[MAIN])

    def event(self, name, cat, ts, dur, tid=None, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name,
                            "pid": HOST_PID, "tid": tid or self.tid,
                            "ts": ts, "dur": dur, "args": args})
        return self.events[-1]

    def range(self, name, cat="user_annotation"):
        return Range(self, name, cat)

    def pause(self, us):
        self.at += us

    def python(self, name, us):
        with self.range(name, "python_function"):
            self.pause(us)

    def thread(self, tid):
        """What another thread does while this one waits for it."""
        return Thread(self, tid)

    def call(self, name, us, **args):
        self.number += 1
        e = self.event(name, "cuda_runtime", self.at, us, **{
            "External id": self.linked(), "cbid": CBID[name],
            "correlation": self.number}, **args)
        self.at += us
        return e

    def linked(self):
        """The innermost range that torch numbers."""
        return next((r.number for r in reversed(self.open.get(self.tid, []))
                     if r.cat != "python_function"), 0)

    def work(self, name, us, call="cudaLaunchKernel", cat="kernel",
             waits=False, takes=8, **args):
        """A call, and its work 2 us later at the earliest."""
        begin = self.at
        tid = args.pop("stream", 7)
        # what was waited for is over before its successor begins
        start = max(begin + takes + 2, self.ends.get(tid, 0) + self.gap,
                    args.pop("after", 0), self.holds.pop(tid, 0))
        parts = us if isinstance(us, list) else [us]
        e = self.call(call, takes)
        if waits:
            e["dur"] = start + us + RETURN - begin
            self.at = begin + e["dur"]
        for part in parts:
            self.event(name, cat, start, part, tid=tid, **{
                "External id": self.linked(), "queued": 0, "device": 0,
                "context": 1, "stream": tid, "correlation": self.number},
                **args)
            self.events[-1]["pid"] = 0
            start += part
        self.ends[tid] = start

    def op(self, name, us, kernel, host=40, shapes=None, **args):
        with self.range(name, "cpu_op") as r:
            if shapes:
                r.args = {"Input Dims": shapes[0], "Input type": shapes[1]}
            self.pause(host)
            self.work(kernel, us, **args)
            self.pause(2)

    def wait(self):
        begin = self.at
        self.call("cudaDeviceSynchronize", 0)["dur"] = \
            max(begin, self.free) + 2 - begin
        self.at = max(begin, self.free) + 2

    def record(self, event, stream):
        self.marks[event] = self.ends.get(stream, 0)
        self.call("cudaEventRecord", 1)

    def follow(self, event, stream):
        """The stream goes on when what was recorded is over."""
        self.holds[stream] = max(self.holds.get(stream, 0), self.marks[event])
        self.call("cudaStreamWaitEvent", 1)


class Range:
    def __init__(self, program, name, cat):
        self.p, self.name, self.cat, self.args = program, name, cat, {}

    def __enter__(self):
        p = self.p
        p.ranges += 1
        self.number = p.ranges
        self.tid = p.tid
        self.begin = p.at
        self.index = len(p.events)
        self.within = p.open.setdefault(p.tid, [])
        self.within.append(self)
        return self

    def __exit__(self, *_):
        p = self.p
        self.within.pop()
        if self.cat == "python_function":
            outer = next((r.number for r in reversed(self.within)
                          if r.cat == self.cat), None)
            about = {"Python parent id": outer, "Python id": self.number}
        else:
            about = {"External id": self.number, "Record function id": 0}
        p.event(self.name, self.cat, self.begin,
                p.clocks[self.tid] - self.begin, self.tid, **about,
                **self.args, **{"Ev Idx": self.number})
        p.events.insert(self.index, p.events.pop())


class Thread:
    def __init__(self, program, tid):
        self.p, self.tid = program, tid

    def __enter__(self):
        p = self.p
        self.back, begin = p.tid, p.at
        p.tid = self.tid
        p.at = max(p.clocks.get(self.tid, 0), begin + WAKE)

    def __exit__(self, *_):
        p = self.p
        done, p.tid = p.at, self.back
        p.at = max(p.at, done + WAKE)


WAKE = 5  # us until a thread runs that another has woken


# ---- what Kineto writes of it (libkineto/src/output_json.cpp) ----

def in_us(ns):
    return f"{ns // 1000}.{ns % 1000:03}"


@functools.lru_cache(None)
def text_of_text(value):
    return json.dumps(value)


def text_of(value):
    """As JSON; most are the same few texts, and numbers."""
    if type(value) is int:
        return str(value)
    return text_of_text(value) if type(value) is str else json.dumps(value)


def slice_of(e):
    """handleActivity, handleGenericInstantEvent."""
    args = ", ".join(f"{text_of(k)}: {text_of(v)}"
                     for k, v in e["args"].items()
                     if (k, v) != ("External id", 0))
    if e["ph"] == "i":
        return f"""
  {{
    "ph": "i", "cat": "{e["cat"]}", "s": "t", "name": "{e["name"]}",
    "pid": {e["pid"]}, "tid": {e["tid"]},
    "ts": {in_us(e["ts"] * US)},
    "args": {{
      {args}
    }}
  }},"""
    extra = e["cat"] == "gpu_user_annotation"
    return f"""
  {{
    "ph": "X", "cat": "{e["cat"]}", "name": {text_of(e["name"])}, "pid": {
e["pid"]}, "tid": {e["tid"]},
    "ts": {in_us(e["ts"] * US - extra)}, "dur": {in_us(e["dur"] * US +
                                                       2 * extra)},
    "args": {{
      {args}
    }}
  }},"""


def link_of(e, ph):
    """handleLink."""
    end = ', "bp": "e"' if ph == "f" else ""
    return f"""
  {{
    "ph": "{ph}", "id": {e["args"]["correlation"]}, "pid": {
e["pid"]}, "tid": {e["tid"]}, "ts": {in_us(e["ts"] * US)},
    "cat": "ac2g", "name": "ac2g"{end}
  }},"""


def name_of(kind, pid, tid, key, value):
    """handleDeviceInfo, handleResourceInfo."""
    return f"""
  {{
    "name": "{kind}", "ph": "M", "ts": 0.000, "pid": {pid}, "tid": {tid},
    "args": {{
      "{key}": {json.dumps(value)}
    }}
  }},"""


def on_gpu(p):
    """Ranges of the user as they span GPU work, by stream."""
    works = [e for e in p.events if e["pid"] == 0]
    calls = {e["args"]["correlation"]: e for e in p.events
             if e["cat"] == "cuda_runtime"}
    for r in p.events:
        if r["cat"] != "user_annotation":
            continue
        spans = {}
        for w in works:
            c = calls[w["args"]["correlation"]]
            if c["tid"] == r["tid"] and \
                    r["ts"] <= c["ts"] < r["ts"] + r["dur"]:
                begin, end = spans.get(w["tid"], (w["ts"], 0))
                spans[w["tid"]] = begin, max(end, w["ts"] + w["dur"])
        for stream, (begin, end) in spans.items():
            yield {"ph": "X", "cat": "gpu_user_annotation", "pid": 0,
                   "name": r["name"], "tid": stream, "ts": begin,
                   "dur": end - begin,
                   "args": {"External id": r["args"]["External id"]}}


def kineto(p):
    """The file that ChromeTraceLogger makes of a program's run."""
    works = any(e["pid"] == 0 for e in p.events)
    runtime = [e for e in p.events
               if e["cat"] == "cuda_runtime" or e["pid"] == 0]
    launched = {e["args"]["correlation"] for e in runtime if e["pid"] == 0}
    linked = set()
    parts = [slice_of(e) for e in p.events
             if e["cat"] != "cuda_runtime" and e["pid"] != 0]
    for e in runtime:
        parts.append(slice_of(e))
        number = e["args"]["correlation"]
        if number not in launched:
            continue
        is_work = e["pid"] == 0
        if (number, is_work) not in linked:
            parts.append(link_of(e, "f" if is_work else "s"))
        linked.add((number, is_work))
    parts += [slice_of(e) for e in on_gpu(p)]
    for pid, label in [(HOST_PID, "CPU")] + [(0, "GPU 0")] * works:
        parts.append(name_of("process_name", pid, 0, "name", "python"))
        parts.append(name_of("process_labels", pid, 0, "labels", label))
        parts.append(name_of("process_sort_index", pid, 0, "sort_index",
                             5000000 if pid == 0 else pid))
    for pid, tid in sorted({(e["pid"], e["tid"]) for e in p.events}):
        text = f"stream {tid} " if pid == 0 else f"thread {tid} (python)"
        parts.append(name_of("thread_name", pid, tid, "name", text))
        parts.append(name_of("thread_sort_index", pid, tid, "sort_index", tid))
    devices = ",".join("""
    {
      %s
    }""" % ", ".join(f"{json.dumps(k)}: {json.dumps(v)}"
                      for k, v in V100.items()) for _ in range(works))
    end = in_us(p.end * US)
    return f"""
  {{
    "schemaVersion": 1,
    "deviceProperties": [{devices}
    ],
      "record_shapes": 1,
      "with_stack": 1,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1700000000000000000,
  "traceEvents": [{"".join(parts)}
  {{
    "ph": "X", "cat": "Trace", "ts": 0.000, "dur": {end},
    "pid": "Spans", "tid": "PyTorch Profiler",
    "name": "PyTorch Profiler (0)",
    "args": {{
      "Op count": 0
    }}
  }},
  {{
    "name": "process_sort_index", "ph": "M", "ts": 0.000,
    "pid": "Spans", "tid": 0,
    "args": {{
      "sort_index": 536870912
    }}
  }},
  {{
    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",
    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 0.000
  }},
  {{
    "name": "Record Window End", "ph": "i", "s": "g",
    "pid": "", "tid": "", "ts": {end}
  }}
  ],
  "traceName": "trace.json"
}}"""


# ---- what is in a step; each returns the ns that the advice is about ----

def usual(p, count=6, us=QUICK):
    for _ in range(count):
        p.op("aten::linalg", us, "a_kernel")
    return 0


def loader(p, us):
    with p.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
        p.pause(us)
    usual(p)
    return us * US


def pageable(p, us, name="Memcpy HtoD (Pageable -> Device)",
             call="cudaMemcpyAsync"):
    with p.range("aten::copy_", "cpu_op"):
        p.work(name, us, call,
               "gpu_memcpy", waits=True, bytes=us * 1000)
    usual(p)
    return (CALL + DELAY + us + RETURN) * US


def transferred(p, us, stream=7):
    """The host copies from pinned memory, far ahead; the same stream computes."""
    ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)] * 3)
    for name in ("HtoD (Pinned -> Device)", "DtoH (Device -> Pinned)"):
        with p.range("aten::copy_", "cpu_op"):
            p.work(f"Memcpy {name}", us, "cudaMemcpyAsync", "gpu_memcpy",
                   stream=stream, bytes=us * 1000)
    ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)] * 3)
    return 2 * us * US


def paging(p, count):
    """The host reads what is managed, a page after the other.  What is around
    the copies does not count."""
    usual(p)
    p.wait()
    for _ in range(count):
        p.number += 1
        e = p.event("Memcpy DtoH (unified memory)", "gpu_memcpy", p.at + 10, 5,
                    20, device=0, stream=20, correlation=p.number, bytes=4096)
        e["pid"] = 0
        p.pause(50)
    return count * 50 * US


def launching(p, us):
    usual(p, 30, us)


DYNAMO = "torch/_dynamo/convert_frame.py(10): entire_frame_compile"


def compiling(p, us, step, name=DYNAMO):
    if us and step:
        p.python(name, us)
    elif not us and not step:
        p.python(name, 900)
    usual(p)
    return us * US if step else 0


def ahead(p, parts, shapes=None):
    """Work that the host launches far ahead of the GPU."""
    ns = 0
    for op, kernel, us, counts in parts:
        p.op(op, us, kernel, host=HOST, shapes=shapes)
        ns += us * US * counts
    return ns


def attention(p, second):
    products = "aten::bmm" if second else "aten::linalg"
    parts = [("aten::bmm", "gemm_tn", SLOW, second),
             ("aten::div", "elementwise_kernel", SLOW, second),
             ("aten::_softmax", "softmax_warp_forward", SLOW, second),
             (products, "gemm_nn", SLOW, second),
             ("aten::linalg", "a_kernel", QUICK, 0)]
    return ahead(p, parts) + second * FIRST * US


FLOAT, HALF = 4, 2
PEAK, RATE = 125e3, 900  # of a V100 in half precision, and its memory; in ns


def products(p, rows, size, kernel):
    """Four products with a square matrix: ns of them, of which some stay."""
    n = 2048
    kind = "float" if size == FLOAT else "c10::Half"
    ns = ahead(p, [("aten::mm", kernel, SLOW, 1)] * 4,
               ([[rows, n], [n, n]], [kind, kind]))
    least = 2 * rows * n * n / PEAK
    moved = (rows * n + n * n + rows * n) * size / 2 / RATE
    return ns, 4 * max(least, moved), 4 * n * n * size / RATE


def decoding(p, rows):
    """What reading the weights takes: all else of the window is too much."""
    return -products(p, rows, HALF, "volta_h884gemm_128x64_tn")[2]


def jax(p, step):
    with p.range("PjitFunction(step)", "user_annotation"):
        ahead(p, [("dot_general", "a_kernel", SLOW, 0)] * 4)
        p.wait()
    p.python("train.py(7): think", 900)
    return (900 + 2 * RETURN + (FIRST if step else 0)) * US


def jax_values(p):
    """The same beside a GPU, of which no call says that it waits."""
    with p.range("PjitFunction(step)", "user_annotation"):
        p.op("dot_general", QUICK, "a_kernel", host=HOST)
    for _ in range(3):
        p.python("$array.py:615 _value", 300)
    return 900 * US


def synchronizing(p, waits):
    """Before each launch torch's function waits, and does more than that."""
    for _ in range(20):
        p.op("aten::linalg", 3, "a_kernel", host=HOST)
        if waits:
            with p.range("train.py(12): sync", "python_function"):
                with p.range("torch/cuda/__init__.py(1152): synchronize",
                             "python_function"):
                    p.python("torch/cuda/_utils.py(517): _get_device_index",
                             20)
                    p.wait()
                    p.pause(20)


def blocking(p, waits):
    """Each launch waits for its kernel, so that nothing else has to."""
    for _ in range(8):
        p.op("aten::linalg", QUICK, "a_kernel", host=HOST, waits=waits)
    if waits:
        p.ends.clear()


def recorded(p, us):
    """Many ranges of short pieces; us: of an allocation beside them."""
    if us:
        p.call("cudaMalloc", us)
    for _ in range(150):
        with p.range("train.py(9): forward", "python_function"):
            p.op("aten::linalg", 3, "a_kernel", host=HOST)


def hidden(p):
    """Products in fp32 behind such a host."""
    for _ in range(150):
        with p.range("train.py(9): forward", "python_function"):
            p.op("aten::mm", 6, "volta_sgemm_128x64_tn", host=HOST)


def normalizing(p, changed):
    """Channels last turn no tensors, and normalize faster."""
    ahead(p, [("aten::cudnn_convolution", "cudnn::ops::nchwToNhwcKernel",
               SLOW, 1)] * (0 if changed else 3) +
          [("aten::cudnn_batch_norm", "batch_norm_kernel",
            SLOW // (3 if changed else 1), 1)] * 3 +
          [("aten::linalg", "a_kernel", SLOW, 0)] * 3)


def jax_reads(p):
    """One number after the other is read where the host computes, too."""
    with p.range("PjitFunction(step)", "user_annotation"):
        p.pause(300)
    for _ in range(3):
        p.python("$array.py:615 _value", 100)
        p.python("$indexing.py:359 to_static_slice", 100)
    return 300 * US


def optimizer(p, fused, share):
    usual(p)
    begin = p.at
    with p.range("Optimizer.step#Adam.step"):
        for _ in range(share):
            p.op("aten::_fused_adam_" if fused else "aten::addcdiv_", QUICK,
                 "FusedAdamMathFunctor" if fused else "adam_kernel")
    # its last kernel goes, but a step ends with one
    return (p.at - begin) * US


# CUTLASS's, of so many numbers at a time
ALIGNED = "void cutlass::Kernel2<cutlass_75_tensorop_f16_s1688gemm_align%d>"


def same(p, op, kernel, host=0):
    """Three works of an op, of three; host: us of it before the first."""
    return host * US + ahead(p, [(op, kernel, SLOW, 1)] * 3 +
                 [("aten::linalg", "a_kernel", SLOW, 0)] * 3)


def casting_in(p, name):
    """The GPU casts what was launched in a range, one time in four elsewhere."""
    with p.range(name):
        ns = same(p, "aten::copy_", "elementwise_kernel", FIRST)
    return ns + ahead(p, [("aten::copy_", "elementwise_kernel", SLOW, 1),
                          ("aten::linalg", "a_kernel", SLOW, 0)])


def zeroing(p, op):
    """What zero_grad launches."""
    with p.range("Optimizer.zero_grad#SGD.zero_grad"):
        ns = ahead(p, [(op, "fill_kernel", SLOW, 1)] * 3)
    ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)] * 3)
    return ns  # what follows has to be launched, too


def batching(p, blocks, used):
    """Kernels of so many blocks per multiprocessor; used: of the memory."""
    total = int(used * V100["totalGlobalMem"])
    p.events.append({
        "ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event",
        "pid": HOST_PID, "tid": MAIN, "ts": p.at, "args": {
            "Device Type": 1, "Device Id": 0, "Bytes": 512, "Addr": 4096,
            "Total Allocated": total, "Total Reserved": total}})
    for _ in range(4):
        p.op("aten::linalg", SLOW, "a_kernel", host=HOST, block=[128, 1, 1],
             grid=[int(blocks * V100["numSms"]), 1, 1],
             **{"blocks per SM": blocks})


def small(p, streams):
    """Twelve kernels that leave three quarters of the GPU, on some streams."""
    for i in range(12):
        p.op("aten::linalg_qr", SLOW, "small_kernel", host=5, stream=7 + i %
             streams, block=[128, 1, 1], grid=[V100["numSms"] // 4, 1, 1],
             **{"blocks per SM": 0.25, "est. achieved occupancy %": 10})
    return 12 * SLOW * US


def again(p, how, blocks=2):
    """Backward of blocks whose activations are computed again, or were kept:
    ns of kernels for what is computed again."""
    ns = ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)])
    for _ in range(blocks):
        if how == "unpack":
            with p.range("autograd::engine::evaluate_function: MmBackward0",
                         "cpu_op"):
                with p.range("torch/utils/checkpoint.py(1111): unpack_hook",
                             "python_function"):
                    ns += ahead(p, [("aten::mm", "gemm_nn", SLOW, 1)])
                ahead(p, [("aten::mm", "gemm_nt", SLOW, 0)])
            continue
        if how.startswith("aten"):  # functions are not recorded
            ahead(p, [("aten::gelu", "a_kernel", SLOW, 0)])
            with p.range("autograd::engine::evaluate_function: MmBackward0",
                         "cpu_op"):
                is_again = how == "aten::gelu"
                ns += ahead(p, [("aten::linear", "gemm_nn", SLOW, is_again),
                                (how, "a_kernel", SLOW, is_again),
                                ("aten::linear", "gemm_nn", SLOW, is_again),
                                ("aten::mm", "gemm_nt", SLOW, 0)])
            continue
        with p.range("autograd::engine::evaluate_function: "
                     "CheckpointFunctionBackward", "cpu_op"), \
                p.range("CheckpointFunctionBackward", "cpu_op"):
            if how == "reentrant":
                ns += ahead(p, [("aten::mm", "gemm_nn", SLOW, 1)])
            with p.range("autograd::engine::evaluate_function: MmBackward0",
                         "cpu_op"):
                ahead(p, [("aten::mm", "gemm_nt", SLOW, 0)])
    return ns


def on_host(p, us):
    with p.range("aten::mm", "cpu_op"):
        p.pause(us)


def on_cpu_ops(p, held, *others, around=None):
    """Operators on the CPU, of which the first are what advice is about: ns."""
    with p.range(around, "cpu_op") if around else nullcontext():
        for name in held:
            with p.range(name, "cpu_op"):
                p.pause(1000)
    for name in others:
        with p.range(name, "cpu_op"):
            p.pause(500)
    return len(held) * 1000 * US


def stalled(p, stalls):
    """Pointwise operators, one of which did not go on for long."""
    for n in range(3):
        with p.range("aten::mul", "cpu_op"):
            p.pause(60000 if stalls and n == 1 else 400)
    with p.range("aten::mm", "cpu_op"):
        p.pause(500)
    return (1700 + (59600 if stalls else 0)) * US


def naps_between(p):
    """A nap, longer than an operator is in a chain, or alone, but not both."""
    for us in (300, 300, 300, 0, 1000):
        with p.range("aten::bernoulli_" if us else "aten::sort", "cpu_op"):
            p.pause(us or 500)
    p.python("<built-in function sleep>", 1500)
    on_cpu_ops(p, [], "aten::cumsum", "aten::topk", "aten::unique")
    return 5400 * US


def in_ranges(p, around, *ranges):
    """Operators on the CPU in ranges of the program, each in one: ns."""
    with p.range(around):
        for name, ops in ranges:
            with p.range(name):
                on_cpu_ops(p, [], *(f"aten::{op}" for op in ops))
    return sum(len(ops) for _, ops in ranges) * 500 * US


def on_cpu_product(p, name, kind, us):
    """With the types of its inputs, and what it calls inside."""
    with p.range(name, "cpu_op") as r:
        r.args = {"Input Dims": [[9, 9], [9, 9]], "Input type": [kind, kind]}
        p.pause(us - 100)
        with p.range("aten::resize_", "cpu_op"):
            p.pause(100)
    return us * US if kind == "double" else 0


def reduces(p, count, us):
    """Parameters one by one, or flat: the thread of gloo does it."""
    for _ in range(count):
        with p.range("c10d::allreduce_", "cpu_op"):
            p.pause(20)
        with p.range("c10d::wait"):
            with p.thread(5555):
                with p.range("gloo:all_reduce"):
                    p.pause(us)
    on_cpu_ops(p, [], "aten::mm")


def bars(p, count, us):
    for _ in range(count):
        with p.range("c10d::barrier", "cpu_op"):
            p.pause(us)
    on_cpu_ops(p, [], "aten::mm")
    return count * us * US


def alone(p, step, by):
    """One pass and no step: what is before its first operator, and behind its
    last, is its time, too, but what starts and stops the profiler is not."""
    if step:
        return 0
    p.python("torch/profiler/profiler.py(862): __enter__", 700)
    with p.range("train.py(3): load" if by == "python_function" else "load",
                 by):
        p.pause(5000)
    on_cpu_ops(p, ["aten::mm"])
    with p.range("train.py(9): save" if by == "python_function" else "save",
                 by):
        p.pause(3000)
    p.python("torch/profiler/profiler.py(865): __exit__", 900)
    return 9000 * US


def loads_alone(p, how="SingleProcess"):
    with p.range(LOADER % how):
        p.pause(100)
        return on_cpu_ops(p, ["aten::stack"] * 3) + 100 * US


def own_loader(p, us):
    with p.range("load_batch"):
        p.pause(us)
    on_cpu_ops(p, ["aten::mm"])
    return us * US


def starts_workers(p, us, waits=0):
    """Functions of the loader beside its range: processes that begin."""
    with p.range("train.py(3): epoch", "python_function"):
        with p.range("torch/utils/data/dataloader.py(1117): __init__",
                     "python_function"):
            p.python("<built-in function fork>", us)
        with p.range(LOADER % "MultiProcessing"):
            p.pause(100)
            p.python("<built-in method poll of select.poll object>", waits)
            p.python("<built-in method connect of _socket.socket object>", 1500)
    on_cpu_ops(p, ["aten::mm"])
    return (us + waits + 1600) * US


def traced(p):
    with p.range("torch/fx/traceback.py(415): format_stack",
                 "python_function"):
        p.python("traceback.py(313): line", 4000)
    return 4000 * US + on_cpu_ops(p, ["aten::mm"])


def one_by_one(p):
    with p.range("PjitFunction(f)", "user_annotation"):
        p.pause(30)
    for _ in range(3):
        with p.range("$dispatch.py:81 apply_primitive", "python_function"):
            p.python("$pxla.py:374 __call__", 300)


def at_line(p, line="train.py(3): step"):
    """Operators that a library calls for a line, which are most of all."""
    with p.range(line, "python_function"):
        with p.range("typing_extensions.py(3137): wrapper", "python_function"):
            held = on_cpu_ops(p, ["aten::sort"] * 3, "aten::topk",
                              "aten::cumsum", "aten::unique")
    on_cpu_ops(p, [], "aten::roll", "aten::flip", "aten::tril", "aten::triu")
    return held + 3500 * US


def in_closure(p):
    """Lightning gives the optimizer all of a step."""
    with p.range("Optimizer.step#SGD.step"):
        with p.range("Optimizer.zero_grad#SGD.zero_grad"):
            p.pause(20)
        held = on_cpu_ops(p, ["aten::mm"] * 3)
    return held + 20 * US


def sparse(p, changed):
    """What an embedding's gradient without most rows saves, of its optimizer,
    too."""
    on_cpu_ops(p, [] if changed else ["aten::fill_"] * 2, "aten::mm",
               around="aten::embedding_dense_backward")
    with p.range("Optimizer.step#SGD.step"):
        with p.range("aten::add_", "cpu_op"):
            p.pause(10 if changed else 700)


def warming(p, us):
    ahead(p, [("aten::linalg", "a_kernel", us, 0)] * 4)


def alternating(p):
    for _ in range(3):
        p.op("aten::mul", SLOW, "elementwise_kernel", host=HOST)
        p.op("aten::linalg", SLOW, "a_kernel", host=HOST)


def allocating(p, us, late, step):
    if us and (step or not late):
        with p.range("aten::empty", "cpu_op"):
            if late or not step:
                p.call("cudaMalloc", us)
    usual(p)
    return us * US if step else 0


def printing(p, us, name="<built-in function print>"):
    p.python(name, us)
    usual(p)
    return us * US


def collecting(p, us):
    p.python("Python GC", us)
    usual(p)
    return us * US


def asking(p, us):
    p.python("<built-in function collect>", us)
    usual(p)
    return us * US


def communicating(p, us):
    usual(p, 3)
    p.op("c10d::allreduce_", us, "ncclDevKernel_AllReduce_Sum_f32", host=HOST)
    usual(p, 3)


def communicating_last(p, us):
    """In a bucket of its own it would run beside the computation before it."""
    usual(p, 3)
    p.op("c10d::allreduce_", us, "ncclDevKernel_AllReduce_Sum_f32", host=HOST)
    return us * US


def computing(p, us):
    p.python("train.py(7): normalize", us)
    usual(p)
    return us * US if us >= 1000 else 0


def served(p):
    """Another thread does it and waits, the main one is in a range until then."""
    usual(p)
    with p.range("my_ops::serve", "cpu_op"), p.range("Request"):
        with p.thread(ENGINE):
            ns = ahead(p, [("aten::mm", "volta_sgemm_128x64_tn", SLOW, 1)] * 4)
            p.wait()
    return int(ns * (1 - 15.7 / 125))


def beside(p, us, *around):
    """A range works, and another thread happens to wait meanwhile."""
    usual(p)
    p.wait()
    with contextlib.ExitStack() as stack:
        for name in around:
            stack.enter_context(p.range(name, "cpu_op"))
        stack.enter_context(p.range("normalize"))
        begin = p.at
        with p.thread(ENGINE):
            p.pause(us // 8)
            p.op("aten::linalg", us // 4, "a_kernel")
            p.wait()
        p.at = begin + us


def pooled(p, us):
    """One thread waits, another is asked meanwhile by a third, all in ranges."""
    usual(p)
    p.wait()
    begin = p.at
    with p.thread(WAITER):
        p.op("aten::linalg", us + SLOW, "a_kernel", stream=8)
        p.wait()
    p.at = begin
    with p.range("Request"):
        p.pause(us)
    with p.thread(ENGINE):
        p.op("aten::linalg", 4 * SLOW, "a_kernel")
        p.wait()


def twice(p):
    """Where the host waits on the path it waits only for what another wait,
    which is not on it, left."""
    p.op("aten::linalg", 1600, "a_kernel", host=HOST, stream=8)
    p.op("aten::linalg", 1500, "a_kernel", host=HOST)
    with p.range("aten::to", "cpu_op"):
        begin = p.at
        p.call("cudaStreamSynchronize", 0)["dur"] = p.ends[7] + 2 - begin
        p.at = p.ends[7] + 2
    with p.range("aten::item", "cpu_op"):
        with p.range("aten::_local_scalar_dense", "cpu_op"):
            p.wait()
    p.python("train.py(7): think", 1000)


def copied(p):
    """A copy from pageable memory is waited for, and then a result."""
    pins(p, False, 0)
    p.op("aten::linalg", 10, "a_kernel")
    with p.range("aten::item", "cpu_op"):
        with p.range("aten::_local_scalar_dense", "cpu_op"):
            p.wait()
    p.python("train.py(7): think", 1000)


def reading(p, us, step):
    """Four kernels, a result is read, the host works on for us."""
    ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)] * 4)
    if us:
        with p.range("aten::item", "cpu_op"):
            with p.range("aten::_local_scalar_dense", "cpu_op"):
                p.wait()
    p.python("train.py(7): think", 1000)
    # the first launch is all that the host has to be ahead of
    return (1000 + 2 * RETURN + (FIRST if step else 0)) * US


PROGRAMS = {
    "A1": lambda p, step: loader(p, 600),
    "A1-not": lambda p, step: loader(p, 1),
    "A2": lambda p, step: pageable(p, 300),
    "A25": lambda p, step: transferred(p, 500),
    "A25-beside-not": lambda p, step: transferred(p, 500, 9) and None,
    "A2-amd": lambda p, step: pageable(p, 300, "Memcpy HtoD (Host -> Device)",
                                       "hipMemcpyWithStream"),
    "A2-paged": lambda p, step: paging(p, 20) - US * {
        0: 10, STEPS - 1: 35}.get(step, 0),
    "A3": lambda p, step: reading(p, 1, step),
    "A3-items": lambda p, step: items(p),
    "A3-twice": lambda p, step: twice(p),
    "A3-drain": lambda p, step: draining(p),
    "A3-copied": lambda p, step: copied(p),
    "A3-jax": jax,
    "A3-values-jax": lambda p, step: jax_values(p),
    "A3-synchronize": lambda p, step: synchronizing(p, 4),
    "A3-timed": lambda p, step: synchronizing(p, 4) or from_items(p, 1, 0, 0),
    "A3-launches": lambda p, step: blocking(p, True),
    "A3-launches-too": lambda p, step: blocking(p, True) or p.wait(),
    "A3-reads-jax": lambda p, step: jax_reads(p),
    "A21-sleeps-jax": lambda p, step: jax_reads(p) and p.python(
        "$time sleep", 900),
    "A4": lambda p, step: launching(p, 4),
    "A4-slowed": lambda p, step: recorded(p, 0),
    "A12-slowed": lambda p, step: recorded(p, 1700 if step else 0),
    "A6-hidden-not": lambda p, step: hidden(p),
    "A4-few": lambda p, step: [
        p.op("aten::linalg", 3, "a_kernel") for _ in range(4)] and None,
    "A4-server": lambda p, step: serving(p),
    "A4-parts": lambda p, step: parts(p, True),
    "A4-compiled": lambda p, step: compiled(p, 1),
    "A4-breaks": lambda p, step: compiled(p, 3),
    "A4-graphs": lambda p, step: compiled(p, 1, graphs=5),
    "A4-not": lambda p, step: launching(p, 200),
    "A5": lambda p, step: compiling(p, 800, step),
    "A5-nvrtc": lambda p, step: compiling(
        p, 800, step, "executor_utils::Nvrtc::CompileProgram"),
    "A5-not": lambda p, step: compiling(p, 0, step),
    # of what the kernels take, as much stays as the peaks of a V100 say
    "A6": lambda p, step: int(ahead(p, [
        ("aten::mm", "volta_sgemm_128x64_tn", SLOW, 1)] * 4) *
        (1 - 15.7 / 125)),
    "A6-not": lambda p, step: ahead(p, [
        ("aten::mm", "volta_h884gemm_128x64_tn", SLOW, 0)] * 4),
    "A6-served": lambda p, step: served(p),
    "A6-roof": lambda p, step: (lambda ns, stays, _: ns - stays)(
        *products(p, 4096, FLOAT, "volta_sgemm_128x64_tn")),
    "A7": lambda p, step: attention(p, 1),
    "A7-not": lambda p, step: attention(p, 0),
    "A8": lambda p, step: optimizer(p, False, 12),
    "A8-launching": lambda p, step: launching_updates(p),
    "A8-not": lambda p, step: optimizer(p, True, 12),
    "A9": lambda p, step: same(p, "aten::cudnn_convolution",
                               "void cudnn::ops::nchwToNhwcKernel", DELAY),
    "A9-not": lambda p, step: same(p, "aten::linalg", "transpose_kernel"),
    "A9-fourier-not": lambda p, step: same(
        p, "aten::cudnn_convolution",
        "void transpose_readWrite_alignment_kernel<float2>"),
    # the launch of the first goes with it
    "A10": lambda p, step: same(p, "aten::copy_", "elementwise_kernel",
                                FIRST),
    "A10-not": lambda p, step: same(p, "aten::linalg", "elementwise_kernel"),
    "A10-graphs": lambda p, step: 0 * (compiled(p, 1, 1, 1) or same(
        p, "aten::copy_", "elementwise_kernel", FIRST)),
    "A11": lambda p, step: batching(p, 0.5, 0.5),
    "A11-wide-not": lambda p, step: batching(p, 2, 0.5),
    # a part of the GPU is theirs, by their warps
    "A11-beside": lambda p, step: int(small(p, 1) * (1 - 0.095)),
    "A12": lambda p, step: allocating(p, 700, True, step),
    "A12-not": lambda p, step: allocating(p, 700, False, step),
    "A13": lambda p, step: communicating(p, 900),
    "A13-last": lambda p, step: communicating_last(p, 900),
    "A14": lambda p, step: collecting(p, 700),
    "A14-asked": lambda p, step: asking(p, 700),
    "A16-unrecorded": lambda p, step: p.pause(20000) or on_cpu_ops(
        p, ["aten::mm"]) and None,
    "A21-waits-cpu": lambda p, step: on_cpu_ops(p, ["aten::mm"]) and p.python(
        "<built-in function sleep>", 5000),
    "A21-python-cpu": lambda p, step: on_cpu_ops(p, ["aten::mm"]) and p.python(
        "train.py(7): tokenize", 5000),
    "A21-naps-cpu": lambda p, step: naps_between(p),
    "A21-ops-cpu": lambda p, step: on_cpu_ops(p, ["aten::mm", "aten::conv2d"]),
    "A21-range-cpu": lambda p, step: in_ranges(
        p, "iteration", ("my_stage", ["sort", "topk", "fft", "mm"]),
        ("train", ["conv2d", "linear"])),
    # that is around all, and says nothing of where
    "A21-around-cpu": lambda p, step: in_ranges(
        p, "iteration", ("iteration", ["sort", "topk", "fft", "mm"])),
    # nor is a range of torch's own the program's
    "A21-library-cpu": lambda p, step: in_ranges(
        p, "iteration", ("DistributedDataParallel.forward",
                         ["sort", "topk", "fft", "mm"]), ("train", ["conv2d"])),
    "A10-range-cpu": lambda p, step: in_ranges(
        p, "iteration", ("my_stage", ["copy_"] * 3), ("train", ["mm"])) // 4 * 3,
    "A10-range": lambda p, step: casting_in(p, "my_stage"),
    "A6-double-cpu": lambda p, step: sum(
        on_cpu_product(p, name, "double", us) for name, us in [
            ("aten::addmm", 2000), ("aten::mkldnn_convolution", 1000)]) +
    on_cpu_product(p, "aten::mm", "float", 600),
    "A6-float-cpu-not": lambda p, step: on_cpu_product(
        p, "aten::addmm", "float", 2000),
    "A6-sort-cpu-not": lambda p, step: 0 * on_cpu_product(
        p, "aten::sort", "double", 2000),
    "A6-unknown-cpu-not": lambda p, step: on_cpu_ops(p, [], "aten::addmm"),
    "A13-many-cpu": lambda p, step: reduces(p, 60, 200),
    "A13-flat-cpu": lambda p, step: reduces(p, 2, 6000),
    "A13-barrier-cpu": lambda p, step: bars(p, 20, 500),
    "A13-buckets-cpu": lambda p, step: reduces(p, 20, 9000),
    "A21-alone-cpu": lambda p, step: alone(p, step, "user_annotation"),
    "A21-called-cpu": lambda p, step: alone(p, step, "python_function"),
    "A1-workers-cpu": lambda p, step: on_cpu_ops(
        p, ["aten::mm"]) and loads_alone(p, "MultiProcessing"),
    "A1-cpu": lambda p, step: on_cpu_ops(p, ["aten::mm"]) and loads_alone(p),
    "A1-range-cpu": lambda p, step: own_loader(p, 3000),
    "A1-anew-cpu": lambda p, step: starts_workers(p, 3000, 2000),
    "A1-waits-cpu": lambda p, step: starts_workers(p, 0, 3000),
    "A1-batches-cpu": lambda p, step: starts_workers(p, 0, 10),
    "A16-unrecorded-bare": lambda p, step: p.pause(20000) or on_cpu_ops(
        p, ["aten::mm"]) and None,
    "A18-files-cpu": lambda p, step: on_cpu_ops(p, ["aten::mm"]) and p.python(
        "<built-in function fsync>", 900) and 900 * US,
    "A21-lock-cpu": lambda p, step: on_cpu_ops(
        p, ["aten::mm", "aten::conv2d"]) and p.python(
        "<built-in method acquire of _thread.lock object>", 1500),
    "A21-traced-cpu": lambda p, step: traced(p),
    "A21-closure-cpu": lambda p, step: in_closure(p),
    "A21-line-cpu": lambda p, step: at_line(p),
    "A21-cell-cpu": lambda p, step: at_line(p, "<ipython-input-3-1f2e>(5): fit"),
    "A21-eager-jax": lambda p, step: one_by_one(p),
    "A15": lambda p, step: zeroing(p, "aten::zero_"),
    "A15-not": lambda p, step: zeroing(p, "aten::linalg"),
    "A16-not": lambda p, step: warming(p, SLOW),
    "A22-host": lambda p, step: on_host(p, 1000 if step else 20000),
    "A23": lambda p, step: same(p, "aten::mm", ALIGNED % 1),
    "A23-not": lambda p, step: same(p, "aten::mm", ALIGNED % 8),
    "A24": lambda p, step: again(p, "unpack"),
    "A24-reentrant": lambda p, step: again(p, "reentrant"),
    "A24-nodes": lambda p, step: again(p, "aten::gelu"),
    "A24-linear-not": lambda p, step: again(p, "aten::matmul") and None,
    "A24-kept-not": lambda p, step: again(p, "kept") and None,
    "A23-simt-not": lambda p, step: same(
        p, "aten::mm", (ALIGNED % 1).replace("tensorop", "simt")),
    "A17": lambda p, step: same(p, "aten::embedding_dense_backward",
                                "compute_grad_weight", FIRST),
    "A7-cpu": lambda p, step: on_cpu_ops(
        p, ["aten::bmm", "aten::_softmax", "aten::bmm"], "aten::mm"),
    "A7-cpu-not": lambda p, step: on_cpu_ops(
        p, ["aten::bmm", "aten::_softmax"], "aten::mm", "aten::bmm"),
    "A10-cpu": lambda p, step: on_cpu_ops(
        p, ["aten::copy_"] * 2, "aten::mm"),
    "A15-cpu": lambda p, step: on_cpu_ops(
        p, ["aten::zero_"] * 2, "aten::mm",
        around="Optimizer.zero_grad#SGD.zero_grad"),
    "A17-cpu": lambda p, step: on_cpu_ops(
        p, ["aten::fill_"] * 2, "aten::mm", "aten::fill_",
        around="aten::embedding_dense_backward"),
    "A21-stall-cpu": lambda p, step: stalled(p, step == 2),
    "A19-cpu-not": lambda p, step: on_cpu_ops(
        p, ["aten::mul", "aten::mm"] * 3, "aten::mul"),
    "A18": lambda p, step: printing(p, 700),
    "A18-not": lambda p, step: printing(p, 1),
    "A18-info": lambda p, step: printing(
        p, 700, "logging/__init__.py(1518): info"),
    "A18-asked-not": lambda p, step: printing(
        p, 700, "logging/__init__.py(1720): getEffectiveLevel"),
    "A19": lambda p, step: same(p, "aten::mul", "elementwise_kernel",
                                CALL + DELAY),
    "A19-not": lambda p, step: alternating(p),
    "A20": lambda p, step: decoding(p, 8),
    "A20-not": lambda p, step: decoding(p, 64),
    "A21": lambda p, step: computing(p, 3000),
    "A21-not": lambda p, step: computing(p, 30),
    "A21-beside": lambda p, step: beside(p, 3000),
    "A21-beside-op": lambda p, step: beside(p, 3000, "my_ops::serve"),
    "A21-pooled": lambda p, step: pooled(p, 3000),
    "A21-parts": lambda p, step: parts(p, False),
    "A21-less": lambda p, step: [
        computing(p, 1500),
        p.op("mylib::scan", 4000, "one_slow_kernel", host=HOST)][0],
    "A21-once": lambda p, step: once(p, 3000 if step == 1 else 0),
    "A21-once-python": lambda p, step: once(
        p, 3000 if step == 1 else 0, "train.py(9): prepare",
        "python_function"),
    "A21-once-runtime": lambda p, step: once(
        p, 3000 if step == 1 else 0, "Runtime::Execute", "user_annotation"),
    "A21-once-range": lambda p, step: once(
        p, 3000 if step == 1 else 0, "prepare", "user_annotation"),
    "A21-once-waits": lambda p, step: once(
        p, 3000 if step == 1 else 0, "train.py(9): wait_for_data",
        "python_function"),
    "A21-each-python": lambda p, step: once(
        p, 3000, "train.py(9): prepare", "python_function"),
    "A21-module": lambda p, _: in_module(p, 3000),
    "A21-compiled": lambda p, step: compiled(p, 1, us=3000),
    "A3-barrier": lambda p, step: collective(
        p, "c10d::barrier", "cudaStreamSynchronize"),
    "A3-collective": lambda p, step: collective(
        p, "c10d::allreduce_", "cudaEventSynchronize"),
    "A22": lambda p, step: first_use(p, 4000, False, step),
    "A22-step": lambda p, step: warming(p, SLOW if step else 4 * SLOW),
    "A22-ran-before": lambda p, step: warming(p, SLOW if step else 4 * SLOW),
    "A22-unmarked": lambda p, step: first_use(p, 4000, False, step),
    "A22=": lambda p, step: first_step(p, step),
    "A22=+": lambda p, step: first_step(p, 1),
    "A22-not": lambda p, step: first_use(p, 4, False, step),
    "A22-allocator": lambda p, step: first_call(p, 4000, "cudaMalloc", step),
    "A22-copy": lambda p, step: first_copy(p, 4000, step),
    "A22-few": lambda p, step: first_of_few(p, 400, step),
    "A22-later": lambda p, step: first_kernels(p, 800, abs(step - 2)),
    "A22-late": lambda p, step: first_kernels(p, 800, step),
    "A22-scatter-not": lambda p, step: warming(p, SLOW * (5, 1, 5, 1)[step]),
    "A22-busy-not": lambda p, step: long_behind(p, 4000, step),
    "A3-trials-not": lambda p, step: trials(p, 30, step),
    "A22-op": lambda p, step: first_op(p, 3000, step),
    "A22-ops-cpu": lambda p, step: first_ops(p, 3000, 3, step),
    "A22-stall-cpu-not": lambda p, step: first_ops(p, 3000, 1, step),
    "A22-parts": lambda p, step: first_in_parts(p, 6000, step),
    "A22-shapes": lambda p, step: first_shapes(p, 3000, step),
    "A22-shapes-not": lambda p, step: first_shapes(p, 3000, 0),
    "A22-op-not": lambda p, step: long_end(p, 3000, step),
}


def tiny_copies(p, is_changed):
    """A kernel takes no time away that it does not take itself, and the gap."""
    p.gap = 1
    for _ in range(20):
        p.op("aten::mm", 40, "gemm", host=HOST)
        if not is_changed:
            p.op("aten::copy_", 3, "elementwise_kernel", host=HOST)


def buckets(p, is_changed):
    for i in range(10):
        p.op("aten::mm", 100, "gemm", host=HOST)
        if is_changed:
            p.op("c10d::allreduce_", 90, "ncclDevKernel_AllReduce_Sum_f32",
                 host=HOST, stream=20, after=p.ends[7])
    if not is_changed:
        p.op("c10d::allreduce_", 900, "ncclDevKernel_AllReduce_Sum_f32",
             host=HOST)


def many_updates(p, is_changed):
    usual(p)
    with p.range("Optimizer.step#Adam.step"):
        for _ in range(1 if is_changed else 30):
            p.op("aten::_fused_adam_" if is_changed else "aten::addcdiv_", 2,
                 "FusedAdamMathFunctor" if is_changed else "adam_kernel")


def first_use(p, us, late, step):
    """The call of the first kernel loads its code, or each does."""
    if late or not step:
        with p.range("aten::linalg", "cpu_op"):
            p.work("a_kernel", QUICK, takes=CALL + us)
    usual(p)
    return us * US + CALL * US if not step else 0


def first_step(p, step):
    """The code that is loaded first is not all that a warm-up leaves out."""
    first_use(p, 0 if step else 4000, True, step)
    p.python("train.py(7): think", 10 if step else 3000)


def first_call(p, us, name, step):
    """The first call starts the driver, whatever it is called."""
    for i in range(4):
        with p.range("aten::empty", "cpu_op"):
            p.call(name, 5 if step or i else us)
    usual(p)
    return 0 if step else us * US


def first_copy(p, us, step):
    for i in range(3):
        with p.range("aten::copy_", "cpu_op"):
            p.work("Memcpy HtoD (Pageable -> Device)", 3, "cudaMemcpyAsync",
                   "gpu_memcpy", waits=True, takes=5 if step or i else us)
    usual(p)
    return 0 if step else (us + DELAY) * US


def first_of_few(p, us, step):
    """Five launches are all that there are, and two of them long."""
    if not step:
        for i in range(5):
            p.op("aten::fill_", 3, "a_kernel", host=4,
                 takes=10 if i > 1 else us)
    return 0 if step else 2 * us * US


def first_kernels(p, us, step):
    """Each kernel is loaded when it is used first."""
    usual(p)
    if step:
        return 0
    for i in range(5):
        p.op("aten::linalg", 3, f"kernel_{i}", host=4, takes=us)
    return 5 * us * US


def trials(p, count, step):
    """The first convolution tries each algorithm and waits for it."""
    with p.range("aten::cudnn_convolution", "cpu_op"):
        for _ in range(0 if step else count):
            p.work("implicit_gemm", 50)
            begin = p.at
            p.call("cudaEventSynchronize", 0)["dur"] = p.free + 2 - begin
            p.at = p.free + 2
        p.work("implicit_gemm", 50)
    usual(p)


def long_behind(p, us, step):
    """One call waits long for the GPU, and loads nothing."""
    for i in range(4):
        if not i:
            p.op("aten::linalg", us if not step else 3, "a_kernel", host=4)
        with p.range("aten::empty", "cpu_op"):
            begin = p.at
            p.call("cudaFree", 5)["dur"] = max(begin + 5, p.free + 2) - begin
            p.at = max(begin + 5, p.free + 2)


def first_op(p, us, step):
    """An operator takes long the first time."""
    usual(p)
    for i in range(3):
        p.op("aten::abs", 3, "a_kernel", host=5 if step or i else us)
        p.pause(3)
    return 0 if step else (us + 2) * US  # and what is behind its launch


def first_ops(p, us, count, step):
    """So many operators take long the first time, on a processor alone."""
    for k in range(4):
        for i in range(3):
            with p.range(f"aten::op_{k}", "cpu_op"):
                p.pause(us if k < count and not i and not step else 20)
    return 0 if step else count * us * US


def first_in_parts(p, us, step):
    """An operator that calls, works, and calls again the first time."""
    usual(p)
    for i in range(3):
        with p.range("aten::cudnn_convolution", "cpu_op"):
            for _ in range(1 if step or i else 6):
                p.call("cudaEventRecord", 1)
                p.pause(3 if step or i else us // 6)
            p.op("aten::abs", 3, "a_kernel", host=5)
        p.pause(3)
    return 0 if step else us * US


def first_shapes(p, us, step):
    """Each shape has a kernel of its own, which is looked for once."""
    usual(p)
    for i in range(60):
        p.op("aten::addmm", 3, f"gemm_{i % 3}", host=5 if step or i > 2 else us)
        p.pause(3)
    return 0 if step else 3 * (us + 2) * US


def long_end(p, us, step):
    """An operator that does something else after its launch, once."""
    usual(p)
    if not step:
        with p.range("aten::abs", "cpu_op"):
            p.pause(5)
            p.work("a_kernel", QUICK)
            p.pause(us)


def launching_updates(p):
    """The host is behind everywhere, and most of all in the optimizer."""
    for _ in range(10):
        p.op("aten::linalg", 3, "a_kernel")
    with p.range("Optimizer.step#Adam.step"):
        for _ in range(30):
            p.op("aten::addcdiv_", 3, "adam_kernel")


def items(p):
    """One number after the other is read, in a step of few kernels."""
    for _ in range(10):
        p.op("aten::linalg", 3, "a_kernel")
    for _ in range(40):
        with p.range("<built-in method item of Tensor object>",
                     "python_function"):
            p.pause(10)
            from_items(p, 1, 0, 0)


def draining(p):
    """The script waits for all that is queued, and a read for next to nothing
    after it."""
    for _ in range(4):
        p.op("aten::linalg", SLOW, "a_kernel", host=HOST)
    with p.range("harness.py(34): measure", "python_function"):
        p.wait()
    p.op("aten::linalg", QUICK, "a_kernel", host=HOST)
    with p.range("model.py(7): forward", "python_function"):
        with p.range("aten::item", "cpu_op"):
            with p.range("aten::_local_scalar_dense", "cpu_op"):
                p.pause(20)
                p.wait()
    p.python("train.py(7): think", 900)
    usual(p, us=SLOW)


def collective(p, op, call):
    """One on a stream of its own, which the operator, or the script, waits for
    before it prepares what comes next."""
    def waits():
        begin = p.at
        p.call(call, 0)["dur"] = max(begin, p.free) + 2 - begin
        p.at = max(begin, p.free) + 2
    for _ in range(4):
        p.op("aten::linalg", SLOW, "a_kernel", host=HOST)
    with p.range("train.py(20): step", "python_function"):
        with p.range(op, "cpu_op"):
            with p.range("record_param_comms", "cpu_op"):
                p.work("ncclDevKernel_AllReduce_Sum_f32", 20, stream=20,
                       after=p.ends[7])
            if op == "c10d::barrier":
                waits()
        if op != "c10d::barrier":
            with p.range("<built-in method wait of Work object>",
                         "python_function"):
                waits()
    p.python("train.py(7): think", 900)
    usual(p, us=SLOW)


def serving(p):
    """Small kernels, launched by a server, of which parts are compiled."""
    with p.range("vllm/v1/worker/gpu_model_runner.py(9): execute_model",
                 "python_function"):
        with p.range("Torch-Compiled Region: 0/0", "cpu_op"):
            p.pause(5)
        launching(p, 4)


def compiled(p, regions, graphs=0, us=0):
    """Small kernels of compiled functions, or what they do on the CPU."""
    for i in range(regions):
        with p.range(f"Torch-Compiled Region: {i}/1", "cpu_op"):
            p.pause(5)
            with p.range("aten::linalg", "cpu_op"):
                p.pause(us)
            for _ in range(graphs):
                p.work("triton_poi_fused_add_0", 1, call="cudaGraphLaunch")
        if not us:
            launching(p, 4)


def in_module(p, us):
    """An operator in a module, whose line is where it stood at first."""
    usual(p)
    with p.range("train.py(21): <module>", "python_function"), \
            p.range("aten::linalg_svd", "cpu_op"):
        p.pause(us)
    return us * US


def once(p, us, name="aten::empty", cat="cpu_op"):
    """A call that nothing of the trace says the usual time of."""
    usual(p)
    if us:
        with p.range(name, cat):
            p.pause(us)
    return us * US


def parts(p, launches):
    """Short functions, and nothing is launched in between, or is."""
    usual(p)
    for _ in range(150):
        p.python("train.py(9): part", 20)
        if launches:
            p.op("aten::linalg", 3, "a_kernel", host=4)


def reads(p, is_changed):
    for _ in range(10):
        p.op("aten::mm", 100, "gemm", host=HOST)
        p.op("aten::sum", 10, "reduce_kernel", host=HOST)
        if is_changed:
            continue
        with p.range("aten::item", "cpu_op"):
            with p.range("aten::_local_scalar_dense", "cpu_op"):
                p.wait()


def reads_back(p, is_changed):
    """Each copy of a result waits for all before it: with none the host is
    ahead."""
    for _ in range(10):
        p.op("aten::linalg", SLOW, "a_kernel", host=HOST)
        if not is_changed:
            with p.range("aten::copy_", "cpu_op"):
                p.work("Memcpy DtoH (Device -> Pageable)", 2,
                       "cudaMemcpyAsync", "gpu_memcpy", waits=True, bytes=64)
        p.python("train.py(7): think", 300)


def reads_of_host(p, is_changed):
    """The host decides: the operator that reads takes its own time, too."""
    for _ in range(10):
        p.op("aten::mm", 3, "gemm", host=60)
        if is_changed:
            continue
        with p.range("aten::item", "cpu_op"):
            with p.range("aten::_local_scalar_dense", "cpu_op"):
                p.pause(20)
                p.wait()
                p.pause(5)


def pins(p, is_changed, us=1000):
    """A copy to the GPU, which torch waits for in a call of its own."""
    ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)] * 4)
    with p.range("aten::copy_", "cpu_op"):
        p.work(f"Memcpy HtoD ({'Pinned' if is_changed else 'Pageable'} -> "
               "Device)", 20, "cudaMemcpyAsync", "gpu_memcpy")
        if not is_changed:
            begin = p.at
            p.call("cudaStreamSynchronize", 0)["dur"] = \
                p.ends[7] + RETURN - begin
            p.at = p.ends[7] + RETURN
    if us:
        p.python("train.py(7): think", us)


def prints_tensors(p, is_changed):
    """What is printed is worked out, and waited for."""
    usual(p)
    if not is_changed:
        with p.range("<built-in function print>", "python_function"):
            p.op("aten::abs", SLOW, "a_kernel")
            with p.range("aten::item", "cpu_op"):
                with p.range("aten::_local_scalar_dense", "cpu_op"):
                    p.wait()
            p.pause(300)


def one_graph(p, is_changed):
    if is_changed:
        p.pause(10)
        p.work("a_kernel", [3] * 60, call="cudaGraphLaunch")
        return
    for _ in range(60):
        p.op("aten::linalg", 3, "a_kernel")


def one_pointwise(p, is_changed):
    for _ in range(3):
        for op in ["aten::mul"] if is_changed else ["aten::mul"] * 4:
            p.op(op, SLOW, "elementwise_kernel", host=HOST)
        p.op("aten::linalg", SLOW, "a_kernel", host=HOST)


def one_attention(p, is_changed):
    if is_changed:
        p.op("aten::scaled_dot_product_attention", 1, "flash_fwd", host=HOST)
        p.op("aten::linalg", QUICK, "a_kernel", host=HOST)
    else:
        attention(p, 1)


def in_half(p, is_changed):
    for _ in range(4):
        p.op("aten::mm", SLOW // (4 if is_changed else 1),
             "volta_sgemm_128x64_tn", host=HOST)


NUMBERED = {"A22-ran-before": 7}  # the first step; else 0
# no steps
UNMARKED = {"A2-paged", "A16-unrecorded-bare", "A21-alone-cpu", "A21-called-cpu",
            "A22-unmarked"}
# What the first advice says of such a program, too.
SAYS = {
    "A21-stall-cpu": "One of 16 pieces of it takes 60.000 ms: that may be a "
                     "stall",
    "A25": "copy the next part on a stream of its own",
    "A11": "give each step more samples: the GPU and its memory have room",
    "A11-beside": "independent on other streams: torch.linalg.qr(torch.stack(",
    "A12": "would likely be saved",
    "A14": "would likely be saved",
    "A14-asked": "the program asks for it",
    "A16-unrecorded": "95.24 % of the critical path is in steps, and in nothing "
                      "that is recorded in them: Python functions would say",
    "A21-waits-cpu": "the program itself waits there",
    "A21-python-cpu": "in larger pieces by a library",
    "A21-naps-cpu": "do it for more samples at once",
    "A21-ops-cpu": "model = torch.compile(model)",
    "A21-range-cpu": "on the critical path. Most of it is inside the range "
                     "my_stage. The largest part, 16.67 %, is in aten::",
    "A21-around-cpu": "on the critical path. The largest part, 25.00 %, is in",
    "A21-library-cpu": "on the critical path. The largest part, 20.00 %, is in",
    "A10-range-cpu": "Most of it is in aten::copy_ inside the range my_stage",
    "A10-range": "Most of it is in elementwise_kernel of aten::copy_, mostly "
                 "inside the range my_stage",
    "A1-cpu": "persistent_workers=True)",
    "A1-range-cpu": "another thread or process while this one is computed",
    "A1-anew-cpu": "workers are started here, as at each pass over the data",
    "A1-waits-cpu": "the workers do not keep up",
    "A1-batches-cpu": "pass fewer and larger tensors",
    "A16-unrecorded-bare": " ms is in nothing that is recorded: "
                           "Python functions would say more. record Python",
    "A18-files-cpu": "Most of it is in <built-in function fsync>",
    "A21-lock-cpu": "the program itself waits there",
    "A21-traced-cpu": "torch.autograd.set_detect_anomaly(False)",
    "A21-closure-cpu": "model = torch.compile(model)",
    "A21-cell-cpu": "Most of it is in <ipython-input-3-1f2e>:5 fit. The largest",
    "A21-line-cpu": "Most of it is in train.py:3 step. The largest part there, "
                    "66.67 %, is in aten::sort",
    "A21-eager-jax": "step = jax.jit(step)",
    "A1-workers-cpu": "Workers take processors that the step computes on",
    "A2-paged": "cudaMemPrefetchAsync",
    "A3-twice": "path that is only 16.000 us. keep results on the GPU",
    "A21-beside": "hold 89.98 % of 4 steps (12.000 ms of 13.336 ms)",
    "A21-beside-op": "hold 89.98 % of 4 steps (12.000 ms of 13.336 ms)",
    "A22-ops-cpu": "First uses of operators hold",
    "A22-ran-before": "steps ran before it, unrecorded: see what it",
    "A22-step": "run the same work a few times before the profiler records",
    "A22-unmarked": "how much, only warm steps would say",
    "A21-pooled": "hold 60.05 % of 4 steps (12.000 ms of 19.984 ms)",
    "A3-timed": "the script itself waits, as for timing",
    "A3-copied": "Without waiting for the GPU",
    "A3-barrier": "the host waits for a collective, and so for the slowest",
    "A3-collective": "the host waits for a collective, and so for the slowest",
    "A3-reads-jax": "Most of it is in $array.py:615 _value",
    "A3-drain": ", in cudaDeviceSynchronize at "
                "harness.py:34 measure",
    "A3-launches": "unset CUDA_LAUNCH_BLOCKING",
    "A3-launches-too": "unset CUDA_LAUNCH_BLOCKING",
    "A4-slowed": "which slowed it: time steps without the profiler, too",
    "A6-double-cpu": "single precision where the results allow it",
    "A6-unknown-cpu-not": "no types of inputs: record shapes with record_shapes=True",
    "A13-many-cpu": "These are 240 collectives, 230.000 us of it each in the mean",
    "A13-barrier-cpu": "leave barriers out of steps",
    "A13-flat-cpu": "start communication earlier",
    "A13-buckets-cpu": "start communication earlier",
    "A21-alone-cpu": "100.00 % of 9.000 ms on the critical path. Most of it is in "
                     "load",
    "A21-called-cpu": "100.00 % of 9.000 ms on the critical path. Most of it is in "
                      "train.py:3 load",
    "A6-hidden-not": "behind a host that recording slowed",
    "A3-values-jax": "Most of it is in $array.py:615 _value",
    "A4-server": "LLM(model, enforce_eager=False)",
    "A4-compiled": "let CUDA graphs launch them",
    "A10-graphs": "compiled graphs copy what they are given",
    "A4-breaks": "look for graph breaks",
    "A4-graphs": "replayed as graphs already",
    "A17-cpu": "nn.Embedding(n, d, sparse=True)",
    "A21-sleeps-jax": "the program itself waits there",
    "A21-once": "run it before the profile begins",
    "A21-once-python": "run it before the profile begins",
    "A21-once-runtime": "run it before the profile begins",
    "A21-once-range": "do it in another thread or process",
    "A21-once-waits": "do it in another thread or process",
    "A21-module": "Most of it is in aten::linalg_svd. do less",
    "A21-each-python": "do it in another thread or process",
    "A21-compiled": "parts are compiled already",
}
# What changes, as far as it can: what advice says must bear that.
BOUNDS = {
    "A1": lambda p, changed: loader(p, 0 if changed else 600),
    "A2-pinned": pins,
    "A3": reads,
    "A3-host": reads_of_host,
    "A3-copies": reads_back,
    "A4": one_graph,
    "A6": in_half,
    "A7": one_attention,
    "A8": many_updates,
    "A9": lambda p, changed: ahead(p, [
        ("aten::cudnn_convolution", "cudnn::ops::nchwToNhwcKernel", SLOW, 1)
    ] * (0 if changed else 3) + [("aten::linalg", "a_kernel", SLOW, 0)] * 3),
    "A9-normalizes": normalizing,
    "A23": lambda p, changed: ahead(p, [
        ("aten::mm", ALIGNED % (8 if changed else 1),
         SLOW // (4 if changed else 1), 1)] * 3 +
        [("aten::linalg", "a_kernel", SLOW, 0)] * 3),
    "A24": lambda p, changed: again(p, "kept" if changed else "reentrant"),
    "A25": lambda p, changed: transferred(p, 500, 9 if changed else 7) and None,
    "A25-kept": lambda p, changed: transferred(p, 500) and None
    if not changed else ahead(p, [("aten::linalg", "a_kernel", SLOW, 0)] * 6),
    "A3-launches": lambda p, changed: blocking(p, not changed),
    "A3-synchronize": lambda p, changed: synchronizing(p, not changed),
    "A10": tiny_copies,
    "A11": lambda p, changed: small(p, 4 if changed else 1) and None,
    "A12": lambda p, changed: allocating(p, 0 if changed else 700, True, 1),
    "A13": buckets,
    "A13-join-cpu": lambda p, changed: reduces(
        p, *((1, 400) if changed else (60, 200))),
    "A14": lambda p, changed: collecting(p, 0 if changed else 700),
    "A15": lambda p, changed: ahead(p, [
        ("aten::linalg", "a_kernel", SLOW, 0)] * 3) if changed else
    zeroing(p, "aten::zero_"),
    "A17": lambda p, changed: ahead(p, [
        ("aten::embedding_dense_backward", "compute_grad_weight", SLOW, 1)
    ] * (0 if changed else 3) + [("aten::linalg", "a_kernel", SLOW, 0)] * 3),
    "A17-sparse": sparse,
    "A19-cpu": lambda p, changed: on_cpu_ops(
        p, ["aten::mul"] * (1 if changed else 3), "aten::mm"),
    "A18": lambda p, changed: printing(p, 0 if changed else 700),
    "A18-tensors": prints_tensors,
    "A19": one_pointwise,
    "A21": lambda p, changed: computing(p, 0 if changed else 3000),
}
# A graph of all leaves one launch, and the step its last wait: of such changes
# what the question says is not what a program can save.
LIMITS = {"A3", "A4"}
PROGRAMS.update((f"{name}={'+' * after}",
                 lambda p, step, f=f, after=after: f(p, after) and None)
                for name, f in BOUNDS.items() for after in (False, True))

# ---- causes: how much of each is planted, and what that costs in truth ----
#
# A cause is f(p, x, step): what it adds to a step; -x is the program without
# it.  What else a step does is a little of everything, so that more than the
# cause could be blamed.

LOADER = "enumerate(DataLoader)#_%sDataLoaderIter.__next__"


def rest(p, us=SLOW, updates=True):
    """Forward, backward by the engine's thread, a fused optimizer."""
    with p.range("nn.Module: Net_0", "python_function"):
        for kernel in ("volta_h884gemm_128x64_tn", "a_kernel"):
            p.op("aten::linalg", us, kernel, host=HOST)
    with p.range("<built-in method run_backward of torch._C._EngineBase "
                 "object at 0x7f0000000010>", "python_function"):
        with p.thread(ENGINE):
            for _ in range(2):
                p.op("aten::linalg", us, "a_kernel", host=HOST)
    if updates:
        with p.range("Optimizer.step#Adam.step"):
            p.op("aten::_fused_adam_", QUICK, "FusedAdamMathFunctor",
                 host=HOST)


def from_loader(p, x, _, kind="SingleProcess",
                reads="dataset.py(12): __getitem__"):
    if x < 0:
        return
    with p.range("torch/utils/data/dataloader.py(701): __next__",
                 "python_function"):
        with p.range(LOADER % kind):
            p.python(reads, x)


def from_workers(p, x, step):
    from_loader(p, x, step, "MultiProcessing",
                "multiprocessing/queues.py(100): get")


def from_frames(p, x, _, name="train.py(33): augment"):
    if x > 0:
        p.python(name, x)


def from_launches(p, x, _):
    """x small kernels, or one graph of all."""
    if x < 0:
        p.work("small_kernel", [3] * -x, call="cudaGraphLaunch")
    for _ in range(x):
        p.op("aten::linalg", 3, "small_kernel", host=30)


def from_items(p, x, _, count=8):
    for _ in range(count or 1):
        if count:
            p.op("aten::linalg", 50, "a_kernel", host=20)
        for _ in range(x):
            with p.range("aten::item", "cpu_op"):
                with p.range("aten::_local_scalar_dense", "cpu_op"):
                    p.work("Memcpy DtoH (Device -> Pageable)", 2,
                           "cudaMemcpyAsync", "gpu_memcpy", bytes=4)
                    p.call("cudaStreamSynchronize", 0)
                    p.events[-1]["dur"] = max(p.at, p.free) + 2 - p.at
                    p.at = max(p.at, p.free) + 2


def from_syncs(p, x, _):
    """The script waits in the middle of a step."""
    for i in range(12):
        p.op("aten::linalg", 50, "a_kernel", host=20)
        if i < x:
            with p.range("torch/cuda/__init__.py(800): synchronize",
                         "python_function"):
                p.wait()


def from_allocator(p, x, _, count=2):
    for _ in range(count):
        with p.range("aten::empty", "cpu_op"):
            p.pause(3)
            if x > 0:
                p.call("cudaMalloc", x // count)


def from_driver(p, x, step):
    from_allocator(p, x, step, 120)


def from_pageable(p, x, _):
    with p.range("aten::copy_", "cpu_op"):
        p.pause(5)
        p.work("Memcpy HtoD (%s -> Device)" % ("Pageable" if x > 0 else
                                               "Pinned"),
               abs(x), "cudaMemcpyAsync", "gpu_memcpy", waits=x > 0,
               bytes=abs(x) * 10000, **{} if x > 0 else {"stream": 21})


def from_comm(p, x, _, parts=1):
    """Buckets that computation waits for at once, or only at the end."""
    for i in range(parts):
        p.op("aten::linalg", 300, "a_kernel", host=HOST)
        p.record("ready", 7)
        p.follow("ready", 20)
        p.op("c10d::allreduce_", x // parts if x > 0 else 20,
             "ncclDevKernel_AllReduce_Sum_f32", host=HOST, stream=20)
        if x > 0:
            p.record("done", 20)
            p.follow("done", 7)
        else:
            p.pause(2)
    p.op("aten::linalg", 300, "a_kernel", host=HOST)


def from_buckets(p, x, step):
    from_comm(p, x, step, 5)


def from_kernel(p, x, _):
    if x > 0:
        p.op("mylib::scan", x, "one_slow_kernel", host=HOST)


def from_chain(p, x, _):
    for _ in range(max(x, 1)):
        p.op("aten::mul", 100, "vectorized_elementwise_kernel", host=HOST)


def from_casts(p, x, _):
    for _ in range(abs(x)):
        if x > 0:
            with p.range("aten::to", "cpu_op"):
                with p.range("aten::_to_copy", "cpu_op"):
                    p.op("aten::copy_", 80, "unrolled_elementwise_kernel",
                         host=HOST)
        p.op("aten::linalg", 20, "a_kernel", host=HOST)


def from_optimizer(p, x, _):
    with p.range("Optimizer.step#Adam.step"):
        if x < 0:
            p.op("aten::_fused_adam_", 60, "FusedAdamMathFunctor", host=HOST)
        for _ in range(x):
            for op in ("aten::mul_", "aten::addcmul_", "aten::addcdiv_"):
                p.op(op, 5, "adam_kernel", host=12)


def from_attention(p, x, _):
    if x < 0:
        p.op("aten::_scaled_dot_product_flash_attention", 60, "flash_fwd",
             host=HOST)
    else:
        ahead(p, [("aten::bmm", "gemm_tn", 40, 0),
                  ("aten::div", "elementwise_kernel", x, 0),
                  ("aten::_softmax", "softmax_warp_forward", x, 0),
                  ("aten::bmm", "gemm_nn", 40, 0)])
    p.op("aten::linalg", QUICK, "a_kernel", host=HOST)


def from_fp32(p, x, _):
    for _ in range(4):
        # no more than the GPU's peaks are apart
        p.op("aten::mm", x if x > 0 else max(-x // 7, 50),
             "volta_sgemm_128x64_tn" if x > 0 else "volta_h884gemm_128x64_tn",
             host=HOST)


def from_first_use(p, x, step):
    first_use(p, x if x > 0 and not step else 0, True, step)


def from_compiling(p, x, step):
    if step and x > 0:
        p.python(DYNAMO, x)


def from_zeroing(p, x, _):
    with p.range("Optimizer.zero_grad#Adam.zero_grad"):
        for _ in range(x):
            p.op("aten::zero_", 60, "fill_kernel", host=HOST)


def from_index(p, x, _):
    if x > 0:
        p.op("aten::embedding_dense_backward", x, "compute_grad_weight",
             host=HOST)


def from_layouts(p, x, _):
    for _ in range(3):
        with p.range("aten::cudnn_convolution", "cpu_op"):
            p.pause(HOST)
            if x > 0:
                p.work("void cudnn::ops::nchwToNhwcKernel", x)
            p.work("sm70_xmma_fprop_implicit_gemm", 100)


# ---- without a GPU ----

def with_op(p, x, _):
    """One operator is most of the step."""
    if x > 0:
        with p.range("aten::sort", "cpu_op"):
            p.pause(x)


def with_updates(p, x, _):
    with p.range("Optimizer.step#Adam.step"):
        if x < 0:
            with p.range("aten::_fused_adam_", "cpu_op"):
                p.pause(50)
        for _ in range(x):
            with p.range("aten::addcdiv_", "cpu_op"):
                p.pause(5)
            p.pause(5)


def with_gloo(p, x, _):
    """The engine's thread hands gradients over, the main one sleeps."""
    with p.range("<built-in method run_backward of torch._C._EngineBase "
                 "object at 0x7f0000000010>", "python_function"):
        if x > 0:
            with p.range("c10d::allreduce_", "cpu_op"):
                p.pause(20)
            with p.thread(5555):
                with p.range("gloo:all_reduce"):
                    p.pause(x)


def inside_call(p, x, _):
    """The call that hands over returns when the thread of gloo is done."""
    if x > 0:
        with p.range("c10d::allreduce_", "cpu_op"):
            p.pause(20)
            with p.thread(5555):
                with p.range("gloo:all_reduce"):
                    p.pause(x)


def in_forward(p, x, _):
    """A range waits for the thread of gloo, and goes on when that is done."""
    with p.range("DistributedDataParallel.forward"):
        if x > 0:
            with p.range("c10d::broadcast_", "cpu_op"):
                p.pause(20)
            with p.thread(5555):
                with p.range("gloo:broadcast"):
                    p.pause(x)


def beside_gloo(p, x, _):
    """A range works, and gloo is done before."""
    if x > 0:
        with p.range("normalize"):
            begin = p.at
            with p.thread(5555):
                with p.range("gloo:broadcast"):
                    p.pause(x * 3 // 4)
            p.at = begin + x


def of_capture(p, x, _):
    """Launches into a graph: calls, and no work."""
    if x > 0:
        p.call("cudaStreamBeginCapture", 4)
        for _ in range(x):
            with p.range("aten::linalg", "cpu_op"):
                p.pause(30)
                p.call("cudaLaunchKernel", 4)
        p.call("cudaStreamEndCapture", 4)
    from_launches(p, -60, 0)


# ---- what is around a cause: f(p, x, step) becomes the program of a step ----

def awaited(f):
    """The GPU is idle when a step begins."""
    def step_of(p, x, step):
        f(p, x, step)
        rest(p, updates=f is not from_optimizer)
        p.wait()
    return step_of


def running(f):
    """Only the cause waits."""
    def step_of(p, x, step):
        f(p, x, step)
        rest(p, 50)
    return step_of


def ahead_of(f):
    """The host is so far ahead that what it does decides nothing."""
    def step_of(p, x, step):
        if step:
            f(p, x, step)
        rest(p, 1000)
    return step_of


def behind(f):
    """The host decides, and the GPU is done long before."""
    def step_of(p, x, step):
        f(p, x, step)
        p.python("train.py(7): think", 20000)
    return step_of


def on_cpu(f):
    def step_of(p, x, step):
        f(p, x, step)
        for _ in range(5):
            with p.range("aten::addmm", "cpu_op"):
                p.pause(300)
            p.pause(10)
    return step_of


def printing_of(p, x, step):
    from_frames(p, x, step, "<built-in function print>")


def garbage_of(p, x, step):
    from_frames(p, x, step, "Python GC")


# NAME: advice, cause, around it, how much of it (usual, larger, smaller), and
# where it must not be given: what is around it then, and how much.
CAUSES = {
    "data": ("A1", from_loader, awaited, (600, 3000, 200), ahead_of, 600),
    "workers": ("A1", from_workers, awaited, (900, 4000, 200), ahead_of, 600),
    "python": ("A21", from_frames, awaited, (1500, 6000, 300), ahead_of, 1500),
    "launching": ("A4", from_launches, awaited, (40, 200, 20), ahead_of, 20),
    "item": ("A3", from_items, running, (1, 3, 1), None, 0),
    "sync": ("A3", from_syncs, running, (8, 12, 3), None, 0),
    "allocation": ("A12", from_allocator, awaited, (600, 3000, 200), ahead_of,
                   600),
    "driver": ("A12", from_driver, awaited, (1200, 6000, 600), ahead_of, 600),
    "pageable": ("A2", from_pageable, awaited, (500, 3000, 100), ahead_of,
                 -500),
    "comm": ("A13", from_comm, awaited, (900, 3000, 200), awaited, -1),
    "buckets": ("A13", from_buckets, awaited, (900, 3000, 400), awaited, -1),
    "chain": ("A19", from_chain, awaited, (6, 30, 4), behind, 6),
    "casts": ("A10", from_casts, awaited, (6, 30, 2), behind, 6),
    "optimizer": ("A8", from_optimizer, awaited, (20, 60, 10), awaited, -20),
    "attention": ("A7", from_attention, awaited, (400, 2000, 100), behind, 400),
    "fp32": ("A6", from_fp32, awaited, (400, 2000, 150), behind, 400),
    "first": ("A22", from_first_use, awaited, (4000, 20000, 1500), None, 0),
    "compile": ("A5", from_compiling, awaited, (800, 4000, 200), ahead_of,
                800),
    "gc": ("A14", garbage_of, awaited, (700, 3000, 200), ahead_of, 700),
    "printing": ("A18", printing_of, awaited, (700, 3000, 200), ahead_of, 700),
    "zeroing": ("A15", from_zeroing, awaited, (6, 30, 2), behind, 6),
    "index": ("A17", from_index, awaited, (400, 3000, 100), behind, 400),
    "layouts": ("A9", from_layouts, awaited, (200, 1000, 60), behind, 200),
    "capture": ("A4", of_capture, awaited, (), awaited, 20),
    "host-data": ("A1", from_loader, on_cpu, (2000, 9000, 500), None, 0),
    "host-op": ("A21", with_op, on_cpu, (2000, 9000, 500), None, 0),
    "host-python": ("A21", from_frames, on_cpu, (2000, 9000, 500), None, 0),
    "host-optimizer": ("A8", with_updates, on_cpu, (250, 900, 60), None, 0),
    "host-printing": ("A18", printing_of, on_cpu, (2000, 9000, 500), None, 0),
    "host-gloo": ("A13", with_gloo, on_cpu, (2000, 9000, 500), None, 0),
    "host-inside": ("A13", inside_call, on_cpu, (2000, 9000, 500), None, 0),
    "host-forward": ("A13", in_forward, on_cpu, (2000, 9000, 500), None, 0),
    "host-beside": ("A21", beside_gloo, on_cpu, (2000, 9000, 500), None, 0),
    "kernel": (None, from_kernel, awaited, (4000, 20000, 3000), None, 0),
}
# Two causes, the larger one first.
PAIRS = (("data", "fp32"), ("fp32", "data"), ("comm", "optimizer"),
         ("optimizer", "printing"), ("python", "comm"), ("chain", "launching"),
         ("launching", "casts"), ("attention", "index"), ("gc", "data"),
         ("pageable", "zeroing"), ("buckets", "python"), ("layouts", "workers"),
         ("allocation", "pageable"), ("compile", "fp32"), ("first", "casts"))
MIXES = 40


def mixes():
    """Two to four causes of different advice, in any order."""
    chance = random.Random(1)
    of = {}
    for name, (rule, _, around, sizes, _, _) in CAUSES.items():
        if rule and around is awaited and sizes:
            of.setdefault(rule, []).append(name)
    for _ in range(MIXES):
        yield "".join(f"&{chance.choice(of[rule])}.{chance.randrange(3)}"
                      for rule in chance.sample(sorted(of),
                                                chance.randint(2, 4))) + "~"


def case(name):
    """What "CAUSE~AMOUNT", or "CAUSE~hidden", does in a step; and of pairs
    "CAUSE+CAUSE~" and mixes, where a minus stands before what is left out."""
    about, _, amount = name.partition("~")
    if about[0] == "&":
        about = "+".join(part.split(".")[0] for part in about[1:].split("&"))
        sizes = [int(part.split(".")[1])
                 for part in name[1:-1].split("&")]
    else:
        sizes = (1, 2)
    if "+" not in about:
        _, f, around, _, counter, quiet = CAUSES[about]
        around = counter if amount == "hidden" else around
        x = quiet if amount == "hidden" else int(amount)
        return lambda p, step: around(f)(p, x, step)
    parts = [(CAUSES[part.strip("-")], size, -1 if part[0] == "-" else 1)
             for part, size in zip(about.split("+"), sizes)]

    def both(p, step):
        for (_, f, _, sizes, _, _), size, sign in parts:
            f(p, sign * sizes[size], step)
        rest(p, updates="optimizer" not in about)
        p.wait()
    return both


def cases():
    for name, (_, _, _, sizes, counter, _) in CAUSES.items():
        for x in sorted(set(sizes)):
            yield f"{name}~{x}"
        for x in sizes[:1]:
            yield f"{name}~{-x}"
        if counter:
            yield f"{name}~hidden"
    for a, b in PAIRS:
        yield f"{a}+{b}~"
    yield from mixes()


SHOWN = 100  # what costs less than 1/100 is too small


def held(rule, doc, saved, bad, shown=SHOWN):
    """Is what is said of a cause a bound of what it costs in truth?"""
    row = next((r for r in doc["tables"]["advice"] if r["id"] == rule), None)
    if not row and saved * shown < doc["scalars"]["window_ns"]:
        return
    if not row:
        bad.append(f"{rule} is not given, which costs {saved}")
    elif row["at_most_ns"] < saved:
        bad.append(f"{rule} saves {saved}, at most {row['at_most_ns']}")
    elif (row["likely_ns"] or 0) > saved:
        bad.append(f"{rule} saves {saved}, at least {row['likely_ns']}")


def window(name):
    return (make(name)[0].end - BEGIN) * US


def judge_case(name, doc):
    about, _, amount = name.partition("~")
    bad, ids = [], [row["id"] for row in doc["tables"]["advice"]]
    if doc["scalars"]["window_ns"] != window(name):
        bad.append(f"{doc['scalars']['window_ns']} ns, not {window(name)}")
    if about[0] == "&":
        for part in about[1:].split("&"):
            rule = CAUSES[part.split(".")[0]][0]
            with_it = {r["id"]: r for r in doc["tables"]["advice"]}.get(rule)
            if with_it and rule in LIMITS:  # it is about more than its cause
                with_it["likely_ns"] = 0
            # kernels may be hidden, and a first step left out
            held(rule, doc, window(name) -
                 window(name.replace(f"&{part}", f"&-{part}")), bad, 30)
        return bad
    if "+" in about:
        a, b = (CAUSES[part][0] for part in about.split("+"))
        saved = [window(name) - window(name.replace(part, "-" + part))
                 for part in about.split("+")]
        for rule, ns in zip((a, b), saved):
            held(rule, doc, ns, bad)
        if saved[0] < saved[1] or ids[:1] != [a]:
            bad.append(f"{ids}, and not {a} first: {saved}")
        return bad
    rule, _, around, sizes, _, _ = CAUSES[about]
    if amount == "hidden" or amount[0] == "-":
        # all that a processor does is the program's own
        is_given = rule in ids and not (rule == "A21" and around is on_cpu)
        return bad + [f"{rule} is given"] * is_given
    if not rule:
        return bad + [f"not first: {doc['scalars']['finding']}"] * (
            not doc["scalars"]["finding"].startswith("one_slow_kernel holds"))
    held(rule, doc, window(name) - window(f"{about}~-{amount}"), bad)
    if int(amount) != sizes[2] and ids[:1] != [rule]:
        bad.append(f"{ids}, and not {rule} first")
    return bad


def bounds(name, before, after):
    """What following an advice saved, beside what was said of it."""
    rule = name.split("=")[0].split("-")[0]
    saved = (before["scalars"]["window_ns"] - after["scalars"]["window_ns"])
    row = next((r for r in before["tables"]["advice"] if r["id"] == rule), {})
    if row.get("at_most_ns", 0) < saved:
        return [f"saved {saved}, at most {row.get('at_most_ns')}"]
    if (row["likely_ns"] or 0) > saved and rule not in LIMITS:
        return [f"saved {saved}, at least {row['likely_ns']}"]
    return []


def make(name):
    p, ns, begins = Program(), 0, [BEGIN]
    for step in range(STEPS):
        with nullcontext() if name in UNMARKED else \
                p.range(f"ProfilerStep#{step + NUMBERED.get(name, 0)}"):
            if "~" in name:
                case(name)(p, step)
                continue
            ns += PROGRAMS[name](p, step) or 0
            if p.ends:
                p.wait()
        begins.append(p.at)
    takes = [b - a for a, b in zip(begins, begins[1:])]
    if name.startswith("A22-"):  # what a warm-up leaves out
        ns = max(ns, int((takes[0] - statistics.median(takes)) * US))
    return p, ns


def check(name, doc):
    _, ns = make(name)
    rule = name.split("-")[0]
    given = doc["tables"]["advice"]
    ids = [row["id"] for row in given]
    if name == "A22-scatter-not":
        return [f"{row}" for row in given if row["id"] == rule]
    if name.endswith("-not") and rule == "A22":  # a step is slow without it
        return [f"{rule} was given: {row}" for row in given
                if row["id"] == rule and row["on_path_ns"]]
    if name.endswith("-not"):
        why = " ".join(row["reason"] for row in doc["tables"]["not_judged"]
                       if row["id"] == rule)
        if SAYS.get(name, "") not in why:
            return [f"{why}: not '{SAYS[name]}'"]
        return [f"{rule} was given: {given}"] if rule in ids else []
    if name == "A3-jax":  # a wait that the script asks for comes last
        given.sort(key=lambda row: row["id"] != rule)
        ids = [row["id"] for row in given]
    if not ids or ids[0] != rule:
        return [f"the first is {ids}, not {rule}"]
    if ns < 0:
        ns += doc["scalars"]["window_ns"]
    if name == "A22-unmarked":  # nothing says what a warm step takes
        if given[0]["at_most_ns"] is not None:
            return [f"at most {given[0]['at_most_ns']}"]
        if not 0.9 * ns < (given[0]["likely_ns"] or 0) <= ns:
            return [f"at least {given[0]['likely_ns']} of {ns}"]
    elif name == "A24-nodes":  # operators do not say where it ends
        if (given[0]["at_most_ns"], given[0]["on_path_ns"]) != (None, ns):
            return [f"{given[0]}, not {ns} and no bound"]
    elif ns and abs(given[0]["at_most_ns"] - ns) > (ns != int(ns)):
        return [f"at most {given[0]['at_most_ns']}, not {ns}"]
    bad = [] if given[0]["remedy"] else ["there is no remedy"]
    said = f"{given[0]['sentence']}. {given[0]['remedy']}: {given[0]['code']}"
    if SAYS.get(name, "") not in said:
        bad.append(f"{said}: not '{SAYS[name]}'")
    # what holds most is named first, whether or not advice is about it
    if ("one_slow_kernel holds" in doc["scalars"]["finding"][:21]) != (
            name == "A21-less"):
        bad.append(f"begins with {doc['scalars']['finding']}")
    words = "JAX" if name.endswith("-jax") else "PyTorch"
    if given[0]["framework"] != words:
        bad.append(f"the remedy is for {given[0]['framework']}")
    # what nothing bounds is about no time of the path
    has_evidence = rule in [row["id"] for row in doc["tables"]["evidence"]]
    if has_evidence != bool(given[0]["on_path_ns"]):
        bad.append("there is no evidence, or of no time")
    return bad


def sums(doc):
    """Every rule once; what is said fits the figures."""
    bad, tables = [], doc["tables"]
    window = doc["scalars"]["window_ns"] or 0
    ids = [row["id"] for t in ("advice", "not_judged", "fine")
           for row in tables[t]]
    if len(ids) != len(set(ids)) or len(ids) != 25:
        bad.append(f"not every advice once: {sorted(ids)}")
    for row in tables["advice"]:
        most = row["at_most_ns"]
        if most is not None and not 0 <= most <= window:
            bad.append(f"{row['id']}: at most {most} of {window}")
        held = sum(e["ns"] for e in tables["evidence"]
                   if e["id"] == row["id"])
        if row["on_path_ns"] is not None and held > row["on_path_ns"]:
            bad.append(f"{row['id']}: evidence of {held} ns")
        if not row["sentence"] or not row["command"]:
            bad.append(f"{row['id']}: no sentence or no command")
    if not 0 <= (doc["scalars"]["together_ns"] or 0) <= window:
        bad.append("together more than the window")
    return bad + [f"{row['id']}: no reason" for row in tables["not_judged"]
                  if not row["reason"]]


# What traces of programs give, as people have read it.
REAL = {
    "a100_diff_control": "A3 A4 A13 A21 A25 A10 A19 A23 A16",
    "a100_diff_test": "A6 A10 A13 A19", "alexnet_cold_start": "A22 A12 A21 A16",
    "b200_vllm_eager": "A4 A22 A21 A10 A16", "cpu_only_rank34": "A13",
    "cuda_event_sync": "A21 A4 A3 A16", "cuda_event_sync_multi_stream": "A12 A4 A16",
    "cuda_sync_simple_add": "A22 A21 A12 A16", "h100_bert_small": "A4 A3 A11",
    "h100_nsfw_vit": "A4 A11", "h100_owlv2": "A1 A7 A3 A23 A19 A25 A4",
    "h100_timesformer": "A21 A7 A23 A10 A3 A4", "hip_normalization": "A22 A4 A16",
    "hip_sglang_decode": "A16", "mi250_minitoy": "A22 A2 A4 A8 A10 A16",
    "mi300_bert_small": "A4 A3", "mi300_ddp_resnet18_no_pool": "A12 A9 A16",
    "mi300_qwen": "A3 A19 A10 A4",
    "mi300_resnet_act_checkpoint": "A13 A9 A10 A24",
    "mi300_triton_compile": "A4 A16 A3", "mi300_vllm_graph_decode": "A16",
    "mi300_vllm_graph_decode_capture": "A21 A12 A16",
    "mtia_inference": "A21 A4 A16 A3",
    "mtia_single_rank": "A3 A8 A21 A4 A16", "triton_example": "",
    "two_ranks_rank-0": "A21 A8 A4 A16", "two_ranks_rank-1": "A21 A8 A4 A16",
    "v100_resnet50_autograd_api": "A22 A1 A4 A8 A12 A15 A16",
    "v100_ns_resolution": "A6 A19 A8 A10 A4",
    "v100_resnet50_workers0": "A1 A4 A8 A15 A6 A2 A16",
    "v100_resnet50_workers0_second": "A1 A4 A8 A15 A2 A6 A16",
    "v100_resnet50_workers4": "A4 A22 A15 A8 A2 A21 A16",
    "v100_resnet50_workers4_second": "A4 A16 A22 A15 A8 A2",
}


def real(name, doc):
    said = " ".join(row["id"] for row in doc["tables"]["advice"])
    want = REAL.get(name, said)
    bad = [] if said == want else [f"{said}, not {want}"]
    # other devices have no graphs of CUDA, nor its variables
    if name.startswith("mtia"):
        bad += [f"{row['id']}: {row['title']}, {row['remedy']}, {row['code']}"
                for row in doc["tables"]["advice"]
                if "CUDA" in f"{row['title']}{row['remedy']}{row['code']}"]
    return bad


def changes(a, b, doc):
    """What diff says of two pieces of advice, by the two alone."""
    def states(d):
        return {row["id"]: t for t in ("advice", "not_judged", "fine")
                for row in d["tables"][t]}
    most = [{row["id"]: row["at_most_ns"] for row in d["tables"]["advice"]}
            for d in (a, b)]
    a, b = states(a), states(b)
    want = {}
    for rule in a:
        pair = (a[rule], b[rule])
        if pair == ("advice", "advice"):
            x, y = most[0][rule], most[1][rule]
            want[rule] = "done" if x and y is not None and 10 * y <= x else \
                "open"
        elif "advice" in pair:
            want[rule] = ("not judged" if "not_judged" in pair else
                          "done" if pair[0] == "advice" else "new")
    said = {row["id"]: row["change"]
            for row in doc["tables"].get("advice", [])}
    bad = [] if said == want else [f"{said}, not {want}"]
    note = [n for n in doc["notes"] if n.startswith("advice: ")]
    for rule, change in want.items():
        if len(note) != 1 or rule not in note[0] or change not in note[0]:
            bad.append(f"{rule} is {change}: {note}")
    return bad


def main():
    how, folder = sys.argv[1:3]
    if how == "--diff":
        bad = changes(*(json.load(open(f)) for f in sys.argv[2:]))
        print("\n".join(bad) or "ok")
        return 1 if bad else 0
    if how == "--make":
        known = sorted([*PROGRAMS, *cases()], key=lambda name: name + ".json")
        each = int(sys.argv[3])
        chosen = [n for n in known[each - 1::each] if not n.endswith("=+")]
        print(*chosen, sep="\n")
        wanted = {*chosen, *sys.argv[4:]}
        for name in wanted | {n + "+" for n in wanted if n.endswith("=")}:
            with open(f"{folder}/{name}.json", "w") as f:
                f.write(kineto(make(name)[0]))
        return 0
    for file in sorted(os.listdir(folder)):
        name = file.removesuffix(".json")
        doc = json.load(open(f"{folder}/{file}"))
        if "~" in name and how == "--planted":
            say(f"planted {name}", sums(doc) + judge_case(name, doc))
        elif name.endswith("="):
            after = json.load(open(f"{folder}/{name}+.json"))
            say(f"bounds of {name[:-1]}", bounds(name, doc, after))
        elif name.endswith("=+"):
            continue
        elif how == "--planted":
            say(f"planted {name}", check(name, doc) + sums(doc))
        else:
            say(f"{name}: every advice once", sums(doc))
            say(f"{name}: what is given", real(name, doc))
    return 0


sys.exit(main())
