# SPDX-License-Identifier: MIT
"""The server for agents: mcp_server.py FOLDER OUTSIDE CALLS, with
FOLDER/t.json, two ranks in FOLDER/job and another trace as OUTSIDE/t.json; so
many calls while a name is swapped.  By the SDK's client if there is one, else
what it calls."""
import asyncio
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.pop(0)  # the scripts beside this one have names of modules

from profan import Error, _program, mcp
from profan.mcp import Server

FOLDER, OUTSIDE = sys.argv[1:3]
CALLS = int(sys.argv[3])
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def refused(call):
    try:
        call()
    except Error as error:
        return str(error)
    raise AssertionError("it was not refused")


@test
def every_analysis_is_a_tool():
    server = Server([FOLDER])
    names = {name for name, _, _ in server.tools()}
    assert {"gaps", "kernels", "steps", "doctor", "diff", "path", "roofline",
            "graphs", "ranks", "trend"} <= names, names
    helped = json.loads(_program.run(["help", "--format", "json"])[0])
    # what shows a document and writes nothing; others have names of their own
    assert {c["name"] for c in helped["commands"] if c["shows_document"]} - {
        "query", "report", "summary", "info", "ingest"} == names
    assert not names & {"ingest", "report", "export", "clean", "capture"}
    for _, _, tool in server.tools():
        for name in tool.__signature__.parameters:
            assert name not in ("output", "baseline", "allow_file", "agent")


@test
def answers_are_small_and_the_command_s():
    tools = {name: tool for name, _, tool in Server([FOLDER]).tools()}
    text = tools["gaps"](path="t.json", budget=5000)
    assert len(text) <= 5000
    assert json.loads(text)["command"] == "gaps"
    text = tools["diff"](before="t.json", after="t.json")
    assert json.loads(text)["scalars"]["verdict"] == "no change"


@test
def ranks_are_one_folder_or_a_path_each():
    tools = {name: tool for name, _, tool in Server([FOLDER]).tools()}
    one = json.loads(tools["ranks"](paths=["job"]))
    each = json.loads(tools["ranks"](paths=["job/rank-0.json", "job/rank-1.json"],
                                     budget=4000))
    assert one["scalars"]["finding"] == each["scalars"]["finding"], each
    assert one["command"] == "ranks" and one["tables"], one
    assert "not in the folders" in refused(
        lambda: tools["ranks"](paths=["job/rank-0.json", "/etc/passwd"]))
    assert "no path" in refused(lambda: tools["ranks"](paths=[]))
    text = tools["trend"](paths=["job/rank-0.json", "t.json"])
    assert json.loads(text)["command"] == "trend"


@test
def only_the_folders_are_read():
    server = Server([FOLDER])
    for path in (os.path.join(OUTSIDE, "t.json"), "/etc/passwd", "..",
                 "../" + os.path.basename(OUTSIDE) + "/t.json",
                 "link.json", "nothing.json", "-q"):
        assert "not in the folders" in refused(
            lambda: server.database(path)), path
    assert "not in the folders" in refused(lambda: server.database("linked"))
    refused(lambda: server.sql(
        "t.json", f"ATTACH '{OUTSIDE}/other.db' AS other", 10))


@test
def what_is_no_file_is_not_waited_for():
    place = os.path.join(FOLDER, "pipes")
    os.mkdir(place)
    os.mkfifo(os.path.join(place, "u.json"))
    seconds, mcp.SECONDS_TO_READ = mcp.SECONDS_TO_READ, 5
    try:
        for path in ("pipes/u.json", "pipes"):
            said = refused(lambda: Server([FOLDER]).database(path))
            assert "more than" not in said, said
    finally:
        mcp.SECONDS_TO_READ = seconds
        shutil.rmtree(place)


def fleet_of(folder, change=None):
    """A fleet in FOLDER that names databases in a folder."""
    made = os.path.join(FOLDER, "fleet.db")
    _program.run(["merge", "-q", os.path.join(FOLDER, "job"), "--keep", folder,
                  "-o", made])
    if change:
        with sqlite3.connect(made) as db:
            db.executescript(change)
        db.close()
    return made


