#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profile small programs with torch and keep what torch itself says of them.

usage: python3 capture.py FOLDER [gpu | WORKLOAD...]

For each workload, FOLDER/WORKLOAD/ holds, all from one process:

    trace.json.gz   what export_chrome_trace() wrote
    averages.csv.gz every row of key_averages(), in torch's order, for each
                    grouping; numbers in full precision, times in microseconds
    tables.txt.gz   key_averages().table() for several sorts and limits; each
                    begins with a line "### OPTIONS", the options with which
                    profan prints the same
    truth.json      versions, totals, and what was asked of the profiler

Everything runs on the CPU in one thread, in a few seconds, except for "gpu":
the workloads named gpu_*, which need CUDA.  check.py compares profan with all
of it and needs no torch.
"""
import contextlib
import csv
import functools
import gc
import gzip
import io
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import profile, record_function, schedule
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

try:
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
except ImportError:  # before 2.4
    CheckpointPolicy = None

RELEASE = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
CPU = [torch.profiler.ProfilerActivity.CPU]
CUDA = [torch.profiler.ProfilerActivity.CUDA]
LIMIT_BYTES = 60 * 1024


# ---- models and steps -----------------------------------------------------

class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 8, 3, stride=2, padding=2, dilation=2, groups=2)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        return self.head(F.relu(self.second(x)).mean(dim=(2, 3)))


def loader(batches, workers):
    images = torch.randn(4 * batches, 3, 8, 8)
    data = torch.utils.data.TensorDataset(images, torch.arange(4 * batches) % 5)
    return torch.utils.data.DataLoader(data, batch_size=4, num_workers=workers)


def train(prof, steps, workers=0):
    model = ConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for images, labels in loader(steps, workers):
        with record_function("forward_pass"):
            loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        with record_function("backward_pass"):
            loss.backward()
        optimizer.step()
        loss.item()
        prof.step()


# ---- workloads: name -> (function, arguments of profile()) ----------------

WORKLOADS = {}
LAST = ["unfinished", "unfinished_memory", "generators", "unfinished_stacks",
        "threads_open"]  # leave events open
SINCE = {"threads_all": (2, 7), "overloads": (2, 7), "selective": (2, 4), "collecting": (2, 9),
         "exported_by_python": (2, 14), "adjusted": (2, 15)}
NAMED_APART = {"threads_all", "overloads", "gpu_overloads", "collecting", "exported_by_python"}
STEPPED = {"schedule": schedule(wait=1, warmup=1, active=2, repeat=1)}
ONE_STEP = {"schedule": schedule(wait=1, warmup=1, active=1, repeat=1)}


def workload(**arguments):
    def register(function):
        WORKLOADS[function.__name__] = (function, arguments)
        return function
    return register


@workload(record_shapes=True, profile_memory=True, with_flops=True, **STEPPED)
def training(prof):
    train(prof, 4)


@workload(record_shapes=True, **STEPPED)
def training_workers(prof):
    train(prof, 4, workers=2)


@workload(record_shapes=True, with_flops=True, **ONE_STEP)
def transformer(prof):
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(torch.randn(2, 6, 16)).float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        prof.step()


@workload(record_shapes=True)
def inference(prof):
    model = ConvNet().eval()
    with torch.inference_mode():
        for batch in (1, 2, 3):
            with record_function("request"):
                with record_function(f"model_inference batch {batch}"):
                    model(torch.randn(batch, 3, 8, 8)).argmax(dim=1).tolist()


def two_threads():
    def work(size):
        for _ in range(6):
            a = torch.randn(size, size)
            (a @ a).relu().sum().item()
    threads = [threading.Thread(target=work, args=(size,)) for size in (24, 32)]
    for thread in threads:
        thread.start()
    work(16)
    for thread in threads:
        thread.join()


@workload(record_shapes=True, profile_memory=True)
def threads(prof):
    two_threads()


@workload(record_shapes=True, profile_memory=True, all_threads=True)
def threads_all(prof):
    with record_function("both"):
        two_threads()


@workload(profile_memory=True)
def memory(prof):
    kept = []
    for i in range(4):
        with record_function("leak"):
            kept.append(torch.empty(1 << 14 << i))
        with record_function("allocate and free"):
            torch.empty(3 << 18).fill_(1)
        torch.randn(300).mul_(2)
        kept.append(torch.zeros(3, 5).t().contiguous())
        if i == 2:
            kept.pop()
            del kept[0]
    del kept


@workload(with_stack=True, record_shapes=True)
def stacks_plain(prof):
    model = ConvNet()
    for _ in range(2):
        model(torch.randn(2, 3, 8, 8)).sum().backward()


@workload(with_stack=True, record_shapes=True, profile_memory=True, verbose=True)
def stacks_verbose(prof):
    model = ConvNet()
    for _ in range(2):
        model(torch.randn(2, 3, 8, 8)).sum().backward()


@workload(with_stack=True, with_flops=True, record_shapes=True, with_modules=True,
          verbose=True)
def stacks_flops(prof):
    weight = torch.randn(4, 4, requires_grad=True)
    for _ in range(2):
        with record_function("both columns"):
            (torch.randn(8, 4) @ weight).mul(2).sum().backward()


@workload(record_shapes=True)
def compiled(prof):
    pass


@workload(profile_memory=True, with_stack=True, record_shapes=True)
def empty(prof):
    pass


def annotate(names):
    for name in names:
        with record_function(name):
            torch.ones(2)


@workload()
def names(prof):
    annotate(("it's", "trailing space ", " leading", "%s %d %", "<b>&amp;</b>",
              "a,b;c|d", "{}[]:,", "x" * 51, "y" * 52, "z" * 60, "ProfilerStep#x",
              "ProfilerStep", "-", "aten::is_leaf", "null", "1e5", "profiler::", "###"))


@workload()
def names_unicode(prof):
    annotate(("naïve – 日本語 🔥", "é" * 52, "日" * 60))


@workload()
def names_quotes(prof):
    annotate(('"quoted"', 'say "hello", he said', 'ends with "', '"'))


@workload()
def names_lost(prof):
    """Names that the trace does not keep."""
    annotate(("back\\slash", "a\\\\b\\n", "C:\\new\\table", "two\nlines", "ends\n",
              "carriage\rreturn", "tab\there", "nul\x01\x7f"))


@workload()
def names_mangled(prof):
    annotate(("Pi", "_Z3foov", "_ZN2at6native3addEv", "_Zno", "Ss"))


@workload(record_shapes=True, profile_memory=True)
def foreach(prof):
    lists = [torch.randn(1 + i % 7, 3) for i in range(60)]
    for count in (1, 5, 60):
        torch._foreach_add_(lists[:count], 1.0)
        torch._foreach_mul(lists[:count], lists[:count])
        torch.cat([t.flatten() for t in lists[:count]])
    torch.stack([torch.ones(2, 2)] * 30).sum()


@workload()
def nested(prof):
    with record_function("same"):
        with record_function("same"):
            with record_function("same"):
                torch.ones(3).add(1)
    with record_function("same"):
        with record_function("same"):
            pass
        torch.ones(3)
    with record_function("same"):
        with record_function("other"):
            with record_function("same"):
                with record_function("same"):
                    torch.ones(3)
        with record_function("same"):
            pass
    with record_function("same"):
        pass


@workload()
def unfinished(prof):
    torch.ones(2)
    outer = record_function("never left")
    outer.__enter__()
    torch.ones(2).add(1)
    inner = record_function("never left, inside")
    inner.__enter__()
    torch.zeros(4)
    prof.kept = [outer, inner]


@workload(profile_memory=True)
def unfinished_memory(prof):
    unfinished(prof)
    torch.zeros(4).mul(2)


@workload()
def crossing(prof):
    first, second = record_function("first"), record_function("second")
    first.__enter__()
    torch.ones(2)
    second.__enter__()
    torch.ones(2)
    first.__exit__(None, None, None)
    torch.ones(2)
    second.__exit__(None, None, None)


@workload(record_shapes=True, profile_memory=True)
def forked(prof):
    with record_function("waits"):
        SCRIPTED()


@torch.jit.script
def _branch(x):
    return (x @ x).relu()


@torch.jit.script
def SCRIPTED():
    x = torch.ones(8, 8)
    a = torch.jit.fork(_branch, x)
    b = torch.jit.fork(_branch, x + 1)
    return torch.jit.wait(a) + torch.jit.wait(b)


class Passing(TorchDispatchMode):
    """Hands every operator on, as counters of FLOPs and fake tensors do."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


