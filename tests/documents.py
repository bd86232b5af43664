# SPDX-License-Identifier: MIT
"""What documents have against data/documents (see cmd/describe.h).

documents.py seen PROFAN RECORDS BRIEF A B DATABASE...: runs every command that
shows a document with every option that needs no value, on each database, and
compares the figures, tables and columns it has with the records.  BRIEF is 1
to try no options.  A and B are for commands of two databases.  With UPDATE=1
what is new is written down.

documents.py json PROFAN FILE...: every document in these files (what golden
tests print) is as its command's schema says.
"""
import csv
import json
import os
import subprocess
import sys

FIGURES = "figures"
HEADER = ["table", "column", "kind", "title", "for"]
# Options that answer something else, write files or only shape the text.
OTHER = {"help", "quiet", "format", "width", "color", "sort", "limit", "table",
         "output-dir", "output", "force", "overwrite", "redact", "names",
         "timeline", "columns", "no-ingest"}


# Options with a value that show more; b is the second database.
VALUES = {"by": "host", "what-if": "gpu=0", "baseline": "{b}", "points": "3",
          "group-by-stack": "5", "stack": "1"}


def run(program, *args):
    done = subprocess.run([program, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if not 0 <= done.returncode <= 3 or (done.returncode == 1 and
                                         not done.stdout):
        print(f"not ok - {' '.join(args)}: exit code {done.returncode}")
        for line in done.stderr.decode(errors="replace").split("\n")[:9]:
            print("#", line)
        return None
    return done.stdout if done.returncode in (0, 1) else None


def commands(program):
    listed = json.loads(run(program, "help", "--format", "json"))
    return [c for c in listed["commands"] if c["shows_document"]]


def inputs(command, brief, a, b, databases):
    """Lists of arguments, and whether options are tried with them."""
    if command["name"] == "ingest":
        return [(["--dry-run", d], False) for d in databases]
    if command["reads_database"]:
        more = [["SELECT 1 AS one"]] if command["min_arguments"] else [[]]
        more += [[w] for w in command["words"]]
        return [(m + [d] if m and not command["min_arguments"] else [d] + m,
                 not brief and d in databases[:7])
                for d in databases for m in more]
    if command["name"] == "ranks":  # of one database as well
        return [([d], not brief and d in databases[:7]) for d in databases]
    found = [([a, b], not brief), ([a, a], False)]
    return found + [([d, d], False) for d in databases]


def variants(command, b):
    yield []
    for option in command["options"]:
        name = "--" + option["name"]
        if option["name"] in OTHER:
            continue
        if option["type"] == "flag":
            yield [name]
        if option["name"] in VALUES:
            yield [name, VALUES[option["name"]].format(b=b)]
        for word in option.get("choices", []):
            if word != option["default"]:
                yield [name, word]


def columns(properties):
    for key, column in properties.items():
        yield key, (column["kind"], column["title"],
                    "" if column.get("people", True) else "programs")


def rows_of(schema):
    """(table, column), (kind, title, for) of a schema; a table itself, too."""
    parts = schema["properties"]
    for key, column in columns(parts["scalars"]["properties"]):
        yield (FIGURES, key), column
    for table, found in parts["tables"]["properties"].items():
        yield (table, ""), ("", found.get("title", ""), "")
        for key, column in columns(found["items"]["properties"]):
            yield (table, key), column


def join(place, old, new):
    """What holds of both: a table's title, and that people see no column."""
    kind, title, audience = old
    if not place[1] and title != new[1]:
        title = ""
    return kind, title, audience and new[2]


def see(program, command, brief, a, b, databases):
    """What all documents of a command have, in the order it was seen; and the
    titles of each column, which some captures change."""
    seen, titles = {}, {}
    for where, has_options in inputs(command, brief, a, b, databases):
        for options in variants(command, b) if has_options else [[]]:
            out = run(program, command["name"], *options, *where,
                      "--format", "schema")
            if out is None:
                continue
            schema = json.loads(out)
            for place, column in rows_of(schema):
                if command["name"] == "query" and place[1]:
                    continue
                seen[place] = join(place, seen.get(place, column), column)
                titles.setdefault(place, set()).add(column[1])
    return seen, titles


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == HEADER, path
    return {(t, c): tuple(column) for t, c, *column in rows[1:]}


def write(path, record):
    tables = [FIGURES] + [t for t, _ in record if t != FIGURES]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        for table in dict.fromkeys(tables):
            for (t, key), column in record.items():
                if t == table:
                    out.writerow([t, key, *column])


def renamed(record, seen, titles):
    """The record, with titles that columns have now."""
    return {place: (kind, seen[place][1] if place[1] and
                    title not in titles.get(place, [title]) else title, audience)
            for place, (kind, title, audience) in record.items()}


def compare(name, record, seen, titles):
    if record != renamed(record, seen, titles):
        yield (f"{name}: titles changed: "
               "UPDATE=1 make check TESTS=tests/documents.sh")
    for place, (kind, *_) in seen.items():
        if place not in record:
            yield (f"{name}: {'.'.join(place)} is new: "
                   "UPDATE=1 make check TESTS=tests/documents.sh")
        elif record[place][0] != kind:
            yield (f"{name}: {'.'.join(place)} was {record[place][0]} and is "
                   f"{kind}: that needs a new PF_DOC_VERSION")


def check_seen(program, folder, brief, a, b, *databases):
    update = os.environ.get("UPDATE") == "1"
    os.makedirs(folder, exist_ok=True)
    for command in commands(program):
        name = command["name"]
        path = os.path.join(folder, name + ".csv")
        record = read(path)
        seen, titles = see(program, command, brief == "1", a, b, databases)
        if brief == "1":  # too few are seen
            titles = {}
        if update and seen:
            record = renamed({**seen, **record}, seen, titles)
            write(path, record)
        bad = list(compare(name, record, seen, titles))
        if not seen or not record:
            # its schema is open: nothing is promised of it yet
            print(f"ok - documents of {name} # SKIP NOT TESTED: "
                  f"{'nobody wrote them down' if seen else 'none was seen'}")
            continue
        print("not ok" if bad else "ok", "-", f"documents of {name}")
        for line in bad:
            print("#", line)


def fits(value, schema, path="document"):
    """What is wrong with a value, for the words that our schemas use."""
    types = {"object": dict, "array": list, "string": str, "integer": int,
             "number": (int, float), "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(isinstance(value, types[t]) for t in wanted):
        yield f"{path} is {value!r}, not {' or '.join(wanted)}"
    elif "const" in schema and value != schema["const"]:
        yield f"{path} is {value!r}, not {schema['const']!r}"
    elif isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{path} has no {key}"
        for key, item in value.items():
            if key in schema["properties"]:
                yield from fits(item, schema["properties"][key],
                                f"{path}.{key}")
            elif not schema["additionalProperties"]:
                yield f"{path} has {key}"
    elif isinstance(value, list):
        for item in value:
            yield from fits(item, schema["items"], path + "[]")


def documents(path):
    """The JSON documents in a file of anything."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    decoder = json.JSONDecoder()
    at = text.find('{\n\t"command":')
    while at >= 0:
        found, end = decoder.raw_decode(text, at)
        yield found
        at = text.find('{\n\t"command":', end)


def check_json(program, *paths):
    schemas = {}
    count = 0
    for command in commands(program):
        text = run(program, "help", command["name"], "--format", "schema")
        schemas[command["name"]] = json.loads(text)
    for path in paths:
        bad = []
        for document in documents(path):
            count += 1
            bad += fits(document, schemas[document["command"]])
        if bad:
            print("not ok -", path)
            for line in bad[:9]:
                print("#", line)
    print("ok" if count > 9 else "not ok", f"- {count} documents were read")
    try:
        import jsonschema
    except ImportError:
        print("ok - schemas are schemas # SKIP Python has no jsonschema")
        return
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    print("ok - schemas are schemas")


if __name__ == "__main__":
    {"seen": check_seen, "json": check_json}[sys.argv[1]](*sys.argv[2:])
