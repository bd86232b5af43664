# SPDX-License-Identifier: MIT
# Graphs: nodes, layers and iterations of real traces against lists that
# another program made (tests/graphs.py); a model that is known, with each kind
# of evidence and with evidence of another model.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
lists=$shared/golden/insight

against_list() { # NAME FILE
	grep -q "^$1," "$lists/graphs_iterations.csv" || return 0
	ingested "$1" "$2" || return
	set -- "$1" "${2%.json.gz}_capture.json.gz"
	if [ -f "$2" ]; then
		cp "$2" "$tmp/capture.json.gz"
		set -- "$1" --capture "$tmp/capture.json.gz"
	else
		set -- "$1"
	fi
	name=$1
	shift
	"$profan" graphs -q "$tmp/t.db" -n -1 --layers --nodes -f json "$@" \
		>"$tmp/answer" 2>&1
	"$PYTHON" -S "$top_srcdir/tests/graphs.py" "$name" "$lists" \
		"$tmp/answer" >"$tmp/why" 2>&1
	result "$name: every node, layer and iteration" "$tmp/why"
}
if [ -f "$lists/graphs_iterations.csv" ]; then
	real_traces against_list
else
	skip "real traces" "NOT TESTED: ../shared/golden is not there"
fi

cat >"$tmp/one.json" <<EOF
{"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1,
 "tid": 1, "ts": 1000, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_0", "pid": 0,
 "tid": 7, "ts": 1020, "dur": 10,
 "args": {"device": 0, "stream": 7, "correlation": 1}}]}
EOF
"$profan" graphs -q "$tmp/one.json" >"$tmp/out" 2>"$tmp/err"
grep -q '^100.00 % of the GPU time in the capture is replayed' "$tmp/out"
result "a graph of one kernel is replayed" "$tmp/out" "$tmp/err"
"$profan" kernels -q "$tmp/one.json" >"$tmp/out" 2>"$tmp/err"
tr '\n' ' ' <"$tmp/out" |
	grep -q 'pointwise kernels 100.00 %. All are triton_poi_fused_add_0'
result "one kernel is not the largest of all" "$tmp/out" "$tmp/err"

for what in graph eager capture order frames lost; do
	"$PYTHON" -S "$top_srcdir/tests/graphs_make.py" $what 6 >"$tmp/$what.json"
done
"$PYTHON" -S "$top_srcdir/tests/graphs_make.py" capture 7 >"$tmp/other.json"
ingested "a known model" "$tmp/graph.json" || tap_done
mv "$tmp/t.db" "$tmp/graph.db"

# of launches the first that is said is that they are none of single kernels
first_of() { # DB: the sentence of 'launches'
	run 0 "$profan" launches "$1" && tr '\n' ' ' <"$tmp/out"
}
says='^3 of 3 launches replay a graph, and 100.00 % of the time of GPU work is in'
first_of "$tmp/graph.db" | grep -q "$says them. The CPU "
result "launches: replays come first" "$tmp/out"
"$profan" ingest -q "$tmp/eager.json" -o "$tmp/eager.db" &&
	first_of "$tmp/eager.db" | grep -q '^The CPU '
result "launches: no word of graphs where there are none" "$tmp/out"

# shares of evidence, layers, and what is said of one node of layer 3
ask() { # OPTION...
	"$profan" graphs -q "$tmp/graph.db" -n -1 --nodes --layers -f json "$@" |
		"$PYTHON" -S -c 'import json, sys
d = json.load(sys.stdin)
t = d["tables"]
n = t["nodes"][1 + 3 * 9 + 6]
print(t["graphs"][0]["replays"], t["graphs"][0]["layers"],
      [[r["how"], r["work_count"]] for r in t["evidence"]],
      n["role"], n["part"], n["layer"], n["how"], n["op"], n["module"])' 2>&1
}
check() { # NAME WANT OPTION...
	echo "$2" >"$tmp/want"
	name=$1
	shift 2
	ask "$@" >"$tmp/got"
	same "$name" "$tmp/want" "$tmp/got"
}
check "alone: roles and layers, no operator" \
	"3 6 [['class', 174]] gemm up 3 class None None"
