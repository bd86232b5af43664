# SPDX-License-Identifier: MIT
"""Is a planted fault named first, with its line and its cost to the ns?

usage: planted.py LIST    a result for each line of it, "FAULT|WORDS|FOLDER":
                          words are stacks, amd, gpus; FOLDER/planted (csv),
                          gaps and syncs (JSON)
"""
import csv
import json
import sys

from results import say


def look(folder, about):
    global planted, gaps, syncs, words, has_stacks, failures
    global idle_ns, blocked_ns, count, call, frame
    planted = list(csv.DictReader(open(folder + "/planted")))[0]
    gaps, syncs = (json.load(open(f"{folder}/{name}"))
                   for name in ("gaps", "syncs"))
    words, failures = about.split(), []
    has_stacks = "stacks" in words
    idle_ns, blocked_ns, count = (
        int(planted[key]) for key in ("idle_ns", "blocked_ns", "count"))
    call, frame = planted["call"], planted["frame"]
    if "amd" in words and call.startswith("cuda"):
        call = "hip" + call[len("cuda"):]


def check(what, got, want):
    if got != want:
        failures.append(f"{what}: {got!r}, not {want!r}")


def names(finding, *texts):
    for text in texts:
        if text and text not in finding:
            failures.append(f"the finding does not name '{text}': {finding}")


def check_gaps():
    causes, culprits = gaps["tables"]["causes"], gaps["tables"]["culprits"]
    finding, first = gaps["scalars"]["finding"], culprits[0]
    mine = [row for row in culprits if row["frame"] == frame]
    if planted["cause"]:
        check("the first cause", causes[0]["cause"], planted["cause"])
        check("the first culprit's cause", first["cause"], planted["cause"])
        check("the first culprit", first["culprit"], call)
        mine = [row for row in culprits if row["cause"] == planted["cause"]
                and row["culprit"] == call]
    else:
        mine = [row for row in culprits if planted["op"] in (
            row["culprit"], row["op"])]
        check("the op", first["op"], planted["op"])
    if has_stacks:
        check("the first line", first["frame"], frame)
        if planted["cause"]:
            mine = [row for row in mine if row["frame"] == frame]
        else:
            mine = [row for row in culprits if row["frame"] == frame]
    got_ns = sum(row["ns"] for row in mine)
    if planted["cause"]:
        check("gaps", sum(row["count"] for row in mine), count)
        check("idle time of the first row", first["ns"], idle_ns)
    if planted["cause"] or has_stacks:
        check("idle time", got_ns, idle_ns)
    elif not 0.8 * idle_ns < got_ns <= idle_ns:
        # without frames nothing holds the time between two operators
        failures.append(f"idle time: {got_ns} of {idle_ns}")
    names(finding, frame if has_stacks else call or planted["op"])
    if "gpus" in words:
        names(finding, "2 GPUs idle", "GPU 0 most")
        shares = {row["device"]: row["idle_share"]
                  for row in gaps["tables"]["devices"]}
        if not shares[1] < 0.05 < shares[0]:
            failures.append(f"the wrong GPU idles: {shares}")


def check_syncs():
    first = syncs["tables"]["sites"][0]
    check("the first call", first["call"], call)
    check("its op", first["op"], planted["op"])
    check("its kind", first["kind"], planted["cause"])
    if has_stacks:
        check("its line", first["frame"], frame)
    check("calls", first["count"], count)
    check("blocked", first["blocked_ns"], blocked_ns)
    check("gaps that it began", first["drained_ns"], idle_ns)
    if not 0 < first["idle_ns"] <= min(blocked_ns, idle_ns):
        failures.append(f"idle in the call: {first['idle_ns']}")
    for doc in syncs, gaps:
        names(doc["scalars"]["finding"],
              frame if has_stacks else planted["op"], call)


def check_none():
    share = gaps["scalars"]["idle_share"]
    if share > 0.05:
        failures.append(f"the GPU of a good program is idle for {share:.1%}")
    check("calls that wait", len(syncs["tables"]["sites"]), 0)


for line in open(sys.argv[1]):
    fault, about, folder = line.rstrip("\n").split("|", 2)
    look(folder, about)
    {"gaps": check_gaps, "syncs": check_syncs, "": check_none}[
        planted["command"]]()
    say(f"{fault} ({about}): idle {idle_ns} ns, blocked {blocked_ns} ns",
        failures)
