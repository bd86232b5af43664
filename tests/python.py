# SPDX-License-Identifier: MIT
"""The Python module against the program: python.py PROFAN DB TRACE FOLDER."""
import inspect
import json
import keyword
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
import unittest.mock

sys.path.pop(0)  # the scripts beside this one have names of modules

import profan

PROGRAM, DB, TRACE, FOLDER = sys.argv[1:]
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def printed(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE,
                          check=False)
    return done.stdout.decode()


def helped():
    return json.loads(printed("help", "--format", "json"))["commands"]


@test
def the_program_is_the_one_that_was_named():
    assert profan.program() == PROGRAM, profan.program()
    assert profan.__version__ in printed("--version")


@test
def every_command_and_option_is_there():
    left_out = {"help", "quiet", "format", "width", "color", "table", "output-dir"}
    for command in helped():
        if command["name"] in ("help", "query") or command["runs_program"]:
            continue
        owner = profan.Capture if command["reads_database"] else profan
        function = getattr(owner, command["name"])
        have = set(inspect.signature(function).parameters)
        want = {name.replace("-", "_") + "_" * keyword.iskeyword(name)
                for name in (o["name"] for o in command["options"])
                if name not in left_out}
        assert want <= have, (command["name"], want - have)
        assert command["summary"][1:] in inspect.getdoc(function)


@test
def every_analysis_answers_as_the_command_does():
    cap = profan.open(DB)
    for command in helped():
        if not command["shows_document"] or not command["reads_database"] \
                or command["name"] == "query":
            continue
        result = getattr(cap, command["name"])()
        want = json.loads(printed(command["name"], DB, "--format", "json"))
        assert result.document == want, command["name"]
        assert result.finding == want["scalars"].get("finding")
        for name, rows in want["tables"].items():
            assert result[name].rows == rows
            assert list(result.tables[name]) == rows
            assert len(result[name]) == len(rows)


@test
def text_is_the_command_s_text():
    cap = profan.open(DB)
    want = printed("table", DB, "--sort", "self_cuda_time_total", "--limit",
                   "12")
    got = str(cap.table(sort="self_cuda_time_total", limit=12))
    assert got == want.rstrip("\n")
    assert str(cap.gaps(whole_capture=True)) == printed(
        "gaps", DB, "--whole-capture").rstrip("\n")
    assert cap.gaps().text(format="csv") == printed("gaps", DB, "-f", "csv")
    assert str(cap.gaps(from_="1ms", to=2000000)) == printed(
        "gaps", DB, "--from", "1ms", "--to", "2ms").rstrip("\n")


@test
def html_has_the_cells_of_md():
    result = profan.open(DB).kernels(limit=3)
    page = result._repr_html_()
    assert page.count("<tr>") == sum(
        line.startswith("|") and not line.startswith("| :") and
        not line.startswith("| ---")
        for line in result.text(format="md").split("\n")), page
    for row in result["kernels"]:
        total = row["total_ns"] / 1000
        assert f"{total:.3f} us" in page or f"{total / 1000:.3f} ms" in page
    assert "<script" not in page


@test
def hostile_names_do_not_act_in_html():
    from profan._result import _html_of_md
    page = _html_of_md("**T**\n\n| `A` | B |\n| :--- | ---: |\n"
                       "| ``<img src=x>`a\\|b`` | \\<b\\> |\n\n"
                       "- a <script>alert(1)</script>")
    assert "<img" not in page and "<script" not in page and "<b>" not in page
    assert "&lt;img src=x&gt;`a|b" in page, page
    assert page.count("<td") == 2, page


