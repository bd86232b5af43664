# SPDX-License-Identifier: MIT
# Folders as frameworks write them: TensorBoard's log folder, SpeechBrain's
# profiler_logs, RAVE's profile_step_N.json with its side files.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99

"$mktrace" --steps 1 --layers 1 --seed 1 >one.json
"$mktrace" --steps 1 --layers 1 --seed 2 >two.json
gzip -nc two.json >two.json.gz

tree() { # FOLDER: two runs, side files of every kind, links, loops
	mkdir -p "$1/bert/v2" "$1/resnet/plugins" "$1/.cache" "$1/none"
	cp "$tmp/two.json.gz" "$1/bert/v2/worker0.1700000000002.pt.trace.json.gz"
	cp "$tmp/one.json" "$1/resnet/host_12.1700000000001.pt.trace.json"
	cp "$tmp/one.json" "$1/.cache/hidden.json"
	echo '{"epochs": 3, "traceEventCount": 7}' >"$1/training_summary.json"
	echo '{"lr": 0.1}' >"$1/bert/config.json"
	echo '[{"name": "forward", "ms": 3.5}, {"name": "backward", "ms": 7}]' \
		>"$1/timing_profile.json"
	echo '[[0, 1, 2], [10, 20, 30]]' >"$1/memory_profile.json"
	: >"$1/resnet/plugins/empty.json"
	echo 'step 10' >"$1/resnet/profile_step_10_stacks.txt"
	ln -s .. "$1/resnet/up"
	ln -s "$tmp/nothing" "$1/resnet/gone.json"
}
tree runs
paths() { # DB
	"$profan" query "$1" 'SELECT id, path FROM trace ORDER BY id' -f csv
}

# ---- a log folder ----
run 0 "$profan" ingest runs -o runs.db
result "a log folder is entered"
cat >want <<'EOF'
id,path
1,runs/bert/v2/worker0.1700000000002.pt.trace.json.gz
2,runs/resnet/host_12.1700000000001.pt.trace.json
EOF
paths runs.db >got
same "its traces, in the order of their names" want got
cat >want <<'EOF'
profan: 5 files are no traces: config.json, memory_profile.json, empty.json, ...
profan: 2 runs are put together: 'profan ingest --dry-run' lists them, -o DIR keeps them apart
EOF
same "files that are none are passed over in one line" want err
run 0 "$profan" ingest -q runs -o quiet.db && [ ! -s err ]
result "-q says nothing of them"
run 0 "$profan" ingest runs/ -o again.db && paths again.db >got &&
	paths runs.db | cmp -s - got
result "a slash behind the name changes nothing" got
mkdir elsewhere
(cd elsewhere && tree runs && run 0 "$profan" ingest -q runs -o runs.db) &&
	cmp -s runs.db elsewhere/runs.db
result "equal folders give equal databases"
(cd runs/bert && run 0 "$profan" ingest -q . -o here.db && paths here.db) >got
grep -q '^1,v2/worker0' got
result "this folder" got

# ---- many levels ----
deep=deep
for i in $(seq 31); do deep=$deep/d$i; done
mkdir -p "$deep/d32/d33"
cp one.json "$deep/last.json"
cp one.json "$deep/d32/over.json"
run 0 "$profan" ingest deep -o deep.db && paths deep.db >got
[ "$(wc -l <got)" = 2 ] && grep -q last.json got
result "folders are entered 32 deep" got

# ---- numbers in names ----
mkdir rave
for n in 9 10 100; do cp one.json "rave/profile_step_$n.json"; done
echo '{"total_steps": 100}' >rave/training_summary.json
run 0 "$profan" ingest rave -o rave.db && paths rave.db >got
cat >want <<'EOF'
id,path
1,rave/profile_step_9.json
2,rave/profile_step_10.json
3,rave/profile_step_100.json
EOF
same "numbers are numbers" want got
echo 'profan: 1 file is no trace: training_summary.json' >want
same "one file that is none" want err

# ---- nothing there ----
mkdir bare
run 3 "$profan" ingest bare -o bare.db && [ "$(wc -l <err)" = 1 ] &&
	grep -q "'bare' has no traces" err && grep -q '\*\.json' err &&
	grep -q '\*\.csv' err && grep -q '_stacks\.txt' err &&
	[ ! -e bare.db ]
