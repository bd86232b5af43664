# SPDX-License-Identifier: MIT
"""Real programs on the CPU, before and after one change: what torch's profiler
records of them, and what is advised.

usage: changes.py list                     names of programs, a line each
       changes.py NAME before|after COUNT FOLDER
            writes FOLDER/NAME-SIDE-N.json, N below COUNT, of STEPS steps each
       changes.py judge PROFAN FOLDER      a result for each program

Of the medians of all captures: the change is no more than what is said at most,
and no less than what is said at least.  What no trace says (that a program's
caches are colder, that others use the processors) is given a tenth.  And "diff" of both sides names the change first.
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

HERE = sys.path.pop(0)  # scripts there have names of modules

STEPS = 6

# NAME: what must be advised first, before the change, and what diff must say.
CAUSES = {
    "workers": ("A1", r"loading data: .*\(.* in enumerate\(DataLoader\)"),
    "sleep": ("A1", r"loading data: .*__getitem__ in enumerate\(DataLoader\)"),
    "loop": ("A21", r":\d+ weigh\)$"),
    "item": ("A21", r"\(aten::item in .*:\d+ norm\)$"),
    "logging": ("A18", "torch/_tensor_str.py"),
    "batch": ("A21", r"shapes are different \(aten::\w+ .*->"),
    "optimizer": ("A8", r"in torch/optim/adam.py:\d+ _single_tensor_adam\)$"),
    "compile": ("A21", r"\(aten::\w+ in .*:\d+ wave\)$"),
    "gloo": ("A13", r"in communication alone: .*\(gloo:all_reduce\)$")}


def model(torch, width=256, layers=3):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(width, 10))


class Train:
    """A training loop; what is changed are its parts."""

    def __init__(self, torch, batch=64):
        self.torch, self.batch = torch, batch
        self.model = model(torch)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.randn(batch, 256)

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
        self.learn(next(self.batches))


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


def program(torch, name, is_changed, rank):
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

SLACK = 0.1


def told(profan, command, *dbs):
    return json.loads(subprocess.run(
        [profan, command, "-f", "json", *dbs], check=True,
        capture_output=True).stdout)


def step_times(profan, db):
    steps = told(profan, "steps", db)["tables"]["steps"]
    return [row["dur_ns"] for row in steps if not row["is_partial"]]


def judge(profan, folder, name, rule, culprit):
    """Lines that say what is wrong, and one with the figures."""
    times, most, least, first, dbs = {}, [], [], [], {}
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
            first.append(given[0]["id"] if given else "nothing")
            most.append((row["at_most_ns"] if row else 0) / STEPS)
            least.append((row and row["likely_ns"] or 0) / STEPS)
    if not times["before"] or not times["after"]:
        return ["nothing was recorded"], ""
    before, after = (statistics.median(times[side]) for side in times)
    most, least = statistics.median(most), statistics.median(least)
    bad = []
    if 2 * first.count(rule) <= len(first):
        bad.append(f"first is {first}, not {rule}")
    if before - after > most * (1 + SLACK):
        bad.append("more is saved than is said at most")
    if before - after < least * (1 - SLACK):
        bad.append("less is saved than is said at least")
    found = told(profan, "diff", *dbs["before"], "--", *dbs["after"])
    found = found["scalars"]["finding"]
    if not re.search(culprit, found):
        bad.append(f"diff says: {found}")
    figures = [f"{ns / 1e6:.2f}" for ns in
               (before, after, before - after, least, most)]
    return bad, (f"{name}: {rule} first in {first.count(rule)} of "
                 f"{len(first)}; {figures[0]} ms a step, then {figures[1]}: "
                 f"saved {figures[2]}, said {figures[3]} to {figures[4]}")


def main():
    if sys.argv[1] == "list":
        print("\n".join(CAUSES))
    elif sys.argv[1] == "judge":
        sys.path.insert(0, HERE)
        from results import say

        for name, (rule, culprit) in CAUSES.items():
            bad, figures = judge(*sys.argv[2:4], name, rule, culprit)
            say(f"advice on {name}", bad)
            print("#", figures)
    else:
        (ranked if sys.argv[1] == "gloo" else capture)(
            *sys.argv[1:3], int(sys.argv[3]), sys.argv[4],
            *map(int, sys.argv[5:]))


if __name__ == "__main__":
    main()
