# SPDX-License-Identifier: MIT
"""Finding the program and running it.

As in all of the module, what few calls need is imported by these: a script
that prints one table waits for nothing else.
"""
import atexit
import os
import re
import subprocess
import sys
import threading
from typing import (IO, Any, Callable, Iterator, List, Optional, Sequence,
                    Tuple, Union)

_NAME = "profan"


class Error(Exception):
    """The program's one sentence; ``code`` is its exit code, 2 of usage, 3
    of data or environment."""

    def __init__(self, text: str, code: int = 3) -> None:
        super().__init__(text)
        self.code = code


def _candidates() -> Iterator[str]:
    named = os.environ.get("PROFAN_PROGRAM")
    if named:
        yield named
    here = os.path.dirname(os.path.abspath(__file__))
    # pip install --target puts it here, or beside the package
    yield os.path.join(os.path.dirname(here), "bin", _NAME)
    if sys.prefix != sys.base_prefix:
        yield os.path.join(sys.prefix, "bin", _NAME)
    import sysconfig
    yield os.path.join(sysconfig.get_path("scripts"), _NAME)
    yield os.path.join(os.path.dirname(sys.executable), _NAME)
    if hasattr(sysconfig, "get_preferred_scheme"):
        user = sysconfig.get_preferred_scheme("user")
    else:
        user = "posix_user"
    if user in sysconfig.get_scheme_names():
        yield os.path.join(sysconfig.get_path("scripts", user), _NAME)
    import shutil
    found = shutil.which(_NAME)
    if found:
        yield found


def program() -> str:
    """The program that is run: $PROFAN_PROGRAM, that of this installation, or
    the first in the path."""
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise Error("the program 'profan' was not found; PROFAN_PROGRAM names it")


def _beside(name: str) -> str:
    folder = os.path.dirname(os.path.realpath(program()))
    for place in (".", ".libs", "../lib/profan"):
        path = os.path.normpath(os.path.join(folder, place, name))
        if os.path.isfile(path):
            return path
    raise Error(f"'{name}' was not found beside '{folder}'")


def extension() -> str:
    """The SQLite extension, for ``sqlite3.Connection.load_extension``."""
    return _beside("profan_sqlite.so")


def agent() -> str:
    """The library that records what a program does (``profan capture``)."""
    return _beside("libprofan_agent.so")


# An option and its number; commands of the terminal stay what they are.
_OPTION = re.compile(r"'profan [^']*'|(?<![\w-])--([a-z][a-z-]*)"
                     r"(?:[ =](-?\d[\w.,]*|[A-Z]\b))?")


def in_python(text: str) -> str:
    """What the program says of its options, of parameters instead."""
    from ._commands import FLAGS

    def parameter(match: "re.Match[str]") -> str:
        option, value = match.groups()
        if not option:
            return match.group()
        name = option.replace("-", "_") + "_" * (option == "from")
        value = value or ("True" if option in FLAGS else None)
        return f"{name}={value}" if value else name

    return _OPTION.sub(parameter, text)


def _messages(text: str) -> List[str]:
    """The lines of standard error without the program's name."""
    lines = []
    for line in text.splitlines():
        if line.startswith(_NAME + ": "):
            line = line[len(_NAME) + 2:]
        if line:
            lines.append(line)
    return lines


def _error(code: int, messages: Sequence[str]) -> Error:
    if code < 0:
        return Error(f"profan was ended by signal {-code}", code)
    return Error(in_python(messages[-1]) if messages else f"exit code {code}",
                 code)


def start(arguments: Sequence[str], stderr: Union[IO[bytes], int, None] = None,
          **more: Any) -> "subprocess.Popen[bytes]":
    environment = dict(os.environ)
    environment.setdefault("COLUMNS", "80")
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([program(), *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE if stderr is None
                            else stderr, env=environment, **more)


def stop(child: "subprocess.Popen[bytes]") -> None:
    """End a child that nobody waits for any more, for example on Ctrl-C."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class _Server:
    """A program that stays (``profan --serve``) with the databases that were
    asked last open: starting one and opening a database take most of the time
    of a call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Optional["subprocess.Popen[bytes]"] = None
        self._messages = -1
        self._of: Any = None

    def run(self, arguments: Sequence[str]
            ) -> Optional[Tuple[bytes, int, List[str]]]:
        """As run() does, or None: a process of its own is needed."""
        if not hasattr(os, "memfd_create") or any("\0" in a for a in arguments):
            return None
        if not self._lock.acquire(blocking=False):
            return None  # another thread waits for an answer
        try:
            answer = self._ask(arguments)
        except BaseException:
            self._stop()
            raise
        finally:
            self._lock.release()
        if answer and answer[1] not in (0, 1):
            raise _error(answer[1], answer[2])
        return answer

    def _ask(self, arguments: Sequence[str]
             ) -> Optional[Tuple[bytes, int, List[str]]]:
        # what a process has from its parent, and this one may have changed
        of = (os.getcwd(), program(), dict(os.environ))
        if self._child is None or self._child.poll() is not None or \
                of != self._of:
            self._start(of)
        child = self._child
        assert child and child.stdin and child.stdout
        os.ftruncate(self._messages, 0)
        words = [str(len(arguments) + 1), _NAME, *arguments]
        try:
            child.stdin.write(b"".join(os.fsencode(w) + b"\0" for w in words))
            child.stdin.flush()
            head = child.stdout.readline().split()
        except BrokenPipeError:
            head = []
        if not head:  # it ended: one of its own says why
            self._stop()
            return None
        out = child.stdout.read(int(head[1]))
        said = os.pread(self._messages, os.fstat(self._messages).st_size, 0)
        return out, int(head[0]), _messages(said.decode("utf-8", "replace"))

    def _start(self, of: Any) -> None:
        self._stop()
        if self._messages < 0:
            self._messages = os.memfd_create("profan")
            import fcntl
            fcntl.fcntl(self._messages, fcntl.F_SETFL, os.O_APPEND)
        # Ctrl-C is for Python, which ends it
        self._child = start(["--serve"], self._messages,
                            stdin=subprocess.PIPE, start_new_session=True)
        self._of = of

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        stop(child)

    def stop(self) -> None:
        with self._lock:
            self._stop()


_server = _Server()


def end_server() -> None:
    """It starts again with the next call."""
    _server.stop()


def _new_server() -> None:
    global _server
    _server = _Server()


atexit.register(end_server)
# a thread of the parent's may have held the lock, and the pipes are the parent's
os.register_at_fork(after_in_child=_new_server)


def run(arguments: Sequence[str], timeout: Optional[float] = None,
        started: Optional[Callable[["subprocess.Popen[bytes]"], None]] = None,
        **more: Any) -> Tuple[bytes, int, List[str]]:
    """Standard output, the exit code (0, or 1: a check that was asked for
    failed) and the lines of standard error.  Error for any other code, or
    after so many seconds; who is told of the child may end it."""
    if timeout is None:
        served = _server.run(arguments)
        if served is not None:
            return served
    child = start(arguments, **more)
    try:
        if started:
            started(child)
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        stop(child)
        raise Error(f"it took more than {timeout} s") from None
    except BaseException:
        stop(child)
        raise
    messages = _messages(err.decode("utf-8", "replace"))
    if child.returncode not in (0, 1):
        raise _error(child.returncode, messages)
    return out, child.returncode, messages
