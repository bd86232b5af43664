# SPDX-License-Identifier: MIT
"""The page that is the program, in Chromium.

usage: page.py FOLDER CHROMIUM COUNT PROFAN
FOLDER holds the page profan.html and the files that are dropped on it; what
the page shows is held against what PROFAN prints there.  Prints TAP after
COUNT results before.  Needs what browser.py needs.
"""
import json
import os
import random
import re
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

import browser as b

FOLDER, PROFAN = os.path.abspath(sys.argv[1]), sys.argv[4]
ROWS = 1000  # that the page asks for
SETTLED = """window.settled = () =>
    document.querySelector('#main').dataset.at === location.hash"""
VIEWS = "VIEWS.flatMap((v) => v.commands.map((c) => [v.id, c]))"


def native(*args, code=0):
    """What the program prints, run where the files are."""
    done = subprocess.run([PROFAN, *args], cwd=FOLDER, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != code:
        raise AssertionError(f"{args}: exit code {done.returncode}")
    return done.stdout if code == 0 else done.stderr.decode().strip()


def help_of(name):
    return json.loads(native("help", name, "--format", "json"))["commands"][0]


class App(b.Watched):
    """The page, into which files can be dropped."""

    def __init__(self, browser, fragment="", name="profan", **options):
        super().__init__(browser, name, **options)
        self.page.goto("about:blank")
        self.page.add_init_script(SETTLED)
        self.page.goto(b.url(name) + fragment)
        self.requests.clear()
        self.page.wait_for_selector("html[data-ready]", timeout=20000)
        self.cdp = self.context.new_cdp_session(self.page)

    def drop(self, *names):
        data = {"items": [], "dragOperationsMask": 1,
                "files": [os.path.join(FOLDER, n) for n in names]}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.cdp.send("Input.dispatchDragEvent",
                          {"type": kind, "x": 300, "y": 120, "data": data})

    def until(self, condition, seconds=20):
        """wait_for_function() would need eval(), which the policy forbids."""
        end = time.time() + seconds
        while not self.page.evaluate(condition):
            if time.time() > end:
                raise AssertionError("never: " + condition + "\n" +
                                     "\n".join(self.said))
            time.sleep(0.02)
        return self.page

    def captures(self, count):
        self.until(f"captures.length === {count}")
        return self

    def answer(self):
        self.page.wait_for_selector("#answer[aria-busy=false]", timeout=20000)
        return self.page

    def show(self, view, of="", **options):
        self.page.evaluate("(to) => { go(to); }", {"view": view, "of": of,
                                                   **options})
        return self.until("settled()")

    def reopened(self):
        """No message, no request and nothing run."""
        if self.page.evaluate("window.pwned !== undefined"):
            self.said.append("a name was run")
        self.requests[:] = [r for r in self.requests
                            if not r.startswith("blob:")]
        return "\n".join(self.said + self.requests)


def opened(browser, *names, fragment="", **options):
    app = App(browser, fragment, **options)
    app.drop(*names)
    app.captures(1).answer()
    return app


# ---- figures ----

# What stands in the page: figures, and of each table its cells by key.
SHOWN = """() => {
    const cell = (e) => [e.dataset.v ?? null, e.textContent];
    return {
        figures: Object.fromEntries([...document.querySelectorAll(
            '.figures dd')].map((e) => [e.dataset.k, cell(e)])),
        tables: Object.fromEntries([...document.querySelectorAll(
            '#answer .t > table')].map((t) => [t.id.slice(2), {
            keys: [...t.tHead.rows[0].cells].map((c) => c.dataset.k),
            titles: [...t.tHead.rows[0].cells].map((c) => c.textContent),
            rows: [...t.tBodies].flatMap((b) => [...b.rows]).map((r) =>
                [...r.cells].map(cell)) }])),
        advice: [...document.querySelectorAll('.verdicts > li')].map((e) =>
            e.textContent),
    };
}"""


def is_same(value, shown):
    raw, text = shown
    if value is None:
        return raw is None and text == ""
    if isinstance(value, str):
        return raw is None and text == value
    return raw is not None and (str(value) == raw or
                                isinstance(value, float) and
                                float(raw) == value)


def differences(doc, shown):
    """Between a document of the program and what the page shows."""
    for key, value in doc["scalars"].items():
        if key == "finding" or value in (None, ""):
            continue
        if not is_same(value, shown["figures"].get(key, (None, ""))):
            yield f"{key}: {value} is {shown['figures'].get(key)}"
    for name, rows in doc["tables"].items():
        if rows and "sentence" in rows[0]:
            if len(rows) != len(shown["advice"]):
                yield f"{name}: {len(shown['advice'])} of {len(rows)} rows"
            for row, text in zip(rows, shown["advice"]):
                if row["sentence"][1:] not in text:
                    yield f"{name}: no sentence {row['id']}"
            continue
        if not rows or name == "how":
            continue
        table = shown["tables"].get(name)
        if not table or len(table["rows"]) != min(len(rows), ROWS):
            yield f"{name}: {table and len(table['rows'])} of {len(rows)} rows"
            continue
        for i, (row, cells) in enumerate(zip(rows, table["rows"])):
            for key, cell in zip(table["keys"], cells):
                if not is_same(row[key], cell):
                    yield f"{name} {i} {key}: {row[key]!r} is {cell}"
            for key in set(row) - set(table["keys"]):
                if row[key] not in (None, ""):
                    yield f"{name} {i} {key}: is not shown"


def md_tables(text):
    """Tables as people see them: titles, and rows of texts."""
    lines = [re.split(r"(?<!\\)\|", line.strip())[1:-1]
             if line.startswith("|") else None
             for line in text.split("\n")] + [None]
    found, now = [], []
    for line in lines:
        if line is not None:
            now.append([c.strip() for c in line])
        elif now:
            found.append((now[0], now[2:]))
            now = []
    return found


UNITS = re.compile(r"^-?[\d.]+ (?:(ns|us|ms|s)|([KMGTPE]i)?B|%)$")


def unit(text):
    found = UNITS.match(text)
    return found and ("time" if found[1] else text[-1])


def looks(text, shown):
    """Numbers as the terminal has them, in every table that has the rows."""
    compared, wrong = 0, []
    for titles, rows in md_tables(text):
        def alike(table):
            """Titles in common, if that is the table: empty ones are not."""
            both = [t for t in titles if t in table["titles"]]
            if len(table["rows"]) != len(rows) or not rows:
                return []
            first = {t: c[1] for t, c in zip(table["titles"],
                                             table["rows"][0])}
            is_it = all(cell.strip("`") == first[title] for title, cell in
                        zip(titles, rows[0]) if "`" in cell and title in first)
            return both if is_it else []

        table = max(shown["tables"].values(), default=None,
                    key=lambda t: len(alike(t)))
        for row, cells in zip(rows, table["rows"] if table else []):
            for title in alike(table):
                seen = cells[table["titles"].index(title)][1]
                said = row[titles.index(title)].lstrip("+")
                # some columns say the same in brief
                if not unit(said) or unit(said) != unit(seen):
                    continue
                compared += 1
                if said != seen:
                    wrong.append(f"{said} is {seen}")
    return compared, wrong


def check_numbers(browser):
    """The page's numbers are printf's, ties too."""
    app, rng = App(browser), random.Random(1)
    ints = [0, 999, 1000, -1000, 999499, 999500, 1062500, -1062500, 1187500,
            999999499, 999999500, 10**9, 3 * 10**18]
    ints += [rng.randrange(-10**9, 10**rng.randrange(1, 16)) for _ in
             range(500)]
    ints += [62500 * n for n in range(1, 200)]  # of ms that end in 5
    reals = [0.0, 1.0, 0.5, 1e-5, 123456.5, 1234565.0, 1e15, 1e16, 1e22, 1e-7,
             0.1 + 0.2, 2 / 3, -2 / 3, 99999.95, 999999.5, 1e-300]
    reals += [rng.uniform(-1, 1) * 10 ** rng.randrange(-9, 20) for _ in
              range(500)]
    shares = [0.0, 1.0, 0.00004, 0.99996, -0.00004, 0.5, 0.25125, 0.00125,
              -1.5] + [rng.random() for _ in range(300)] + \
             [n / 32 / 100 for n in range(100)]

    def grouped(text):  # what it begins with
        return re.sub(r"\d+", lambda m: f"{int(m[0]):,}", text, count=1)

    def steps(n, by, names, digits):
        value, i = abs(n) / by, 1
        if value < 1:
            return f"{n} {names[0]}"
        while value >= by - 10 ** -digits / 2 and i + 1 < len(names):
            value, i = value / by, i + 1
        return grouped("%s%.*f %s" % ("-" * (n < 0), digits, value, names[i]))

    def real(x):
        if x.is_integer() and abs(x) < 2**53:
            return grouped(str(int(x)))
        return grouped(("%.0f" if 9999.5 <= abs(x) < 1e15 else "%.4g") % x)

    def exact(x):
        return next(t for t in ("%.*g" % (d, x) for d in (15, 16, 17))
                    if float(t) == x)

    def share(x):
        percent = 100 * x
        if 0 < percent < 0.005:
            return "<0.01 %"
        if -0.005 < percent < 0:
            return "> -0.01 %"
        if 99.995 < percent < 100:
            return ">99.99 %"
        return grouped("%.2f %%" % percent)

    wrong = []
    for kind, values, say in (
            ("ns", ints, lambda n: steps(n, 1000, "ns us ms s".split(), 3)),
            ("bytes", ints, lambda n: steps(
                n, 1024, "B KiB MiB GiB TiB PiB EiB".split(), 2)),
            ("count", ints, "{:,}".format), ("integer", ints, str),
            ("real", reals, real), ("any", reals, exact),
            ("ratio", shares, share)):
        shown = app.page.evaluate(
            "([text, kind]) => parseDocument(text).map((v) => show(v, kind))",
            [json.dumps(values), kind])
        wrong += [f"{kind} {v!r}: {s}, not {say(v)}"
                  for v, s in zip(values, shown) if s != say(v)][:4]
    b.say("numbers are the terminal's", "\n".join(wrong))
    app.close()


def argv(command, database, *options):
    known = help_of(command)
    rows = ["--limit", str(ROWS)] if any(
        o["name"] == "limit" for o in known["options"]) else []
    return [command, database, *options, *rows]


def check_views(browser, trace):
    """Every view opens, with an answer."""
    app, wrong = opened(browser, trace), []
    for view, command in app.page.evaluate(VIEWS):
        app.show(view, command)
        if command == "timeline":
            app.until("chart.state().isGood", 120)
        error = app.page.query_selector("#main .error")
        if error:
            wrong.append(f"{command}: {error.inner_text()}")
    b.say(trace + ": every view, and no request or message",
          "\n".join(wrong) + app.reopened())
    app.close()


def check_figures(browser, trace, database):
    """Every view: no message, and the program's own figures."""
    app, wrong, numbers = opened(browser, trace), [], 0
    for view, command in app.page.evaluate(VIEWS):
        if command in ("diff", "report", "query", "stacks", "timeline"):
            continue
        app.show(view, command)
        args = argv(command, database)
        doc = json.loads(native(*args, "--format", "json"))
        shown = app.page.evaluate(SHOWN)
        wrong += [f"{command}: {d}" for d in differences(doc, shown)][:5]
        n, odd = looks(native(*args, "--format", "md").decode(), shown)
        numbers += n
        wrong += [f"{command}: {d}" for d in odd][:5]
        error = app.page.query_selector("#answer .error")
        if error:
            wrong.append(f"{command}: {error.inner_text()}")
    if numbers < 200:
        wrong.append(f"only {numbers} numbers are also in text")
    print(f"# {trace}: {numbers} numbers as text has them")
    b.say(trace + ": figures are those of the program", "\n".join(wrong))
    b.say(trace + ": no request, message or dialog", app.reopened())
    app.close()


def check_answers(browser):
    """Options, part of the capture, SQL, a file of csv, the database."""
    app, p = None, None

    def held(name, *args):
        doc = json.loads(native(*args, "--format", "json"))
        b.say(name, "\n".join(differences(doc, p.evaluate(SHOWN))))

    app = opened(browser, "train.json")
    said, known = app.page.evaluate(KNOWN)
    own = [c["name"] for c in said[0]]
    b.say("what the page knows of the program is what it says", None if
          own and said == [[c for c in known[0] if c["name"] in own],
                           known[1]] else "it differs")
    p = app.show("path")
    p.fill("input[name='what-if']", "launch=0")
    p.press("input[name='what-if']", "Enter")
    app.until("settled() && document.querySelector('#t-what_if')")
    held("what if is asked live", *argv("path", "train.db", "--what-if",
                                        "launch=0"))
    b.say("the command stands there", None if p.inner_text(
        "#main > .command code") == "profan path train.db --what-if launch=0"
        else p.inner_text("#main > .command code"))
    app.show("summary")
    p.click(".verdicts a[href*='from=']")
    app.until("state().options.get('from') && settled()")
    span = p.evaluate("['from', 'to'].map((o) => state().options.get(o))")
    window = ["--from", span[0], "--to", span[1]]
    held("a span of time is asked by a click", *argv("summary", "train.db",
                                                     *window))
    app.show("quality")
    b.say("what cannot be asked of it says so", None if "by from and to" in
          p.inner_text(".controls .error") else p.inner_text(".controls"))
    app.show("kernels", "kernels")
    held("and stays for other views", *argv("kernels", "train.db", *window))
    p.click("text=All of it")
    app.until("!state().options.get('from') && settled()")
    held("until all is asked again", *argv("kernels", "train.db"))
    p.go_back()
    app.until("state().options.get('from') && settled()")
    held("the way back is the browser's", *argv("kernels", "train.db",
                                                *window))
    p.evaluate("go({ from: '', to: '' })")
    app.until("settled()")
    app.show("idle")
    said = p.evaluate("""['th[data-k=cause]', 'tbody th']
        .map((s) => document.querySelector('#t-causes ' + s))
        .concat([...document.querySelectorAll('.figures dt')])
        .map((e) => [e.textContent.toLowerCase(), e.title])""")
    words = json.loads(native("help", "words", "--format", "json"))
    meanings = {w["word"].lower(): w["meaning"]
                for w in words["tables"]["words"]}
    told = [(w, t) for w, t in said if t]
    b.say("words that are ours are explained", None if len(told) > 1 and
          all(meanings.get(w) == t for w, t in told) else said)
    app.show("sql")
    big = "SELECT 9007199254740993 AS big, 3 AS '2', 4 AS '1', 0.1 AS r, " \
        "NULL AS n, 'x' AS t, -9223372036854775807 AS least"
    p.fill("textarea", big)
    p.press("textarea", "Control+Enter")
    p.wait_for_selector("#t-rows th[data-k=big]")
    held("SQL, and numbers beyond doubles", "query", "train.db", big)
    keys = p.evaluate(SHOWN)["tables"]["rows"]["keys"]
    b.say("columns in the order of the statement", None if keys == [
        "big", "2", "1", "r", "t", "least"] else keys)
    p.fill("textarea", "--a comment first\nSELECT 'it''s' AS t")
    p.press("textarea", "Control+Enter")
    p.wait_for_selector("#t-rows th[data-k=t]")
    b.say("SQL may begin with a comment", None if p.inner_text(
        "#t-rows tbody") == "it's" else p.inner_text("#t-rows tbody"))
    p.fill("textarea", "SELECT nothing")
    p.press("textarea", "Control+Enter")
    p.wait_for_selector("#answer .error")
    want = native("query", "train.db", "SELECT nothing", code=2)
    b.say("an error is the program's", None if p.inner_text(
        "#answer .error") == want else p.inner_text("#answer .error"))
    p.fill("textarea", "SELECT a.name, b.name FROM event a, event b")
    p.press("textarea", "Control+Enter")
    app.until("settled()", 60)
    b.say("an answer without end is ended", None if p.inner_text("#answer") ==
          "That is more than 128 MiB of text: ask for fewer rows."
          else p.inner_text("#answer"))
    app.show("kernels", "kernels")
    with p.expect_download() as got:
        p.click("[aria-label='Save as csv: Kernels']")
    with open(got.value.path(), "rb") as file:
        csv = file.read()
    b.say("csv is the terminal's", None if csv == native(
        "kernels", "train.db", "--format", "csv", "--table", "kernels")
        else csv[:200])
    with p.expect_download() as got:
        p.click("#save")
    with open(got.value.path(), "rb") as file, \
            open(FOLDER + "/train.db", "rb") as same:
        is_equal = file.read() == same.read()
    b.say("the database is the terminal's, byte for byte",
          None if is_equal else "it differs")
    app.show("advice")
    line = p.locator(".verdicts .command", has_text="--what-if").first
    command = line.locator("code").inner_text()
    line.locator("text=Ask it here").click()
    app.until("state().command === 'path' && settled()")
    b.say("what advice names is asked by a click", None if p.inner_text(
        "#main > .command code") == command else command)
    app.show("summary")
    line = p.locator(".verdicts .command", has_text="slice").first
    with p.expect_download() as got:
        line.locator("text=Save slice.json").click()
    with open(got.value.path(), "rb") as file:
        part = file.read()
    native(*line.locator("code").inner_text().split()[1:-1], "part.json")
    with open(FOLDER + "/part.json", "rb") as file:
        b.say("a slice is the terminal's", None if part == file.read()
              else "it differs")
    for text in ("profan query a.db 'it'\\''s' x", "profan path 'a b' -o c"):
        shell = subprocess.run(["sh", "-c", "printf '%s\\n' " + text],
                               capture_output=True, text=True, check=True)
        words = p.evaluate("(text) => wordsIn(text)", text)
        b.say("words of " + text, None if words ==
              shell.stdout.split("\n")[:-1] else words)
    app.show("report")
    frame = p.frame_locator("iframe")
    frame.locator("html[data-ready='1']").wait_for(timeout=20000)
    b.say("the report is there, with its timeline",
          None if frame.locator("canvas").count() else "no timeline")
    b.say("answers: no request, message or dialog", app.reopened())
    app.close()


def check_tables(browser):
    """Sorting, filtering and copying are the report's."""
    app = opened(browser, "train.json", fragment="#view=tables")
    p, wrong = app.page, []
    p.click("#t-key_averages th[data-k=self_cpu_ns] button")
    column = p.evaluate("""() => {
        const t = document.querySelector('#t-key_averages');
        const i = t.querySelector('[data-k=self_cpu_ns]').cellIndex;
        return rowsOf(t).map((r) => Number(r.cells[i].dataset.v));
    }""")
    if column != sorted(column, reverse=True) or len(column) < 20:
        wrong.append(f"not sorted: {column[:5]}")
    p.keyboard.press("/")
    p.keyboard.type("aten::mm")
    seen = p.locator("#t-key_averages tbody tr:visible th").all_inner_texts()
    if not seen or any("aten::mm" not in s for s in seen):
        wrong.append(f"not filtered: {seen[:5]}")
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    p.click("[aria-label='Copy: Key averages']")
    p.wait_for_selector("text=Copied")
    text = p.evaluate("navigator.clipboard.readText()").strip().split("\n")
    if len(text) != len(seen) + 1 or "\t" not in text[0]:
        wrong.append(f"copied {len(text)} lines")
    b.say("tables are sorted, filtered and copied", "\n".join(wrong))
    app.show("modules")
    doc = json.loads(native(*argv("modules", "train.db"), "--format", "json"))
    seen = p.evaluate("""[...document.querySelectorAll('#t-modules th')].filter(
        (e) => e.scope === 'row' && getComputedStyle(e).display !== 'none').map(
        (e) => [e.textContent, parseFloat(e.style.paddingLeft || 0) + 1])""")
    wanted = [[row["name"], row["depth"]] for row in doc["tables"]["modules"]]
    b.say("a tree of modules is seen as one", None if wanted and seen == wanted
          else f"{seen[:5]}, not {wanted[:5]}")
    app.close()


# ---- files ----

def check_files(browser):
    # files come before the program is there
    app = b.Watched(browser, "profan")
    app.page.goto(b.url("profan"), wait_until="commit")
    app.page.set_input_files("#files", os.path.join(FOLDER, "train.json"))
    app.page.wait_for_selector("#answer[aria-busy=false]", timeout=20000)
    b.say("a file that comes first is read", "\n".join(app.said))
    app.close()
    app = opened(browser, "train.json", fragment="#view=idle")
    p = app.page
    b.say("the address says which view", None if p.inner_text("h2") == "Idle"
          else p.inner_text("h2"))
    app.drop("junk.bin")
    p.wait_for_selector("#said .error")
    want = native("ingest", "junk.bin", "-o", "junk.db", code=3)
    b.say("a file that is no trace: one sentence", None if p.inner_text(
        "#said") == want else p.inner_text("#said"))
    app.show("kernels", "kernels")
    b.say("and all else is as it was", None if p.evaluate(
        "captures.length") == 1 and p.locator("#t-kernels").count()
        else "it is not")
    app.drop("empty.json")
    app.until("document.querySelector('#said').textContent"
                        ".includes('empty.json')")
    app.drop("train.db")
    app.captures(2)
    app.until("settled()")
    b.say("a database is taken as it is", None if p.evaluate(
        "shown.made === null && shown.blob.size") == os.path.getsize(
            FOLDER + "/train.db") else "it is not")
    p.select_option("#capture", "train.db")
    app.show("modules")
    doc = json.loads(native(*argv("modules", "train.db"), "--format", "json"))
    b.say("and one of its name stays what it was", "\n".join(differences(
        doc, p.evaluate(SHOWN))))
    p.click("#drop summary")
    p.check("#reading [name=strict]")
    app.drop("cut.json")
    p.wait_for_selector("#said .error")
    want = native("ingest", "cut.json", "--strict", "-o", "cut3.db", code=3)
    b.say("an option of reading", None if p.inner_text("#said") == want
          else p.inner_text("#said"))
    p.uncheck("#reading [name=strict]")
    app.drop("cut.json")
    app.captures(3)
    app.until("settled()")
    said = subprocess.run([PROFAN, "ingest", "cut.json", "-o", "cut2.db"],
                          cwd=FOLDER, capture_output=True,
                          check=True).stderr.decode().strip()
    b.say("a trace that was cut is mended, and that is said", None
          if said and p.inner_text("#made .said") == said
          else [said, p.inner_text("#made")])
    app.drop("job")
    app.captures(4)
    app.until("settled()")
    app.show("ranks", "ranks")
    doc = json.loads(native("ranks", "job.db", "--format", "json",
                            *argv("ranks", "")[2:]))
    b.say("a folder is one database", "\n".join(differences(
        doc, p.evaluate(SHOWN))))
    app.show("kernels", "kernels")
    p.select_option("#capture", "train.db")
    app.until("settled()")
    p.click("#close")
    app.captures(3)
    app.drop("again/train.json")
    app.captures(4)
    p.select_option("#capture", "train.db")
    app.until("settled()")
    doc = json.loads(native(*argv("kernels", "again/train.db"), "--format",
                            "json"))
    b.say("a closed one leaves its name, and nothing else", "\n".join(
        differences(doc, p.evaluate(SHOWN))))
    b.say("files: no request, message or dialog", app.reopened())
    p.reload()
    p.wait_for_selector("html[data-ready]")
    b.say("nothing is left after a reload", None if p.evaluate(
        "captures.length === 0 && localStorage.length === 0 &&"
        " document.body.classList.contains('empty')") else "something is")
    app.close()


def check_address(browser):
    """Whatever stands in the address is options of the program, or nothing."""
    bad = ("#view=%3Cscript%3E&of=__proto__&constructor=1&__proto__=2&%zz",
           "#view=idle&of=report&micro=%3Cimg%20src=x%20onerror=pwned=1%3E",
           "#view=tables&sort=--output&limit=-1&output=x&format=html",
           "#view=sql&sql=" + "%22%27%3B--%00" * 50)
    wrong = []
    for fragment in bad:
        app = opened(browser, "train.json", fragment=fragment)
        app.until("settled()")
        command = app.page.inner_text("#main > .command code")
        if "onerror" in command and "'<img src=x onerror=pwned=1>'" not in \
                command or "format" in command or "output x" in command:
            wrong.append(command)
        wrong.append(app.reopened())
        app.close()
    b.say("any address is safe", "\n".join(filter(None, wrong)))


def check_diff(browser):
    app = opened(browser, "train.json")
    app.show("summary")
    app.page.evaluate("go({ view: 'diff' })")
    app.page.wait_for_selector("text=Drop or choose the capture that")
    app.drop("idle.json")
    app.captures(2)
    app.page.wait_for_selector("#answer[aria-busy=false]")
    doc = json.loads(native(*argv("diff", "train.db"), "idle.db", "--format",
                            "json"))
    b.say("a second capture is compared", "\n".join(differences(
        doc, app.page.evaluate(SHOWN))))
    b.say("diff: no request, message or dialog", app.reopened())
    app.close()


# ---- while it reads ----

def check_stop(browser):
    app = opened(browser, "train.json")
    p = app.page
    app.drop("large.json")
    app.until("document.querySelector('#progress').value > 0 &&"
                        " document.querySelector('#progress').max > 1e7")
    said = p.inner_text("#rest")
    rest = p.evaluate("""[1000, 10000].map((ms) => restOf({ read: 25,
        size: 100, begun: performance.now() - ms }))""")
    b.say("how much is read is said, and the time left when it is known", None
          if re.match(r"[\d,]+ of [\d,]+ MB read", said) and
          rest[0] == "" and re.match(", 3[01] s left$", rest[1])
          else [said, rest])
    app.drop("idle.json")  # waits
    p.wait_for_selector("text=more wait")
    p.click("#stop")
    app.until(
        "document.querySelector('#said').textContent === 'Stopped.'", 5)
    app.captures(2)
    b.say("what waited is read when another was stopped", None if p.evaluate(
        "captures.map((c) => c.db)") == ["train.db", "idle.db"]
        else p.evaluate("captures.map((c) => c.db)"))
    p.select_option("#capture", "train.db")
    app.show("modules")
    doc = json.loads(native(*argv("modules", "train.db"), "--format", "json"))
    b.say("databases outlive what was stopped", "\n".join(differences(
        doc, p.evaluate(SHOWN))))
    p.evaluate("go({ view: 'kernels' }); "
               "setTimeout(() => program.stop(), 0)")
    app.until("settled()")
    said = p.inner_text("#answer")
    p.click("#views [aria-current]")
    app.until("settled() && document.querySelector('#t-kernels')")
    b.say("what was stopped is asked again", None if said == "Stopped."
          else said)
    app.drop("large.json")
    app.until("document.querySelector('#progress').max > 1e7 &&"
                        " document.querySelector('#progress').value > 0")
    app.drop("changed.json")
    p.wait_for_selector("text=more wait")
    with open(FOLDER + "/changed.json", "a", encoding="utf-8") as file:
        file.write(" " * 5000)
    os.utime(FOLDER + "/changed.json", (time.time() + 9, time.time() + 9))
    app.captures(3)
    p.wait_for_selector("#said .error", timeout=20000)
    said = p.inner_text("#said")
    b.say("a file that changed meanwhile: one sentence", None
          if re.search(r"changed\.json|cannot be read any more", said) and
          "\n" not in said and
          p.evaluate("captures.length") == 3 else said)
    b.say("reading: no message or dialog", "\n".join(app.said))
    app.close()


# The first that stands under a summary.
FIRST = """() => {
    window.first = null;
    new MutationObserver(() => {
        first ??= document.querySelector('#answer > .finding')?.textContent;
    }).observe(document.querySelector('#main'),
        { childList: true, subtree: true });
}"""


def check_sooner(browser):
    """What a summary takes long for is said behind what is known soon."""
    app = App(browser)
    app.page.evaluate(FIRST)
    app.drop("train.json")
    shown = app.captures(1).answer().evaluate(SHOWN)
    first = (app.page.evaluate("first") or "").replace("\u00a0", " ")
    said, doc = [json.loads(native(c, "train.db", "--format", "json"))
                 for c in ("steps", "summary")]
    b.say("the first is said sooner", None if
          first == said["scalars"]["finding"] + "." else first)
    b.say("and then all", "\n".join(differences(doc, shown)))
    app.close()


def check_slices(browser):
    """A large trace is read in slices, ahead where the browser can wait."""
    with open(FOLDER + "/profan.html", encoding="utf-8") as file:
        page = file.read()
    with open(FOLDER + "/impatient.html", "w", encoding="utf-8") as file:
        file.write(page.replace("'Suspending' in WebAssembly", "false"))
    with open(FOLDER + "/slices.db", "rb") as file:
        same = file.read()
    for name, how in (("profan", "that come while it works"),
                      ("impatient", "each when its turn comes")):
        app = App(browser, name=name)
        app.drop("slices.json")
        app.captures(1)
        with app.page.expect_download() as got:
            app.page.click("#save")
        with open(got.value.path(), "rb") as file:
            b.say("slices " + how + ": the program's database",
                  None if file.read() == same else "it differs")
        app.close()


def check_progress(browser):
    """Of several files what was read of all of them, and it only grows."""
    app, seen, end = App(browser), [], time.time() + 60
    app.drop("large.json", "changed.json")
    counts, works = set(), []
    while not app.page.evaluate("captures.length") and time.time() < end:
        works += app.page.evaluate("""[...document.querySelectorAll('#t-so-far')]
            .map((t) => [...t.rows].map((r) => [r.cells[0].textContent,
                Number(r.cells[2].dataset.v || 0)]))""")
        counts.add(app.page.inner_text("#counts"))
        seen += app.page.evaluate("captures.length ? [] : "
                                  "[document.querySelector('#progress').value]")
        time.sleep(0.02)
    size = os.path.getsize(FOLDER + "/large.json")
    b.say("progress of several files", None if seen == sorted(seen) and
          max(seen) > size else seen)
    b.say("what was read so far", None if any(re.fullmatch(
        r"[\d,]+ events, [\d,]+ GPU events, [\d,]+ operators, .*", c)
        for c in counts) else sorted(counts))
    b.say("and what took most of it", None if works and all(
        w[1:] == sorted(w[1:], key=lambda r: -r[1]) and len(w) > 3
        for w in works) and max(works, key=len)[1][0] else works)
    b.say("is no message of the program", app.page.inner_text("#made .said")
          if app.page.locator("#made .said").count() else None)
    app.close()


# What can go wrong in a worker, made to.
BROKEN = """
const whole = answers.run;
answers.run = async (message) => {
    const of = {
        doctor: () => { throw new WebAssembly.RuntimeError('unreachable'); },
        info: () => { throw new RangeError('Out of memory'); },
        steps: () => setTimeout(() => { throw new Error('dead'); }),
    }[message.run[0]];
    await of?.();
    return message.run[0] === 'steps' ? new Promise(() => {})
        : whole(message);
};
"""


def check_traps(browser):
    with open(FOLDER + "/profan.html", encoding="utf-8") as file:
        page = file.read()
    at = page.index("</script>", page.index('id="worker"'))
    with open(FOLDER + "/broken.html", "w", encoding="utf-8") as file:
        file.write(page[:at] + BROKEN + page[at:])
    app = App(browser, name="broken")
    app.drop("train.json")
    app.captures(1).answer()
    for view, command, want in (
            ("quality", "doctor", "broke off (RuntimeError: unreachable)."),
            ("quality", "info", "more memory than a page can have"),
            ("steps", "steps", "The program broke off (")):
        p = app.show(view, command)
        said = p.inner_text("#answer")
        b.say(f"{command} breaks off: a sentence", None
              if want in said and "\n" not in said else said)
    p = app.show("kernels", "kernels")
    b.say("and nothing else", None if p.locator("#t-kernels").count()
          else p.inner_text("#answer"))
    app.close()


# ---- looks, keys ----

# Words of commands that break behind a "-", as an option would.
HALVED = """() => [...document.querySelectorAll('.command code')].flatMap((code) => {
    const range = document.createRange(), found = [];
    const topOf = (node, i) => {
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        return range.getBoundingClientRect().top;
    };
    const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());)
        for (let i = 0; i + 1 < node.data.length; i++)
            if (node.data[i] === '-' && topOf(node, i) < topOf(node, i + 1))
                found.push(code.textContent);
    return found;
})"""


def check_looks(browser):
    app = opened(browser, "train.json")
    app.show("kernels")
    app.page.evaluate("go({ group: 'name,op', from: '1ms', to: '9s' })")
    app.answer()
    wrong = []
    for width in range(300, 420, 10):
        app.page.set_viewport_size({"width": width, "height": 700})
        wrong += app.page.evaluate(HALVED)
    b.say("options stay whole on a phone", "\n".join(wrong))
    app.close()
    app = opened(browser, "hostile.json")
    p, wrong = app.page, []
    for view, command in p.evaluate(VIEWS):
        app.show(view, command)
        wrong += [f"{command}: {w}" for w in b.does_not_fit(
            p, (360, 600, 900, 1280))]
    b.say("fits in 360 to 1280 px", "\n".join(wrong))
    b.say("hostile names: no request, message or dialog", app.reopened())
    app.close()
    app = App(browser)
    wrong = b.does_not_fit(app.page, (360, 1280))
    b.say("the empty page fits, too", "\n".join(wrong))
    app.close()


def check_axe(browser):
    axe = b.axe_source()
    if not axe:
        print("# NOT RUN: axe is missing")
        return
    for scheme in ("light", "dark"):
        app, found = opened(browser, "train.json", color_scheme=scheme), []
        p = app.page
        for view, command in p.evaluate(VIEWS):
            if command == "report":
                continue  # browser.py does
            app.show(view, command)
            found += ["%s: %s (%d) %s" % (command, v["id"], len(v["nodes"]),
                                          v["nodes"][0]["html"][:200])
                      for v in b.run_axe(p, axe)]
        b.say("axe, " + scheme, "\n".join(found))
        background = p.evaluate(
            "getComputedStyle(document.body).backgroundColor")
        b.say(scheme + " is " + scheme, None if
              (background == "rgb(255, 255, 255)") == (scheme == "light")
              else background)
        app.close()


def check_keys(browser):
    app = opened(browser, "train.json")
    p, wrong = app.page, []

    def expect(what, is_true):
        if not is_true:
            wrong.append(what)

    here = "document.activeElement.textContent"
    p.keyboard.press("v")
    expect("v goes to the bar", p.evaluate(here) == "Summary")
    p.keyboard.press("ArrowDown")
    p.keyboard.press("ArrowRight")
    expect("arrows move", p.evaluate(here) == "Tables")
    expect("one stop of Tab", p.locator("#views [tabindex='0']").count() == 1)
    p.keyboard.press("End")
    expect("End is the last", p.evaluate(here) == "Report")
    p.keyboard.press("Home")
    p.keyboard.press("ArrowDown")
    p.keyboard.press("ArrowDown")
    p.keyboard.press("Enter")
    app.until("state().view.id === 'tables' && settled()")
    expect("focus stays in the bar", p.evaluate(here) == "Tables")
    p.keyboard.press("]")
    app.until("state().view.id === 'steps' && settled()")
    p.keyboard.press("[")
    app.until("state().view.id === 'tables' && settled()")
    p.keyboard.press("?")
    expect("? lists the keys", p.locator("#keys").is_visible())
    expect("all of them", p.locator("#keylist dt").count() == p.evaluate(
        "KEYS.length"))
    p.keyboard.press("Escape")
    expect("Escape closes them", not p.locator("#keys").is_visible())
    expect("who does not see hears what is shown", p.inner_text(
        "#told[role=status]") == "Tables is shown")
    b.say("keys", "\n".join(wrong))
    app.close()


# How many pictures are asked for in two seconds after a move by 1.2 widths.
ASKED = """async () => {
    const { line } = chart, { v0, v1, span } = line;
    const at = span / 2, w = span / 2000;
    const rest = (ms) => new Promise((r) => setTimeout(r, ms));
    const run = program.run;
    let count = 0;
    line.setView(at, at + w);
    await rest(1000);
    program.run = (...args) => {
        count++;
        return run(...args);
    };
    line.setView(at + 1.2 * w, at + 2.2 * w);
    await rest(2000);
    program.run = run;
    line.setView(v0, v1);
    return count;
}"""


def check_timeline(browser):
    """All events: what is drawn, keys, a range, an event and its launch."""
    app, wrong = opened(browser, "train.json", fragment="#view=timeline"), []
    p = app.page
    good, view = "chart.state().isGood", "chart.state()"

    def expect(what, is_true):
        if not is_true:
            wrong.append(what)

    def now():
        app.until(good)
        return p.evaluate(view)

    def pressed(*keys):
        for key in keys:
            p.keyboard.press(key)
        return now()

    whole = now()
    tracks = []
    for which in ("path", "idle", "counters", "all"):
        doc = json.loads(native("timeline", "train.db", "--tracks", which,
                                "--format", "json"))
        tracks += [t for t in doc["tables"]["tracks"] if t["events"]]
    expect("all tracks with all events",
           [(t["track"], t["events"], t["depths"]) for t in tracks] ==
           [(t["track"], t["events"], t["depth"]) for t in whole["tracks"]])
    expect("all of it", (whole["v0"], whole["v1"]) == (
        0, doc["scalars"]["to_ns"]))
    expect("the keys are its own from the first moment", p.evaluate(
        "document.activeElement.tagName") == "CANVAS")
    colours = p.evaluate("""(() => {
        const c = document.querySelector('#view canvas');
        const t = chart.state().tracks.find((k) => k.group === 'counter');
        const d = new Uint32Array(c.getContext('2d').getImageData(
            0, 0, c.width, c.height).data.buffer);
        const row = (y) => y * devicePixelRatio * c.width;
        return [d, d.subarray(row(t.y + HEAD), row(t.y + HEAD + 3 * ROW))]
            .map((x) => new Set(x).size); })()""")
    expect(f"a picture: {colours} colours, and of a counter",
           colours[0] > 20 and colours[1] > 2)

    def wide(s):
        return s["v1"] - s["v0"]

    near = pressed("w", "w", "w")
    expect("w is nearer", wide(near) < wide(whole) / 2)
    expect("d goes on", pressed("d")["v0"] > near["v0"])
    expect("a goes back", abs(pressed("a")["v0"] - near["v0"]) < 9)
    expect("s is farther", wide(pressed("s")) > wide(near))
    # a jump, the next of which would be farther than what is asked ahead
    asked = p.evaluate(ASKED)
    expect(f"asks end after a jump: {asked}", 0 < asked < 9)
    now()
    app.until("location.hash.includes('at=')")
    expect("0 is all", wide(pressed("0")) == wide(whole))

    box = p.locator("#view canvas").bounding_box()

    # two fingers: what was under them stays there
    def touch(kind, *at):
        app.cdp.send("Input.dispatchTouchEvent", {
            "type": "touch" + kind, "touchPoints": [
                {"x": box["x"] + x, "y": box["y"] + 60, "id": i}
                for i, x in enumerate(at)]})

    under = "[%d, %d].map((x) => chart.line.atX(x))"
    before = p.evaluate(under % (400, 500))
    touch("Start", 400)
    touch("Start", 400, 500)
    touch("Move", 380, 540)
    touch("Move", 300, 700)
    touch("End")
    after = p.evaluate(under % (300, 700))
    expect(f"two fingers: {before}, then {after}", all(
        abs(a - b) < 1e-6 * whole["v1"] for a, b in zip(before, after)))
    p.locator("#view canvas").focus()
    pressed("0")

    # counters: what is under the pointer is the program's
    x, y, n = p.evaluate("""(() => {
        const t = chart.state().tracks.find((k) => k.group === 'counter');
        return [chart.line.xOf(chart.state().v1 / 2), t.y + HEAD + ROW,
            t.track]; })()""")
    at = p.evaluate(f"chart.line.atX({x})")
    sample = [s for s in json.loads(native(
        "timeline", "train.db", "--tracks", "counters", "--format", "json",
        "--pixels", str(p.evaluate("chart.drawn(chart.counters).pixels"))))[
            "tables"]["samples"] if s["track"] == n and s["start_ns"] <= at][-1]
    p.mouse.click(box["x"] + x, box["y"] + y)
    chosen = now()["selected"]
    expect(f"a counter: {chosen}, not {sample}",
           (chosen["track"], chosen["start_ns"], chosen["text"]) ==
           (n, sample["start_ns"], p.evaluate(f"showBytes({sample['last']})")))

    # pinned, hidden, by keys and by the menu; and so in the address
    def numbers():
        return [t["track"] for t in now()["tracks"]]

    order = numbers()
    p.mouse.move(box["x"] + 300, box["y"] + y)
    expect("p pins", (pressed("p"), numbers())[1] == [n] + [
        k for k in order if k != n])
    expect("and it stays above", p.evaluate("""(() => {
        const view = document.querySelector('#view');
        view.style.height = '150px';
        view.scrollTop = 200;
        const at = [view.scrollTop, chart.line.trackAt(RULER + 1).track];
        view.style.height = '';
        view.scrollTop = 0;
        return at; })()""") == [200, n])
    app.until(f"location.hash.includes('pin={n}')")
    p.mouse.move(box["x"] + 300, box["y"] + 30)
    expect("h hides", (pressed("h"), numbers())[1] == [
        k for k in order if k != n])
    app.until(f"location.hash.includes('hide={n}')")
    p.locator(".tracks summary").click()
    p.locator(".tracks input").nth(order.index(n)).check()
    expect("the menu shows it", numbers() == order)
    p.locator(".tracks button").nth(1).click()
    expect("and pins", numbers() == [order[1], order[0], *order[2:]])
    p.locator(".tracks button").nth(1).click()
    p.locator(".tracks input").nth(2).uncheck()
    app.until(f"location.hash.includes('hide={order[2]}')")
    p.reload()
    app.requests.clear()
    p.wait_for_selector("html[data-ready]", timeout=20000)
    app.drop("train.json")
    app.captures(1).answer()
    expect("the address keeps it", numbers() == order[:2] + order[3:])
    p.locator("#view canvas").focus()
    pressed("u")
    expect("u shows all", numbers() == order)
    pressed("0")
    box = p.locator("#view canvas").bounding_box()

    # an event, zoomed to: what is drawn is what the program draws there
    x, y = p.evaluate("""(() => {
        const t = chart.state().tracks.find((k) => k.group === 'gpu');
        const s = chart.drawn().rows.get(t.track).at(-1).find((s) =>
            s.class === 'kernel' && s.dur_ns > 100000);
        return chart.line.placeOf(s); })()""")
    p.mouse.click(box["x"] + x + 2, box["y"] + y + 6)
    app.until(view + ".partners === 1")
    kernel = now()["selected"]
    expect("its name", kernel["text"] in p.inner_text("#say"))
    near = pressed("f")
    expect("f is to the event", (near["v0"], near["v1"]) == (
        kernel["start_ns"], kernel["start_ns"] + kernel["dur_ns"]))
    p.get_by_role("button", name="Go to its launch").click()
    app.until(view + ".selected.event_id !== %d" % kernel["event_id"])
    call = now()["selected"]["event_id"]
    rows = json.loads(native(
        "query", "train.db", "SELECT launch_id FROM gpu_event WHERE "
        "event_id = %d" % kernel["event_id"], "--format", "json"))["tables"]
    expect("the call that launched it", [{"launch_id": call}] in
           list(rows.values()))

    # a range: the tables of it are the program's
    p.locator("#view canvas").focus()
    pressed("0")
    p.mouse.move(box["x"] + 400, box["y"] + 30)
    p.mouse.down()
    p.mouse.move(box["x"] + 700, box["y"] + 40, steps=4)
    p.mouse.up()
    app.until("location.hash.includes('from=') && settled()")
    low, high = p.evaluate(view + ".range")
    for command in p.evaluate("QUESTIONS"):
        doc = json.loads(native(*argv(
            command, "train.db", "--from", f"{low}ns", "--to", f"{high}ns"),
            "--format", "json"))
        of = ".of-" + command
        shown = p.evaluate(SHOWN.replace("'.figures dd", f"'{of} .figures dd")
                           .replace("#answer .t", f"#answer {of} .t")
                           .replace("'.verdicts", f"'{of} .verdicts"))
        wrong += [f"{command}: {d}" for d in differences(doc, shown)][:5]

    # searched; and a row leads into it
    p.locator("#view canvas").focus()
    p.keyboard.press("/")
    p.keyboard.type("gemm")
    p.keyboard.press("Enter")
    app.until("chart.state().selected?.text.includes('gemm')")
    found = json.loads(native(
        "query", "train.db", "SELECT count(*) AS n FROM event WHERE name "
        "LIKE '%gemm%'", "--format", "json"))["tables"]
    n = next(iter(found.values()))[0]["n"]
    app.until(f"document.querySelector('main [role=status]').textContent"
              f" === count({n}) + ' found'")
    first = now()["selected"]["start_ns"]
    pressed("n")
    app.until(f"chart.state().selected.start_ns > {first}")
    pressed("Escape")
    app.show("idle")
    gap = json.loads(native("gaps", "train.db", "--format",
                            "json"))["tables"]["gaps"][0]
    p.locator("#t-gaps a.show").first.click()
    app.until("state().view.id === 'timeline' && settled()")
    expect("a gap leads into it", now()["range"] == [
        gap["start_ns"], gap["start_ns"] + gap["ns"]])
    b.say("timeline", "\n".join(wrong))
    b.say("timeline: no request, message or dialog", app.reopened())
    app.close()
    for name, tracks in (("hostile.json", 1), ("job", 4)):
        app = opened(browser, name, fragment="#view=timeline")
        app.until(good)
        app.page.keyboard.press("w")
        app.until(good)
        drawn = app.page.evaluate("""(() => {
            const all = [...chart.drawn().rows.values()].flat(2);
            chart.node.querySelector('canvas').focus();
            return [chart.state().tracks.length,
                all.filter((s) => chart.line.placeOf(s)).length]; })()""")
        b.say(f"timeline of {name}: no request, message or dialog",
              app.reopened() or (None if drawn[0] >= tracks and drawn[1]
                                 else f"drawn: {drawn}"))
        app.close()


def check_clock(browser):
    """Ranks on one clock: where each event is, and what is asked of a range."""
    wrong, app = [], opened(browser, "skewed", fragment="#view=timeline")
    p = app.page

    def expect(what, is_true):
        if not is_true:
            wrong.append(what)

    def rows(*args):
        doc = json.loads(native(*args, "--format", "json"))
        return list(doc["tables"].values())[0]

    app.until("chart.state().isGood")
    own = p.evaluate(STARTS)
    p.get_by_role("button", name="Ranks on one clock").click()
    app.until("chart?.state().isGood && location.hash.includes('one-clock')")
    one = p.evaluate(STARTS)
    clocks = {c["rank"]: c for c in json.loads(native(
        "ranks", "skewed.db", "--format", "json"))["tables"]["clocks"]}
    expect(f"begins: {clocks}", sorted(
        round(c["begins_ns"] / 1e6) for c in clocks.values()) == [0, 0, 2, 2])
    expect("events", own and len(own) == len(one) and all(
        abs(one[k][1] - at - clocks[rank]["begins_ns"]) < 2
        for k, (rank, at) in own.items()))

    # collectives end together, and did not before
    def ends(starts):
        """The largest distance of the last collectives of all ranks."""
        last = {}
        for event, rank, dur in ((str(r["id"]), r["rank"], r["dur_ns"])
                                 for r in nccl):
            if event in starts:
                last[rank] = max(last.get(rank, 0), starts[event][1] + dur)
        return max(last.values()) - min(last.values()) if last else None

    nccl = rows("query", "skewed.db", "SELECT e.id, t.rank, e.dur_ns FROM "
                "event AS e JOIN trace AS t ON t.id = e.trace_id "
                "WHERE e.name LIKE 'nccl%'")
    expect(f"collectives end together: {ends(own)}, {ends(one)}",
           ends(own) > 15e5 and ends(one) < 1e5)

    # a range of a track of a rank whose clock is another
    x, y, rank = p.evaluate("""(() => {
        const t = chart.state().tracks.find((k) => k.rank === 3 &&
            k.group === 'gpu');
        const view = chart.line.canvas.closest('#view');
        view.scrollTop = t.y - 60;
        return [chart.line.xOf(chart.state().v1 / 2),
            t.y - view.scrollTop + HEAD + 3, t.rank]; })()""")
    box = p.locator("#view canvas").bounding_box()
    p.mouse.move(box["x"] + x, box["y"] + y)
    p.mouse.down()
    p.mouse.move(box["x"] + x + 90, box["y"] + y + 2, steps=4)
    p.mouse.up()
    app.until("location.hash.includes('from=') && settled()")
    low, high = p.evaluate("chart.state().range")
    words = p.evaluate("['from', 'to'].map((o) => state().options.get(o))")
    expect(f"asked of the rank: {words}, {low}", all(
        abs(int(w[:-2]) + clocks[rank]["begins_ns"] - at) < 2
        for w, at in zip(words, (low, high))))
    doc = json.loads(native(*argv("kernels", "skewed.db", "--from", words[0],
                                  "--to", words[1], "--rank", str(rank)),
                            "--format", "json"))
    of = ".of-kernels"
    shown = p.evaluate(SHOWN.replace("'.figures dd", f"'{of} .figures dd")
                       .replace("#answer .t", f"#answer {of} .t")
                       .replace("'.verdicts", f"'{of} .verdicts"))
    wrong += list(differences(doc, shown))[:5]
    expect("all ranks are still there", p.evaluate(
        "new Set(chart.state().tracks.map((t) => t.rank)).size") == 4)
    before = p.evaluate("location.hash")
    p.reload()
    app.requests.clear()
    p.wait_for_selector("html[data-ready]", timeout=20000)
    app.drop("skewed")
    app.captures(1).answer()
    app.until("chart.state().isGood")
    again = p.evaluate("chart.state().range")
    expect(f"the address asks the same: {before}, {again}", again and
           abs(again[0] - low) < 2)
    b.say("timeline: ranks on one clock", "\n".join(wrong))
    b.say("one clock: no request, message or dialog", app.reopened())
    app.close()


def check_policy():
    with open(FOLDER + "/profan.html", encoding="utf-8") as file:
        page = file.read()
    policy = re.search(r'Policy" content="([^"]*)"', page)[1]
    parts = dict(p.strip().split(" ", 1) for p in policy.split(";"))
    wrong = [w for w in ("unsafe-inline", "'unsafe-eval'", "http", "*")
             if w in policy]
    if parts["connect-src"] != "'none'" or parts["default-src"] != "'none'":
        wrong.append(policy)
    if re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|"
                 r"\beval\(|new Function\(", page.split("<script>")[-1]):
        wrong.append("HTML or code is made of text")
    if len(page) > 2.5e6:
        wrong.append(f"{len(page)} bytes")
    print(f"# the page has {len(page)} bytes")
    b.say("policy and size", "\n".join(wrong))