@workload(record_shapes=True)
def modes(prof):
    """Leaving a range runs through the mode: an operator begins inside the
    range and ends after it."""
    with record_function("outer"):
        with Passing():
            for _ in range(3):
                with record_function("inner"):
                    torch.ones(2)
            with Passing(), record_function("two modes"):
                torch.ones(2)


@workload(record_shapes=True, with_stack=True, profile_memory=True)
def modes_stacks(prof):
    with FlopCounterMode(display=False):
        with record_function("forward"):
            loss = nn.Linear(4, 4)(torch.randn(3, 4)).sum()
        with record_function("backward"):
            loss.backward()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        with record_function("attention"):
            y = self.first(x)
        with record_function("mlp"):
            return self.second(y.relu())


@workload(record_shapes=True)
def selective(prof):
    """Selective activation checkpointing."""
    def policy(context, op, *args, **kwargs):
        kept = op == torch.ops.aten.mm.default
        return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    block, x = Block(), torch.randn(3, 4, requires_grad=True)
    for _ in range(2):
        with record_function("step"):
            checkpoint(block, x, use_reentrant=False, context_fn=contexts).sum().backward()


@workload()
def exporting(prof):
    with record_function("export"):
        torch.export.export(Block(), (torch.randn(3, 4),))


@workload()
def compiling(prof):
    with record_function("compile"):
        torch.compile(Block(), backend="aot_eager")(torch.randn(3, 4)).sum().backward()


