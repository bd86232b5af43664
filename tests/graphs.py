# SPDX-License-Identifier: MIT
"""Nodes, layers and iterations of graphs against lists that another program
made of the same trace.
usage: graphs.py TRACE-NAME LIST-FOLDER ANSWER.json"""
import collections
import csv
import json
import sys

csv.field_size_limit(1 << 30)


def rows(folder, kind, name):
    with open(f"{folder}/graphs_{kind}.csv") as f:
        return [r for r in csv.DictReader(f) if r["trace"] == name]


def number(text):
    return int(text) if text else None


def main():
    name, folder, answer = sys.argv[1:]
    tables = json.load(open(answer))["tables"]
    bad = 0

    def check(what, want, have):
        nonlocal bad
        if want != have:
            bad += 1
            print(what, "theirs", want, "ours", have)

    nodes = rows(folder, "nodes", name)
    ours = tables["nodes"]
    check("nodes:", len(nodes), len(ours))
    for g, n in zip(nodes, ours):
        at = f'node {g["graph"]}/{g["index"]}'
        check(at, [g["graph"], g["index"], g["name"], g["role"], g["how"]],
              [str(n["graph"]), str(n["node"]), n["name"], n["role"],
               n["how"]])
        check(at + " layer", [number(g["layer"]), number(g["pos"])],
              [n["layer"], n["place"]])
        check(at + " part", g["part"], n["part"] or "")
        check(at + " operator", [g["op"], g["module"]],
              [n["op"] or "", n["module"] or ""])
        check(at + " time", int(g["ns"]) // int(g["replays"]), n["replay_ns"])
    want = collections.Counter()
    for g in nodes:
        want[g["graph"]] += int(g["ns"])
    check("times:", dict(want),
          {str(g["graph"]): g["gpu_ns"] for g in tables["graphs"]})
    # parts of layers as the list sums them
    check("layers:",
          [[r["graph"], r["layer"]] + [int(r[x]) for x in (
              "nodes", "ns", "attention_ns", "gemm_ns", "other_ns")]
           for r in rows(folder, "layers", name)],
          [[str(r["graph"]), str(r["layer"]), r["nodes"], r["replay_ns"],
            r["attention_ns"], r["gemm_ns"], r["other_ns"]]
           for r in tables["layers"]])
    check("iterations:",
          [[r["iteration"]] + [int(r[x]) for x in (
              "kernels", "ns", "layers", "in_layers_ns")]
           for r in rows(folder, "iterations", name)],
          [[r["iteration"], r["work_count"], r["gpu_ns"], r["layers"],
            r["layer_ns"]] for r in tables.get("iterations", [])])
    print(len(nodes), "nodes,", bad, "bad")
    return bad != 0


sys.exit(main())
