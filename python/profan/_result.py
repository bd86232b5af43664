# SPDX-License-Identifier: MIT
"""What commands answer."""
import json
import re
from typing import (Any, Dict, Iterable, Iterator, List, Mapping,
                    Optional, Sequence, Tuple, Union, overload)

from . import _program

Row = Dict[str, Any]
_ROWS_SHOWN = 20  # of a table, in a notebook or printed
_CELL_SHOWN = 50  # letters, printed


class Table:
    """Rows of a table: iterate them, or ask for a data frame.

    ``columns`` names them in order; it is empty if nothing is known of a
    table without rows.
    """

    def __init__(self, name: str, rows: Union[List[Row], Iterable[Row]],
                 columns: Sequence[str] = ()) -> None:
        self.name = name
        self._rows = rows
        self._columns = list(columns)

    @property
    def rows(self) -> List[Row]:
        """All rows, each a dict."""
        if not isinstance(self._rows, list):
            self._rows = list(self._rows)
        return self._rows

    @property
    def columns(self) -> List[str]:
        rows = self.rows
        return list(rows[0]) if rows else self._columns

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: str) -> List[Any]: ...

    def __getitem__(self, index: Union[int, str]) -> Union[Row, List[Any]]:
        """A row by its number, or the values of a column by its name."""
        if isinstance(index, int):
            return self.rows[index]
        if index not in self.columns:
            raise KeyError(f"there is no column '{index}'; there are: "
                           f"{', '.join(self.columns)}")
        return [row[index] for row in self.rows]

    def head(self, count: int = 5) -> "Table":
        """The first rows."""
        return Table(self.name, self.rows[:count], self.columns)

    def __repr__(self) -> str:
        """What is at hand; rows that come one at a time are not read."""
        if not isinstance(self._rows, list):
            return f"<profan.Table {self.name}: print() reads it>"
        return f"<profan.Table {self.name}: {len(self)} rows>\n{self}".rstrip()

    def __str__(self) -> str:
        """The first rows as lines, numbers at the right."""
        shown = [[_printed(row[c]) for c in self.columns]
                 for row in self.rows[:_ROWS_SHOWN]]
        sides = [str.rjust if all(isinstance(v, (int, float, type(None)))
                                  for v in self[c]) else str.ljust
                 for c in self.columns]
        lines = [self.columns, *shown]
        widths = [max(map(len, column)) for column in zip(*lines)]
        text = ["  ".join(side(cell, width) for side, cell, width in zip(
            sides, line, widths)).rstrip() for line in lines]
        more = len(self) - _ROWS_SHOWN
        return "\n".join(text + [f"{more} more rows"] * (more > 0))

    def _repr_html_(self) -> str:
        cells = [[_shown(c) for c in self.columns], *([_shown(row[c]) for c in self.columns]
                                 for row in self.rows[:_ROWS_SHOWN])]
        more = len(self) - _ROWS_SHOWN
        return '<div class="profan">' + _html_of_rows(
            cells, ["right" if all(isinstance(v, (int, float, type(None)))
                                   for v in self[c]) else "left"
                    for c in self.columns]) + (
            f"<p>{more} more rows</p>" if more > 0 else "") + "</div>"

    def _by_column(self) -> Dict[str, List[Any]]:
        """Columns by name.  One of SQL may hold numbers and texts: then all
        of it is text, since frames have one type a column."""
        rows = self.rows
        found = {c: [row[c] for row in rows] for c in self.columns}
        for name, values in found.items():
            if len({isinstance(v, str) for v in values if v is not None}) > 1:
                found[name] = [v if v is None else str(v) for v in values]
        return found

    def to_pandas(self) -> Any:
        """Whole numbers stay whole where some are unknown (Int64)."""
        import pandas  # type: ignore[import,unused-ignore]
        columns = self._by_column()
        frame = pandas.DataFrame(columns, columns=self.columns)
        for name, values in columns.items():
            if None in values and all(
                    v is None or type(v) is int for v in values):
                frame[name] = pandas.array(values, dtype="Int64")
        return frame

    def to_polars(self) -> Any:
        import polars  # type: ignore[import,unused-ignore]
        return polars.DataFrame(self._by_column(), infer_schema_length=None,
                                strict=False)

    def to_arrow(self) -> Any:
        import pyarrow  # type: ignore[import,unused-ignore]
        return pyarrow.table(self._by_column())


class Page(str):
    """A whole page of HTML, which a notebook shows in a frame of its own."""

    def _repr_html_(self) -> str:
        import html
        return ('<iframe style="width:100%;height:50em;border:0" srcdoc="' +
                html.escape(self) + '"></iframe>')


