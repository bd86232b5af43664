#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One self-contained page of the parts.

usage: inline.py SRCDIR WASM GLUE HOST PROFAN VERSION OUT
SRCDIR is the top of the tree; GLUE is emscripten's program for WASM, HOST the
files behind it (contrib/wasm/host.js), PROFAN the same program, which says what
its commands are.
"""
import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys

APP = ["numbers", "document", "captures", "state", "views", "timeline", "flame",
       "main"]


def main(top, wasm, glue, host, profan, version, out):
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def asset(name):
        return read(f"{top}/reports/{name}")

    def said(*of):
        return json.loads(subprocess.run(
            [profan, "help", *of, "--format", "json"], check=True,
            stdout=subprocess.PIPE).stdout)

    known = {"commands": said()["commands"],
             "words": said("words")["tables"]["words"]}
    shared, canvas = asset("shared.js"), asset("canvas.js")
    style = asset("style.css")
    with open(wasm, "rb") as file:
        packed = gzip.compress(file.read(), 9, mtime=0)
    slots = {
        "version": version,
        "style": style + asset("app/app.css"),
        "start": shared + asset("app/program.js"),
        "script": "'use strict';\n" + canvas + "".join(
            asset(f"app/{n}.js") for n in APP),
        "worker": read(glue) + read(host) + asset("app/worker.js"),
        "known": json.dumps(known, separators=(",", ":")).replace("<", r"\u003c"),
        "wasm": base64.b64encode(packed).decode(),
    }
    for name, text in slots.items():
        if re.search(r"</(script|style|body)|<!--", text, re.I):
            sys.exit(f"inline.py: {name} would end its element")

    def hashes(*texts):
        return " ".join("'sha256-%s'" % base64.b64encode(hashlib.sha256(
            t.encode()).digest()).decode() for t in texts)

    # A report is shown in a frame, which has this policy beside its own.
    slots["policy"] = "; ".join([
        "default-src 'none'",
        "script-src 'wasm-unsafe-eval' " +
        hashes(slots["start"], slots["script"], shared + canvas +
               asset("app.js")),
        "style-src " + hashes(slots["style"], style),
        "worker-src blob:", "frame-src blob:", "img-src data:",
        "connect-src 'none'", "base-uri 'none'", "form-action 'none'"])
    page = re.sub(r"\{\{(\w+)\}\}", lambda m: slots[m[1]],
                  asset("app/page.html"))
    with open(out, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