def ranges_in(name):
    with record_function(name):
        for _ in range(3):
            torch.ones(3)
            yield


@workload(profile_memory=True)
def generators(prof):
    """Ranges of generators cross; one is never left."""
    first, second = ranges_in("gen first"), ranges_in("gen second")
    for _ in zip(first, second):
        torch.zeros(5)
    left = ranges_in("gen left open")
    next(left)
    third = ranges_in("gen third")
    next(third)
    torch.zeros(5)
    third.close()
    torch.zeros(7)
    prof.kept = [left]


@workload(profile_memory=True, with_stack=True)
def unfinished_stacks(prof):
    """What is never left ends with the Python function around it."""
    left = ranges_in("left by a generator")
    next(left)
    torch.zeros(4)
    first, second = ranges_in("first"), ranges_in("second")
    for _ in zip(first, second):
        torch.ones(2)
    last = ranges_in("left last")
    next(last)
    prof.kept = [left, last]


@workload(profile_memory=True)
def threads_open(prof):
    """Ranges of another thread that are open when the profile ends."""
    entered, done = threading.Event(), threading.Event()

    def work():
        torch.ones(3)
        with record_function("open on a thread"):
            torch.ones(4)
            with record_function("open inside"):
                torch.ones(5).add(1)
                entered.set()
                done.wait()
    crossing = record_function("left on the other thread")
    crossing.__enter__()

    def leave():
        crossing.__exit__(None, None, None)
        torch.zeros(8)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    entered.wait()
    torch.zeros(6)
    other = threading.Thread(target=leave)
    other.start()
    other.join()
    torch.zeros(9)
    prof.kept = [done, thread]


@workload(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True,
          by_python=True)
def exported_by_python(prof):
    """Written by torch's exporter in Python, which 2.14 brought.

    It keeps more of names, but not when the profile ended."""
    annotate(("back\\slash", "two\nlines", "naïve – 日本語 🔥"))
    model = ConvNet()
    model(torch.randn(2, 3, 8, 8)).sum().backward()


@workload(record_shapes=True, with_stack=True, acc_events=True,
          schedule=schedule(wait=0, warmup=1, active=1, repeat=1))
def accumulated(prof):
    for _ in range(2):
        torch.ones(4, 4) @ torch.ones(4, 4)
        prof.step()


@workload(record_shapes=True, with_flops=True, overloads=True)
def overloads(prof):
    overloads_of(torch.ones)


def overloads_of(ones):
    with record_function("aten::add.Tensor"):
        for _ in range(2):
            a = ones(3, 4) + ones(3, 4, dtype=torch.float64)
            (a * 2).sum() + (a * a).sum(dim=1) + (a @ a.t()).pow(2).sum(dim=0)


@workload(record_shapes=True)
def futures(prof):
    """A range whose end a Future decides, on another thread."""
    for _ in range(2):
        future = torch.futures.Future()
        with record_function("request") as waits:
            torch.ones(4).sin()
            last = waits._call_end_callbacks_on_future(future)
        torch.ones(8, 8).sin()
        thread = threading.Thread(target=future.set_result, args=(None,))
        thread.start()
        thread.join()
        last.wait()


