# SPDX-License-Identifier: MIT
"""path.py --list LIST FOLDER: what `profan path` prints adds up, and equals
figures that were worked out without profan, those in FOLDER; LIST has a line
"JSON|TRACE|NAME" for each."""
import collections
import csv
import decimal
import json
import os
import statistics
import sys
import traceback

from results import say

OTHER = {"communication": "comm", "inferred wait": "inferred",
         "no launch record": "before", "queued behind": "unexplained"}


# Golden rows that the raw traces show to be wrong, and by how many ns; a row of
# path_top.csv by its category and the beginning of its name.
AMENDED = {
    # There work waits for what ended at most 10 us before it.  Four all-to-alls
    # began 25 to 36 us after the operand that their stream waits for; what runs
    # beside them, which they are said to make room for, was launched later.
    "a100_diff_control": [
        ("categories", "inferred", 118000), ("categories", "kernel", -29000),
        ("categories", "kernel gap", -65000), ("categories", "memset", -24000)],
    # The same: one began 19 us after its operand; and a fill of zeros, behind a
    # wait of its stream for an all-to-all, 31 us after that.
    "a100_diff_test": [
        ("categories", "inferred", 53000), ("categories", "comm", 3845000),
        ("categories", "kernel", -1488000), ("categories", "copy", -1382000),
        ("categories", "kernel gap", -1027000), ("categories", "memset", -1000),
        ("top", "comm", "ncclKernel_SendRecv", 3845000),
        ("top", "copy", "Memcpy DtoD", -1382000),
        ("top", "kernel gap", "Memcpy DtoD", -954000),
        ("top", "kernel", "volta_sgemm_128x32_nn", -15000),
        ("top", "kernel", "void at::native::elementwise_kernel<128, 2, "
         "at::native::gpu_kernel_impl<at::native::(anonymous namespace)::"
         "direct_copy_kernel_cuda", -821000),
        ("top", "kernel", "void at::native::vectorized_elementwise_kernel<4, "
         "at::native::tanh_kernel_cuda", -581000),
        ("whatif", "kernels 2x faster", 38000, 29500)],
    # Two began 12 and 16 us after a kernel: on the path of a faster host.
    "two_ranks_rank-0": [
        ("whatif", "no launch overhead", 16314000, 28000),
        ("whatif", "host 2x faster", 8848500, 28000)],
    # There ranges load data, here functions of torch/utils/data/ do, too.
    "h100_owlv2": [
        ("categories", "data loading", 549679), ("categories", "op", -17250),
        ("categories", "python", -532429),
        ("whatif", "data loading takes 0", -549679, -549679),
        ("whatif", "no launch overhead", 549679, 549679)],
}

KEYS = {"categories": ("category",), "top": ("category", "name"),
        "whatif": ("question",)}
FIGURES = {"whatif": ("T_ns", "pessimistic_T_ns")}


def amend(rows, table, key, changes):
    found = [r for r in rows
             if all(r[k].startswith(v) if k == "name" else r[k] == v
                    for k, v in zip(KEYS[table], key))]
    assert len(found) == 1, (key, found)
    for k, change in zip(FIGURES.get(table, ("ns",)), changes):
        found[0][k] = int(found[0][k]) + change


def golden(folder, table, name):
    with open(f"{folder}/path_{table}.csv", newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["trace"] == name]
    for of, *rest in AMENDED.get(name, ()):
        if of == table:
            count = len(KEYS[table])
            amend(rows, table, rest[:count], rest[count:])
    return rows


PARTS = ("host_ns", "gpu_ns", "between_ns", "profiler_ns", "queued_ns",
         "unexplained_ns")


def check_sums(doc):
    scalars, tables = doc["scalars"], doc["tables"]
    window = scalars["window_ns"]
    if window is None:  # there is no path: nothing of it is known
        assert not tables["categories"], tables
        assert all(scalars[k] is None for k in PARTS), scalars
        return
    assert scalars["replay_ns"] == 0, scalars["replay_ns"]
    for table in "categories", "rows", "tiles":
        if table in tables:
            total = sum(r["ns"] for r in tables[table])
            assert total == window, (table, total, window)
    assert sum(scalars[k] or 0 for k in PARTS) == window, scalars
    at = scalars["start_ns"]
    for t in tables.get("tiles", []):
        assert t["start_ns"] == at and t["ns"] > 0, (t, at)
        at += t["ns"]
    if "tiles" in tables:
        assert at == scalars["start_ns"] + window


STANDARD = {
    "data loading takes 0": "data loading takes no time",
    "calls do not wait": "calls do not wait for the GPU",
    "no launch overhead": "operators, calls and Python take no time, as in one GPU graph",
    "communication hidden": "communication is hidden",
    "copies take 0": "copies and fills take no time",
    "kernels 2x faster": "kernels are 2x as fast",
    "host 2x faster": "the host is 2x as fast",
}