result "a folder without traces says what was looked for"
cp runs/training_summary.json runs/timing_profile.json bare
run 3 "$profan" ingest bare -o bare.db && grep -q '2 such files' err
result "a folder of other files"
mkdir databases && cp rave.db databases/a.db && cp rave.db databases/b.db &&
	run 3 "$profan" databases &&
	grep -q "has no traces, but 'a.db' and others, which profan made" err
result "a folder of databases whose traces are gone" err

# logs of GPUs and stacks have names of anything: what is in them says so
mkdir texts
printf '%s\n' '#Date       Time        gpu    pwr' '#YYYYMMDD   HH:MM:SS    Idx      W' \
	' 20250908   14:14:37      0    100' >texts/gpu.log
printf '# gpu pwr\n# Idx W\n 0 100\n' >texts/notime.log
printf 'main;a;b 12\nmain;c 7\n' | tee texts/perf.folded texts/pyspy.txt \
	texts/step_9_stacks.txt >/dev/null
printf 'epoch: 1; loss 3\nx y z\nq\n' >texts/train_log.txt
echo 'started' >texts/train.log
echo '{"traceEvents":[]}' >texts/events.txt
: >texts/step_8_stacks.txt
run 0 "$profan" ingest --dry-run texts -f json && "$PYTHON" -S -c '
import json
d = json.load(open("out"))
assert [(r["path"], r["format"]) for r in d["tables"]["files"]] == [
    ("texts/gpu.log", "dmon"), ("texts/perf.folded", "folded"),
    ("texts/pyspy.txt", "folded"), ("texts/step_9_stacks.txt", "folded")], d
assert [r["path"] for r in d["tables"]["passed"]] == ["texts/notime.log"], d
assert any(n.startswith("4 other files") for n in d["notes"]), d["notes"]'
result "logs and stacks of a folder are found by what is in them" out
run 0 "$profan" ingest -q texts -o texts.db &&
	run 0 "$profan" ingest -q --interval 1s texts -o texts2.db &&
	"$profan" query texts2.db 'SELECT count(*) FROM trace' -f csv |
	tail -n 1 | grep -qx 5
result "a log without times needs to be told of them, and stops no other" err

# ---- what would be read ----
plan() { # NAME TABLE COLUMN... -- ARGUMENT...: those columns of a plan into got
	name=$1
	run 0 "$profan" ingest -q -f json --dry-run $4 && "$PYTHON" -S -c '
import json, sys
t = json.load(open(sys.argv[1]))["tables"][sys.argv[2]]
for r in t:
    print(",".join("" if r[c] is None else str(r[c])
                   for c in sys.argv[3].split()))' out "$2" "$3" >got
	result "$name: a plan"
}
mkdir -p job/bert/profiler_logs job/tt/profile_trace/iteration_10 \
	job/tt/profile_trace/iteration_20 job/tt/memory_snapshot/iteration_20 \
	job/jax/plugins/profile/r1 job/sgl job/vllm job/empty
ranked() { # RANK FILE
	"$PYTHON" -S -c '
import json, sys
t = json.load(open("one.json"))
t["distributedInfo"] = {"backend": "nccl", "rank": int(sys.argv[1]),
                        "world_size": 2}
open(sys.argv[2], "w").write(json.dumps(
    {k: t[k] for k in sorted(t, key=lambda k: k == "traceEvents")}))' "$@"
}
for r in 0 1; do
	ranked $r job/bert/profiler_logs/vm_$r.179532584646762183$r.pt.trace.json
	cp one.json job/tt/profile_trace/iteration_10/rank${r}_trace.json
	cp two.json job/tt/profile_trace/iteration_20/rank${r}_trace.json
	gzip -nc one.json >job/sgl/170-TP-$r.trace.json.gz
done
ranked 1 job/bert/profiler_logs/of_rank0.json # the file knows better
gzip -nc one.json >job/sgl/merged-170.trace.json.gz
gzip -nc one.json >job/sgl/170-TP-0-PP-1.trace.json.gz
cp two.json.gz job/vllm/dp0_pp0_tp0_dcp0_ep0_rank0.1700000000001.pt.trace.json.gz
cp one.json job/vllm/dp0_pp0_tp0_dcp0_ep0_rank0.1700000000000.pt.trace.json
cp one.json job/vllm/copy_r3.json
gzip -nc one.json >job/vllm/copy_r3.json.gz
"$PYTHON" -S - job/tt/memory_snapshot/iteration_20 <<'END'
import pickle, sys
at = sys.argv[1] + "/"
snap = {"segments": [], "device_traces": [[{"action": "alloc", "addr": 4096,
        "size": 512, "stream": 0, "time_us": 1700000000000000}]]}