@workload(record_shapes=True, with_stack=True, collects=True)
def collecting(prof):
    for _ in range(2):
        torch.ones(3).sin()
        gc.collect(0)
        with record_function("Python GC"):
            torch.ones(4)
            gc.collect(0)


@workload(record_shapes=True, with_stack=True, adjusts=True)
def adjusted(prof):
    """Times are moved so that children fit: many functions have none left."""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        with record_function("forward_pass"):
            loss = model(torch.randn(3, 4)).sum()
        with record_function("backward_pass"):
            loss.backward()
        optimizer.step()


@workload(profile_memory=True, **ONE_STEP)
def memory_workers(prof):
    """Batches arrive in shared memory, which is not the allocator's."""
    train(prof, 3, workers=2)


# ---- with a GPU: what was asked has "gpu", what is not warm has "cold" -----

GPU = dict(gpu=True, record_shapes=True)


def train_on_gpu(prof, steps, model, make, optimizer, read=True):
    for _ in range(steps):
        with record_function("data_preprocessing"):
            x = make().to("cuda", non_blocking=True)
        optimizer.zero_grad()
        with record_function("forward_pass"):
            loss = model(x).float().square().mean()
        with record_function("backward_pass"):
            loss.backward()
        optimizer.step()
        if read:
            loss.item()
        prof.step()


def images():
    return torch.randn(8, 3, 16, 16)


@workload(profile_memory=True, with_flops=True, **GPU, **STEPPED)
def gpu_training(prof):
    model = ConvNet().cuda()
    train_on_gpu(prof, 4, model, images, torch.optim.Adam(model.parameters()))


