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
for i in 1 2 3 4 5 6 7; do deep=$deep/d$i; done
mkdir -p "$deep/d8/d9"
cp one.json "$deep/eight.json"
cp one.json "$deep/d8/nine.json"
run 0 "$profan" ingest deep -o deep.db && paths deep.db >got
[ "$(wc -l <got)" = 2 ] && grep -q eight.json got
result "folders are entered eight deep" got

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
	[ ! -e bare.db ]
result "a folder without traces says what was looked for"
cp runs/training_summary.json runs/timing_profile.json bare
run 3 "$profan" ingest bare -o bare.db && grep -q '2 such files' err
result "a folder of other files"

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
run 0 "$profan" doctor spans.db && ! grep -q 'traces have none' out &&
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
tap_done