pickle.dump(snap, open(at + "rank1_memory_snapshot.pickle", "wb"))
pickle.dump({"lr": 0.1}, open(at + "optimizer.pkl", "wb"))
END
printf '\n\012host' >job/jax/plugins/profile/r1/notes.pb
: >job/empty/none.json
"$SQLITE3" job/empty/own.sqlite 'CREATE TABLE mine(a)'
plan "the files" files "run rank world_size cycle format path" job
cat >want <<'EOF'
1,1,2,,chrome,job/bert/profiler_logs/of_rank0.json
1,0,2,,chrome,job/bert/profiler_logs/vm_0.1795325846467621830.pt.trace.json
1,1,2,,chrome,job/bert/profiler_logs/vm_1.1795325846467621831.pt.trace.json
2,,,,chrome,job/sgl/170-TP-0-PP-1.trace.json.gz
2,0,,,chrome,job/sgl/170-TP-0.trace.json.gz
2,1,,,chrome,job/sgl/170-TP-1.trace.json.gz
3,1,,,memsnap,job/tt/memory_snapshot/iteration_20/rank1_memory_snapshot.pickle
3,0,,1,chrome,job/tt/profile_trace/iteration_10/rank0_trace.json
3,1,,1,chrome,job/tt/profile_trace/iteration_10/rank1_trace.json
3,0,,2,chrome,job/tt/profile_trace/iteration_20/rank0_trace.json
3,1,,2,chrome,job/tt/profile_trace/iteration_20/rank1_trace.json
4,3,,,chrome,job/vllm/copy_r3.json
4,0,,1,chrome,job/vllm/dp0_pp0_tp0_dcp0_ep0_rank0.1700000000000.pt.trace.json
4,0,,2,chrome,job/vllm/dp0_pp0_tp0_dcp0_ep0_rank0.1700000000001.pt.trace.json.gz
EOF
same "run, rank, world, cycle and format" want got
plan "what is passed over" passed "path why" job
cat >want <<'EOF'
job/empty/none.json,is empty
job/empty/own.sqlite,is an SQLite database without a trace that profan knows; its tables: mine
job/sgl/merged-170.trace.json.gz,is made of the files of ranks beside it
job/tt/memory_snapshot/iteration_20/optimizer.pkl,is a pickle, but no memory snapshot
job/vllm/copy_r3.json.gz,is the packed copy of the file beside it
EOF
same "and why" want got
run 0 "$profan" ingest --dry-run job &&
	grep -q '^14 traces of 4 runs; 5 files are passed over' out &&
	grep -q '1 other file' out && [ ! -e profan.db ]
result "for people; nothing is written" out
run 3 "$profan" ingest --dry-run job/empty && grep -q 'is empty' out &&
	grep -q "'job/empty' has no traces" err
result "a plan of nothing says why, and is an error" out err
echo '[]' >list.json
echo '{"lr": 1}' >lr.json
plan "files that are named" passed "path why" "one.json list.json lr.json"
echo 'lr.json,is JSON without a list of trace events' >want
same "are looked at, too" want got
run 3 "$profan" ingest --dry-run one.json bare.json
result "one that is not there is an error"

# ---- a database of each run ----
mkdir dbs
run 0 "$profan" ingest -q job -o dbs && ls dbs >got
printf '%s\n' bert.db sgl.db tt.db vllm.db >want
same "each run has a database" want got
for db in bert sgl tt vllm; do
	paths dbs/$db.db | tail -n +2 | cut -d, -f2 | grep -cv "^job/$db/"
done >got
printf '0\n0\n0\n0\n' >want
same "of its traces only" want got
run 0 "$profan" ingest -q job/tt -o one.db && "$profan" query one.db \
	'SELECT id, rank, worker, span FROM trace ORDER BY id' -f csv >got
"$profan" query dbs/tt.db \
	'SELECT id, rank, worker, span FROM trace ORDER BY id' -f csv >want
same "as if it had been read alone" want got
run 0 "$profan" ingest job/tt -o tt.db &&
	! grep -q 'are of rank' err
result "a snapshot and a trace of one rank are one job"
mkdir -p twice/a/b twice/a_b none
cp one.json twice/a/b && cp one.json twice/a_b
run 2 "$profan" ingest twice -o none && grep -q "none/a_b.db" err &&
	[ -z "$(ls none)" ]
result "two of one name are refused before anything is written"
echo '{"traceEvents": "x' >job/vllm/zz.json
mkdir left
printf '{"traceEvents": [' >job/tt/z.json
run 0 "$profan" ingest -q job -o left
result "a file that is none does not stop it"

