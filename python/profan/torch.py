# SPDX-License-Identifier: MIT
"""With torch.profiler: a handler in place of ``tensorboard_trace_handler``,
and a profiler with the settings that make analyses complete.

>>> import profan.torch, torch
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
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, Callable, List, Optional

from . import _program
from ._capture import Capture
from ._result import Result

SECONDS_TO_TELL = 60


class _Children:
    """What is being read, one trace after the other; waited for at the end of
    the process."""

    def __init__(self) -> None:
        self.running: List["tuple[subprocess.Popen[bytes], str, float]"] = []
        self.read_count = 0
        self.last = ""  # what commands are given
        # held by the child whose turn it is; gone with the last of them
        self.lock: Optional[IO[bytes]] = None
        self.telling: List[threading.Thread] = []

    def start(self, trace: str, wait: float,
              tell: Optional[Callable[[str], None]], **order: Any) -> None:
        if self.lock is None:
            self.lock = tempfile.TemporaryFile()
            atexit.register(self.finish)
        lock = self.lock.fileno()
        order.update(trace=trace, lock=lock)
        later = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "_later.py")
        child = subprocess.Popen(
            [sys.executable, "-I", later, json.dumps(order)],
            stdin=subprocess.DEVNULL, start_new_session=True, pass_fds=[lock])
        self.running = [c for c in self.running if not self._is_done(*c)]
        self.running.append((child, trace, wait))
        if tell:
            thread = threading.Thread(target=self._tell, daemon=True,
                                      args=(child, trace, tell))
            thread.start()
            self.telling = [t for t in self.telling if t.is_alive()]
            self.telling.append(thread)

    def _tell(self, child: "subprocess.Popen[bytes]", trace: str,
              tell: Callable[[str], None]) -> None:
        if child.wait():
            return  # it has said why
        try:
            tell(_read_of(trace))
        except Exception as error:  # anything of the writer's
            print(f"profan: no summary of '{trace}' was written: {error}",
                  file=sys.stderr)

    def _is_done(self, child: "subprocess.Popen[bytes]", trace: str,
                 wait: float) -> bool:
        if child.poll() == 0:
            self.read_count += 1
            self.last = _read_of(trace)
        return child.returncode is not None

    def finish(self) -> None:
        begin = time.monotonic()
        for child, trace, wait in self.running:
            left = wait - (time.monotonic() - begin)
            try:
                child.wait(timeout=max(left, 0))
            except subprocess.TimeoutExpired:
                print(f"profan: '{trace}' is still being read by process "
                      f"{child.pid}", file=sys.stderr)
            self._is_done(child, trace, wait)
        for thread in self.telling:
            thread.join(timeout=SECONDS_TO_TELL)
        if self.read_count:
            import shlex
            print(f"profan: traces read: {self.read_count}; the last: profan "
                  f"{shlex.quote(self.last)}", file=sys.stderr)


def _read_of(trace: str) -> str:
    """What commands are given, once the trace was read."""
    return next((p for p in (trace + ".gz", trace) if os.path.exists(p)),
                trace + ".db")


_children = _Children()


def _is_whole(trace: str) -> bool:
    """Did the profiler write it to its end?  torch only logs it if not."""
    try:
        with open(trace, "rb") as file:
            file.seek(max(os.path.getsize(trace) - 16, 0))
            return file.read().rstrip().endswith((b"}", b"]"))
    except OSError:
        return False


def handler(dir_name: str, worker_name: Optional[str] = None,
            use_gzip: bool = False, *, report: bool = False,
            keep_trace: bool = True, wait: float = 60.0,
            writer: Any = None) -> Callable[[Any], None]:
    """For ``on_trace_ready``: writes WORKER.TIME.pt.trace.json as
    ``tensorboard_trace_handler`` does, and lets a process of its own (nice
    10, one thread, one trace at a time) read it into a database beside it,
    where all commands look for it, so that training goes on.

    use_gzip
        that process makes ....json.gz of the trace first, and reads this
    report
        also write the page beside it (....html)
    keep_trace
        False: the database is ....json.db, and the trace is removed once it
        was read back and found to have every event; it is not compressed
        before
    wait
        seconds that the end of the process waits for what is still read
    writer
        a ``SummaryWriter`` of TensorBoard: what ``profan summary`` says of the
        trace becomes its text "profan", by a thread, once the trace was read
    """
    program = _program.program()

    def tell(path: str, step: int) -> None:
        text, _, _ = _program.run(["summary", "-q", path, "--format", "md"],
                                  timeout=SECONDS_TO_TELL)
        writer.add_text("profan", text.decode(), step)
        writer.flush()

    def handle(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        trace = os.path.join(
            dir_name, f"{name}.{time.time_ns()}.pt.trace.json")
        prof.export_chrome_trace(trace)
        if not _is_whole(trace):
            print(f"profan: torch did not write '{trace}' whole; what is there "
                  "is kept", file=sys.stderr)
            return
        try:
            _children.start(
                trace, wait, writer and functools.partial(
                    tell, step=prof.step_num), program=program, gzip=use_gzip,
                report=report, keep=keep_trace)
        except OSError as error:
            # the trace is there; training is not ended for its database
            print(f"profan: '{trace}' is not read: {error}", file=sys.stderr)

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
