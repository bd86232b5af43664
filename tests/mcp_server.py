# SPDX-License-Identifier: MIT
"""The server for agents: mcp_server.py FOLDER OUTSIDE, with FOLDER/t.json,
two ranks in FOLDER/job and OUTSIDE/t.json.  By the SDK's client if there is one, else what it calls."""
import asyncio
import json
import os
import sys
import traceback

sys.path.pop(0)  # the scripts beside this one have names of modules

from profan import Error, _program
from profan.mcp import Server

FOLDER, OUTSIDE = sys.argv[1:]
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
        "query", "report", "table", "summary", "info", "ingest"} == names
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
def a_slice_is_a_trace_or_too_large():
    server = Server([FOLDER])
    part = json.loads(server.slice("t.json", {"step": "1"}, 10 ** 7))
    assert part["traceEvents"]
    assert "more than 10" in refused(
        lambda: server.slice("t.json", {"step": "1"}, 10))


async def by_the_client():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "profan.mcp", FOLDER],
        env={k: v for k, v in os.environ.items()})
    async with stdio_client(server) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            await session.initialize()
            tools = {t.name for t in (await session.list_tools()).tools}
            assert {"open", "findings", "sql", "slice", "gaps"} <= tools
            answer = await session.call_tool(
                "gaps", {"path": "t.json", "budget": 6000})
            text = answer.content[0].text
            assert json.loads(text)["command"] == "gaps", text
            answer = await session.call_tool("ranks", {"paths": ["job"]})
            assert json.loads(answer.content[0].text)["command"] == "ranks"
            answer = await session.call_tool("open", {"path": "/etc/passwd"})
            failed = getattr(answer, "isError", None)
            if failed is None:
                failed = answer.is_error
            assert failed and "not in the folders" in answer.content[0].text
            answer = await session.call_tool(
                "sql", {"path": "t.json", "statement": "SELECT 1 AS one"})
            assert json.loads(answer.content[0].text)["rows"] == [{"one": 1}]
            listed = (await session.list_resources()).resources
            uris = {str(r.uri) for r in listed}
            assert "profan://schema/gaps" in uris, uris
            read = await session.read_resource(
                next(r.uri for r in listed
                     if str(r.uri) == "profan://schema/gaps"))
            assert json.loads(read.contents[0].text)["title"]


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
    import mcp
    assert hasattr(mcp, "ClientSession")
except ImportError:
    print("ok - by the protocol's client # SKIP NOT TESTED: no module mcp")
else:
    run("by the protocol's client", lambda: asyncio.run(by_the_client()))