check "a capture with names" \
	"3 6 [['exact', 174]] gemm up 3 exact aten::linear Layer_3" \
	--capture "$tmp/capture.json"
check "a capture without names: by order" \
	"3 6 [['order', 174]] gemm up 3 order aten::linear Layer_3" \
	--capture "$tmp/order.json"
check "a capture in which functions never end" \
	"3 6 [['exact', 174]] gemm up 3 exact aten::linear Layer_3" \
	--capture "$tmp/lost.json"
check "a capture of another model says nothing" \
	"3 6 [['class', 174]] gemm up 3 class None None" \
	--capture "$tmp/other.json"
check "the one that fits of two" \
	"3 6 [['exact', 174]] gemm up 3 exact aten::linear Layer_3" \
	--capture "$tmp/other.json" --capture "$tmp/capture.json"
check "an eager run, whose products have other tiles" \
	"3 6 [['aligned', 156], ['family', 18]] gemm up 3 aligned aten::linear Layer_3" \
	--with "$tmp/eager.json"

# parts add up; a slow layer is seen; other numbers of the trace are kept
"$profan" graphs -q "$tmp/graph.db" -n -1 --layers --nodes -f json |
	"$PYTHON" -S -c 'import json, sys
d = json.load(sys.stdin)
t, s = d["tables"], d["scalars"]
print(sum(r["gpu_ns"] for r in t["evidence"]) == s["replayed_ns"],
      sum(r["gpu_ns"] for r in t["roles"]) == s["replayed_ns"],
      sum(r["gpu_ns"] for r in t["graphs"]) == s["replayed_ns"])
print([r["layer"] for r in t["layers"] if (r["against_usual"] or 0) > 0.05])
print(len(t["iterations"]), [r["layers"] for r in t["iterations"]])' \
	>"$tmp/got" 2>&1
printf 'True True True\n[2]\n3 [6, 6, 6]\n' >"$tmp/want"
same "sums, a slow layer, iterations" "$tmp/want" "$tmp/got"
# a range that outlives the function that opened it is open after that, too
iterations() { # DB
	"$profan" graphs -q "$1" --table iterations -f csv
}
"$profan" ingest -q "$tmp/frames.json" -o "$tmp/frames.db"
iterations "$tmp/graph.db" >"$tmp/want"
iterations "$tmp/frames.db" >"$tmp/got"
[ "$(grep -c execute_ "$tmp/want")" = 3 ] && cmp -s "$tmp/want" "$tmp/got"
result "iterations that __enter__() opens" "$tmp/got"
"$profan" query -q "$tmp/graph.db" -f csv "SELECT count(*) AS n FROM event
	WHERE args ->> '\$.\"graph id\"' = 5 AND
	args ->> '\$.\"graph node id\"' = 7" | tail -1 >"$tmp/got"
echo 3 >"$tmp/want"
same "graph id and graph node id are kept" "$tmp/want" "$tmp/got"

# nodes as a table: of every launch, beside its rows in order of time
run 0 "$profan" graphs -q "$tmp/graph.db" --capture "$tmp/capture.json" \
	--store "$tmp/nodes.db" &&
	"$PYTHON" -S -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("ATTACH ? AS nodes", (sys.argv[2],))
rows = db.execute("""SELECT s.text, n.op_name, n.module, n.layer, n.how
    FROM (SELECT *, row_number() OVER (PARTITION BY launch_id
            ORDER BY start_ns, id) - 1 AS position FROM gpu_event) AS g
    JOIN nodes.graph_node AS n USING (launch_id, position)
    JOIN string AS s ON s.id = g.name_id
    ORDER BY launch_id, position""").fetchall()
print(len(rows), rows[1 + 3 * 9 + 6], rows[-1])' "$tmp/graph.db" \
	"$tmp/nodes.db" >"$tmp/got" 2>&1
