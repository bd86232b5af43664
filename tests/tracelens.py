# SPDX-License-Identifier: MIT
"""Calls against TraceLens's own reports of the same trace: equal, or different
for a reason that the figures themselves show.
usage: tracelens.py TRACE-NAME LIST.csv ANSWER.json"""
import ast
import csv
import json
import math
import sys

MIB = 1 << 20
# the same call, seen one level further out
INNER = {"aten::layer_norm": "aten::native_layer_norm",
         "aten::linalg_norm": "aten::linalg_vector_norm"}
# of which arithmetic beside the products counts, too
WITH_BIAS = {"aten::addmm", "aten::convolution", "aten::convolution_backward"}
# what only TraceLens has a model for
NO_MODEL = ("aten::upsample_", "triton_")


def sizes(text):
    def whole(x):
        return tuple(map(whole, x)) if isinstance(x, (list, tuple)) else x
    return whole(ast.literal_eval(text or "[]"))


# the last digit of the list: calls, GFLOP, MiB
DIGIT = (0, 1e-6, 1e-4)


def close(a, b, digit, share=1e-6):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 0.6 * digit


def calls_of(doc):
    found = {}
    for r in doc["tables"]["calls"]:
        sums = found.setdefault((r["op"], sizes(r["input_shapes"])), [0] * 4)
        flops = r["matrix_flops"]
        if not flops or r["op"] in WITH_BIAS:
            flops += r["vector_flops"]
        for i, value in enumerate((r["calls"], flops / 1e9,
                                   r["least_bytes"] / MIB,
                                   r["kernel_ns"] / 1e3)):
            sums[i] += value
    return found


def find(ours, op, dims):
    """Theirs of an outer call has other arguments, but the same input."""
    if (op, dims) in ours:
        return ours[op, dims]
    same = [v for (o, d), v in ours.items()
            if o == INNER.get(op) and d[:1] == dims[:1]]
    return same[0] if len(same) == 1 else None


def reasons(op, dims, ours, theirs):
    """Why they differ, as far as the figures bear it out: the figures."""
    calls, n = ours[0], math.prod(dims[0])
    flops, mib, us = (theirs[i] - ours[i] for i in (1, 2, 3))
    why = {}
    if op == "aten::copy_":  # an addition for each element that it moves
        why["flops"] = ours[1] == 0 and close(theirs[1], calls * n / 1e9, 1e-6)
        why["bytes"] = math.isnan(theirs[2])
    if op == "aten::convolution":  # no bias, and what was copied for it
        k, bias = math.prod(dims[1][1:]), math.prod(dims[2]) * bool(dims[2])
        out = theirs[1] * 1e9 / (2 * k)
        why["flops"] = close(-flops, out / 1e9, 2e-6, 1e-4)
        why["bytes"] = any(close(-mib, calls * bias * s / MIB, calls * 1e-4)
                           for s in (2, 4))
        why["time"] = us > 0
    if op.startswith("aten::_scaled_dot_product"):  # and what was copied
        why["time"] = us > 0
    if op == "aten::layer_norm":  # statistics as large as the weights
        k = calls * math.prod(dims[2])
        why["flops"] = close(flops, 6 * k / 1e9, 2e-6)
        why["bytes"] = close(mib, 8 * k / MIB, calls * 1e-4)
    if op in ("aten::mean", "aten::linalg_norm"):  # no result written
        why["bytes"] = any(close(-mib, calls * n // k * s / MIB, calls * 1e-4)
                           for s in (2, 4) for k in dims[0])
    return why


def main():
    name, golden, answer = sys.argv[1:]
    ours = calls_of(json.load(open(answer)))
    equal = told = bad = 0
    for row in csv.DictReader(open(golden)):
        if row["trace"] != name:
            continue
        op, dims = row["op"], sizes(row["input_dims"])
        theirs = [float(row[k] or "nan") for k in (
            "calls_tracelens", "gflop_tracelens", "mib_tracelens",
            "kernel_us_tracelens")]
        found = find(ours, op, dims)
        if not found:
            if op.startswith(NO_MODEL) or op in INNER:
                told += 1
                continue
            print("missing:", op, dims)
            bad += 1
            continue
        differ = {what for what, i in (("calls", 0), ("flops", 1),
                                       ("bytes", 2))
                  if not close(found[i], theirs[i], DIGIT[i])}
        if abs(found[3] - theirs[3]) > 0.3 + 0.002 * theirs[3]:
            differ.add("time")
        why = reasons(op, dims, found, theirs)
        if any(not why.get(what) for what in differ):
            print("differs:", op, dims, differ, "ours", found, "theirs",
                  theirs)
            bad += 1
        told += bool(differ)
        equal += not differ
    print("%d rows equal, %d explained, %d not" % (equal, told, bad))
    if not equal + told:
        print("the list has nothing of", name)
    return bad or not equal + told


sys.exit(main())
