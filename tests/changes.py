# SPDX-License-Identifier: MIT
"""Real programs, before and after one change: what torch's profiler records of
them, and what is advised.

usage: changes.py list [gpu]               names of programs, a line each: on the
                                           CPU, or with a GPU
       changes.py NAME before|after COUNT FOLDER
            writes FOLDER/NAME-SIDE-N.json, N below COUNT, of STEPS steps each
       changes.py judge PROFAN FOLDER [gpu]
                                           a result for each program

Of the medians of all captures: the change is no more than what is said at most,
and no less than what is said at least, where all else takes as long as it did.
Beside a GPU what is left on the host may run twice as fast without what is gone,
and no trace says so: after the change a step counts as no shorter than what the
host does on the path before it, as often as in the capture after it.  What is
rounded, or has another name, is given a tenth; where the sentence says likely, a
quarter.  And "diff" of both sides names the change first.
"""
import glob
import json
import logging
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter

HERE = sys.path.pop(0)  # scripts there have names of modules

STEPS = 6

# NAME: what must be advised first, before the change, and what diff must say.
CAUSES = {
    "workers": ("A1", r"loading data: .*\(.* in enumerate\(DataLoader\)"),
    "sleep": ("A1", r"loading data: .*__getitem__ in enumerate\(DataLoader\)"),
    "loop": ("A21", r":\d+ weigh\)$"),
    # row[i], which goes with item(), takes longer than that
    "item": ("A21", r"\(aten::select in .*:\d+ norm\)$"),
    "logging": ("A18", "torch/_tensor_str.py"),
    "batch": ("A21", r"shapes are different \(aten::\w+ .*->"),
    "optimizer": ("A8", r"in torch/optim/adam.py:\d+ _single_tensor_adam\)$"),
    "compile": ("A21", r"\(aten::\w+ in .*:\d+ wave\)$"),
    "gloo": ("A13", r"in communication alone: .*\(gloo:all_reduce\)$"),
    "gpu_workers": ("A1", r"loading data: .*\(.* __getitem__\)$"),
    "gpu_copies": ("A2", r"in copies"),
    "gpu_item": ("A3", r"in calls of the runtime: .*:\d+ (norm|<genexpr>)\)$"),
    "gpu_launch": ("A4", r"on the CPU: .* in .* <lambda>\)$"),
    "gpu_tf32": ("A6", r"in kernels"),
    "gpu_bf16": ("A6", r"in kernels"),
    "gpu_odd": ("A23", r"in kernels"),
    "gpu_attention": ("A7", r"in kernels"),
    "gpu_optimizer": ("A8", r" in .*:\d+ step\)$"),
    "gpu_layout": ("A9", r"in kernels"),
    "gpu_casts": ("A10", r"in kernels"),
    "gpu_alloc": ("A12", r"calls of the runtime"),
    "gpu_gc": ("A14", r"garbage collection in .*:\d+ work\)$"),
    "gpu_zero": ("A15", r" in .*:\d+ work\)$"),
    "gpu_index": ("A17", r"in kernels"),
    "gpu_logging": ("A18", r" in logging/__init__.py"),
    "gpu_pointwise": ("A19", r"in kernels"),
    "gpu_loop": ("A21", r"python in .*:\d+ weigh\)$")}

DEVICE = "cpu"


def model(torch, width=256, layers=3):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(width, 10))


class Train:
    """A training loop; what is changed are its parts."""

    def __init__(self, torch, batch=64):
        self.torch, self.batch = torch, batch
        self.model = model(torch).to(DEVICE)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.randn(batch, 256, device=DEVICE)

    def learn(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self):
        self.learn(self.x)


class Images:
    """What a loader decodes: a few ms of one core a batch."""

    def __init__(self, torch, sleep):
        self.torch, self.sleep = torch, sleep

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        if self.sleep is not None:
            time.sleep(self.sleep)
            return self.torch.full((256,), i * 1e-6)
        x = [((i + k) * 2654435761 % 1000) * 1e-3 for k in range(2048)]
        return self.torch.tensor(x[:256])


class Loading(Train):
    def __init__(self, torch, workers, sleep=None):
        super().__init__(torch, 16)
        self.batches = iter(torch.utils.data.DataLoader(
            Images(torch, sleep), batch_size=16, num_workers=workers))

    def step(self):
        self.learn(next(self.batches).to(DEVICE))