class Result:
    """A document: its finding, figures, tables and notes.

    ``print(result)`` shows the command's own text, a notebook the same as
    HTML; ``result["NAME"]`` is a table, ``list(result)`` names them.
    """

    def __init__(self, arguments: Sequence[str],
                 options: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._options = list(options)
        self._texts: Dict[Tuple[Optional[int], str], str] = {}
        out, code, self.messages = _program.run(
            [*arguments, *options, "--format", "json"])
        self.document: Dict[str, Any] = json.loads(out)
        #: a check that was asked for (``fail_on``) failed
        self.failed: bool = code == 1

    @property
    def command(self) -> str:
        return str(self.document["command"])

    @property
    def finding(self) -> Optional[str]:
        """The answer in one sentence, or None if the command has none."""
        found = self.scalars.get("finding")
        return None if found is None else str(found)

    @property
    def verdict(self) -> Optional[str]:
        """What ``diff`` says of a change, in a word or two."""
        found = self.scalars.get("verdict")
        return None if found is None else str(found)

    @property
    def scalars(self) -> Dict[str, Any]:
        """Single figures by their key, which carries the unit."""
        return dict(self.document["scalars"])

    @property
    def tables(self) -> Mapping[str, Table]:
        return {name: Table(name, rows)
                for name, rows in self.document["tables"].items()}

    @property
    def notes(self) -> List[str]:
        return [_program.in_python(n) for n in self.document["notes"]]

    def keys(self) -> List[str]:
        """The names of the tables."""
        return list(self.document["tables"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, name: str) -> Table:
        tables = self.document["tables"]
        if name not in tables:
            raise KeyError(f"there is no table '{name}'; there are: "
                           f"{', '.join(tables)}")
        return Table(name, tables[name])

    def text(self, width: Optional[int] = None,
             format: str = "text") -> str:
        """What the command prints, as text, csv, json or md; it is run for
        each of them once."""
        if (width, format) not in self._texts:
            more = [] if width is None else ["--width", str(width)]
            if format == "html":
                more = ["--output", "-"]
            out, _, _ = _program.run([*self._arguments, *self._options,
                                      *more, "--format", format])
            self._texts[width, format] = out.decode("utf-8", "replace")
        return self._texts[width, format]

    def page(self) -> Page:
        """What ``report`` and ``diff`` found as a page: a notebook shows it,
        and it may be written to a file."""
        return Page(self.text(format="html"))

    def to_pandas(self) -> Dict[str, Any]:
        """A data frame of each table, by its name."""
        return {name: t.to_pandas() for name, t in self.tables.items()}

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        return f"<profan.Result {self.command}: {self.finding}>"

    def _repr_html_(self) -> str:
        return _html_of_md(self.text(format="md"))


def lines_of_rows(lines: Iterable[bytes]) -> Iterator[Row]:
    """The rows of the first table of a document, as its lines come: the
    program writes a row a line."""
    is_inside = False
    for line in lines:
        text = line.strip()
        if is_inside and not text.startswith(b"{"):
            return
        if is_inside:
            yield json.loads(text.rstrip(b","))
        elif text.endswith(b"[") and line.startswith(b"\t\t"):
            is_inside = True


def _printed(value: Any) -> str:
    """A cell of one line, without what a terminal would obey."""
    text = "" if value is None else str(value)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _CELL_SHOWN else text[:_CELL_SHOWN - 3] + "..."


# ---- GitHub tables as HTML ----

def _shown(value: Any) -> str:
    import html
    return "" if value is None else html.escape(str(value))


_SPAN = re.compile(r"(`+)(.*?[^`])\1(?!`)|\\(.)|\*\*([^*`\\]+)\*\*", re.S)
# The program's own; texts of traces cannot be these, they are escaped.
_TAG = re.compile(r"<details><summary>[\w ]+</summary>|</details>")
_COMMENT = re.compile(r"<!-- [\w:]+ -->\n")


def _inline(text: str) -> str:
    """Code spans, and letters behind a backslash, as HTML."""
    import html
    parts: List[str] = []
    at = 0
    for match in _SPAN.finditer(text):
        parts.append(html.escape(text[at:match.start()]))
        if match.group(1):
            code = match.group(2).replace("\\|", "|")
            if code.startswith(" ") and code.endswith(" ") and code.strip():
                code = code[1:-1]
            parts.append(f"<code>{html.escape(code)}</code>")
        elif match.group(3):
            parts.append(html.escape(match.group(3)))
        else:
            parts.append(f"<b>{html.escape(match.group(4))}</b>")
        at = match.end()
    parts.append(html.escape(text[at:]))
    return "".join(parts)


def _cells(line: str) -> List[str]:
    return [c.strip() for c in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def _html_of_rows(rows: List[List[str]], sides: List[str]) -> str:
    """The first row is the head; cells are HTML."""
    def row(cells: List[str], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align:{side}">{cell}</{tag}>'
            for cell, side in zip(cells, sides)) + "</tr>"

    return ("<table><thead>" + row(rows[0], "th") + "</thead><tbody>" +
            "".join(row(r, "td") for r in rows[1:]) + "</tbody></table>")


def _table(lines: List[str]) -> str:
    sides = ["right" if c.endswith(":") and not c.startswith(":") else "left"
             for c in _cells(lines[1])]
    return _html_of_rows([[_inline(c) for c in _cells(line)]
                          for line in [lines[0], *lines[2:]]], sides)


def _html_of_md(text: str) -> str:
    parts: List[str] = []
    for block in _COMMENT.sub("", text.strip(), count=1).split("\n\n"):
        lines = block.split("\n")
        if _TAG.fullmatch(block):
            parts.append(block)
        elif block.startswith("|"):
            parts.append(_table(lines))
        elif block.startswith("**") and block.endswith("**"):
            parts.append(f"<h4>{_inline(block[2:-2])}</h4>")
        elif block.startswith("### "):
            parts.append(f"<h3>{_inline(block[4:])}</h3>")
        elif block.startswith("- "):
            parts.append("<ul>" + "".join(
                f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>")
        else:
            parts.append(f"<p>{_inline(block)}</p>")
    return '<div class="profan">' + "\n".join(parts) + "</div>"