# ---- many files ----
# names of one file: to make files takes thirty times as long
mkdir many && : >none.json && "$PYTHON" -S -c 'import os
for n in range(10001):
    os.link("none.json", "many/%d.json" % n)'
run 3 "$profan" ingest many -o many.db && grep -q 'at most 10000' err
result "too many files are refused in one sentence"
rm -r many

# ---- folders that real frameworks wrote ----
if [ -d "$shared/inputs/folders" ]; then
	for f in "$shared"/inputs/folders/*.tar.gz; do
		tar xzf "$f"
		name=$(basename "$f" .tar.gz)
		run 0 "$profan" ingest -q -f json --dry-run "$name" &&
			"$PYTHON" -S - "${f%.tar.gz}.golden.json" out <<'END'
import json, sys
want, got = (json.load(open(p)) for p in sys.argv[1:])
key = lambda t: t[0]
want = sorted(((t["path"], t["rank"], t["world_size"])
               for t in want["traces"] if t["events"]
               and not t["path"].endswith("trace.json.gz")), key=key)
got = sorted(((r["path"].split("/", 1)[1], r["rank"], r["world_size"])
              for r in got["tables"]["files"] if r["format"] == "chrome"), key=key)
sys.exit(want != got and f"{want} {got}")
END
		result "$name: its traces, ranks and worlds"
	done
else
	skip "folders of real frameworks" "../shared is not here"
fi

# ---- files that are named are meant ----
for f in timing_profile memory_profile training_summary; do
	run 3 "$profan" ingest "runs/$f.json" -o named.db && [ ! -e named.db ]
	result "$f.json by name is an error"
done
echo '{"traceEvents": []}' >nothing.json
run 0 "$profan" ingest nothing.json -o nothing.db
result "a trace without events is one"


# ---- several captures of one process are one GPU and one rank ----
mkdir spans
cp one.json spans/worker0.1700000000001.pt.trace.json
cp two.json spans/worker0.1700000000009.pt.trace.json
run 0 "$profan" ingest spans -o spans.db && [ ! -s err ]
result "spans are one job"
"$profan" query spans.db 'SELECT worker, span FROM trace ORDER BY id' \
	-f csv >got
cat >want <<'EOF'
worker,span
spans/worker0,1700000000001
spans/worker0,1700000000009
EOF
same "worker and span are columns" want got
for command in gaps overlap 'report -f md -o -'; do
	# shellcheck disable=SC2086  # several words
	run 0 "$profan" $command spans.db && ! grep -q '[2-9] GPUs' out
	result "$command: they are one GPU" out
done
run 0 "$profan" gaps spans.db &&
	grep -q 'sums over 2 captures of 1 GPU' out
result "times are said to be of two captures" out
run 0 "$profan" doctor spans.db && ! grep -Eq 'traces? ha(ve|s) none' out &&
	! grep -q 'ranks missing *[1-9]' out
result "doctor misses no ranks" out
run 0 "$profan" overlap spans.db && ! grep -q 'not compared' out
result "nothing is said of ranks" out
run 0 "$profan" diff spans.db spans.db -f json --force
grep -q '"check": *"GPUs at work"' out &&
	grep -A3 '"check": *"GPUs at work"' out | grep -q '"1"'
result "diff: one GPU is at work" out
run 0 "$profan" steps spans.db &&
	grep -q '^Step .*Trace' out
result "steps of several traces say of which" out
for name in rave/profile_step_9 it/iteration_3/rank1_trace epoch-2_trace; do
	mkdir -p "$(dirname "$name")"
	cp one.json "$name.json"
	run 0 "$profan" ingest -q "$name.json" -o name.db &&
		"$profan" query name.db 'SELECT worker, span, rank FROM trace' \
			-f csv | tail -1
done >got
cat >want <<'EOF'
rave/profile_step,9,
it/iteration/rank1_trace,3,1
epoch_trace,2,
EOF
same "names of other frameworks" want got

# ---- traces are chosen by number ----
run 2 "$profan" slice --gap 1 -o gap.json spans.db &&
	grep -q -e '--trace' err
result "slice names --trace"
run 0 "$profan" slice --gap 1 --trace 2 -o gap.json spans.db
result "slice of the second trace"
run 0 "$profan" table --trace 2 spans.db && mv out second &&
	run 0 "$profan" table --trace 1 spans.db && ! cmp -s out second
result "table of either trace" out
run 0 "$profan" table spans.db && grep -q -e '--trace' err
result "table names --trace"
for command in gaps syncs steps overlap kernels launches modules memory stacks
do
	run 3 "$profan" "$command" --trace 3 spans.db &&
		grep -q "no trace 3" err &&
		run 0 "$profan" "$command" --trace 2 spans.db
	result "$command --trace"
done

# ---- cycles of a schedule: captures of one process, by their files' names ----
mkdir cycles && cp one.json cycles/host_9.1700000000100.pt.trace.json &&
	cp two.json cycles/host_9.1700000000020.pt.trace.json &&
	cp one.json cycles/other.json
run 0 "$profan" ingest -q cycles/host_9.*100.pt.trace.json \
	cycles/host_9.*020.pt.trace.json cycles/other.json -o cycles.db &&
	run 0 "$profan" query cycles.db "SELECT trace_id, cycle FROM trace_cycle
		JOIN trace ON id = trace_id ORDER BY span" -f csv
sed 1d out >got
printf '2,1\n1,2\n' >want
same "the first cycle is that of the least number" want got
for command in steps kernels gaps table; do
	for n in 1 2; do
		id=$(sed -n "s/,$n\$//p" got)
		run 0 "$profan" $command --cycle $n cycles.db -f csv && mv out by-cycle &&
			run 0 "$profan" $command --trace "$id" cycles.db -f csv &&
			cmp -s out by-cycle
		result "$command --cycle $n is that trace" err
	done
done
run 3 "$profan" steps --cycle 3 cycles.db && grep -q 'no cycle 3' err
result "a cycle that is not there" err
run 0 "$profan" info cycles.db -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]["traces"]
assert sorted(str(r["cycle"]) for r in t) == ["1", "2", "None"], t'
result "info says which trace is which cycle" out
# captures of one name by several ranks are no cycles of each other
ranked 1 cycles/host_9.1700000000300.pt.trace.json
plan "cycles" files "cycle path" cycles && mv got want
run 0 "$profan" ingest -q cycles -o again.db && run 0 "$profan" query again.db -f csv \
	"SELECT iif(cycle_count > 1, cycle, NULL) AS cycle, path FROM trace
	LEFT JOIN trace_cycle ON trace_id = id ORDER BY id" && sed 1d out >got
same "--dry-run counts them as the database does" want got

# ---- several jobs in one database ----
mixed() { # NAME WORDS FILE...
	name=$1 words=$2
	shift 2
	run 0 "$profan" ingest "$@" -o mixed.db && [ "$(wc -l <err)" = 1 ] &&
		grep -q "several jobs.*$words" err
	result "$name"
}
gpu() { # NAME TIME: the GPU and the base time of one.json
	sed "s/\"name\": \"NVIDIA[^\"]*\"/\"name\": \"$1\"/
		s/\"baseTimeNanoseconds\": [0-9]*/\"baseTimeNanoseconds\": $2/" \
		one.json
}
cp one.json rank0_a.json
cp two.json rank0_b.json
mixed "two of one rank" "rank 0" rank0_a.json rank0_b.json
gpu H100 1700000000000000000 >h100.json
gpu V100 1600000000000000000 >v100.json
mixed "GPUs of two models at two times" "H100 and V100" h100.json v100.json
gpu H100 1600000000000000000 >later.json
mixed "two runs" "different times" h100.json later.json
gpu "NVIDIA H100 80GB HBM3" 1600000000000000000 >early.json
mixed "a rank and a run" "different times" rank0_a.json early.json
cp two.json rank1.json
run 0 "$profan" ingest rank0_a.json rank1.json -o two.db && [ ! -s err ]
result "two ranks are one job"
run 0 "$profan" steps two.db && grep -q '^Step .*Rank' out
result "steps of several ranks say of which" out

