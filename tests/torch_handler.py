# SPDX-License-Identifier: MIT
"""profan.torch with torch: torch_handler.py PROFAN, in an empty folder."""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time
import traceback

sys.path.pop(0)  # scripts beside this one have names of modules

import torch

import profan
import profan.torch

PROGRAM, = sys.argv[1:]
TESTS = []
ROUNDS = 7


def test(function):
    TESTS.append(function)
    return function


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.Sequential(
            *[torch.nn.Linear(64, 64) for _ in range(20)])

    def forward(self, x):
        return self.parts(x).square().mean()


MODEL = Net()
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.01)


def train(profiler, steps):
    for _ in range(steps):
        OPTIMIZER.zero_grad()
        MODEL(torch.randn(32, 64)).backward()
        OPTIMIZER.step()
        profiler.step()


def profiled(handle, steps=8, **options):
    """Seconds that the thread that trains spends in the handler."""
    spent = []

    def timed(prof):
        begin = time.perf_counter()
        handle(prof)
        spent.append(time.perf_counter() - begin)

    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU],
            schedule=torch.profiler.schedule(wait=0, warmup=1, active=steps,
                                             repeat=1),
            record_shapes=True, on_trace_ready=timed, **options) as profiler:
        train(profiler, steps + 1)
    assert len(spent) == 1, spent
    return spent[0]


def finished():
    """All that the handlers started is done."""
    for child, _, _ in profan.torch._children.running:
        child.wait()


def same_as_ingest(trace):
    subprocess.run([PROGRAM, "ingest", "-q", trace, "-o", "again.db"],
                   check=True)
    cap = profan.open(trace)
    assert not cap.messages, cap.messages  # it was read already
    rows = "SELECT id, name, start_ns, dur_ns FROM event ORDER BY id"
    assert cap.sql(rows).rows == profan.open("again.db").sql(rows).rows, trace


@test
def names_are_those_of_torch_s_own_handler():
    profiled(torch.profiler.tensorboard_trace_handler("theirs", "rank0"))
    profiled(profan.torch.handler("ours", "rank0"))
    profiled(torch.profiler.tensorboard_trace_handler("theirs"))
    profiled(profan.torch.handler("ours"))
    finished()

    def shapes(folder):
        return sorted(re.sub(r"\.\d+\.", ".N.", os.path.basename(name))
                      for name in glob.glob(folder + "/*.json"))

    assert shapes("ours") == shapes("theirs") and len(shapes("ours")) == 2, (
        shapes("ours"), shapes("theirs"))


@test
def databases_are_those_of_ingest():
    traces = glob.glob("ours/*.json")
    assert len(traces) == 2
    for trace in traces:
        same_as_ingest(trace)
        averages = profan.open(trace).table()
        assert "aten::addmm" in str(averages) or "aten::linear" in str(
            averages), averages


@test
def traces_go_when_their_database_was_checked():
    profiled(profan.torch.handler("gone", "w", keep_trace=False, report=True),
             profile_memory=True, with_stack=True)
    finished()
    names = [re.sub(r"\.\d+\.", ".N.", n) for n in sorted(os.listdir("gone"))]
    assert names == ["w.N.pt.trace.json.db", "w.N.pt.trace.json.html"], names
    database, = glob.glob("gone/*.db")
    info = profan.open(database).info(check=True)
    assert info.scalars["checked_count"] > 100, info.scalars


def say_what_training_loses():  # people judge times
    make = {"plain": lambda gz: torch.profiler.tensorboard_trace_handler(
                "time-theirs", "w", use_gzip=gz),
            "ours": lambda gz: profan.torch.handler("time-ours", "w", gz)}
    for gz in (False, True):
        spent = {name: [] for name in make}
        for _ in range(ROUNDS):
            for name, factory in make.items():
                spent[name].append(profiled(factory(gz), steps=40))
                finished()
        theirs, ours = (statistics.median(spent[n]) for n in ("plain", "ours"))
        size = max(map(os.path.getsize, glob.glob("time-theirs/*.json")))
        print(f"# torch {torch.__version__}, a trace of {size / 1e6:.1f} MB"
              f"{', as .gz' if gz else ''}: the training thread loses "
              f"{ours * 1000:.1f} ms, with tensorboard_trace_handler "
              f"{theirs * 1000:.1f} ms: {ours / theirs:.2f} of it")