def check_answers(doc):
    """No answer saves more than it takes off the path, or less than the
    pessimistic one; what nothing is asked of changes nothing."""
    window = doc["scalars"]["window_ns"]
    for r in doc["tables"].get("what_if", []):
        if r["saved_ns"] is None:  # of a host that nobody recorded
            assert not doc["scalars"]["host_ns"], doc["scalars"]
            continue
        assert r["saved_ns"] == window - r["ns"], r
        if r["bound_ns"] is not None:
            assert r["saved_ns"] <= r["bound_ns"], r
        if r["pessimistic_ns"] is not None:
            assert r["pessimistic_ns"] >= r["ns"], r
            assert r["least_ns"] == window - r["pessimistic_ns"], r


# There a launch takes its time from where the call begins, however long that
# takes, as when it loads code; here such a call launches when it ends, and all
# of it is the host's.
LATE = {("b200_vllm_eager", "host 2x faster"),
        ("mi250_minitoy", "host 2x faster"),
        ("v100_resnet50_workers4", "host 2x faster"),
        ("v100_resnet50_workers4", "no launch overhead")}


def check_golden_answers(doc, name, folder, taken):
    got = {r["question"]: r for r in doc["tables"]["what_if"]}
    for r in golden(folder, "whatif", name):
        q = r["question"]
        if q.startswith("own host time removed: "):
            q = q.split(": ", 1)[1] + " takes no time of its own"
        elif q.startswith("gpu work removed: "):
            q = q.split(": ", 1)[1] + " is gone"
        else:
            q = STANDARD.get(q)
        if q not in got:
            continue  # kernels have short names here; "nothing"
        # there, the gap before work that is gone stays, which here it takes
        # along; but a call's return from such work takes no time either
        if q.endswith(" is gone") or q.startswith("copies and fills"):
            assert got[q]["pessimistic_ns"] <= int(r["pessimistic_T_ns"]), \
                (q, got[q], r)
            continue
        if (name, r["question"]) in LATE:
            # halves of odd times are rounded where another piece ends
            assert got[q]["ns"] <= int(r["T_ns"]) + 1, (q, got[q], r)
            continue
        # what the profiler takes stays
        for ours, theirs in ("pessimistic_ns", "pessimistic_T_ns"), \
                ("ns", "T_ns"):
            assert 0 <= got[q][ours] - int(r[theirs]) <= taken, (q, got[q], r)


# What was really changed in the programs of the planted traces.
PLANTED = {
    "host_bound_small_removed": "gpu:small_kernel=0",
    "host_bound_host_half": "host:^aten::add$=0.5",
    "gpu_bound_big_half": "gpu:big_kernel=0.5",
    "gpu_bound_host_half": "host:^aten::mm$=0.5",
    "shift_gpu_to_host": "gpu:big_kernel=0.1",
    "data_gap_removed": "data=0",
    "data_hidden_behind_gpu": "data=0",
    "item_removed": "op:aten::item=0;sync=off",
    "comm_exposed_removed": "gpu:nccl=0",
    "comm_hidden_removed": "gpu:nccl=0",
    "comm_exposed_compute_half": "gpu:big_kernel=0.5",
    "hidden_comm_surfaces": "gpu:big_kernel=0.25",
    "backward_host_half": "host:^aten::mm$=0.5",
    "backward_host_gone_gpu_shows": "host:^aten::mm$=0.1",
    "mixed_everything": "gpu:big_kernel=0.5",
}


def planted(name, path, table):
    """path.py --planted NAME [JSON CSV]: the question, or its answer held
    against the time that the changed program took."""
    scenario, _, how = name.rpartition(".")
    if not path:
        print(PLANTED[scenario])
        return
    doc = json.load(open(path))
    check_sums(doc)
    check_answers(doc)
    answer = doc["tables"]["what_if"][0]
    with open(table, newline="") as f:
        row = next(r for r in csv.DictReader(f)
                   if r["scenario"] == scenario and
                   r["records"] == str(int(how[0] == "r")) and
                   r["jitter"] == "0.0" and r["contention"] == "1.0")
    window = int(row["T_ns"])
    assert doc["scalars"]["window_ns"] == window
    error = 100 * (answer["ns"] - int(row["true_ns"])) / window
    assert abs(error) <= 0.2, (answer, row)
    print(f"{error:+.2f} points off the truth")


def program(path, truth, points):
    """A program of tests/gen/mkpath.py, whose changed run is known."""
    doc, known = json.load(open(path)), json.load(open(truth))
    check_sums(doc)
    check_answers(doc)
    window = doc["scalars"]["window_ns"]
    assert window == known["ns"], (window, known)
    said = doc["tables"]["what_if"][0]["ns"]
    error = 100 * (said - known["true_ns"]) / window
    assert abs(error) <= float(points), (said, known)
    print(f"{error:+.2f} points off the truth")


