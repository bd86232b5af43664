# SPDX-License-Identifier: MIT
"""FLOPs, bytes, kernel time and roofs of calls against a list of them that
another program made of the same trace.
usage: roofline.py TRACE-NAME GOLDEN.csv ANSWER.json"""
import ast
import csv
import json
import sys

# where the list holds less than the operator does, and why
KNOWN = {
    "aten::cumsum": "its result is as large as what it sums",
    "aten::norm": "the second argument is the order, not a size",
    "aten::linalg_vector_norm": "the second argument is the order",
    "aten::argmax": "its result is of 8 bytes",
    "aten::argmin": "its result is of 8 bytes",
    "aten::max": "of a size it gives positions, too",
    "aten::min": "of a size it gives positions, too",
    "aten::any": "its result is of 1 byte",
    "aten::all": "its result is of 1 byte",
}


def plain(text):
    """A list in whatever spelling."""
    if not text or text == "None":
        return "[]"
    try:
        value = json.loads(text)
    except ValueError:
        value = ast.literal_eval(text)

    def tidy(x):
        if isinstance(x, (list, tuple)):
            return [tidy(y) for y in x]
        return str(x)

    return json.dumps(tidy(value))


def key(op, dims, types, values):
    return op, plain(dims), plain(types), plain(values)


def main():
    name, golden, answer = sys.argv[1:]
    doc = json.load(open(answer))
    ours = {}
    for row in doc["tables"]["calls"]:
        k = key(row["op"], row["input_shapes"], row["input_types"],
                row["input_values"])
        ours.setdefault(k, []).append(row)
    bad = rows = 0
    for g in csv.DictReader(open(golden)):
        if g["trace"] != name:
            continue
        rows += 1
        k = key(g["op"], g["input_dims"], g["input_types"], g["concrete"])
        found = ours.pop(k, None)
        if not found:
            print("missing:", k)
            bad += 1
            continue
        want = [int(g[x]) for x in ("calls", "kernel_ns", "matrix_flops",
                                    "vector_flops", "bytes")]
        have = [sum(r["calls"] for r in found),
                sum(r["kernel_ns"] for r in found)]
        # one of those that the call around them tells apart
        first = next((r for r in found
                      if r["least_bytes"] == want[4] * r["calls"]), found[0])
        have += [first[x] // first["calls"] for x in (
            "matrix_flops", "vector_flops", "least_bytes")]
        if g["op"] in KNOWN:
            want, have = want[:4], have[:4]
        roof = first["roof_ns"]
        if g["roof_ns"] and roof is not None and g["op"] not in KNOWN:
            one = roof / first["calls"]
            # what kernels rounded to tf32 is faster than the list knows,
            # and what passed its roof is at it
            rounded = one < float(g["roof_ns"]) and (
                first["precision"] == "fp32" and want[2] or
                first["min_ns"] < float(g["roof_ns"]))
            if abs(one - float(g["roof_ns"])) > 0.6 and not rounded:
                print("roof:", k, one, g["roof_ns"])
                bad += 1
        if want != have:
            print("differs:", k, "theirs", want, "ours", have)
            bad += 1
    for k in ours:
        if k[0] in KNOWN:
            continue
        print("not in the list:", k)
        bad += 1
    if not rows:
        print("the list has nothing of", name)
        bad += 1
    figures = doc["scalars"]
    sums = [figures[x] for x in ("modelled_ns", "comm_ns",
                                 "not_modelled_ns")]
    if sum(sums) != figures["gpu_ns"]:
        print("parts do not add up:", sums, figures["gpu_ns"])
        bad += 1
    print(rows, "rows,", bad, "bad")
    return bad != 0


sys.exit(main())
