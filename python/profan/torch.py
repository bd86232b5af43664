# SPDX-License-Identifier: MIT
"""With torch.profiler: a handler in place of ``tensorboard_trace_handler``,
and a profiler with the settings that make analyses complete.

>>> with torch.profiler.profile(
...         on_trace_ready=profan.torch.handler("runs/profiler")) as prof:
...     train()

>>> with profan.torch.profile(steps=5) as prof:
...     for batch in batches:
...         train(batch)
...         prof.step()
>>> print(prof.finding)
"""
import atexit
import gzip
import os
import shutil
import socket
import subprocess
import sys
import time
from typing import Any, Callable, List, Optional

from . import _program
from ._capture import Capture
from ._result import Result

_LATER = """
import fcntl, os, subprocess, sys
program, trace, database, report, keep = sys.argv[1:]
os.nice(10)
lock = open(os.path.join(os.path.dirname(os.path.abspath(trace)),
                         ".profan.lock"), "a")
fcntl.flock(lock, fcntl.LOCK_EX)
done = subprocess.run([program, "ingest", "-q", "--threads", "1", trace,
                       "-o", database])
if not done.returncode and report:
    done = subprocess.run([program, "report", "-q", database, "-o", report])
if not done.returncode and keep == "0":
    checked = subprocess.run([program, "info", database, "--table",
                              "figures"], stdout=subprocess.DEVNULL)
    if not checked.returncode:
        os.remove(trace)
sys.exit(done.returncode)
"""


class _Children:
    """What is being read; waited for at the end of the process."""

    def __init__(self) -> None:
        self.running: List["tuple[subprocess.Popen[bytes], str, float]"] = []
        self.is_registered = False

    def add(self, child: "subprocess.Popen[bytes]", trace: str,
            wait: float) -> None:
        self.running = [c for c in self.running if c[0].poll() is None]
        self.running.append((child, trace, wait))
        if not self.is_registered:
            atexit.register(self.finish)
            self.is_registered = True

    def finish(self) -> None:
        begin = time.monotonic()
        for child, trace, wait in self.running:
            left = wait - (time.monotonic() - begin)
            try:
                child.wait(timeout=max(left, 0))
            except subprocess.TimeoutExpired:
                print(f"profan: '{trace}' is still being read by process "
                      f"{child.pid}", file=sys.stderr)


_children = _Children()


def _worker_name() -> str:
    return f"{socket.gethostname()}_{os.getpid()}"


def handler(dir_name: str, worker_name: Optional[str] = None,
            use_gzip: bool = False, *, report: bool = False,
            keep_trace: bool = True, wait: float = 60.0
            ) -> Callable[[Any], None]:
    """For ``on_trace_ready``: writes WORKER.TIME.pt.trace.json as
    ``tensorboard_trace_handler`` does, and lets a process of its own (nice
    10, one thread, one at a time in a folder) read it into a database beside
    it, so that training goes on.

    report
        also write the page beside it
    keep_trace
        False: remove the trace once the database was made and read back
    wait
        seconds that the end of the process waits for what is still read
    """
    program = _program.program()

    def handle(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or _worker_name()
        trace = os.path.join(
            dir_name, f"{name}.{time.time_ns()}.pt.trace.json")
        prof.export_chrome_trace(trace)
        if use_gzip:
            with open(trace, "rb") as source, \
                    gzip.open(trace + ".gz", "wb") as target:
                shutil.copyfileobj(source, target)
            os.remove(trace)
            trace += ".gz"
        child = subprocess.Popen(
            [sys.executable, "-I", "-c", _LATER, program, trace,
             trace + ".db", trace + ".html" if report else "",
             "1" if keep_trace else "0"],
            stdin=subprocess.DEVNULL, start_new_session=True)
        _children.add(child, trace, wait)

    return handle


class profile:
    """``torch.profiler.profile`` with shapes, memory and stacks, of ``steps``
    steps after ``wait`` and ``warmup`` ones; call ``step()`` after each.

    Afterwards ``capture`` is what was recorded, as ``profan.open`` gives it,
    and ``finding`` says where the time went.  The trace is ``path``, or goes
    with the object.
    """

    def __init__(self, steps: int = 5, *, wait: int = 1, warmup: int = 1,
                 path: Optional[str] = None, shapes: bool = True,
                 memory: bool = True, stacks: bool = True,
                 **more: Any) -> None:
        import tempfile

        import torch  # type: ignore[import-not-found,unused-ignore]

        self._folder = None
        if path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="profan-")
            path = os.path.join(self._folder.name, "trace.json")
        self.path: str = path
        self._capture: Optional[Capture] = None
        self._is_written = False
        self._prof = torch.profiler.profile(
            schedule=torch.profiler.schedule(
                wait=wait, warmup=warmup, active=steps, repeat=1),
            record_shapes=shapes, profile_memory=memory, with_stack=stacks,
            on_trace_ready=self._write, **more)

    def _write(self, prof: Any) -> None:
        prof.export_chrome_trace(self.path)
        self._is_written = True

    def step(self) -> None:
        self._prof.step()

    def __enter__(self) -> "profile":
        self._prof.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        self._prof.__exit__(*what)

    @property
    def capture(self) -> Capture:
        if self._capture is None:
            if not self._is_written:
                raise _program.Error(
                    "nothing was recorded: step() was not called often enough "
                    "to pass the steps of wait and warmup")
            self._capture = Capture(self.path)
        return self._capture

    @property
    def finding(self) -> Optional[str]:
        """Where the time of a step went, in a sentence."""
        result: Result = self.capture.steps()
        return result.finding