# ---- hosts of one job ----
"$PYTHON" -S "$top_srcdir/tests/gen/mkxspace.py" tpu_work >host.pb
hosts() { # NAME RUNS "RANK..." PATH...: all ways of reading agree
	name=$1 runs=$2 want=$3
	shift 3
	rm -rf hosts hosts.db
	for f in "$@"; do
		mkdir -p "$(dirname "hosts/$f")" && cp host.pb "hosts/$f"
	done
	run 0 "$profan" ingest --dry-run -f json hosts && "$PYTHON" -S -c '
import json, sys
d = json.load(open("out"))["tables"]
print(len(d["runs"]), *(r["rank"] for r in d["files"]))' >got
	echo "$runs $want" >want
	same "$name" want got
	run 0 "$profan" ingest hosts -o hosts.db && "$profan" query hosts.db \
		"SELECT group_concat(coalesce(rank, 'None'), ' ') FROM (
		SELECT rank FROM trace ORDER BY id)" -f csv | tail -n 1 |
		tr -d '"' >got
	echo "$want" >want
	same "$name: the database, too" want got
	rm -rf hosts/.profan hosts/traces.profan*
	run 0 "$profan" hosts && if [ "$runs" = 1 ]; then
		! grep -q 'put together: .profan' err
	else
		grep -q "^profan: $runs runs are put together" err
	fi
	result "$name: what is read as one is said"
}
at=plugins/profile/2025_01_01_10_00_00
hosts "hosts of JAX" 1 "0 1" $at/host0.xplane.pb $at/host1.xplane.pb
hosts "with a line between, not from 0" 1 "1 10" \
	$at/host_1.xplane.pb $at/host_10.xplane.pb
