# SPDX-License-Identifier: MIT
"""From parameters to arguments; used by what is generated (_commands.py)."""
import os
from typing import Any, Dict, List, Sequence, Union

from . import _program
from ._result import Result

Path = Union[str, "os.PathLike[str]"]


def names_of(command: str, paths: Sequence[Any]) -> List[str]:
    """What files are called."""
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise _program.Error(
                f"{command}() takes names of files, each an argument of its "
                f"own, not {type(path).__name__}", 2)
    return [os.fspath(p) for p in paths]


def _no_range(value: Any) -> _program.Error:
    return _program.Error(f"{value!r} is no range of numbers that follow each "
                          "other", 2)


def _steps(value: Sequence[Any]) -> range:
    """Of [2, 3, 4] range(2, 5): the program takes steps from one to another."""
    if not all(isinstance(v, int) for v in value) or \
            list(value) != [value[0] + i for i in range(len(value))]:
        raise _no_range(value)
    return range(value[0], value[0] + len(value)) if value else range(0)


def _value(kind: str, value: Any) -> str:
    if isinstance(value, slice):
        raise _program.Error(f"{value!r} is for sequences; say "
                             f"range({value.start or 0}, {value.stop})", 2)
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise _no_range(value)
        return f"{value[0]}..{value[-1]}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    if kind == "duration" and isinstance(value, int):
        return f"{value}ns"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    return str(value)


def arguments_of(kinds: Dict[str, str], values: Dict[str, Any]) -> List[str]:
    """``--name=value`` of all that is not None; ranges are A..B."""
    found: List[str] = []
    for name, value in values.items():
        kind = kinds[name]
        option = "--" + name
        if name == "step" and isinstance(value, (list, tuple)):
            value = _steps(value)
        if value is None or (kind == "flag" and value is False):
            continue
        if kind == "flag":
            found.append(option)
        elif kind == "list" and not isinstance(value, str):
            found.extend(f"{option}={_value(kind, item)}" for item in value)
        else:
            found.append(f"{option}={_value(kind, value)}")
    return found


def call(command: str, kinds: Dict[str, str], values: Dict[str, Any],
         arguments: Sequence[Path], is_document: bool) -> Any:
    """Run a command: a Result if it shows a document, the path of what it
    wrote if an output was named, else its text."""
    output = values.get("output")
    options = arguments_of(kinds, values)
    # a "-" before a name of a file would make an option of it
    names = ["./" + n if n.startswith("-") and n not in ("-", "--") else n
             for n in names_of(command, arguments)]
    if is_document and output is None:
        return Result([command, *names], options)
    out, _, _ = _program.run([command, *names, *options])
    if output is not None:
        import pathlib
        return pathlib.Path(output)
    return out.decode("utf-8", "replace")