@test
def sql_gives_rows_one_at_a_time():
    cap = profan.open(DB)
    table = cap.sql("SELECT id, name, dur_ns FROM op ORDER BY id")
    first = next(iter(table))
    assert list(first) == ["id", "name", "dur_ns"]
    want = json.loads(printed("query", DB, "SELECT id, name, dur_ns FROM op "
                              "ORDER BY id", "-f", "json"))["tables"]["rows"]
    rows = cap.sql("SELECT id, name, dur_ns FROM op ORDER BY id").rows
    assert rows == want and len(rows) > 10
    assert cap.sql("SELECT 1 WHERE 0").rows == []
    assert cap.sql("-- one\nSELECT 1 AS one").rows == [{"one": 1}]


@test
def parameters_of_sql_are_values_and_nothing_else():
    cap = profan.open(DB)
    given = [1, -2, 1 << 53, 0.1, 1e300, None, "it's", '"; --', "a\0b", "é?",
             "1", True, -9223372036854775808]
    marks = ", ".join(f"? AS c{i}" for i in range(len(given)))
    row = cap.sql(f"SELECT {marks}", given)[0]
    assert list(row.values()) == given, row
    assert cap.sql("SELECT typeof(?) AS t", [b"\1\2"])[0] == {"t": "blob"}
    assert cap.sql("SELECT name FROM op WHERE name = ?", ["' OR 1 --"]).rows \
        == []
    assert "2 parameters" in refused(lambda: cap.sql("SELECT ?, ?", [1]).rows)
    assert "list" in refused(lambda: cap.sql("SELECT ?", [[1]]).rows)
    for given in ({"a": 1}, "abc"):  # neither its keys nor its letters
        assert "parameters are a list" in refused(
            lambda: cap.sql("SELECT :a", given))


@test
def sql_only_reads():
    for statement in ("DELETE FROM event", "SELECT nothing FROM nowhere"):
        try:
            profan.open(DB).sql(statement)
        except profan.Error as error:
            assert "query" in str(error), error
        else:
            raise AssertionError(statement)


@test
def errors_are_the_program_s_sentence():
    for call, code in ((lambda: profan.open("not/there.db"), 3),
                       (lambda: profan.open(DB).gaps(device=99), 3),
                       (lambda: profan.open(DB).gaps(sort="no_column"), 2),
                       (lambda: profan.open(), 2)):
        try:
            result = call()
        except profan.Error as error:
            assert error.code == code, (error, error.code)
            assert "\n" not in str(error) and len(str(error)) > 9, error
        else:
            # a question without an answer is a result that says so
            assert result.finding, "no error and no finding"
    assert not os.path.exists("not")


@test
def what_is_opened_is_named():
    for source in ([DB, DB], DB.encode(), None, 3):
        assert "takes names of files" in refused(lambda: profan.open(source))


@test
def a_word_stands_before_the_database():
    result = profan.open(DB).table("verdicts")
    assert result["verdicts"].rows


@test
def a_trace_is_read_once():
    cap = profan.open(TRACE)
    assert any("reading" in m for m in cap.messages), cap.messages
    again = profan.open(pathlib.Path(TRACE))
    assert not again.messages, again.messages
    assert cap.gaps().document == profan.open(DB).gaps().document


@test
def two_captures_and_a_gate():
    result = profan.diff(DB, TRACE, fail_on=["step_time>50%"])
    assert result.verdict == "no change" and not result.failed
    assert result.finding
    result = profan.diff(DB, TRACE, fail_on=["kernels>=0"])
    assert result.failed and result.notes[0].startswith("failed")


def refused(call):
    try:
        call()
    except (profan.Error, KeyError) as error:
        return str(error)
    raise AssertionError("it was not refused")


@test
def captures_are_arguments():
    one, two = profan.open(DB), profan.open(TRACE)
    assert profan.open(one).gaps().document == one.gaps().document
    assert profan.diff(one, two).document == profan.diff(DB, TRACE).document
    assert profan.trend(one, two).document == profan.trend(DB, TRACE).document
    assert profan.ranks(one).document == profan.ranks(DB).document
    assert one.diff(two, limit=3).document == \
        profan.diff(DB, TRACE, limit=3).document
    assert one.trend(two).document == profan.trend(DB, TRACE).document
    assert one.ranks().document == profan.ranks(DB).document
    assert "takes names of files, each" in refused(
        lambda: profan.diff(one, b"x"))
    several = profan.open(TRACE, TRACE)
    assert "several files" in refused(lambda: profan.diff(one, several))


