# SPDX-License-Identifier: MIT
"""What commands print as text fits, and no two rows of a table look the same.

usage: first_sight.py NAME WIDTH FILE...

Each FILE holds what one command printed for lines of WIDTH columns.  Rows
look the same if all their texts, and all numbers that say which one is meant,
are equal.  Prints what is wrong; the exit code is 1 then.
"""
import re
import sys
import unicodedata

# Numbers that name a row; all others measure it.
NAMING = {"From", "Start", "Step", "GPU", "Rank", "Stream", "Trace", "At",
          "Below", "Peer", "Line", "Id"}
MEASURE = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?( (ns|us|ms|s|%|[kMGTP]?i?B"
                     r"(/s)?))?$|-$|$")


def columns(line):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def tables(lines):
    """(title, headings, spans, lines of rows) of each table."""
    at = 0
    while at < len(lines):
        if not re.fullmatch(r" *-[- ]*", lines[at]) or at == 0:
            at += 1
            continue
        folds = 1
        while at + folds < len(lines) and \
                re.fullmatch(r" *-[- ]*", lines[at + folds]):
            folds += 1
        spans = [[m.span() for m in re.finditer("-+", line)]
                 for line in lines[at:at + folds]]
        heads = [[line[a:b].strip() for a, b in span]
                 for line, span in zip(lines[at - folds:at], spans)]
        title = lines[at - folds - 1] if at > folds else ""
        at += folds
        body = []
        while at < len(lines) and lines[at]:
            body.append(lines[at])
            at += 1
        yield title, heads, spans, body


def rows(heads, spans, body):
    a, b = spans[0][0]
    firsts = [line[a:b] for line in body if line[a:b].strip()]
    is_right = all(len(cell) == b - a and cell[-1] != " " and
                   MEASURE.match(cell.strip()) for cell in firsts)
    out = []
    for line in body:
        cell = line[a:b]
        if cell.strip() and (is_right or not cell.startswith("  ")) or not out:
            out.append([])
        out[-1].append(line)
    texts = [any(not MEASURE.match(row[0][a:b].strip()) for row in out)
             for a, b in spans[0]]
    for row in out:
        key = []
        for head, (a, b), is_text in zip(heads[0], spans[0], texts):
            cell = row[0][a:b]
            cell = cell.strip() if is_right or a else cell.rstrip()
            if head in NAMING or is_text:
                key.append(cell)
        key += [line.strip() for line in row[1:]]
        if any(not MEASURE.match(k) for k in key):
            yield tuple(key), row


def check(name, path, width):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    wrong = ["line of %d columns: %s" % (columns(line), line)
             for line in lines if columns(line) > width]
    for title, heads, spans, body in tables(lines):
        seen = {}
        if title.endswith("as they call"):
            continue  # a tree: where a row stands tells which it is
        for key, row in rows(heads, spans, body):
            if key in seen:
                wrong.append("'%s' has rows that look the same:\n%s\n%s" % (
                    title, "\n".join(seen[key]), "\n".join(row)))
            seen[key] = row
    for text in wrong:
        print("%s, %s: %s" % (name, path.rsplit("/", 1)[-1], text))
    return bool(wrong)


sys.exit(max([check(sys.argv[1], path, int(sys.argv[2]))
              for path in sys.argv[3:]]))
