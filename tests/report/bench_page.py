# SPDX-License-Identifier: MIT
"""make bench-page: the page that is the program on a large trace, in Chromium,
beside the native program in the same run.

usage: bench_page.py FOLDER CHROMIUM PROFAN MKTRACE PAGE [BYTES [ROUNDS [TRACE]]]
TRACE is read instead of one that MKTRACE writes.  Prints for each figure the
least of ROUNDS and its bound, and what the machine is; ratios are of pairs in
the same round.  Beside what passed stands the tab's processor time, which says
on a machine that others use what would pass on one of one's own.
"""
import os
import resource
import shutil
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

FOLDER, PROFAN, MKTRACE, PAGE = map(os.path.abspath,
                                    (sys.argv[1], *sys.argv[3:6]))
CHROMIUM = shutil.which(sys.argv[2])
BYTES = sys.argv[6] if len(sys.argv) > 6 else "1100M"
ROUNDS = int(sys.argv[7]) if len(sys.argv) > 7 else 3
TRACE = os.path.abspath(sys.argv[8]) if len(sys.argv) > 8 else None
LARGE = 5e9  # bytes: from there on the bound of memory is the other
PAUSE_MS = 150  # between two moves, as fingers have it
MOVES = ("wwwwwwwwdddddddddd" "ssssaaaaaaaa" "wwwwwwwwwwdddddddd" "ssssssss"
         "aaaaaaaaaa" "wwwwwwdddddddddd" "ssssssssssss" "dddddd")
# what is told of each figure: its unit, and its bound
FIGURES = {
    "page": ("MB", 2.5),
    "page ready": ("s", 0.3),
    "drop to database / native, one thread": ("", 2.2),
    "drop to first figures / native": ("", 2.2),
    "drop to all of the summary / native": ("", 2.2),
    "tab's memory, peak": ("MB", None),  # main() says
    "a database to its first figures": ("s", None),
    "a database to the timeline's first picture": ("s", 1),
    "a page that holds it to the first picture": ("s", 1),
    "timeline of all of it, sharp": ("s", None),
    "a move, the middle one": ("ms", None),
    "a move, 95 of 100": ("ms", 50),
}


def cpu(*args):
    """Processor seconds of a native command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROFAN, *args], cwd=FOLDER, check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(after, k) - getattr(before, k)
               for k in ("ru_utime", "ru_stime"))


def below(root):
    """Processes that a process has started, and theirs."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                parents[pid] = file.read().rsplit(") ")[1].split()[1]
        except OSError:
            continue
    found = {str(root)}
    while True:
        more = {p for p, of in parents.items() if of in found} - found
        if not more:
            return found
        found |= more