# What the program says of itself, and what stands in the page.
KNOWN = """(async () => {
    const ask = async (...what) => JSON.parse((await runWell(
        ['help', ...what, '--format', 'json'])).out);
    return [[(await ask()).commands, (await ask('words')).tables.words],
        [COMMANDS, GLOSSARY]]; })()"""

# The rank of each event that is drawn, and where it begins.
STARTS = """Object.fromEntries(chart.state().tracks.flatMap((t) =>
    (chart.drawn().rows.get(t.track) || []).flat().filter((s) =>
        s.event_id !== null).map((s) => [s.event_id, [t.rank, s.start_ns]])))"""

# Frames of a flame graph by path, each with what is its own.
STACKS = """() => {
    const own = new Map(), path = (f) => f.parent
        ? path(f.parent) + ';' + f.name : f.name;
    for (const f of flame.rows.flat()) {
        own.set(f, (own.get(f) || 0) + f.dur_ns);
        if (f.parent)
            own.set(f.parent, (own.get(f.parent) || 0) - f.dur_ns);
    }
    return [...own].filter(([, n]) => n).map(([f, n]) => [path(f), n]);
}"""


def check_flame(browser):
    """Flame graphs: the program's own stacks, a part, a frame, a search."""
    app, wrong = opened(browser, "train.json"), []
    p = app.page
    for options in ({"weight": "gpu"}, {"weight": "cpu"}, {"weight": "idle"},
                    {"weight": "cpu", "step": "1"}):
        words = [w for k, v in options.items() for w in ("--" + k, v)]
        lines = native("stacks", "train.db", *words).decode().splitlines()
        want = sorted([path, int(n)] for path, n in (
            line.rsplit(" ", 1) for line in lines))
        app.show("stacks", **{"weight": "", "step": "", **options})
        if not want or sorted(p.evaluate(STACKS)) != want:
            wrong.append(f"{options}: other stacks")
    name, found = p.evaluate("""() => {
        const f = flame.rows.at(-1)[0];
        flame.line.goTo(f);
        flame.line.search.value = f.name;
        flame.line.search.dispatchEvent(new Event('input'));
        return [f.name, flame.found()];
    }""")
    if name not in p.inner_text("#say") or " of all" not in p.inner_text("#say"):
        wrong.append("the frame is not told: " + p.inner_text("#say"))
    if not found or "found" not in p.inner_text("[role=status]:not(#told)"):
        wrong.append("it is not found")
    p.click("#say button")
    if p.evaluate("flame.line.v1 - flame.line.v0 > flame.rows.at(-1)[0].dur_ns "
                  "* 2 + 100"):
        wrong.append("it is not shown alone")
    b.say("flame graphs are the program's stacks", "\n".join(wrong))
    b.say("flame graphs: no request, message or dialog", app.reopened())
    app.close()


