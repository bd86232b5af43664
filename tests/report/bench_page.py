# SPDX-License-Identifier: MIT
"""make bench-page: the page that is the program on a large trace, in Chromium,
beside the native program in the same run.

usage: bench_page.py FOLDER CHROMIUM PROFAN MKTRACE PAGE [BYTES]
Prints a line for each figure with its bound, and what the machine is.
"""
import os
import resource
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

FOLDER, CHROMIUM, PROFAN, MKTRACE, PAGE = sys.argv[1:6]
FOLDER, PROFAN = os.path.abspath(FOLDER), os.path.abspath(PROFAN)
BYTES = sys.argv[6] if len(sys.argv) > 6 else "1100M"
FAILED = []


def say(name, value, unit, bound=None):
    verdict = ""
    if bound is not None:
        verdict = "  <= %g  %s" % (bound, "ok" if value <= bound else "MISSED")
        if value > bound:
            FAILED.append(name)
    print("  %-52s %9.3f %s%s" % (name, value, unit, verdict), flush=True)


def cpu(*args):
    """Processor seconds of a native command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROFAN, *args], cwd=FOLDER, check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(after, k) - getattr(before, k)
               for k in ("ru_utime", "ru_stime"))


def renderers():
    """(peak, processor seconds) of the largest renderer there is."""
    found = [(0, 0)]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"--type=renderer" not in file.read():
                    continue
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                peak = [int(line.split()[1]) for line in file
                        if line.startswith("VmHWM")]
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                ticks = sum(map(int, file.read().rsplit(") ")[1].split()[11:13]))
            found.append((peak[0] / 1024, ticks / os.sysconf("SC_CLK_TCK")))
        except (OSError, IndexError):
            continue
    return max(found)


class Tab:
    def __init__(self, browser, path):
        self.page = browser.new_page()
        begun = time.time()
        self.page.goto("file://" + os.path.abspath(path))
        self.page.wait_for_selector("html[data-ready]")
        self.ready = time.time() - begun

    def drop(self, name):
        cdp = self.page.context.new_cdp_session(self.page)
        data = {"items": [], "dragOperationsMask": 1,
                "files": [os.path.join(FOLDER, name)]}
        for kind in ("dragEnter", "dragOver", "drop"):
            cdp.send("Input.dispatchDragEvent",
                     {"type": kind, "x": 300, "y": 120, "data": data})

    def until(self, condition, seconds=600):
        begun = time.time()
        while not self.page.evaluate(condition):
            if time.time() > begun + seconds:
                raise AssertionError("never: " + condition)
            time.sleep(0.01)
        return time.time() - begun


ANSWERED = "!!document.querySelector('#answer[aria-busy=false] table')"


def main():
    trace = os.path.join(FOLDER, "large.json")
    if not os.path.exists(trace):
        with open(trace, "wb") as out:
            subprocess.run([MKTRACE, "--bytes", BYTES], stdout=out, check=True)
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = [line.split(": ")[1].strip() for line in file
                 if line.startswith("model name")]
    print("%s x %d, a trace of %.0f MB" % (
        model[0] if model else "unknown", len(model),
        os.path.getsize(trace) / 1e6))
    ingest = cpu("ingest", "-q", "--threads", "1", "large.json", "-o",
                 "large.db")
    tables = cpu("summary", "large.db")
    say("page", os.path.getsize(PAGE) / 1e6, "MB", 2.5)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM,
                                             args=["--no-sandbox"])
        tab = Tab(browser, PAGE)
        say("page ready", tab.ready, "s", 0.3)
        begun = time.time()
        tab.drop("large.json")
        tab.until("captures.length === 1")
        read = time.time() - begun
        say("drop to database / native, one thread", read / ingest, "", 2.2)
        tab.until(ANSWERED)
        say("drop to first figures / native",
            (time.time() - begun) / (ingest + tables), "", 2.2)
        peak, spent = renderers()
        say("tab's memory, peak", peak, "MB", 400)
        say("tab's processor time / native", spent / (ingest + tables), "")
        tab.page.close()
        tab = Tab(browser, PAGE)
        begun = time.time()
        tab.drop("large.db")
        tab.until(ANSWERED)
        say("a database to its first figures", time.time() - begun, "s")
        browser.close()
    print("%d bounds missed%s" % (len(FAILED), ": " + ", ".join(FAILED)
                                  if FAILED else ""))


main()
