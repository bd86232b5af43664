# SPDX-License-Identifier: MIT
"""What one opens."""
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence, Union

from . import _call, _program
from ._commands import Commands
from ._result import Row, Table, lines_of_rows

if TYPE_CHECKING:
    import sqlite3


class Capture(Commands):
    """Traces, or a database of them; its methods are the commands that read
    one."""

    def __init__(self, *sources: Union[str, "os.PathLike[str]"]) -> None:
        if not sources:
            raise _program.Error("nothing to open was named", 2)
        self._is_closed = False
        #: what was opened
        self.sources: List[str] = _call.names_of("open", sources)
        # reads traces into a database, or says why it cannot
        _, _, self.messages = _program.run(
            ["query", *self._names(), "--format", "json", "--", "SELECT 1"])

    def close(self) -> None:
        """Let go of the database; it is not asked any more."""
        self._is_closed = True
        _program.end_server()

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *what: Any) -> None:
        self.close()

    def _names(self) -> List[str]:
        if self._is_closed:
            raise _program.Error(f"{self!r} is closed", 2)
        return ["./" + s if s.startswith("-") else s for s in self.sources]

    def __fspath__(self) -> str:
        """So functions take captures, too: ``profan.diff(before, after)``."""
        if len(self.sources) > 1:
            raise _program.Error(f"{self!r} is of several files: "
                                 "profan.ingest() makes one of them", 2)
        return self.sources[0]

    def __repr__(self) -> str:
        return f"profan.open({', '.join(map(repr, self.sources))})"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def _call(self, command: str, kinds: Dict[str, str],
              values: Dict[str, Any], is_document: bool,
              words: List[str]) -> Any:
        return _call.call(command, kinds, values, [*words, *self._names()],
                          is_document)

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> Table:
        """The rows of one SQL statement, which only reads; parameters stand
        for its ``?``.

        They come one at a time if they are iterated, all if asked for by
        ``.rows``; the tables are those of ``profan query``.
        """
        rows = self._stream(statement, parameters)
        try:
            first = next(rows)
        except StopIteration:
            return Table("rows", [])
        return Table("rows", _after(first, rows), list(first))

    def _stream(self, statement: str,
                parameters: Sequence[Any]) -> Iterator[Row]:
        import tempfile
        if not isinstance(parameters, (list, tuple)):
            raise _program.Error("parameters are a list, in the order of the "
                                 f"'?', not {type(parameters).__name__}", 2)
        literals = ["--param=" + _literal(p) for p in parameters]
        with tempfile.TemporaryFile() as errors:
            child = _program.start(
                ["query", *self._names(), "--format", "json", *literals, "--",
                 statement], errors)
            try:
                assert child.stdout
                yield from lines_of_rows(child.stdout)
                child.stdout.read()
                child.wait()
            finally:
                if child.stdout:
                    child.stdout.close()
                _program.stop(child)
            errors.seek(0)
            if child.returncode:
                raise _program._error(
                    child.returncode, _program._messages(
                        errors.read().decode("utf-8", "replace")))

    def connect(self) -> "sqlite3.Connection":
        """A read-only connection of Python's ``sqlite3`` with profan's
        tables, for many statements.  What was opened must be a database."""
        import sqlite3
        if len(self.sources) != 1 or not _is_database(self.sources[0]):
            raise _program.Error(
                "connect() is of a database: profan.ingest() makes one", 2)
        path = os.path.abspath(self.sources[0])
        uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace(
            "#", "%23") + "?mode=ro"
        connection = sqlite3.connect(uri, uri=True)
        try:
            connection.enable_load_extension(True)
        except AttributeError:
            connection.close()
            raise _program.Error("this Python's sqlite3 loads no extensions; "
                                 "sql() needs none") from None
        try:
            connection.load_extension(_program.extension())
        except sqlite3.OperationalError as error:
            connection.close()
            raise _program.Error(str(error)) from None
        connection.enable_load_extension(False)
        return connection


def _literal(value: Any) -> str:
    """As SQL writes it, exactly."""
    if value is None:
        return "NULL"
    if isinstance(value, (bool, int)):
        return str(int(value))
    if isinstance(value, float):
        return {"inf": "9e999", "-inf": "-9e999", "nan": "NULL"}.get(
            repr(value), repr(value))
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        if "\0" in value:
            return f"CAST(x'{value.encode().hex()}' AS TEXT)"
        return "'" + value.replace("'", "''") + "'"
    raise _program.Error(f"{type(value).__name__} is no type of SQL's", 2)


def _after(first: Row, rest: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rest


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False
