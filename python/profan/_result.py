# SPDX-License-Identifier: MIT
"""What commands answer."""
import json
import re
from typing import (Any, Dict, Iterable, Iterator, List, Mapping,
                    Optional, Sequence, Union)

from . import _program

Row = Dict[str, Any]


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

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __repr__(self) -> str:
        if not isinstance(self._rows, list):
            return f"<profan.Table {self.name}>"
        return f"<profan.Table {self.name}: {len(self)} rows>"

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


class Result:
    """A document: its finding, figures, tables and notes.

    ``print(result)`` shows the command's own text, a notebook the same as
    HTML; ``result["NAME"]`` is a table.
    """

    def __init__(self, arguments: Sequence[str],
                 options: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._options = list(options)
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
        return list(self.document["notes"])

    def __getitem__(self, name: str) -> Table:
        tables = self.document["tables"]
        if name not in tables:
            raise KeyError(f"there is no table '{name}'; there are: "
                           f"{', '.join(tables)}")
        return Table(name, tables[name])

    def text(self, width: Optional[int] = None,
             format: str = "text") -> str:
        """What the command prints, as text, csv, json or md."""
        more = [] if width is None else ["--width", str(width)]
        out, _, _ = _program.run([*self._arguments, *self._options,
                                  *more, "--format", format])
        return out.decode("utf-8", "replace")

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


# ---- GitHub tables as HTML ----

_SPAN = re.compile(r"(`+)(.*?[^`])\1(?!`)|\\(.)", re.S)


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
        else:
            parts.append(html.escape(match.group(3)))
        at = match.end()
    parts.append(html.escape(text[at:]))
    return "".join(parts)


def _cells(line: str) -> List[str]:
    return [c.strip() for c in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def _table(lines: List[str]) -> str:
    sides = ["right" if c.endswith(":") and not c.startswith(":") else "left"
             for c in _cells(lines[1])]

    def row(line: str, tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align:{side}">{_inline(cell)}</{tag}>'
            for cell, side in zip(_cells(line), sides)) + "</tr>"

    return ("<table><thead>" + row(lines[0], "th") + "</thead><tbody>" +
            "".join(row(line, "td") for line in lines[2:]) +
            "</tbody></table>")


def _html_of_md(text: str) -> str:
    parts: List[str] = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        if block.startswith("| "):
            parts.append(_table(lines))
        elif block.startswith("**") and block.endswith("**"):
            parts.append(f"<h4>{_inline(block[2:-2])}</h4>")
        elif block.startswith("- "):
            parts.append("<ul>" + "".join(
                f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>")
        else:
            parts.append(f"<p>{_inline(block)}</p>")
    return '<div class="profan">' + "\n".join(parts) + "</div>"


