#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mkpath.py PROGRAM OUT.json [records] [jitter] [contention]

Runs a small program on a machine of our own (threads, streams, a launch queue
without end, blocking calls), writes its trace, runs it again with something
changed, and prints as JSON the change as `profan path --what-if` asks for it,
with the time that both runs took (ns).  "records": with what cuda_sync records
tell; "jitter": every time is off by up to a fifth, in both runs alike; "contention": work of two
streams at a time takes 1.3 times as long.  mkpath.py --list names programs.
"""
import json
import random
import sys

LAUNCH, RETURN, GAP, DELAY = 4000, 5000, 1000, 6000
STEPS, ROUNDS = 3, 24


class Machine:
    def __init__(self, options):
        self.random = random.Random(1)
        self.jitter = 0.2 if "jitter" in options else 0.0
        self.slower = 1.3 if "contention" in options else 1.0
        self.records = "records" in options
        self.events, self.free, self.busy = [], {}, []
        self.now, self.thread, self.number = 1_000_000, 1, 100
        self.marks, self.waits = {}, {}

    def off(self, ns):
        return max(1, int(ns * (1 + self.jitter *
                                self.random.uniform(-1, 1))))

    def put(self, cat, name, start, end, pid=1, tid=None, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                            "tid": self.thread if tid is None else tid,
                            "ts": start, "dur": end - start, "args": args})

    def api(self, name, ns, **args):
        start, self.now = self.now, self.now + ns
        self.number += 1
        self.put("cuda_runtime", name, start, self.now,
                 correlation=self.number, **args)
        return self.number

    def op(self, name, ns, inside=None, cat="cpu_op"):
        took, start = self.off(ns), self.now
        if ns <= 0:
            return
        self.now += took
        if inside:
            inside()
        self.put(cat, name, start, self.now)

    def launch(self, name, ns, stream=7, waits=False):
        called, self.now = self.now, self.now + self.off(LAUNCH)
        self.number += 1
        start = max(called + self.off(DELAY),
                    self.free.get(stream, 0) + GAP,
                    self.waits.pop(stream, 0))
        end = start + self.off(ns)
        if any(s != stream and a < end and z > start
               for a, z, s in self.busy[-64:]):
            end = start + int((end - start) * self.slower)
        self.free[stream] = end
        self.busy.append((start, end, stream))
        if waits:
            self.now = max(self.now, end + RETURN)
        self.put("cuda_runtime",
                 "cudaMemcpyAsync" if waits else "cudaLaunchKernel",
                 called, self.now, correlation=self.number)
        if ns:
            self.put("gpu_memcpy" if waits else "kernel", name, start, end,
                     pid=0, tid=stream, correlation=self.number, device=0,
                     stream=stream)

    def after(self, source, stream):
        """What is launched to a stream next waits for another."""
        mark = self.api("cudaEventRecord", LAUNCH // 4)
        end = self.free.get(source, 0)
        start = self.now
        number = self.api("cudaStreamWaitEvent", LAUNCH // 4)
        self.waits[stream] = max(self.waits.get(stream, 0), end)
        if self.records:
            self.put("cuda_sync", "Stream Wait Event", start, start + 1000,
                     pid=0, tid=stream, correlation=number, device=0,
                     stream=stream, wait_on_stream=source,
                     wait_on_cuda_event_record_corr_id=mark)

    def sync(self, stream=None):
        start = self.now
        last = max(self.free.values()) if stream is None \
            else self.free.get(stream, 0)
        number = self.api("cudaDeviceSynchronize" if stream is None
                          else "cudaStreamSynchronize",
                          max(LAUNCH, last + RETURN - start))
        if self.records and stream is not None:
            self.put("cuda_sync", "Stream Sync", start, self.now, pid=0,
                     tid=stream, correlation=number, device=0, stream=stream)


LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def run(machine, plan, factor):
    """plan: what a program does; factor: of what is changed, by name."""
    def times(what):
        return plan.get(what, 0) * factor.get(what, 1)

    def forward():
        for i in range(ROUNDS):
            for _ in range(plan.get("small_count", 0)):
                machine.op("aten::add", times("add"), lambda: machine.launch(
                    "small_kernel", times("small")))
            if "big" in plan:
                machine.op("aten::mm", times("mm"), lambda: machine.launch(
                    "big_kernel", times("big")))
            if "comm" in plan and i % 4 == 3:
                machine.op("c10d::allreduce_", 8000, reduce)
            if "item" in plan and i % 6 == 5:
                machine.op("aten::item", times("item"), read)

    def reduce():
        machine.after(7, 20)
        machine.launch("ncclDevKernel_AllReduce", times("comm"), 20)
        if plan.get("joined"):
            machine.after(20, 7)

    def read():
        if factor.get("item", 1):
            machine.sync(7)

    def backward():
        main, machine.thread = machine.thread, 2
        machine.now += 10_000
        for _ in range(ROUNDS):
            machine.op("aten::mm", times("mm"), lambda: machine.launch(
                "backward_kernel", times("back")))
        machine.thread = main
        machine.now += 10_000

    for step in range(STEPS):
        start = machine.now
        if "data" in plan:
            machine.op(LOADER, times("data"), cat="user_annotation")
        machine.op("aten::to", 3000, lambda: machine.launch(
            "Memcpy HtoD (Pageable -> Device)", 60_000, waits=True))
        forward()
        if "back" in plan:
            backward()
        if step == STEPS - 1:
            machine.sync()
        machine.put("user_annotation", f"ProfilerStep#{step}", start,
                    machine.now)
    return max([machine.now, *machine.free.values()]) - 1_000_000


ADD = {"small_count": 2, "add": 20_000, "small": 3000}
MM = {"mm": 20_000, "big": 80_000}
NO_WAIT = "op:aten::item=0;sync=off"
PROGRAMS = {
    # name: plan, what is changed, the question
    "small_gone": (ADD, {"small": 0}, "gpu:small_kernel=0"),
    "host_half": (ADD, {"add": 0.5}, "host:^aten::add$=0.5"),
    "gpu_half": (MM, {"big": 0.5}, "gpu:big_kernel=0.5"),
    "host_half_hidden": (MM, {"mm": 0.5}, "host:^aten::mm$=0.5"),
    "host_shows": (MM, {"big": 0.1}, "gpu:big_kernel=0.1"),
    "data_gone": ({**ADD, "data": 900_000}, {"data": 0}, "data=0"),
    "data_half": ({**MM, "data": 500_000}, {"data": 0.5}, "data=0.5"),
    "data_hidden": ({**MM, "data": 90_000}, {"data": 0}, "data=0"),
    "item_gone": ({**MM, "item": 9000}, {"item": 0}, NO_WAIT),
    "comm_gone": ({**MM, "comm": 150_000, "joined": 1}, {"comm": 0},
                  "gpu:nccl=0"),
    "comm_half": ({**MM, "comm": 300_000, "joined": 1}, {"comm": 0.5},
                  "class:comm=0.5"),
    "comm_hidden_gone": ({**MM, "comm": 90_000}, {"comm": 0}, "gpu:nccl=0"),
    "comm_shows": ({**MM, "comm": 290_000}, {"big": 0.25},
                   "gpu:big_kernel=0.25"),
    "backward_half": ({**MM, "back": 30_000}, {"mm": 0.5},
                      "host:^aten::mm$=0.5"),
    "backward_gpu": ({**MM, "back": 120_000}, {"back": 0.5},
                     "gpu:backward_kernel=0.5"),
}


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def write(path, events):
    lines = []
    for e in events:
        times = f'"ts": {us(e.pop("ts"))}, "dur": {us(e.pop("dur"))}, '
        lines.append("{" + times + json.dumps(e)[1:])
    with open(path, "w") as f:
        f.write('{"schemaVersion": 1, "deviceProperties": [],\n'
                '"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n")


def main():
    if sys.argv[1] == "--list":
        print("\n".join(PROGRAMS))
        return
    plan, factor, question = PROGRAMS[sys.argv[1]]
    options = sys.argv[3:]
    machine = Machine(options)
    took = run(machine, plan, {})
    write(sys.argv[2], machine.events)
    print(json.dumps({"question": question, "ns": took,
                      "true_ns": run(Machine(options), plan, factor)}))


if __name__ == "__main__":
    main()
