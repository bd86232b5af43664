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

tap_done