@test
def steps_and_ranks_are_ranges_and_lists():
    cap = profan.open(DB)
    steps = [row["step"] for row in cap.steps()["steps"]]
    assert len(steps) == 3, steps
    two = cap.steps(step=range(steps[0], steps[2]))
    assert [row["step"] for row in two["steps"]] == steps[:2]
    listed = cap.steps(step=[steps[0], steps[1]])
    assert [row["step"] for row in listed["steps"]] == steps[:2]
    assert "[0, 2] is no range" in refused(lambda: cap.steps(step=[0, 2]))
    assert "range(0, 0) is no range" in refused(lambda: cap.steps(step=[]))
    assert "['x'] is no range" in refused(lambda: cap.steps(step=["x"]))
    assert "range(3, 3)" in refused(lambda: cap.steps(step=range(3, 3)))
    assert "range(0, 9, 2)" in refused(lambda: cap.steps(step=range(0, 9, 2)))
    assert "0,64" in refused(lambda: cap.steps(rank=[0, 64]))
    assert "say range(0, 2)" in refused(lambda: cap.steps(step=slice(0, 2)))


@test
def tables_are_of_columns_too():
    table = profan.open(DB).kernels()["kernels"]
    assert table["calls"] == [row["calls"] for row in table.rows]
    assert table.head(2).rows == table.rows[:2]
    assert "there are: " in refused(lambda: table["not there"])
    page = table._repr_html_()
    assert page.count("<tr>") == 1 + min(len(table), 20), page
    hostile = profan.Table("t", [{"<i>": "<img src=x>"}] * 21)._repr_html_()
    assert "<i>" not in hostile and "<img" not in hostile, hostile
    assert "1 more rows" in hostile
    plain = profan.Table("t", [{"name": "a\x1b[31m\n" + 80 * "b", "ns": 7},
                               {"name": "c", "ns": 1234567}] + 20 * [
                                   {"name": None, "ns": None}])
    lines = str(plain).split("\n")
    assert [line[-9:] for line in lines[:3]] == [
        "       ns", "        7", "  1234567"], lines
    assert lines[-1] == "2 more rows" and len(lines) == 22, lines
    assert "\x1b" not in str(plain) and max(map(len, lines)) == 59, lines
    assert str(profan.Table("t", [])) == ""
    assert repr(plain) == f"<profan.Table t: 22 rows>\n{plain}"
    assert repr(profan.Table("t", [])) == "<profan.Table t: 0 rows>"
    rows = profan.open(DB).sql("SELECT 1 AS one")
    assert repr(rows) == "<profan.Table rows: print() reads it>"
    assert rows["one"] == [1] and repr(rows).endswith("1 rows>\none\n  1")
    result = profan.open(DB).gaps()
    assert list(result) == result.keys() == list(result.tables)


@test
def notes_and_errors_speak_python():
    cap = profan.open(DB)
    notes = cap.kernels(limit=1).notes
    assert any("; limit=-1 shows all" in n for n in notes), notes
    page = os.path.join(FOLDER, "mine.html")
    pathlib.Path(page).write_text("mine")
    assert "; force=True replaces it" in refused(lambda: cap.report(page))
    said = profan._program.in_python("'profan x --limit 3': --from, --step N")
    assert said == "'profan x --limit 3': from_, step=N", said


@test
def a_text_is_made_once():
    result = profan.open(DB).gaps()
    text = str(result)
    with unittest.mock.patch.object(profan._program, "run") as run:
        assert str(result) == text
    assert not run.called


