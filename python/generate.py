# SPDX-License-Identifier: MIT
"""usage: generate.py <HELP.json >_commands.py

The methods of profan.Capture and the functions of the module, of what "profan
help --format json" says of commands and their options.
"""
import json
import keyword
import sys
import textwrap

# Options that parameters and Result stand for.
LEFT_OUT = {"help", "quiet", "format", "width", "color", "table", "output-dir"}
# No functions: capture runs a program, query is Capture.sql().
NO_FUNCTION = {"help", "query"}
# Functions of several captures, which are methods of the first, too.
OF_SEVERAL = {"diff", "ranks", "trend"}
TYPES = {"flag": "bool", "integer": "Optional[int]",
         "text": "Union[str, int, None]",
         "list": "Union[str, Sequence[str], None]",
         "duration": "Union[str, int, None]"}
PATHS = {"FILE", "DB", "DIR", "PATTERN", "FLEET"}
# Numbers that Python has words for.
SPANS = {"N|A..B": "Union[str, int, range, None]",
         "LIST": "Union[str, int, range, Sequence[Union[str, int]], "
                 "None]"}


def name_of(text):
    text = text.replace("-", "_")
    return text + "_" if keyword.iskeyword(text) else text


def type_of(option):
    if option["type"] == "choice":
        words = ", ".join(repr(c) for c in option["choices"])
        return f"Optional[Literal[{words}]]"
    if option["type"] == "text" and option["value"] in PATHS:
        return "Optional[Path]"
    if option["type"] == "text" and option["value"] in SPANS:
        return SPANS[option["value"]]
    return TYPES[option["type"]]


def options_of(command):
    return [o for o in command["options"] if o["name"] not in LEFT_OUT]


def default_parameter(option):
    default = "False" if option["type"] == "flag" else "None"
    return f"{name_of(option['name'])}: {type_of(option)} = {default}"


def wrapped(text, indent):
    return textwrap.wrap(text, 76 - indent, break_long_words=False,
                         break_on_hyphens=False)


def docstring(command, indent):
    space = " " * indent
    lines = [command["summary"][0].upper() + command["summary"][1:] + "."]
    for part in (command["details"] or "").split("\n"):
        lines += [""] + wrapped(part, indent) if part else []
    options = options_of(command)
    if options:
        lines += ["", "Parameters", "----------"]
    for option in options:
        text = option["help"]
        if option["type"] == "duration":
            text += " (ns, or a text with a unit)"
        if option["default"] not in (None, False, []):
            text += f" (default {option['default']})"
        lines.append(name_of(option["name"]))
        lines += ["    " + line for line in wrapped(text, indent + 4)]
    document = command["document"]
    if document and document["tables"]:
        lines += ["", "Tables", "------"]
        for table, columns in document["tables"].items():
            lines.append(table)
            names = ", ".join(c["name"] for c in columns)
            lines += ["    " + line for line in wrapped(names, indent + 4)]
    body = ("\n" + space).join(lines).replace("\\", "\\\\")
    body = body.replace('"""', '\\"\\"\\"')
    body = "\n".join(line.rstrip() for line in body.split("\n"))
    return f'{space}"""{body}\n{space}"""'


def has_output(command):
    return any(o["name"] == "output" for o in command["options"])


def printed_by(command):
    return "Result" if command["shows_document"] else "str"


def result_of(command):
    return printed_by(command) if not has_output(command) else \
        f"Union[{printed_by(command)}, pathlib.Path]"


def overloads(command, first, indent):
    """What is printed comes back, or the path of what was written."""
    if not has_output(command):
        return []
    space = " " * indent
    return [line for kind, result in (
        ("None = None", printed_by(command)), ("Path", "pathlib.Path"))
        for line in (f"{space}@overload",
                     signature(command, first, indent,
                               {"output": kind}, result) + " ...", "")]