def renderers():
    """(largest peak, processor seconds by process) of our renderers."""
    peaks, spent = [0], {}
    for pid in below(os.getpid()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"--type=renderer" not in file.read():
                    continue
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                peak = [int(line.split()[1]) for line in file
                        if line.startswith("VmHWM")]
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                ticks = sum(map(int, file.read().rsplit(") ")[1].split()[11:13]))
            peaks.append(peak[0] / 1024)
            spent[pid] = ticks / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            continue
    return max(peaks), spent


class Tab:
    def __init__(self, browser, path, fragment="", is_awaited=True):
        self.page = browser.new_page()
        self.begin()
        # what is shown may be there long before all of a page is
        self.page.goto("file://" + path + fragment, wait_until="commit")
        if is_awaited:
            self.ready = self.until(
                "'ready' in document.documentElement.dataset")

    def begin(self):
        self.spent = renderers()[1]
        self.begun = time.time()

    def passed(self):
        """(seconds, processor seconds) since the page was asked for, a file
        dropped, or begin()."""
        return time.time() - self.begun, sum(
            seconds - self.spent.get(pid, 0)
            for pid, seconds in renderers()[1].items())

    def drop(self, name):
        cdp = self.page.context.new_cdp_session(self.page)
        data = {"items": [], "dragOperationsMask": 1,
                "files": [os.path.join(FOLDER, name)]}
        self.begin()
        for kind in ("dragEnter", "dragOver", "drop"):
            cdp.send("Input.dispatchDragEvent",
                     {"type": kind, "x": 300, "y": 120, "data": data})

    def until(self, condition, seconds=600):
        """passed(), when it is so."""
        end = time.time() + seconds
        # a script that is not there yet is no error
        condition = f"(() => {{ try {{ return {condition} }} catch {{ }} }})()"
        while not self.page.evaluate(condition):
            if time.time() > end:
                raise AssertionError("never: " + condition)
            time.sleep(0.01)
        return self.passed()


SAID = ("!!document.querySelector("
        "'#answer > .finding, #answer[aria-busy=false] table')")
ANSWERED = "!!document.querySelector('#answer[aria-busy=false] table')"
DRAWN = "chart?.state().tracks.some((t) => t.depth)"
SHARP = "chart.state().isGood"
# Each key, and how long until all events are drawn as fine as they can be.
MOVE = """async ([keys, pause]) => {
    const times = [], rest = (ms) => new Promise((r) => setTimeout(r, ms));
    const frame = () => new Promise((r) => requestAnimationFrame(r));
    for (const key of keys) {
        await rest(pause);
        const begun = performance.now();
        chart.line.canvas.dispatchEvent(new KeyboardEvent('keydown', { key }));
        do
            await frame();
        while (!chart.state().isSharp);
        times.push(performance.now() - begun);
    }
    return times;
}"""


def measure(browser, trace, put):
    """One round."""
    name = os.path.basename(trace)
    ingest = cpu("ingest", "-q", "--threads", "1", trace, "-o", "large.db")
    first, summary = cpu("steps", "large.db"), cpu("summary", "large.db")
    tab = Tab(browser, PAGE)
    put("page ready", *tab.ready)
    tab.drop(name)

    def against(native):
        return [t / native for t in tab.passed()]

    tab.until("captures.length === 1")
    put("drop to database / native, one thread", *against(ingest))
    tab.until(SAID)
    put("drop to first figures / native", *against(ingest + first))
    tab.until(ANSWERED)
    put("drop to all of the summary / native", *against(ingest + summary))
    put("tab's memory, peak", renderers()[0])
    tab.page.close()

    tab = Tab(browser, PAGE)
    tab.drop("large.db")
    put("a database to its first figures", *tab.until(SAID))
    tab.page.close()
    tab = Tab(browser, PAGE, "#view=timeline")
    tab.drop("large.db")
    put("a database to the timeline's first picture", *tab.until(DRAWN))
    put("timeline of all of it, sharp", *tab.until(SHARP))
    tab.begin()
    times = sorted(tab.page.evaluate(MOVE, [list(MOVES), PAUSE_MS]))
    spent = tab.passed()[1] * 1000 / len(times)
    put("a move, the middle one", times[len(times) // 2], spent)
    put("a move, 95 of 100", times[len(times) * 95 // 100])
    tab.page.close()
    subprocess.run([PROFAN, "view", "large.db", "--no-open", "-o", "held.html",
                    "--force"], cwd=FOLDER, check=True,
                   stdout=subprocess.DEVNULL)
    tab = Tab(browser, os.path.join(FOLDER, "held.html"), "#view=timeline",
              is_awaited=False)
    put("a page that holds it to the first picture", *tab.until(DRAWN))
    tab.page.close()


def main():
    trace = TRACE or os.path.join(FOLDER, "large.json")
    if not os.path.exists(trace):
        with open(trace, "wb") as out:
            subprocess.run([MKTRACE, "--bytes", BYTES], stdout=out, check=True)
    if TRACE:
        link = os.path.join(FOLDER, os.path.basename(trace))
        if not os.path.exists(link):
            os.symlink(trace, link)
    size = os.path.getsize(trace)
    FIGURES["tab's memory, peak"] = ("MB", 800 if size > LARGE else 400)
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = [line.split(": ")[1].strip() for line in file
                 if line.startswith("model name")]
    print("%s x %d, load %.1f, a trace of %.0f MB, least of %d" % (
        model[0] if model else "unknown", len(model), os.getloadavg()[0],
        size / 1e6, ROUNDS), flush=True)
    least = {"page": [os.path.getsize(PAGE) / 1e6]}

    def put(figure, *values):
        print("# %-50s" % figure, *("%9.3f" % v for v in values), flush=True)
        least[figure] = [min(both) for both in zip(
            values, least.get(figure, values))]

    with sync_playwright() as playwright:
        for _ in range(ROUNDS):
            browser = playwright.chromium.launch(executable_path=CHROMIUM,
                                                 args=["--no-sandbox"])
            measure(browser, trace, put)
            browser.close()
    missed = []
    for figure, (unit, bound) in FIGURES.items():
        value, verdict = least[figure][0], ""
        if bound is not None:
            verdict = "  <= %g  %s" % (bound, "ok" if value <= bound
                                       else "MISSED")
            missed += [figure] if value > bound else []
        spent = ["%.3f" % v for v in least[figure][1:]] or [""]
        print("  %-46s %9.3f %-2s %9s%s" % (figure, value, unit, spent[0],
                                            verdict))
    print("(second column: the tab's processor time; of moves, for one)")
    print("%d bounds missed%s" % (len(missed), ": " + ", ".join(missed)
                                  if missed else ""))


main()