@test
def diff_and_report_show_themselves():
    for result in (profan.diff(DB, DB), profan.open(DB).report()):
        shown = result._repr_html_()
        assert shown.count("<details>") == shown.count("</details>"), shown
        assert "&lt;details" not in shown and "&lt;!--" not in shown, shown
        page = result.page()
        assert page.startswith("<!DOCTYPE html>") and len(page) > 9999
        frame = page._repr_html_()
        assert frame.startswith("<iframe") and frame.count("<") == 2, frame


@test
def pages_and_files_are_written():
    cap = profan.open(DB)
    page = cap.report(os.path.join(FOLDER, "page.html"))
    assert page.read_bytes().startswith(b"<!"), page
    assert cap.report().finding
    part = cap.slice(os.path.join(FOLDER, "part.json"), step=1)
    assert json.loads(part.read_text())["traceEvents"]
    assert ";" in cap.stacks(weight="cpu")
    made = profan.ingest(TRACE, output=os.path.join(FOLDER, "made.db"))
    assert profan.open(made).info()["traces"].rows


def frame_of(table, name):
    """Its rows, as the frame gives them; None if Python has no such library."""
    try:
        __import__(name)
    except ImportError:
        print("# frames: Python has no", name)
        return None
    frame = getattr(table, "to_" + name.replace("pyarrow", "arrow"))()
    if name == "pandas":
        import pandas
        return [{k: None if pandas.isna(v) else v for k, v in row.items()}
                for row in frame.astype(object).to_dict("records")]
    return frame.to_pylist() if name == "pyarrow" else frame.to_dicts()


@test
def frames_hold_what_rows_hold():
    cap = profan.open(DB)
    tables = [t for result in (cap.gaps(), cap.info(), cap.doctor(all=True))
              for t in result.tables.values()]
    # no double holds these; one column is of numbers and texts
    tables.append(cap.sql(
        "SELECT 9007199254740993 AS n, 1 AS x, 0.5 AS r "
        "UNION ALL SELECT NULL, 'a', NULL UNION ALL SELECT -1, NULL, 2"))
    for name in ("pandas", "polars", "pyarrow"):
        for table in tables:
            got = frame_of(table, name)
            if got is None:
                break
            want = [dict(row) for row in table.rows]
            for column in table.columns:
                kinds = {type(r[column]) for r in want} - {type(None)}
                if str in kinds and len(kinds) > 1:
                    for row in want:
                        if row[column] is not None:
                            row[column] = str(row[column])
            assert got == want, (name, table.name)
            assert all(isinstance(g[k], int) for g, w in zip(got, want)
                       for k in w if type(w[k]) is int and
                       not any(type(x[k]) is float for x in want)), table.name


@test
def the_extension_is_found():
    cap = profan.open(DB)
    try:
        connection = cap.connect()
    except profan.Error as error:
        # one built with sanitizers is for a Python that is, too
        assert "no extensions" in str(error) or "san" in str(error), error
        print("# the extension:", error)
        return
    got = connection.execute("SELECT count(*), sum(dur_ns) FROM event")
    want = cap.sql("SELECT count(*) AS n, sum(dur_ns) AS ns FROM event")
    assert got.fetchone() == tuple(want[0].values())
    try:
        connection.execute("CREATE TABLE x(y)")
    except Exception as error:
        assert "readonly" in str(error).replace("-", ""), error
    else:
        raise AssertionError("a table was made")


@test
def control_c_ends_the_child():
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    cap = profan.open(DB)
    # whoever runs the test may ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    endless = rows + "SELECT sum(i) AS s FROM n"
    for call in (lambda: list(cap.sql(endless)),
                 lambda: profan._program.run(["query", DB, "--", endless])):
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            call()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("it was not stopped")
    profan._program.end_server()
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    for _ in range(600):
        if not children.exists() or not children.read_text().strip():
            break
        time.sleep(0.05)
    else:
        raise AssertionError("a child is left")


def started_by(call):
    with unittest.mock.patch.object(subprocess, "Popen",
                                    wraps=subprocess.Popen) as started:
        call()
    return started.call_count