def signature(command, first, indent, kinds_of={}, result=None):
    options = options_of(command)

    def parameter(option):
        if option["name"] in kinds_of:
            return f"{option['name']}: {kinds_of[option['name']]}"
        return default_parameter(option)

    output = [o for o in options if o["name"] == "output"]
    rest = [o for o in options if o["name"] != "output"]
    parts = list(first)
    # a file that is written stands first, as in cap.report("x.html")
    if output and not any(p.startswith("*") for p in parts):
        parts += [parameter(o) for o in output]
    else:
        rest = output + rest
    if rest and not any(p.startswith("*") for p in parts):
        parts.append("*")
    parts += [parameter(o) for o in rest]
    space = " " * indent
    lines = (",\n" + space + "        ").join(parts)
    return (f"{space}def {name_of(command['name'])}(\n{space}        {lines}"
            f"\n{space}) -> {result or result_of(command)}:")


def values(command):
    return ("{" + ", ".join(f"{o['name']!r}: {name_of(o['name'])}"
                            for o in options_of(command)) + "}")


def kinds(command):
    return {o["name"]: o["type"] for o in options_of(command)}


def method(command):
    words = command["words"]
    first = ["self"]
    given = "[]"
    if words:
        listed = ", ".join(repr(w) for w in words)
        first.append(f"word: Optional[Literal[{listed}]] = None")
        given = "[word] if word else []"
    is_document = command["shows_document"]
    return "\n".join([
        *overloads(command, first, 4),
        signature(command, first, 4), docstring(command, 8),
        f"        found: {result_of(command)} = self._call(",
        f"            {command['name']!r}, _KINDS[{command['name']!r}],",
        f"            {values(command)},",
        f"            {is_document}, {given})",
        "        return found", ""])


def function(command, before=(), indent=0):
    """Of what stands before the arguments: self, of a method."""
    first = [*before, "*arguments: Path"]
    given = "".join(f"{name}, " for name in before)
    space = " " * indent
    return "\n".join([
        *overloads(command, first, indent), signature(command, first, indent),
        docstring(command, indent + 4),
        f"{space}    found: {result_of(command)} = call(",
        f"{space}        {command['name']!r}, _KINDS[{command['name']!r}],",
        f"{space}        {values(command)},",
        f"{space}        [{given}*arguments], {command['shows_document']})",
        f"{space}    return found", "" if before else "\n"])


HEAD = '''# Made by generate.py of "profan help --format json"; do not edit.
from __future__ import annotations

from typing import (TYPE_CHECKING, Any, Dict, List, Literal, Optional,
                    Sequence, Union, overload)

from ._call import Path, call
from ._result import Result

if TYPE_CHECKING:
    import pathlib

PROGRAM_VERSION = {version!r}
DOCUMENT_VERSION = {document!r}
'''


def main():
    listed = json.load(sys.stdin)
    commands = [c for c in listed["commands"] if c["name"] not in NO_FUNCTION]
    functions = [c for c in commands if not c["reads_database"] and
                 not c["runs_program"]]
    methods = [c for c in commands if c["reads_database"]]
    print(HEAD.format(version=listed["program_version"],
                      document=listed["document_version"]))
    # a literal: tools that check types do not run this
    print("__all__ = [")
    for command in functions:
        print(f"    {name_of(command['name'])!r},")
    print("]\n")
    flags = {o["name"] for c in commands for o in options_of(c)
             if o["type"] == "flag"}
    print(f"FLAGS = {sorted(flags)!r}\n")
    print("_KINDS: Dict[str, Dict[str, str]] = {")
    for command in functions + methods:
        print(f"    {command['name']!r}: {kinds(command)!r},")
    print("}\n\n")
    print("class Commands:\n    \"\"\"The commands that read a database.\"\"\"\n")
    print("""    def _call(self, command: str, kinds: Dict[str, str],
              values: Dict[str, Any], is_document: bool,
              words: List[str]) -> Any:
        raise NotImplementedError

    def __fspath__(self) -> str:
        raise NotImplementedError
""")
    for command in methods:
        print(method(command))
    for command in functions:
        if command["name"] in OF_SEVERAL:
            print(function(command, ["self"], 4))
    print()
    for command in functions:
        print(function(command))


if __name__ == "__main__":
    main()