@test
def fleets_are_served():
    kept = os.path.join(FOLDER, "kept")
    os.mkdir(kept)
    made = fleet_of(kept)
    try:
        server = Server([FOLDER])
        assert json.loads(server.answer("ranks", ["fleet.db"], {}, None))
        text = server.answer("kernels", ["fleet.db"], {"rank": 0}, None)
        want, _, _ = _program.run(["kernels", made, "--rank", "0", "--format",
                                   "json"])
        assert json.loads(text) == json.loads(want)
        assert "one rank" in refused(lambda: server.answer(
            "kernels", ["fleet.db"], {"rank": "0-1"}, None))
        assert "no single" in refused(lambda: server.answer(
            "kernels", ["fleet.db"], {"rank": 77}, None))
    finally:
        os.unlink(made)
        shutil.rmtree(kept)


@test
def fleets_lead_nowhere_else():
    for change in (None, "CREATE TABLE trace(x); INSERT INTO trace VALUES (1);"
                   "UPDATE rank SET xxh128 = NULL;"):
        made = fleet_of(OUTSIDE, change)
        try:
            server = Server([FOLDER])
            assert "not in the folders" in refused(lambda: server.answer(
                "kernels", ["fleet.db"], {"rank": "0"}, None))
        finally:
            os.unlink(made)


# A folder and a link to another one have each other's names in turn.
SWAP = """import os, sys
one, other = sys.argv[1:]
while True:
    for a, b in ((one, one + "-"), (other, one), (one, other), (one + "-", one)):
        os.rename(a, b)
"""


@test
def a_name_that_is_swapped_leads_nowhere_else():
    place = os.path.join(FOLDER, "swapped")
    os.mkdir(place)
    os.symlink(OUTSIDE, place + ".link")
    for to, trace in ((place, FOLDER), (OUTSIDE, OUTSIDE)):
        shutil.copy(os.path.join(trace, "t.json"), to + "/u.json")
        _program.run(["ingest", "-q", to + "/u.json", "-o", to + "/u.db"])
    count = "SELECT count(*) AS n FROM event"
    server = Server([FOLDER])
    want, other = (json.loads(s.sql("u.db", count, 1))["rows"] for s in
                   (Server([place]), Server([OUTSIDE])))
    assert want != other
    answers, refusals = 0, 0
    swap = subprocess.Popen([sys.executable, "-c", SWAP, place,
                             place + ".link"])
    try:
        for n in range(20 * CALLS):
            # one of fifty or so meets the folder at each look
            if n >= CALLS and answers and refusals:
                break
            # what is read once is not read again for its name
            path = "swapped/u.db" if n % 4 else "swapped"
            server._databases.clear()
            try:
                rows = json.loads(server.sql(path, count, 1))["rows"]
            except (Error, OSError):
                refusals += 1
                continue
            answers += 1
            assert rows == want, (n, path, rows)
    finally:
        swap.kill()
        swap.wait()
        for name in ("swapped", "swapped-", "swapped.link"):
            name = os.path.join(FOLDER, name)
            if os.path.islink(name):
                os.unlink(name)
            elif os.path.exists(name):
                shutil.rmtree(name)
    assert answers and refusals, (answers, refusals)


@test
def nothing_is_written_there():
    before = sorted(os.listdir(FOLDER))
    server = Server([FOLDER])
    server.answer("summary", ["t.json"], {}, None)
    assert server.database("t.json") == server.database("t.json")
    assert sorted(os.listdir(FOLDER)) == before


@test
def rows_have_a_limit():
    server = Server([FOLDER])
    answer = json.loads(server.sql("t.json", "SELECT id FROM op", 5))
    assert len(answer["rows"]) == 5 and "more than 5" in answer["notes"][0]
    assert json.loads(server.sql("t.json", "SELECT 1 AS one", 5)) == {
        "rows": [{"one": 1}], "notes": []}
    assert "query" in refused(lambda: server.sql("t.json", "DELETE FROM op",
                                                 5))


@test
def what_never_ends_is_stopped():
    endless = ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM "
               "n) SELECT %s FROM n")
    server = Server([FOLDER])
    seconds, mcp.SECONDS = mcp.SECONDS, 1
    try:
        for what in ("max(x)", "x", "hex(zeroblob(x * 1000))"):
            begin = time.monotonic()
            try:  # rows that come are counted
                assert "more than" in server.sql("t.json", endless % what, 5)
            except Error as error:
                assert "more than 1 s" in str(error), error
            assert time.monotonic() - begin < 30
    finally:
        mcp.SECONDS = seconds