cat >"$tmp/want" <<'END'
174 ('gemm_up_256x64', 'aten::linear', 'Layer_3', 3, 'exact') ('argmax_kernel', 'sample', 'Model_0', None, 'exact')
END
same "nodes as a table" "$tmp/want" "$tmp/got"
cp "$tmp/nodes.db" "$tmp/before"
if run 3 "$profan" graphs -q "$tmp/graph.db" --store "$tmp/nodes.db" &&
	cmp "$tmp/before" "$tmp/nodes.db" &&
	run 3 "$profan" graphs -q "$tmp/graph.db" --store "$tmp/graph.db" &&
	run 0 "$profan" info -q "$tmp/graph.db"; then
	ok "nothing that is there is overwritten"
else
	not_ok "nothing that is there is overwritten" "$tmp/err"
fi

# other commands take the names: the same sums by operator and by module, in a
# part of the time too, and no others without evidence
names() { # OPTION...
	for command in 'kernels --group op' modules 'graphs --nodes'; do
		# shellcheck disable=SC2086
		"$profan" $command -q "$tmp/graph.db" -n -1 -f json "$@" \
			>"$tmp/${command%% *}.json" || return
	done
	"$PYTHON" -S -c 'import json, sys
t = {}
for c in "kernels", "modules", "graphs":
    t[c] = json.load(open("%s/%s.json" % (sys.argv[1], c)))["tables"]
ops, modules = {}, {}
for n in t["graphs"]["nodes"]:
    ns = n["replay_ns"] * t["graphs"]["graphs"][n["graph"]]["replays"]
    for sums, key in (ops, n["op"]), (modules, n["module"]):
        if key:
            sums[key] = sums.get(key, 0) + ns
print(ops and ops == {r["op"]: r["total_ns"] for r in t["kernels"]["kernels"]
                      if r["replayed_calls"] == r["calls"]})
print(modules and modules == {r["name"]: r["replayed_ns"]
                              for r in t["modules"]["modules"]})' "$tmp" 2>&1
}
names --capture "$tmp/capture.json" >"$tmp/got"
names --with "$tmp/eager.json" >>"$tmp/got"
names --capture "$tmp/capture.json" --from 50us >>"$tmp/got"
printf 'True\nTrue\nTrue\nTrue\nTrue\nTrue\n' >"$tmp/want"
same "kernels and modules by these names" "$tmp/want" "$tmp/got"
run 0 "$profan" kernels -q "$tmp/graph.db" --group op --graphs &&
	grep -q '^(none)  *174 ' "$tmp/out" &&
	grep -q 'replayed by graphs: class 100' "$tmp/out" &&
	run 0 "$profan" modules -q "$tmp/graph.db" --capture "$tmp/other.json" &&
	grep -q '^There are no calls of modules' "$tmp/out"
result "no evidence, no names"
run 3 "$profan" kernels -q "$tmp/graph.db" --with "$tmp/none.json"
result "evidence that is not there"

# the table by these names: the same sums, all of the GPU's time, and of the host
# what torch's table says
named() { # OPTION...
	"$profan" table -q "$tmp/graph.db" -f json >"$tmp/plain.json" &&
		"$profan" table -q "$tmp/graph.db" --graphs -f json "$@" \
			>"$tmp/table.json" &&
		"$profan" graphs -q "$tmp/graph.db" -n -1 --nodes -f json "$@" \
			>"$tmp/graphs.json" || return
	"$PYTHON" -S -c 'import json, sys
t, g, torch = (json.load(open("%s/%s.json" % (sys.argv[1], f)))
               for f in ("table", "graphs", "plain"))
ops = {}
for n in g["tables"]["nodes"]:
    ns = n["replay_ns"] * g["tables"]["graphs"][n["graph"]]["replays"]
    if n["op"] and n["how"] in ("exact", "order", "aligned", "family"):
        ops[n["op"]] = ops.get(n["op"], 0) + ns
rows = t["tables"]["operators"]
print(ops == {r["name"]: r["replayed_ns"] for r in rows if r["replayed_ns"]},
      sum(r["gpu_ns"] for r in rows) == t["scalars"]["gpu_ns"] ==
      g["scalars"]["gpu_ns"] > 0,
      all(r["gpu_ns"] == r["launched_ns"] + r["replayed_ns"] for r in rows))
host = {r["name"]: (r["count"], r["self_cpu_ns"])
        for r in torch["tables"]["key_averages"]
        if r["device_type"] == "CPU" and not r["is_user_annotation"]}
print(host == {r["name"]: (r["calls"], r["self_cpu_ns"]) for r in rows
               if r["calls"] is not None} != {}, len(ops))' "$tmp" 2>&1
}
{ named --capture "$tmp/capture.json" && named --with "$tmp/eager.json" &&
	named; } >"$tmp/got"