@test
def compressed_traces_are_whole():
    profiled(profan.torch.handler("whole", "w", True))
    finished()
    trace, = glob.glob("whole/*.json.gz")
    same_as_ingest(trace)
    assert not glob.glob("whole/.*")


@test
def the_profiler_has_all_that_analyses_need():
    with profan.torch.profile(steps=3) as prof:
        train(prof, 5)
    assert prof.finding and "step" in prof.finding, prof.finding
    steps = prof.capture.info()["steps"].rows
    assert steps[0]["step_count"] == 3, steps
    checks = {row["check"]: row["verdict"]
              for row in prof.capture.doctor(all=True)["checks"]}
    assert not [n for n, v in checks.items() if v == "bad"], checks
    assert prof.capture.memory().document["tables"]["devices"]
    assert prof.capture.sql("SELECT count(*) AS n FROM frame")[0]["n"] > 0
    rows = prof.capture.table(group_by_input_shape=True)["key_averages"].rows
    assert any(row["input_shapes"] not in (None, "[]") for row in rows)


class Writer:
    """What handlers ask of a SummaryWriter."""

    def __init__(self, fails=False):
        self.texts, self.fails = [], fails

    def add_text(self, tag, text, step):
        if self.fails:
            raise RuntimeError("no room")
        self.texts.append((tag, text, step))

    def flush(self):
        self.is_flushed = True


def told():
    finished()
    for thread in profan.torch._children.telling:
        thread.join()


@test
def summaries_are_written_as_texts():
    writer = Writer()
    for keep in (True, False):
        profiled(profan.torch.handler("told", "w", keep_trace=keep,
                                      writer=writer), with_stack=True)
    told()
    assert [(tag, step) for tag, _, step in writer.texts] == [
        ("profan", 9), ("profan", 9)] and writer.is_flushed, writer.texts
    trace, = glob.glob("told/*.json")
    said = subprocess.run([PROGRAM, "summary", "-q", trace, "-f", "md"],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
    assert said in [text for _, text, _ in writer.texts], writer.texts


@test
def a_writer_that_fails_ends_no_training():
    profiled(profan.torch.handler("failing", "w", writer=Writer(fails=True)))
    told()
    assert len(glob.glob("failing/*.profan.db")) == 1, os.listdir("failing")


@test
def tensorboard_shows_them():
    try:
        from tensorboard.backend.event_processing import event_accumulator
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        print("# no tensorboard")
        return
    with SummaryWriter("board") as writer:
        profiled(profan.torch.handler("boarded", "w", writer=writer))
        told()
    events = event_accumulator.EventAccumulator("board").Reload()
    text, = events.Tensors("profan/text_summary")
    assert text.step == 9 and b"**" in text.tensor_proto.string_val[0], text


@test
def too_few_steps_are_said():
    with profan.torch.profile(steps=3, wait=5) as prof:
        train(prof, 2)
    try:
        prof.finding
    except profan.Error as error:
        assert "nothing was recorded" in str(error)
    else:
        raise AssertionError("no error")


@test
def a_path_keeps_the_trace():
    with profan.torch.profile(steps=2, path="kept.json", wait=0,
                              stacks=False) as prof:
        train(prof, 3)
    assert json.load(open("kept.json", encoding="utf-8"))["traceEvents"]
    assert prof.capture.gaps().finding


for function in TESTS:
    try:
        function()
    except Exception:
        print("not ok -", re.sub("_", " ", function.__name__))
        print("# " + traceback.format_exc().replace("\n", "\n# "))
    else:
        print("ok -", re.sub("_", " ", function.__name__))
say_what_training_loses()