@test
def calls_are_served_by_one_process():
    cap = profan.open(DB)
    assert started_by(lambda: (cap.gaps(), cap.steps(), profan.diff(cap, DB),
                               profan.open(TRACE).info())) == 0
    want = cap.gaps().document
    profan._program._server._child.kill()  # it is missed once, and starts again
    assert cap.gaps().document == want
    assert started_by(lambda: (cap.gaps(), cap.gaps())) <= 1
    results = [None] * 8

    def ask(i):
        results[i] = cap.gaps().document
    threads = [threading.Thread(target=ask, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [want] * 8
    child = os.fork()
    if not child:
        os._exit(0 if cap.gaps().document == want else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert cap.gaps().document == want
    with cap:
        pass
    assert "closed" in refused(cap.gaps)
    assert profan._program._server._child is None
    assert profan.open(DB).gaps().document == want


@test
def a_process_that_stays_sees_what_changes():
    cap = profan.open(DB)
    copy, other = (os.path.join(FOLDER, n) for n in ("copy.db", "other.db"))
    shutil.copy(DB, copy)
    before = profan.open(copy).info().document
    two_steps = json.loads(pathlib.Path(TRACE).read_text())
    two_steps["traceEvents"] = two_steps["traceEvents"][:50]
    part = os.path.join(FOLDER, "fewer.json")
    pathlib.Path(part).write_text(json.dumps(two_steps))
    profan.ingest(part, output=other)
    os.rename(other, copy)
    after = profan.open(copy).info().document
    assert after != before
    assert after == json.loads(printed("info", copy, "-f", "json"))
    os.remove(copy)
    assert "cannot open" in refused(lambda: profan.open(copy))
    here = os.getcwd()
    os.chdir(FOLDER)
    try:
        cap = profan.open(os.path.relpath(DB))
        cap.report("here.html")
    finally:
        os.chdir(here)
    assert os.path.exists(os.path.join(FOLDER, "here.html"))
    with unittest.mock.patch.dict(os.environ, COLUMNS="200"):
        assert str(profan.open(DB).kernels()) == printed(
            "kernels", DB).rstrip("\n")


@test
def a_request_that_is_none_is_refused():
    for request in (b"x\0", b"1\0profan\0", b"-3\0"):
        done = subprocess.run([PROGRAM, "--serve"], input=request,
                              capture_output=True, check=False)
        assert done.returncode == 2 and b"number of words" in done.stderr
    done = subprocess.run([PROGRAM, "--serve"], capture_output=True,
                          check=False, input=b"3\0profan\0capture\0true\0"
                          b"2\0profan\0--version\0" b"9\0profan\0gaps\0")
    assert done.returncode == 0, done
    assert done.stdout.split()[:2] == [b"2", b"0"], done
    assert b"not served" in done.stderr


@test
def rows_of_sql_come_from_one_process():
    cap = profan.open(DB)

    def fastest(call):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return min(times)

    plain = fastest(lambda: printed("gaps", DB, "-f", "json"))
    module = fastest(cap.gaps)
    print(f"# a call takes {plain * 1000:.1f} ms, from Python "
          f"{module * 1000:.1f} ms")  # how much is for people to judge
    assert started_by(lambda: list(cap.sql("SELECT 1"))) == 1


@test
def nothing_is_imported_that_was_not_asked_for():
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import sys, profan; "
         f"text = str(profan.open({DB!r}).table()); "
         "print([m for m in ('numpy', 'pandas', 'torch', 'polars', 'html', "
         "'pathlib', 'sqlite3', 'tempfile') if m in sys.modules])"],
        stdout=subprocess.PIPE, check=True)
    assert done.stdout.strip() == b"[]"


for function in TESTS:
    try:
        function()
    except Exception:
        print("not ok -", re.sub("_", " ", function.__name__))
        print("# " + traceback.format_exc().replace("\n", "\n# "))
    else:
        print("ok -", re.sub("_", " ", function.__name__))