@workload(profile_memory=True, with_stack=True, verbose=True, **GPU, **ONE_STEP)
def gpu_stacks(prof):
    model = nn.Linear(8, 8).cuda()
    train_on_gpu(prof, 3, model, lambda: torch.randn(4, 8).pin_memory(),
                 torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


@workload(**GPU, **ONE_STEP)
def gpu_transformer(prof):
    layer = nn.TransformerEncoderLayer(64, 2, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        train_on_gpu(prof, 3, model, lambda: torch.randn(2, 32, 64), optimizer)


@workload(profile_memory=True, **GPU, **ONE_STEP)
def gpu_loader(prof):
    model = ConvNet().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(12, 3, 8, 8))
    batches = iter(torch.utils.data.DataLoader(data, batch_size=4, num_workers=1, pin_memory=True))
    train_on_gpu(prof, 3, model, lambda: next(batches)[0], optimizer, read=False)


@workload(**GPU)
def gpu_graph(prof):
    """A graph that is replayed; it was captured before."""
    for _ in range(3):
        with record_function("replayed"):
            graph_of_gpu().replay()
    torch.cuda.synchronize()


@functools.lru_cache
def graph_of_gpu():
    model, x = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)).cuda(), torch.randn(8, 64, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(stream):
        model(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        model(x)
    graph.kept = model, x
    return graph


@workload(**GPU)
def gpu_graph_capture(prof):
    graph_of_gpu.__wrapped__().replay()
    torch.cuda.synchronize()


@workload(syncs=True, **GPU)
def gpu_streams(prof):
    """Two streams that wait for each other, and calls that wait for them."""
    a, b = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    for _ in range(2):
        done = torch.cuda.Event()
        with torch.cuda.stream(first):
            c = a @ b
            done.record()
        with torch.cuda.stream(second):
            back = b.to("cpu", non_blocking=True)
            second.wait_event(done)
            c.relu_()
        done.synchronize()
        second.synchronize()
        torch.cuda.synchronize()
        back.sum().item()


@workload(profile_memory=True, **GPU)
def gpu_reading(prof):
    """What waits for the GPU: sizes, single numbers, copies to memory that is
    pageable or pinned."""
    x = torch.randn(64, 64, device="cuda")
    pinned = torch.empty(64, 64, pin_memory=True)
    for _ in range(2):
        x.nonzero()
        x[x > 1].sum()
        float(x.max())
        x.cpu()
        pinned.copy_(x, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        torch.zeros(64, 64).cuda()
        x.tolist()


@workload(profile_memory=True, with_stack=True, **GPU)
def gpu_memory(prof):
    kept = []
    for i in range(3):
        with record_function("leak"):
            kept.append(torch.empty(1 << 18 << i, device="cuda"))
        with record_function("allocate and free"):
            torch.empty(3 << 20, device="cuda").fill_(1)
        torch.cuda.empty_cache()
    del kept


@workload(**GPU)
def gpu_threads(prof):
    def work(size):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            a = torch.randn(size, size, device="cuda")
            for _ in range(4):
                a = (a @ a).relu()
            a.sum().item()
    threads = [threading.Thread(target=work, args=(size,)) for size in (24, 32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@workload(gpu=True, only_gpu=True)
def gpu_alone(prof):
    """No activity of the CPU is recorded."""
    with record_function("not recorded"):
        for _ in range(3):
            torch.ones(64, device="cuda").add(1).sum().item()


@workload(cold=True, with_stack=True, **GPU)
def gpu_cold(prof):
    """What no one used before: modules are loaded."""
    x = torch.randn(33, 33, device="cuda", dtype=torch.float64)
    torch.linalg.inv(x).sort().values.cumsum(0).sum().item()
    torch.fft.fft(x).abs().median().item()


@workload(**GPU)
def gpu_foreach(prof):
    lists = [torch.randn(1 + i % 7, 3, device="cuda") for i in range(40)]
    torch._foreach_add_(lists, 1.0)
    torch._foreach_norm(lists)
    torch.cat([t.flatten() for t in lists])


@workload(**GPU)
def gpu_compiled(prof):
    pass


@workload(**GPU)
def gpu_compiled_graphs(prof):
    """Compiled, and replayed as CUDA graphs."""


@workload(**GPU)
def gpu_nccl(prof):
    import torch.distributed as dist
    x = torch.ones(1024, device="cuda")
    for _ in range(2):
        dist.all_reduce(x)
        dist.all_gather_into_tensor(torch.empty_like(x), x)
        dist.barrier()


@workload(record_shapes=True, gpu=True, with_stack=True, overloads=True)
def gpu_overloads(prof):
    overloads_of(lambda *shape, **of: torch.ones(*shape, device="cuda", **of))


# ---- what torch says -------------------------------------------------------

FIELDS = ["key", "count", "device_type", "is_user_annotation", "is_async",
          "self_cpu_time_total", "cpu_time_total", "self_device_time_total",
          "device_time_total", "self_cpu_memory_usage", "cpu_memory_usage",
          "self_device_memory_usage", "device_memory_usage", "flops",
          "input_shapes", "stack", "overload_name"]
OLD_NAMES = {"self_device_time_total": "self_cuda_time_total",
             "device_time_total": "cuda_time_total",
             "self_device_memory_usage": "self_cuda_memory_usage",
             "device_memory_usage": "cuda_memory_usage"}

# How key_averages() groups, and the options of profan for it.
GROUPINGS = {"none": ({}, ""),
             "shape": ({"group_by_input_shape": True}, " --group-by-input-shape"),
             "overload": ({"group_by_overload_name": True}, " --group-by-overload-name"),
             "stack5": ({"group_by_stack_n": 5}, " --group-by-stack 5")}

# Arguments of table(), and the options of profan for them.
TABLES = [
    ("none", dict(sort_by="self_cpu_time_total", row_limit=-1), "--sort self_cpu_time_total --limit -1"),
    ("none", dict(sort_by="cpu_time_total", row_limit=8), "--sort cpu_time_total --limit 8"),
    ("none", dict(sort_by="cpu_time", row_limit=5), "--sort cpu_time --limit 5"),
    ("none", dict(sort_by="count"), "--sort count"),
    ("none", dict(row_limit=-1), "--limit -1"),
    ("none", dict(sort_by="self_cpu_memory_usage", row_limit=20), "--sort self_cpu_memory_usage --limit 20"),
    ("none", dict(sort_by="cpu_memory_usage", row_limit=6), "--sort cpu_memory_usage --limit 6"),
    ("none", dict(sort_by="self_cuda_time_total", row_limit=3), "--sort self_cuda_time_total --limit 3"),
    ("none", dict(sort_by="cpu_time_total", top_level_events_only=True), "--sort cpu_time_total --top-level"),
    ("none", dict(sort_by="cpu_time_total", row_limit=2, header="HEADER"), "--sort cpu_time_total --limit 2 --header HEADER"),
    ("none", dict(sort_by="count", row_limit=40, max_name_column_width=20), "--sort count --limit 40 --max-name-width 20"),
    ("shape", dict(sort_by="cpu_time_total", row_limit=-1), "--sort cpu_time_total --limit -1"),
    ("shape", dict(sort_by="self_cpu_time_total", row_limit=10, max_shapes_column_width=30),
     "--sort self_cpu_time_total --limit 10 --max-shapes-width 30"),
    ("stack5", dict(sort_by="self_cpu_time_total", row_limit=12), "--sort self_cpu_time_total --limit 12"),
    ("stack5", dict(sort_by="cpu_time_total", row_limit=4, max_src_column_width=30),
     "--sort cpu_time_total --limit 4 --max-src-width 30"),
]
OVERLOADS = [("overload", dict(sort_by="cpu_time_total", row_limit=-1), "--sort cpu_time_total --limit -1"),
             ("none", dict(sort_by="flops", row_limit=5), "--sort flops --limit 5"),
             ("none", dict(sort_by="key", row_limit=30), "--sort key --limit 30"),
             ("none", dict(sort_by="count", row_limit=4, header=""), "--sort count --limit 4 --header="),
             ("none", dict(sort_by="count", max_name_column_width=1), "--sort count --max-name-width 1")]
ON_GPU = [("none", dict(sort_by=f"{sort}", row_limit=limit), f"--sort {sort} --limit {limit}")
          for sort in ("self_cuda_time_total", "cuda_time_total", "cuda_time", "self_cuda_memory_usage",
                       "cuda_memory_usage", "self_device_time_total", "device_time_total")
          for limit in (36, 7)]
ON_GPU += [("shape", dict(sort_by="cuda_time_total", row_limit=-1), "--sort cuda_time_total --limit -1"),
           ("stack5", dict(sort_by="self_cuda_time_total", row_limit=9), "--sort self_cuda_time_total --limit 9"),
           ("none", dict(sort_by="self_cuda_time_total", top_level_events_only=True),
            "--sort self_cuda_time_total --top-level")]
UNITS = [("none", dict(sort_by="cpu_time_total", row_limit=6, time_unit=unit),
          f"--sort cpu_time_total --limit 6 --time-unit {unit}") for unit in ("s", "ms", "us")]


def field(row, name):
    value = getattr(row, name, None)
    if value is None and name in OLD_NAMES:
        value = getattr(row, OLD_NAMES[name], None)
    if name == "stack":
        return json.dumps(value or [])
    if name == "device_type":
        return value.name
    return "" if value is None else str(int(value) if isinstance(value, bool) else value)


def write_averages(prof, name, path):
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out.writerow(["grouping"] + FIELDS)
    for grouping, (arguments, _) in GROUPINGS.items():
        if grouping == "overload" and name not in NAMED_APART:
            continue
        for row in prof.key_averages(**arguments):
            out.writerow([grouping] + [field(row, f) for f in FIELDS])
    with zipped(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def write_tables(prof, name, path):
    texts = []
    more = (UNITS if RELEASE >= (2, 10) else []) + (OVERLOADS if name in NAMED_APART else [])
    more += ON_GPU if name.startswith("gpu_") else []
    for grouping, arguments, options in TABLES + more:
        how, more = GROUPINGS[grouping]
        text = prof.key_averages(**how).table(**arguments)
        texts.append(f"### {options}{more}\n{text}")
    with zipped(path) as file:
        file.write("".join(texts).encode("utf-8", "surrogateescape"))


@contextlib.contextmanager
def zipped(path):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        yield file


def write_trace(prof, path, by_python):
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "trace.json")
        prof.export_chrome_trace(plain, **({"use_python_export": True} if by_python else {}))
        with open(plain, "rb") as source, zipped(path) as file:
            shutil.copyfileobj(source, file)
    if os.path.getsize(path) > LIMIT_BYTES:
        print(f"{path}: {os.path.getsize(path)} bytes", flush=True)


def write_truth(prof, name, asked, path):
    averages = prof.key_averages()
    truth = {"workload": name, "torch": torch.__version__, "python": platform.python_version(),
             "asked": {key: str(value) for key, value in asked.items() if key != "schedule"},
             "rows": len(averages),
             "self_cpu_time_total_us": averages.self_cpu_time_total}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=1)
        file.write("\n")


def write_all(prof, name, asked, folder):
    os.makedirs(folder, exist_ok=True)
    write_trace(prof, os.path.join(folder, "trace.json.gz"), asked.get("by_python", False))
    write_averages(prof, name, os.path.join(folder, "averages.csv.gz"))
    write_tables(prof, name, os.path.join(folder, "tables.txt.gz"))
    write_truth(prof, name, asked, os.path.join(folder, "truth.json"))


# ---- running ---------------------------------------------------------------

def profiler(asked):
    """profile() with what this release knows of the arguments."""
    asked = dict(asked)
    asked.pop("by_python", None)
    config = {}
    if asked.pop("verbose", False):
        config["verbose"] = True
    if asked.pop("all_threads", False):
        config["profile_all_threads"] = True
    if asked.pop("overloads", False):
        config["capture_overload_names"] = True
    if asked.pop("collects", False):
        config["record_python_gc_info"] = True
    if asked.pop("adjusts", False):
        config["adjust_timestamps"] = True
    if asked.pop("syncs", False):
        config["enable_cuda_sync_events"] = True
    asked.pop("cold", None)
    activities = CPU + CUDA if asked.pop("gpu", False) else CPU
    if asked.pop("only_gpu", False):
        activities = CUDA
    if config:
        asked["experimental_config"] = torch._C._profiler._ExperimentalConfig(**config)
    return profile(activities=activities, **asked)


def prepare_compiled(device="cpu", **how):
    """The function of "compiled", compiled before the window."""
    def step(x):
        return (x.sin() + x.cos() * 2).sum()
    function = torch.compile(step, **how)
    x = torch.randn(32, requires_grad=True, device=device)

    def learn():
        x.grad = None
        torch.compiler.cudagraph_mark_step_begin()
        function(x).backward()
    for _ in range(4):
        learn()

    def run(prof):
        for _ in range(3):
            with record_function("compiled step"):
                learn()
    return run


def alone():
    """A group of one process."""
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000))
    dist.init_process_group("nccl", rank=0, world_size=1)
    dist.all_reduce(torch.ones(1, device="cuda"))


PREPARED = {"compiled": prepare_compiled,
            "gpu_compiled": functools.partial(prepare_compiled, "cuda"),
            "gpu_compiled_graphs": functools.partial(prepare_compiled, "cuda", mode="reduce-overhead"),
            "gpu_nccl": alone}


def run(name, folder):
    function, asked = WORKLOADS[name]
    if name in PREPARED:
        function = PREPARED[name]() or function
    elif asked.get("gpu") and "schedule" not in asked and not asked.get("cold"):
        function(None)  # code is loaded at its first use
    if asked.get("gpu"):
        torch.cuda.synchronize()
    with profiler(asked) as prof:
        function(prof)
    write_all(prof, name, asked, folder)


def run_rank(rank, port, folder):
    """One of two processes training the same model over gloo."""
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(ConvNet())
    asked = dict(record_shapes=True, **ONE_STEP)
    with profiler(asked) as prof:
        for _ in range(3):
            model(torch.randn(2, 3, 8, 8)).sum().backward()
            total = torch.ones(3)
            dist.all_reduce(total)
            prof.step()
    write_all(prof, f"ddp_{rank}", asked, f"{folder}_{rank}")
    dist.barrier()
    dist.destroy_process_group()


def run_ddp(folder):
    port = 20000 + os.getpid() % 20000
    torch.multiprocessing.spawn(run_rank, (port, folder), nprocs=2)


def ordered():
    names = [name for name, (_, asked) in WORKLOADS.items() if name not in LAST and not asked.get("gpu")]
    names += ["ddp"] + LAST
    return [name for name in names if RELEASE >= SINCE.get(name, RELEASE)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names = sys.argv[2:] or ordered()
    if names == ["gpu"]:
        names = [name for name, (_, asked) in WORKLOADS.items() if asked.get("gpu")]
    for name in names:
        folder = os.path.join(sys.argv[1], name)
        try:
            run_ddp(folder) if name == "ddp" else run(name, folder)
            print("ok", name, flush=True)
        except Exception:
            shutil.rmtree(folder, ignore_errors=True)
            print("FAILED", name, traceback.format_exc(), flush=True)


if __name__ == "__main__":
    main()