cat >"$tmp/want" <<'END'
True True True
True 7
True True True
True 7
True True True
True 0
END
same "the table by these names" "$tmp/want" "$tmp/got"
if run 2 "$profan" table "$tmp/graph.db" --graphs --sort count &&
	run 0 "$profan" table -q "$tmp/graph.db" --graphs --limit 1 &&
	grep -q 'more rows of .operators' "$tmp/out"; then
	ok "which has no options of torch's"
else
	not_ok "which has no options of torch's" "$tmp/out" "$tmp/err"
fi

# the path by these names: its rows add up to the window, each piece is under the
# operator of its kernel, and a question about an operator is one of its kernels
cat >"$tmp/path.py" <<'END'
import json, sys
d = json.load(sys.stdin)
t, s = d["tables"], d["scalars"]
rows, replayed, kernels = {}, {}, {}
for p in t["tiles"]:
    rows[p["op"]] = rows.get(p["op"], 0) + p["ns"]
    if p["category"] == "kernel":
        is_same = kernels.setdefault(p["name"], p["op"]) == p["op"]
        replayed[p["op"]] = replayed.get(p["op"], 0) + p["ns"] * is_same
print(rows == {r["name"]: r["ns"] for r in t["rows"]},
      sum(rows.values()) == s["window_ns"] > 0,
      sum(r["replayed_ns"] for r in t["rows"]),
      replayed.get("aten::linear"), [a["saved_ns"] for a in t["what_if"]],
      kernels["flash_fwd_kernel"])
END
path() { # OPTION...
	"$profan" path -q "$tmp/graph.db" --group op --list -n -1 -f json "$@" |
		"$PYTHON" -S "$tmp/path.py" 2>&1
}
set -- --what-if op:linear=0 --what-if 'op:^at.*d$=0'
{ path "$@" --capture "$tmp/capture.json" && path "$@" \
	--with "$tmp/eager.json" --from 150ms &&
	path --what-if data=0 --what-if gc=0 --graphs; } >"$tmp/got"
cat >"$tmp/want" <<'END'
True True 1160000 250000 [491000, 129000] attend
True True 1160000 250000 [491000, 129000] attend
True True 0 None [0, 0] None
END
same "the path by these names" "$tmp/want" "$tmp/got"
run 2 "$profan" path "$tmp/graph.db" --graphs --what-if op:linear=0 &&
	grep -q "'op:linear=0': nothing" "$tmp/err"
result 'a name that nothing has without them is an error'

# by modules: each kernel is in the module in which its call was captured
"$profan" graphs -q "$tmp/graph.db" --capture "$tmp/capture.json" --nodes -n -1 \
	-f json >"$tmp/nodes.json" &&
	"$profan" path -q "$tmp/graph.db" --capture "$tmp/capture.json" \
		--group module --list -n -1 -f json >"$tmp/path.json"
"$PYTHON" -S - "$tmp/nodes.json" "$tmp/path.json" >"$tmp/got" 2>&1 <<'END'
import json, sys
nodes, path = (json.load(open(f))["tables"] for f in sys.argv[1:])
first = "nn.Module: "
captured = {(n["name"], n["module"] and first + n["module"])
            for n in nodes["nodes"]}
rows, met, replayed = {}, set(), 0
for p in path["tiles"]:
    rows[p["module"]] = rows.get(p["module"], 0) + p["ns"]
    if p["category"] == "kernel":
        met.add((p["name"], p["module"]))
        replayed += p["ns"] if p["module"] else 0