def check_inside(browser):
    """A page of profan view: what is asked first is there without the program,
    and is what the program says."""
    subprocess.run([FOLDER + "/profan", "view", "-q", "train.db", "-o",
                    "inside.html", "--no-open"], cwd=FOLDER, check=True)
    with open(FOLDER + "/inside.html", encoding="utf-8") as file:
        page = file.read()
    with open(FOLDER + "/early.html", "w", encoding="utf-8") as file:
        file.write(re.sub('(id="wasm">)[^<]*', r"\1A", page))
    doc = json.loads(native("summary", "train.db", "--format", "json"))
    for name, what in (("inside", "a page with a database"),
                       ("early", "before there is a program")):
        app = App(browser, name=name)
        wrong = list(differences(doc, app.answer().evaluate(SHOWN)))
        app.page.evaluate("go({ view: 'timeline' })")
        app.until("chart.state().tracks.some((t) => t.depth)")
        error = app.page.inner_text("#said")
        if ("broke off" in error) != (name == "early"):
            wrong.append("says " + error)
        if name == "inside":
            app.show("kernels")
            wrong += differences(json.loads(native(
                *argv("kernels", "train.db"), "--format", "json")),
                app.page.evaluate(SHOWN))
            with app.page.expect_download() as got:
                app.page.click("#save")
            with open(got.value.path(), "rb") as file, \
                    open(FOLDER + "/train.db", "rb") as same:
                if file.read() != same.read():
                    wrong.append("the database differs")
            wrong += app.said
        b.say(what + ": the program's own figures", "\n".join(wrong))
        app.close()


def main():
    b.guarded(check_policy, "page")
    with sync_playwright() as playwright:
        browser = b.launch(playwright)
        for trace in sorted(os.listdir(FOLDER + "/all")):
            b.guarded(check_views, trace, browser, "all/" + trace)
        for trace in sorted(os.listdir(FOLDER + "/traces")):
            name = trace.split(".")[0]
            b.guarded(check_figures, trace, browser, "traces/" + trace,
                      name + ".db")
        for check in (check_numbers, check_answers, check_tables,
                      check_files, check_address, check_diff, check_sooner,
                      check_slices, check_progress, check_stop, check_traps,
                      check_looks, check_axe, check_keys, check_timeline,
                      check_clock, check_flame, check_inside):
            b.guarded(check, "page", browser)
        browser.close()
    print("1..%d" % b.count)
    return b.failed != 0


if __name__ == "__main__":
    sys.exit(main())