class Looping(Train):
    def __init__(self, torch, slow):
        super().__init__(torch)
        self.slow = slow

    def weigh(self):
        total = 0.0
        for i in range(100000):
            total += i * 1e-9
        return total

    def step(self):
        if self.slow:
            self.weigh()
        self.learn(self.x)


class Logging(Train):
    def __init__(self, torch, often):
        super().__init__(torch)
        self.often = often
        self.log = logging.getLogger("changes")
        self.log.propagate = False
        self.log.setLevel(logging.INFO)
        self.log.addHandler(logging.FileHandler(os.devnull))

    def step(self):
        loss = self.learn(self.x).item()
        for _ in range(self.often):
            self.log.info("the loss is %g: %s", loss, self.x)


class Reading(Train):
    """A norm is summed up on the host, number by number."""

    def __init__(self, torch, often):
        super().__init__(torch)
        self.often = often

    def norm(self, x):
        total = 0.0
        for row in x[:self.often]:
            for i in range(16):
                total += row[i].item()
        return total

    def step(self):
        if self.often:
            self.norm(self.x)
        self.learn(self.x)


class Batching(Train):
    """64 samples a step: in parts, or together."""

    def __init__(self, torch, parts):
        super().__init__(torch, 64)
        self.parts = self.x.chunk(parts)

    def step(self):
        for x in self.parts:
            self.learn(x)


class Optimizing(Train):
    def __init__(self, torch, fused):
        super().__init__(torch, 4)
        self.model = torch.nn.ModuleList(
            torch.nn.Linear(32, 32) for _ in range(40))
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), foreach=False, fused=fused)
        self.x = torch.randn(4, 32)

    def learn(self, x):
        self.optimizer.zero_grad()
        for layer in self.model:
            x = layer(x)
        x.square().mean().backward()
        self.optimizer.step()


class Compiling(Train):
    def __init__(self, torch, is_compiled):
        super().__init__(torch)
        self.x = torch.randn(512, 2048)

        def wave(x):
            for _ in range(8):
                x = (x * 0.5 + 0.1).clamp(-1, 1) - x * x * 0.25
            return x.sum()

        self.wave = torch.compile(wave) if is_compiled else wave

    def step(self):
        with self.torch.no_grad():
            self.wave(self.x)


class Ranked(Train):
    """Gradients of two ranks, of which one comes late."""

    def __init__(self, torch, rank, late):
        super().__init__(torch)
        self.late = late if rank else 0
        self.model = torch.nn.parallel.DistributedDataParallel(self.model)

    def step(self):
        time.sleep(self.late)
        self.learn(self.x)


class Working(Train):
    """A step on the GPU of work(): what is changed is that."""

    def __init__(self, torch, work):
        super().__init__(torch)
        self.work = work

    def step(self):
        self.learn(self.x)
        self.work()