print(rows == {r["name"]: r["ns"] for r in path["rows"]}, met == captured,
      0 < replayed <= sum(r["replayed_ns"] for r in path["rows"]),
      len(rows), rows[first + "Model_0"])
END
echo "True True True 8 60000" >"$tmp/want" # six layers, the head, and none
same "the path by modules of a capture" "$tmp/want" "$tmp/got"

# an operator that a graph replays and a call launches is one row
"$PYTHON" -S -c 'import json, sys
d = json.load(sys.stdin)
for cat, name, pid, tid, ts, dur, args in [
        ("cpu_op", "aten::linear", 1, 1, 201100, 60, {}),
        ("cuda_runtime", "cudaLaunchKernel", 1, 1, 201120, 10, {}),
        ("kernel", "gemm", 0, 7, 202200, 40, {"device": 0, "stream": 7})]:
    args["correlation"] = 9
    d["traceEvents"].append({"ph": "X", "cat": cat, "name": name, "ts": ts,
                             "pid": pid, "tid": tid, "dur": dur, "args": args})
json.dump(d, sys.stdout)' <"$tmp/graph.json" >"$tmp/both.json"
ingested both "$tmp/both.json" && "$profan" path -q "$tmp/t.db" --group op -n -1 \
	-f json --capture "$tmp/capture.json" | "$PYTHON" -S -c 'import json, sys
print([[r["ns"] - r["replayed_ns"] > 40000, r["replayed_ns"]]
       for r in json.load(sys.stdin)["tables"]["rows"]
       if r["name"] == "aten::linear"])' >"$tmp/got" 2>&1
echo "[[True, 491000]]" >"$tmp/want" # kernels 250 us, gaps before them 241
same "an operator of graphs and calls is one row" "$tmp/want" "$tmp/got"

# roofs of captured calls, by the shapes that the capture has; what an eager run
# names has no shapes of these kernels; all is the GPU's time
roofs() { # OPTION...
	"$profan" roofline -q "$tmp/graph.db" -n -1 -f json "$@" |
		"$PYTHON" -S -c 'import json, sys
d = json.load(sys.stdin)
t, s = d["tables"], d["scalars"]
calls = [[r["op"], r["calls"], r["replayed_calls"], r["kernel_ns"],
          r["matrix_flops"]] for r in t["calls"]]
rest = {(r["op"], r["why"]): r["gpu_ns"] for r in t["not_modelled"]}
print(calls, s["modelled_ns"] + s["not_modelled_ns"] == s["gpu_ns"],
      s["gpu_ns"], sum(rest.values()) == s["not_modelled_ns"], len(rest),
      rest.get(("aten::linear", "no model")), rest.get(("norm", "no model")))' 2>&1
}
{ roofs --capture "$tmp/capture.json" &&
	roofs --capture "$tmp/capture.json" --from 1100us --to 101060us &&
	roofs --with "$tmp/eager.json" && roofs --graphs; } >"$tmp/got"
cat >"$tmp/want" <<'END'
[['aten::addmm', 75, 75, 750000, 76800]] True 1767000 True 6 None 390000
[['aten::addmm', 24, 24, 240000, 24576]] True 569000 True 6 None 120000
[] True 1767000 True 7 750000 390000
[] True 1767000 True 1 None None
END
same "roofs by these names" "$tmp/want" "$tmp/got"

# no graphs, and files that are none
"$mktrace" --steps 2 --layers 1 >"$tmp/plain.json"
ingested plain "$tmp/plain.json" && run 0 "$profan" graphs -q "$tmp/t.db" &&
	grep -q '^No GPU work .*is replayed by a graph' "$tmp/out"
result "no graphs"
run 0 "$profan" graphs -q "$tmp/t.db" --iteration ProfilerStep &&
	grep -q '^ProfilerStep#1 ' "$tmp/out"
result "steps are iterations if they are asked for" out
run 3 "$profan" graphs -q "$tmp/graph.db" --capture "$tmp/none.json"
result "a capture that is not there"
run 2 "$profan" graphs -q "$tmp/graph.db" --iteration '('
result "a wrong pattern"
tap_done
