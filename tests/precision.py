# SPDX-License-Identifier: MIT
"""What names of kernels say, against what the trace says of their operators.

usage: precision.py PROFAN DB TRACE MATRIX_OPS
Every matrix product and convolution whose operator has types of its inputs
recorded must have that precision, as far as its name says one; figures of
'profan kernels' must add up.  Prints how many kernels were compared.
"""
import csv
import fnmatch
import gzip
import json
import subprocess
import sys

PROFAN, DB, TRACE, OPS = sys.argv[1:5]
ALLOWED = {"double": {"fp64"}, "float": {"fp32", "tf32"},
           "c10::Half": {"fp16"}, "c10::BFloat16": {"bf16"}}
# quantized inside the operator: its inputs are not those of the product
INSIDE = {"fp8", "int8", "int4", "mixed"}


def document(*options):
    out = subprocess.run([PROFAN, "kernels", DB, "--format", "json", "--limit",
                          "-1"] + list(options), capture_output=True,
                         check=True).stdout
    return json.loads(out)


def types_of(trace):
    """By kernel name, the first floating types of their operators."""
    ops, found = {}, {}
    for e in trace:
        args = e.get("args") or {}
        types = args.get("Input type", args.get("Input Type"))
        if e.get("cat") in ("cpu_op", "Operator") and isinstance(types, list):
            ops[args.get("External id", args.get("external id"))] = types
    for e in trace:
        if str(e.get("cat")).lower() != "kernel":
            continue
        args = e.get("args") or {}
        types = ops.get(args.get("External id", args.get("external id")), [])
        types = [t for t in types if t in ALLOWED]
        if types:
            found.setdefault(e["name"], set()).add(types[0])
    return found


def check_sums(doc, by_op):
    rows = doc["tables"]["classes"]
    ns, calls = doc["scalars"]["kernel_ns"], doc["scalars"]["kernel_count"]
    if sum(r["total_ns"] for r in rows) != ns or \
            sum(r["calls"] for r in rows) != calls:
        return "classes do not add up"
    for r in rows:
        mine = sum(k["total_ns"] for k in by_op["tables"]["kernels"]
                   if (k["class"], k["precision"]) ==
                   (r["class"], r["precision"]))
        if mine != r["total_ns"]:
            return "%s of %s: %d" % (r["class"], r["precision"], mine)
    with open(OPS) as f:
        listed = [r["pattern"] for r in csv.DictReader(f)]
    sums = {"product_ns": 0, "product_fp32_ns": 0, "product_unknown_ns": 0}
    for r in by_op["tables"]["kernels"]:
        is_listed = any(fnmatch.fnmatchcase(r["op"], p) for p in listed)
        eligible = None
        if r["op"].startswith("aten::"):
            eligible = "yes" if is_listed else "no"
        if r["op_eligible"] != eligible:
            return "%s is eligible: %s" % (r["op"], r["op_eligible"])
        if r["class"] in ("gemm", "conv"):
            counts = eligible != "no"
        else:
            counts = r["class"] is None and eligible == "yes"
        if counts:
            sums["product_ns"] += r["total_ns"]
            if r["precision"] == "fp32":
                sums["product_fp32_ns"] += r["total_ns"]
            if r["precision"] is None:
                sums["product_unknown_ns"] += r["total_ns"]
    for k, v in sums.items():
        if by_op["scalars"][k] != v:
            return "%s is %s, not %d" % (k, by_op["scalars"][k], v)
    return None


def main():
    opener = gzip.open if TRACE.endswith(".gz") else open
    with opener(TRACE, "rt", encoding="utf-8", errors="replace") as f:
        trace = json.load(f)
    types = types_of(trace if isinstance(trace, list) else
                     trace["traceEvents"])
    doc = document()
    compared = 0
    for r in doc["tables"]["kernels"]:
        if r["class"] not in ("gemm", "conv") or r["precision"] in INSIDE:
            continue
        for t in types.get(r["name"], ()):
            compared += r["precision"] is not None
            if r["precision"] and r["precision"] not in ALLOWED[t]:
                sys.exit("%s: %s, but its operator works on %s" %
                         (r["name"], r["precision"], t))
    why = check_sums(doc, document("--group", "name,op"))
    if why:
        sys.exit(why)
    print(compared)


main()