hosts "workers of a slice" 1 "0 1" \
	$at/t1v-n-1a2b3c4d-w-0.xplane.pb $at/t1v-n-1a2b3c4d-w-1.xplane.pb
hosts "of two slices nobody knows" 1 "None None None" \
	$at/t1v-n-1a-w-0.xplane.pb $at/t1v-n-1a-w-1.xplane.pb \
	$at/t1v-n-2b-w-0.xplane.pb
hosts "GKE" 1 "0 1" $at/gke-tpu-1a2b-w-0.xplane.pb \
	$at/gke-tpu-1a2b-w-1.xplane.pb
hosts "Ray: the number that differs" 1 "0 1" \
	$at/ray-node-0-0.xplane.pb $at/ray-node-0-1.xplane.pb
hosts "Ray: two that differ" 1 "None None" \
	$at/ray-node-0-0.xplane.pb $at/ray-node-1-1.xplane.pb
hosts "a lone one" 1 "None" $at/host3.xplane.pb
hosts "other machines" 1 "None None" $at/vmhost1.xplane.pb $at/vmhost2.xplane.pb
hosts "one without a number" 1 "None None" $at/host.xplane.pb $at/host1.xplane.pb
hosts "folders of processes" 1 "0 1" \
	dp_rank_0/$at/vm.xplane.pb dp_rank_1/$at/vm.xplane.pb
hosts "folders of hosts" 1 "0 1" host0/vm.xplane.pb host1/vm.xplane.pb
hosts "folders that differ by seconds" 1 "0 1" \
	$at/host0.xplane.pb ${at%00}02/host1.xplane.pb
hosts "folders on both sides of a month" 1 "1 0" \
	plugins/profile/2025_02_28_23_59_59/host1.xplane.pb \
	plugins/profile/2025_03_01_00_00_01/host0.xplane.pb
hosts "one host twice is two runs" 2 "None None" \
	$at/host0.xplane.pb ${at%00}02/host0.xplane.pb
hosts "two captures of two hosts" 2 "0 1 0 1" \
	$at/host0.xplane.pb ${at%00}02/host1.xplane.pb \
	${at%00}10/host0.xplane.pb ${at%00}12/host1.xplane.pb
hosts "minutes apart" 2 "None None" \
	$at/host0.xplane.pb ${at%00_00}05_00/host1.xplane.pb
hosts "two jobs" 2 "0 1 0 1" \
	a/$at/host0.xplane.pb a/$at/host1.xplane.pb \
	b/$at/host0.xplane.pb b/$at/host1.xplane.pb
# told by their bytes, not by their names
hosts "processes of nsys" 1 "0 1" report.0.sqlite report.1.sqlite
hosts "numbers of processes of the system" 1 "None None" \
	report.4711.sqlite report.4712.sqlite
rm -rf hosts && mkdir hosts && for i in 0 1; do
	cp host.pb hosts/host_$i.xplane.pb
done
run 0 "$profan" merge hosts -o hosts.fleet && "$profan" query hosts.fleet \
	'SELECT rank FROM rank ORDER BY id' -f csv | tail -n +2 | tr '\n' ' ' >got
printf '0 1 ' >want
same "a merge has the same ranks" want got
mkdir dots && for i in 0 1; do
	cp one.json "dots/report.$i.json"
done
run 0 "$profan" ingest -q dots -o dots.db &&
	[ "$("$profan" query dots.db 'SELECT count(rank) FROM trace' -f csv |
		tail -n 1)" = 0 ]
result "numbers of other files count anything"
tap_done