@test
def rows_have_a_limit_in_bytes():
    server = Server([FOLDER])
    for size in (100000, 100000000):
        text = server.sql("t.json", "WITH RECURSIVE n(x) AS (SELECT 1 UNION "
                          "ALL SELECT x + 1 FROM n WHERE x < 1000) "
                          f"SELECT hex(zeroblob({size})) AS x FROM n", 1000)
        assert len(text) < 2 * mcp.MAX_BYTES, len(text)
        assert "bytes" in json.loads(text)["notes"][0], text[-300:]


ENDLESS = ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
           "SELECT max(x) FROM n")


def arguments(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def at_work(process):
    """What the process has started that answers ENDLESS; what has not begun its
    own program yet has the arguments of the process."""
    found = []
    own = arguments(process)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            asked = arguments(pid)
        except (OSError, ValueError, IndexError):
            continue
        if parent == process and asked != own and ENDLESS.encode() in asked:
            found.append(int(pid))
    return found


def soon(condition):
    for _ in range(1200):
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def has_ended(pid):
    return state(pid) in ("", "Z")


def asked_by_another(**variables):
    """A process that asks ENDLESS, and the one that answers it."""
    child = subprocess.Popen([
        sys.executable, "-c", "import sys; from profan.mcp import Server; "
        "Server([sys.argv[1]]).sql('t.json', sys.argv[2], 5)", FOLDER, ENDLESS],
        env={**os.environ, **variables})
    try:
        return child, soon(lambda: at_work(child.pid))[0]
    except BaseException:
        end(child)
        raise


def end(child):
    child.kill()
    child.wait()


@test
def nothing_outlives_the_server():
    if os.path.isdir("/proc/self"):
        child, pid = asked_by_another()
        end(child)
        soon(lambda: has_ended(pid))


@test
def nothing_begins_when_the_server_has_ended():
    if not os.path.isdir("/proc/self"):
        return
    with tempfile.TemporaryDirectory() as folder:
        late = os.path.join(folder, "profan")
        with open(late, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       'case $* in *RECURSIVE*) kill -STOP $$ ;; esac\n'
                       f"exec '{_program.program()}' \"$@\"\n")
        os.chmod(late, 0o755)
        child, pid = asked_by_another(PROFAN_PROGRAM=late)
        try:
            soon(lambda: state(pid) == "T")
        finally:
            end(child)
            os.kill(pid, signal.SIGCONT)
        soon(lambda: has_ended(pid))


@test
def a_slice_is_a_trace_or_too_large():
    server = Server([FOLDER])
    part = json.loads(server.slice("t.json", {"step": "1"}, 10 ** 7))
    assert part["traceEvents"]
    assert "more than 10" in refused(
        lambda: server.slice("t.json", {"step": "1"}, 10))


def tried(name, needed, takes_budget):
    """What a tool may be called with: only what it needs, and a budget."""
    if name == "slice":
        return {"path": "t.json", "step": "1", "budget": 10 ** 7}
    values = {"path": "t.json", "before": "t.json", "after": "job/rank-0.json",
              "paths": ["job/rank-0.json", "job/rank-1.json"],
              "statement": "SELECT 1 AS one"}
    given = {p: values[p] for p in needed}
    return {**given, "budget": 8000} if takes_budget else given


def answered(name, text):
    """An answer is a document of the command, no larger than was asked."""
    if name == "slice":
        assert json.loads(text)["traceEvents"], text
    elif name == "sql":
        assert json.loads(text)["rows"] == [{"one": 1}], text
    else:
        found = json.loads(text)
        assert found["command"] == {"open": "info",
                                    "findings": "summary"}.get(name, name)
        assert found["scalars"] or found["tables"], (name, text)
        if name not in ("open", "findings", "table"):
            assert len(text.encode()) <= 8000, name


@test
def every_tool_answers():
    for name, _, tool in Server([FOLDER]).tools():
        parameters = tool.__signature__.parameters
        needed = [p for p, of in parameters.items() if of.default is of.empty]
        answered(name, tool(**tried(name, needed, "budget" in parameters)))


# What no tool is meant to be given.
HOSTILE = ["/etc/passwd", os.path.join(OUTSIDE, "t.json"),
           "../outside/t.json", "link.json", "--output=made", "-omade",
           "t.json --output=made", "'; ATTACH 't.json' AS t; --", "a\0b", "",
           "\u202e\x1b[2J", "x" * 100000, "1e999", "-1", 10 ** 30, -1, 0.5,
           True, [], ["/etc/passwd"], {"a": 1}]


async def hostile_calls(session, tools):
    """Each parameter of each tool: an answer of it, or an error."""
    before = sorted(os.listdir(FOLDER))
    for tool in tools:
        schema = getattr(tool, "inputSchema", None) or tool.input_schema
        given = tried(tool.name, schema["required"],
                      "budget" in schema["properties"])
        for name, value in itertools.product(schema["properties"], HOSTILE):
            answer = await session.call_tool(tool.name, {**given, name: value})
            text = "".join(c.text for c in answer.content)
            assert "root:" not in text, (tool.name, name, value)
            assert is_error(answer) or json.loads(text), (tool.name, name)
            assert not is_error(answer) or len(text) < 5000, (tool.name, name)
            if name in schema["required"]:  # files, or a statement
                assert is_error(answer), (tool.name, name, value, text[:300])
    assert sorted(os.listdir(FOLDER)) == before


def is_error(answer):
    """Of either major version of the SDK."""
    found = getattr(answer, "isError", None)
    return answer.is_error if found is None else found


def servers():
    """Of this process's."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            if b"profan.mcp" in arguments(pid) and parent == os.getpid():
                found.append(int(pid))
        except (OSError, ValueError, IndexError):
            continue
    return found


async def unwanted_calls(session):
    """What nobody waits for any more is ended, and others are answered."""
    call = asyncio.ensure_future(session.call_tool(
        "sql", {"path": "t.json", "statement": ENDLESS}))
    server = servers()[-1]
    for _ in range(1200):
        pids = at_work(server)
        if pids:
            break
        await asyncio.sleep(0.05)
    await asyncio.wait_for(session.send_ping(), 60)
    return call, pids[0]


async def names_that_are_no_text(session):
    place = os.path.join(os.fsencode(FOLDER), b"named")
    os.mkdir(place)
    os.symlink(b"/etc/passwd", os.path.join(place, b"u\xff.json"))
    try:
        answer = await asyncio.wait_for(
            session.call_tool("open", {"path": "named"}), 30)
        assert is_error(answer)
        assert "not in the folders" in answer.content[0].text, answer
    finally:
        shutil.rmtree(place)


async def by_the_client():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "profan.mcp", FOLDER],
        env={k: v for k, v in os.environ.items()})
    async with stdio_client(server) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            names = {t.name for t in tools}
            assert {"open", "findings", "sql", "slice", "gaps", "advise",
                    "path", "table"} <= names, names
            for tool in tools:
                schema = getattr(tool, "inputSchema", None) or tool.input_schema
                given = tried(tool.name, schema["required"],
                              "budget" in schema["properties"])
                answer = await session.call_tool(tool.name, given)
                assert not is_error(answer), (tool.name, answer)
                answered(tool.name, answer.content[0].text)
            await hostile_calls(session, tools)
            answer = await session.call_tool("open", {"path": "/etc/passwd"})
            assert is_error(answer)
            assert "not in the folders" in answer.content[0].text
            listed = (await session.list_resources()).resources
            uris = {str(r.uri) for r in listed}
            assert "profan://schema/gaps" in uris, uris
            read = await session.read_resource(
                next(r.uri for r in listed
                     if str(r.uri) == "profan://schema/gaps"))
            assert json.loads(read.contents[0].text)["title"]
            await names_that_are_no_text(session)
            if os.path.isdir("/proc/self"):
                call, pid = await unwanted_calls(session)
    if os.path.isdir("/proc/self"):  # the input has ended
        soon(lambda: has_ended(pid))
        call.cancel()


def run(name, function):
    try:
        function()
    except Exception:
        print("not ok -", name)
        print("# " + traceback.format_exc().replace("\n", "\n# "))
    else:
        print("ok -", name)


for each in TESTS:
    run(each.__name__.replace("_", " "), each)
try:
    from mcp import ClientSession
except ImportError:
    print("ok - by the protocol's client # SKIP NOT TESTED: no module mcp")
else:
    run("by the protocol's client", lambda: asyncio.run(by_the_client()))
