# SPDX-License-Identifier: MIT
# Report, verdicts and the page of diff read documents by keys.  A copy of the
# program (tests/keys_log.c) says which they ask for: each key that the sources
# name is asked for by one of these pages, and each that is asked for is there
# in at least one of the documents, so that none can be renamed by an analysis
# and vanish in silence.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
keys=$top_builddir/tests/profan_keys
[ -f "$keys" ] || skip_all "NOT TESTED: profan_keys was not built"
PROFAN_KEYS=$tmp/asked
export PROFAN_KEYS

page() { # COMMAND OPTION...
	run 0 "$keys" "$@" || not_ok "$*" "$tmp/err"
}

pages() { # NAME FILE...
	name=$1
	shift
	run 0 "$profan" ingest -q "$@" -o "$tmp/$name.db" ||
		not_ok "$name: ingest" "$tmp/err"
	page report -q "$tmp/$name.db" -o "$tmp/page.html"
	page report -q "$tmp/$name.db" --format md
}

"$mktrace" --steps 5 --layers 2 >"$tmp/train.json"
"$mktrace" --steps 5 --layers 3 --seed 2 --plant loader >"$tmp/loader.json"
"$PYTHON" -S "$top_srcdir/tests/arrival.py" make "$tmp/job" late=20000 ranks=3
"$PYTHON" -S "$top_srcdir/tests/arrival.py" make "$tmp/even" late=20000 ranks=3
pages train "$tmp/train.json"
pages loader "$tmp/loader.json"
pages job "$tmp/job"
pages two "$tmp/job/rank-0.json" "$tmp/job/rank-0.json"
cat >"$tmp/host.json" <<'EOF'
{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1,
 "tid": 1, "ts": 1, "dur": 99}]}
EOF
pages host "$tmp/host.json"
cat >"$tmp/gpu.csv" <<'EOF'
timestamp, index, power.draw [W], clocks_throttle_reasons.active
2026/01/01 00:00:00.000, 0, 5 W, 0x0000000000000004
2026/01/01 00:00:01.000, 0, 5 W, 0x0000000000000004
EOF
pages gpu "$tmp/gpu.csv"
"$PYTHON" -S "$top_srcdir/tests/gen/mkxspace.py" tpu_roof >"$tmp/tpu.pb"
pages tpu "$tmp/tpu.pb"
mkdir "$tmp/snapshots"
"$PYTHON" -S "$top_srcdir/tests/memsnap.py" make "$tmp/snapshots"
mkdir "$tmp/rave"
"$PYTHON" -S -c '
import json, sys
files = {
    "timing_profile": {"total_batch_time": 0.1, "samples_per_second": 1.0},
    "memory_profile": {"cpu_memory_percent": 5.0, "gpu_memory_allocated_gb": 1,
                       "gpu_memory_reserved_gb": 2}}
for name, row in files.items():
    open(f"{sys.argv[1]}/{name}.json", "w").write(json.dumps(
        [{"step": n, "batch_idx": n, **row} for n in range(9)]))
open(sys.argv[1] + "/training_summary.json", "w").write(json.dumps(
    {"total_training_time_seconds": 14.5, "total_steps": 9,
     "average_time_per_step": 1.5, "training_start_time": 1795324315.7}))' \
	"$tmp/rave"
pages rave "$tmp/rave"
pages snapshot "$tmp/snapshots/good-oom.pickle"
page diff -q "$tmp/train.db" "$tmp/loader.db" --path --advice --format html \
	-o "$tmp/diff.html"
page diff -q "$tmp/job.db" "$tmp/job.db" --format html -o "$tmp/diff.html"

sort -u "$tmp/asked" >"$tmp/places"
awk '{ key = $2 " " $3; seen[key] += $4 }
	END { for (key in seen) if (!seen[key]) print key }' \
	"$tmp/places" >"$tmp/never"
count=$(cut -d' ' -f2,3 "$tmp/places" | sort -u | wc -l)
if [ "$count" -gt 200 ] && ! [ -s "$tmp/never" ]; then
	ok "$count keys are asked for, and each is there"
else
	not_ok "keys that no document has ($count are asked for)" "$tmp/never"
fi

# what the sources name: a key is the last text of a call, or one of the list
# of a page's table, "key; key=Title; key"
cut -d' ' -f2,3 "$tmp/places" | tr ' ' '\n' | sort -u >"$tmp/known"
cat "$top_srcdir"/src/page/*.c | tr '\n\t' '  ' >"$tmp/source"
grep -oE 'pf_(table|doc)_(find|need|int_at|real_at|text_at|at)[a-z_]*\([^;"]*"[a-z_0-9]+"' \
	"$tmp/source" | sed 's/"$//; s/.*"//' >"$tmp/calls"
sed 's/" *"//g' "$tmp/source" |
	grep -oE '"[a-z_0-9]+(=[^;"]*)?(; [a-z_0-9]+(=[^;"]*)?)+"' |
	tr -d '" ' | tr ';' '\n' | sed 's/=.*//' >"$tmp/columns"
sort -u "$tmp/calls" "$tmp/columns" >"$tmp/named"
comm -23 "$tmp/named" "$tmp/known" >"$tmp/idle"
if [ "$(wc -l <"$tmp/named")" -gt 120 ] && ! [ -s "$tmp/idle" ]; then
	ok "every key in the sources is asked for here"
else
	not_ok "keys of sources that nothing here asks for" "$tmp/idle"
fi
tap_done