def on_gpu(torch, name, is_changed):
    def made(*shape, **of):
        return torch.randn(*shape, device="cuda", **of)

    def copying():
        host = torch.randn(256, 3, 224, 224)
        host = host.pin_memory() if is_changed else host
        return lambda: host.to("cuda", non_blocking=is_changed)

    def reading():
        x = made(256)
        numbers = list(x)

        def norm():
            return x.sum() if is_changed else sum(
                one.item() for one in numbers)
        return norm

    def launching():
        layers = torch.nn.Sequential(
            *[torch.nn.Linear(64, 64) for _ in range(100)]).cuda()
        x = made(8, 64)
        if is_changed:
            layers = torch.cuda.make_graphed_callables(layers, (x,))
        return lambda: layers(x)

    def products(dtype=torch.float32, precision="highest", n=4096):
        a, b = made(n, n, dtype=dtype), made(n, n, dtype=dtype)
        torch.set_float32_matmul_precision(precision)

        def work():
            for _ in range(4):
                a @ b
        return work

    def attention():
        q, k, v = (made(64, 16, 1024, 64, dtype=torch.bfloat16)
                   for _ in range(3))

        def plain():
            (q @ k.transpose(-1, -2) * 0.125).softmax(-1) @ v
        fused = torch.nn.functional.scaled_dot_product_attention
        return (lambda: fused(q, k, v)) if is_changed else plain

    def optimizing():
        model = torch.nn.ModuleList(
            torch.nn.Linear(32, 32) for _ in range(40)).cuda()
        for p in model.parameters():
            p.grad = torch.ones_like(p)
        return torch.optim.Adam(model.parameters(), foreach=False,
                                fused=is_changed).step

    def layout():
        conv = torch.nn.Sequential(*[torch.nn.Conv2d(64, 64, 3, padding=1)
                                     for _ in range(8)]).cuda().half()
        x = made(128, 64, 112, 112, dtype=torch.float16)
        if is_changed:
            conv = conv.to(memory_format=torch.channels_last)
            x = x.to(memory_format=torch.channels_last)
        with torch.no_grad():
            conv(x)
        return torch.no_grad()(lambda: conv(x))

    def casts():
        x = made(32768, 32768)
        w = made(32768, 16).half()
        y = x.half()

        def work():
            for _ in range(4):
                (y if is_changed else x.half()) @ w
        return work

    def allocating():
        def work():
            for _ in range(16):
                made(1 << 26)
                if not is_changed:
                    torch.cuda.empty_cache()
        return work

    def collecting():
        import gc
        kept = [[i] for i in range(200000)]

        def work():
            made(16)
            if not is_changed:
                gc.collect()
            return kept
        return work

    def zeroing():
        model = torch.nn.ModuleList(
            torch.nn.Linear(2048, 2048) for _ in range(100)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0)
        for p in model.parameters():
            p.grad = torch.zeros_like(p)

        def work():
            optimizer.zero_grad(set_to_none=is_changed)
        return work

    def indexing():
        table = torch.nn.Embedding(1000, 512, sparse=is_changed).cuda()
        at = torch.zeros(1 << 18, dtype=torch.long, device="cuda")

        def work():
            table.weight.grad = None
            table(at).sum().backward()
        return work

    def waving():
        x = made(8192, 8192)

        def wave(x):
            for _ in range(8):
                x = (x * 0.5 + 0.1).clamp(-1, 1) - x * x * 0.25
            return x
        wave = torch.compile(wave) if is_changed else wave
        return lambda: wave(x)

    return {
        "copies": copying, "item": reading, "launch": launching,
        "attention": attention, "optimizer": optimizing,
        "tf32": lambda: products(precision="high" if is_changed else "highest"),
        "bf16": lambda: products(
            torch.bfloat16 if is_changed else torch.float32),
        "odd": lambda: products(torch.bfloat16,
                                n=4096 if is_changed else 4095),
        "layout": layout, "casts": casts, "alloc": allocating,
        "gc": collecting, "zero": zeroing, "index": indexing,
        "pointwise": waving}[name]()


def program(torch, name, is_changed, rank):
    if name.startswith("gpu_"):
        name = name[len("gpu_"):]
        if name not in ("workers", "logging", "loop"):
            return Working(torch, on_gpu(torch, name, is_changed))
    return {
        "workers": lambda: Loading(torch, 2 if is_changed else 0),
        "sleep": lambda: Loading(torch, 0, 0 if is_changed else 0.0005),
        "loop": lambda: Looping(torch, not is_changed),
        "item": lambda: Reading(torch, 0 if is_changed else 64),
        "logging": lambda: Logging(torch, 0 if is_changed else 3),
        "batch": lambda: Batching(torch, 1 if is_changed else 16),
        "optimizer": lambda: Optimizing(torch, is_changed),
        "compile": lambda: Compiling(torch, is_changed),
        "gloo": lambda: Ranked(torch, rank, 0 if is_changed else 0.01),
    }[name]()


def capture(name, side, count, folder, rank=0):
    import torch
    global DEVICE

    DEVICE = "cuda" if name.startswith("gpu_") else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    p = program(torch, name, side == "after", rank)
    for _ in range(10):
        p.step()
    for n in range(count):
        with torch.profiler.profile(
                schedule=torch.profiler.schedule(wait=1, warmup=1,
                                                 active=STEPS),
                record_shapes=True, with_stack=True) as prof:
            for _ in range(STEPS + 2):
                p.step()
                prof.step()
        if not rank:
            prof.export_chrome_trace(f"{folder}/{name}-{side}-{n}.json")


def ranked(name, side, count, folder, rank=0):
    """Rank 0, which starts rank 1 and is what is recorded."""
    import torch

    other = None if rank else subprocess.Popen(
        [sys.executable, __file__, *sys.argv[1:], "1"])
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/{name}-{side}.meet",
        rank=rank, world_size=2)
    capture(name, side, count, folder, rank)
    torch.distributed.destroy_process_group()
    return other.wait() if other else 0