def check_golden(doc, name, folder):
    scalars, tiles = doc["scalars"], doc["tables"]["tiles"]
    window = golden(folder, "window", name)
    if not window:
        return False
    window = window[0]
    pairs = [("T_ns", "window_ns"), ("works", "work_count"),
             ("launch_floor_ns", "launch_floor_ns"),
             ("gap_floor_ns", "gap_floor_ns"),
             ("queue_length", "queue_length"),
             ("blocking_waits", "return_count"),
             ("handoffs_on_path", "handoff_count")]
    for theirs, ours in pairs:
        want = int(window[theirs]) if window[theirs] else None
        assert scalars[ours] == want, (ours, scalars[ours], want)
    kinds, names = collections.Counter(), collections.Counter()
    for t in tiles:
        kind = OTHER.get(t["kind"], t["kind"])
        kinds[kind] += t["ns"]
        names[kind, t["name"] or ""] += t["ns"]
    want = {r["category"]: int(r["ns"])
            for r in golden(folder, "categories", name)}
    # there overhead records are of what they lie in
    taken = kinds.pop("profiler", 0) + kinds.pop("first use", 0)
    left = {k: want.get(k, 0) - kinds[k] for k in kinds | want}
    assert all(v >= 0 for v in left.values()) and sum(left.values()) == taken, \
        (taken, {k: v for k, v in left.items() if v})
    for r in golden(folder, "top", name):
        if "): " in r["name"]:
            continue  # lines are written in another way
        got = names[r["category"], r["name"]]
        assert 0 <= int(r["ns"]) - got <= taken, (r, got, taken)
    # what loads code is none of the calls that such answers leave out
    taken += sum(r["ns"] for r in doc["tables"]["categories"]
                 if r["category"] == "first use")
    check_golden_answers(doc, name, folder, taken)
    return True


def pair(path, steps):
    """The step that is predicted, against the median step with workers."""
    doc, real = json.load(open(path)), json.load(open(steps))
    check_answers(doc)
    count = len(real["tables"]["steps"])
    median = statistics.median(s["host_dur_ns"] if "host_dur_ns" in s
                               else s["dur_ns"]
                               for s in real["tables"]["steps"])
    said = doc["tables"]["what_if"][0]["ns"] / count
    error = 100 * (said / median - 1)
    assert abs(error) <= 7, (said, median)
    print(f"{error:+.1f} % off the step with workers")


def change(diff, before, after):
    """What paths are made of adds up, and so does what changed of it."""
    doc = json.load(open(diff))
    rows = doc["tables"]["path"]
    parts, whole = rows[:-1], rows[-1]
    for k in "a_ns", "b_ns", "delta_ns", "a_sum_ns", "b_sum_ns":
        assert sum(r[k] for r in parts) == whole[k], (k, rows)
    for side, path in ("a", before), ("b", after):
        path = json.load(open(path))
        assert whole[side + "_sum_ns"] == path["scalars"]["window_ns"]
        want = {r["category"]: r["ns"] for r in path["tables"]["categories"]}
        got = {r["category"]: r[side + "_sum_ns"] for r in parts}
        assert {k: v for k, v in got.items() if v} == want, (got, want)
    assert abs(parts[0]["delta_ns"]) >= abs(parts[-1]["delta_ns"])
    print(f"{whole['delta_ns']} ns")


def track(slice_json, path):
    """The track of a slice is the path, tile by tile."""
    with open(slice_json) as f:
        doc = json.load(f, parse_float=decimal.Decimal)
    events = [e for e in doc["traceEvents"]
              if e.get("cat") == "critical_path"]
    held = doc["profan_slice"]
    tiles = [t for t in json.load(open(path))["tables"]["tiles"]
             if t["start_ns"] < held["to_ns"] and
             t["start_ns"] + t["ns"] > held["from_ns"]]
    assert len(events) == len(tiles) > 0, (len(events), len(tiles))
    shift = int(events[0]["ts"] * 1000) - tiles[0]["start_ns"]
    for e, t in zip(events, tiles):
        assert int(e["ts"] * 1000) == t["start_ns"] + shift, (e, t)
        assert int(e["dur"] * 1000) == t["ns"], (e, t)
        assert e["name"] == (t["name"] or t["category"]), (e, t)
        assert e["args"]["on the path"] == t["category"], (e, t)
        assert e["args"].get("op") == t["op"], (e, t)
    print(f"{len(tiles)} pieces")


def judge(path, trace, folder):
    doc = json.load(open(path))
    check_sums(doc)
    check_answers(doc)
    done = (trace and os.path.isdir(folder) and
            check_golden(doc, trace, folder))
    return "equal to the golden path" if done else "adds up"


def main():
    if sys.argv[1] == "--change":
        change(*sys.argv[2:])
        return
    if sys.argv[1] == "--track":
        track(*sys.argv[2:])
        return
    if sys.argv[1] == "--pair":
        pair(*sys.argv[2:])
        return
    if sys.argv[1] == "--program":
        program(*sys.argv[2:])
        return
    if sys.argv[1] == "--planted":
        planted(*(sys.argv[2:] + [None, None])[:3])
        return
    for line in open(sys.argv[2]):
        path, trace, name = line.rstrip("\n").split("|", 2)
        try:
            say(f"{name}: {judge(path, trace, sys.argv[3])}", [])
        except Exception:  # each has its own result
            say(name, traceback.format_exc().splitlines())


if __name__ == "__main__":
    main()