# ---- what is said of them ----

SLACK, LIKELY = 0.1, 0.25

# Of the critical path: what the host does itself; from thread to thread it goes
# as often, and has no name.
HOST = {"operators", "python", "runtime", "range", "launch call", "handoff"}


def told(profan, command, *dbs):
    return json.loads(subprocess.run(
        [profan, command, "-f", "json", *dbs], check=True,
        capture_output=True).stdout)


def step_times(profan, db):
    steps = told(profan, "steps", db)["tables"]["steps"]
    return [row["dur_ns"] for row in steps if not row["is_partial"]]


def counts(file):
    """How often things are recorded, as the path names them."""
    with open(file, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    return Counter(re.sub(r"\((\d+)\): ", r":\1 ", e["name"]) for e in events
                   if e["ph"] == "X" and "name" in e)


def left(profan, db, before, after):
    """Of a step's path before: what the host does after, too, as often."""
    rows = told(profan, "path", db, "--limit", "-1")["tables"]["rows"]
    return sum(r["ns"] * min(1, after[r["name"]] / (before[r["name"]] or 1))
               if r["name"] else r["ns"]
               for r in rows if r["category"] in HOST) / STEPS


def judge(profan, folder, name, rule, culprit):
    """Lines that say what is wrong, and one with the figures."""
    times, most, least, first, dbs, kept = {}, [], [], [], {}, []
    slack, done = SLACK, f"{folder}/{name}-after-0.json"
    done = counts(done) if os.path.exists(done) else Counter()
    for side in ("before", "after"):
        times[side], dbs[side] = [], []
        for file in sorted(glob.glob(f"{folder}/{name}-{side}-*.json")):
            db = file.replace(".json", ".db")
            subprocess.run([profan, "ingest", "-q", file, "-o", db], check=True)
            dbs[side].append(db)
            times[side] += step_times(profan, db)
            if side == "after":
                continue
            given = told(profan, "advise", db)["tables"]["advice"]
            row = next((r for r in given if r["id"] == rule), None)
            if name.startswith("gpu_"):
                kept.append(left(profan, db, counts(file), done))
            if row and "would likely be saved" in row["sentence"]:
                slack = LIKELY
            first.append(given[0]["id"] if given else "nothing")
            most.append((row["at_most_ns"] if row else 0) / STEPS)
            least.append((row and row["likely_ns"] or 0) / STEPS)
    if not times["before"] or not times["after"]:
        return ["nothing was recorded"], ""
    before, after = (statistics.median(times[side]) for side in times)
    most, least = statistics.median(most), statistics.median(least)
    saved = before - max(after, statistics.median(kept or [0]))
    bad = []
    if 2 * first.count(rule) <= len(first):
        bad.append(f"first is {first}, not {rule}")
    if saved > most * (1 + slack):
        bad.append("more is saved than is said at most")
    if before - after < least * (1 - SLACK):
        bad.append("less is saved than is said at least")
    found = told(profan, "diff", *dbs["before"], "--", *dbs["after"])
    found = found["scalars"]["finding"]
    if not re.search(culprit, found):
        bad.append(f"diff says: {found}")
    figures = [f"{ns / 1e6:.2f}" for ns in
               (before, after, saved, least, most)]
    return bad, (f"{name}: {rule} first in {first.count(rule)} of "
                 f"{len(first)}; {figures[0]} ms a step, then {figures[1]}: "
                 f"saved {figures[2]} by it, said {figures[3]} to {figures[4]}")


def main():
    if sys.argv[1] == "list":
        with_gpu = sys.argv[2:] == ["gpu"]
        print("\n".join(name for name in CAUSES
                        if name.startswith("gpu_") == with_gpu))
    elif sys.argv[1] == "judge":
        sys.path.insert(0, HERE)
        from results import say

        for name, (rule, culprit) in CAUSES.items():
            if name.startswith("gpu_") != (sys.argv[4:] == ["gpu"]):
                continue
            bad, figures = judge(*sys.argv[2:4], name, rule, culprit)
            say(f"advice on {name}", bad)
            print("#", figures)
    else:
        (ranked if sys.argv[1] == "gloo" else capture)(
            *sys.argv[1:3], int(sys.argv[3]), sys.argv[4],
            *map(int, sys.argv[5:]))


if __name__ == "__main__":
    main()
