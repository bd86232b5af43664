# SPDX-License-Identifier: MIT
# What documents have, in the order of commands: what data/documents says, and
# all JSON as its schema says.  UPDATE=1 adds what is new to data/documents.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
records=$top_srcdir/data/documents
cd "$tmp" || exit 99

full=${LONG-}
[ "${UPDATE-}" != 1 ] || full=1

# take NAME FILE...: a database more
databases=
take() {
	name=$1
	shift
	if run 0 "$profan" ingest -q "$@" -o "$name.db"; then
		databases="$databases $name.db"
	else
		not_ok "ingest of $name" err
	fi
}

"$mktrace" --steps 3 --layers 1 >train.json
"$mktrace" --steps 4 --layers 2 --seed 2 --gpus 2 --plant collective \
	>gpus.json
take gpus gpus.json
take train train.json
"$PYTHON" -S "$top_srcdir/tests/arrival.py" make job late=2000 ranks=3 >/dev/null
take ranks job
if run 0 "$profan" merge -q job -o fleet.db; then
	databases="$databases fleet.db"
else
	not_ok "merge" err
fi
mkdir made && "$PYTHON" -S "$top_srcdir/tests/memsnap.py" make made >/dev/null
take snap made/good-two.pickle
cat >smi.csv <<'END'
timestamp, index, name, power.draw [W], clocks.sm [MHz], memory.used [MiB]
2026/02/28 23:59:59.750, 0, NVIDIA H100, 99.50 W, 1980 MHz, 11 MiB
2026/02/28 23:59:59.751, 1, NVIDIA H100, 98.25 W, 1980 MHz, 12 MiB
END
take smi train.json smi.csv
mkdir script
echo '[{"step": 1, "batch_idx": 0, "total_batch_time": 0.5, "samples_per_second": 2},
{"step": 101, "batch_idx": 9, "total_batch_time": 0.2, "samples_per_second": 5}]' \
	>script/timing_profile.json
echo '[{"step": 0, "batch_idx": 0, "cpu_memory_percent": 10.5,
"gpu_memory_allocated_gb": 1, "gpu_memory_reserved_gb": 2}]' \
	>script/memory_profile.json
echo '{"total_steps": 450}' >script/training_summary.json
take script script
for made in whole ${full:+tpu device_steps}; do
	"$PYTHON" -S "$top_srcdir/tests/gen/mkxspace.py" "$made" \
		>"$made.xplane.pb" && take "$made" "$made.xplane.pb"
done
if [ -n "$full" ]; then
	brief=0
	take oom made/good-oom.pickle
	for made in kineto memory communication counters devices; do
		take "$made" "$top_srcdir/tests/traces/good-$made.json"
	done
	for made in old chrome inference amd; do
		"$mktrace" --steps 2 --layers 1 "--$made" >"$made.json"
		take "$made" "$made.json"
	done
	"$mktrace" --ranks 4 --stages 2 --steps 2 --out pipeline
	take pipeline pipeline
	for trace in "$top_srcdir"/tests/truth/2.10.0/*/trace.json.gz; do
		made=${trace%/*}
		take "truth_${made##*/}" "$trace"
	done
else
	brief=1
	skip "options" "NOT TESTED: make check-long does"
fi
if [ -n "${EVERY-}" ] && [ -d "$shared/traces" ]; then
	for trace in "$shared"/traces/*.json.gz; do
		is_quick "$trace" || continue
		made=${trace##*/}
		take "real_${made%%.*}" "$trace"
	done
else
	skip "documents of real traces" "NOT TESTED: make check-every does"
fi

# what the lines of a program say, as results
results() {
	"$PYTHON" "$top_srcdir/tests/documents.py" "$@" >said 2>err || {
		not_ok "documents.py $1" err
		return
	}
	relay said
}

# shellcheck disable=SC2086  # several are meant
results seen "$profan" "$records" "$brief" gpus.db train.db $databases
for db in gpus.db snap.db; do
	"$PYTHON" -S - "$profan" "$db" >>all.txt 2>>err <<'END'
import json, subprocess, sys
listed = json.loads(subprocess.check_output([sys.argv[1], "help", "-f", "json"]))
for c in listed["commands"]:
    if c["shows_document"] and c["reads_database"] and not c["min_arguments"]:
        subprocess.run([sys.argv[1], c["name"], sys.argv[2], "-f", "json"])
END
done
results json "$profan" all.txt "$top_srcdir"/tests/golden/*/out

! grep -r '_ns,[^,]*,M\(in\|ax\),' "$records" >out
result "the longest time is called so in all tables" out

run 2 "$profan" help clean --format schema &&
	grep -q "prints no document" err
result "a command without documents has no schema" err
run 2 "$profan" help --format schema
result "a schema is of one command" err

# ---- what people see is what a schema says of it ----
for command in gaps kernels launches steps; do
	for format in md schema; do
		"$profan" $command gpus.db --format $format >people.$format
	done
	"$PYTHON" -S - people.md people.schema <<'END' >>people.bad 2>&1
import json, re, sys
md = dict(re.findall(r"\*\*(.*)\*\*\n\n\| (.*) \|\n", open(sys.argv[1]).read()))
tables = json.load(open(sys.argv[2]))["properties"]["tables"]["properties"]
seen = 0
for table in tables.values():
    head = md.get(table.get("title"))
    if head is None:
        continue
    columns = table["items"]["properties"].values()
    want = {c["title"] for c in columns if c.get("people", True)}
    # texts come back where they tell rows apart
    less = {c["title"] for c in columns
            if not c.get("people", True) and c["kind"] not in ("text", "path")}
    seen += len(less)
    if want - set(head.split(" | ")) or (less - want) & set(head.split(" | ")):
        print(sys.argv[2], table["title"], want, "not", head)
if not seen:
    print("no table has columns for programs")
END
done
[ -s people.schema ] && [ ! -s people.bad ]
result "people see the columns that a schema says" people.bad

# ---- --budget: as many rows as fit, and every other one is counted ----
cat >budget.py <<'END'
import json, re, sys
whole, part = (json.load(open(f)) for f in ("whole.json", "part.json"))
assert part["scalars"] == whole["scalars"]
cut = dict((m[2], int(m[1].replace(",", ""))) for m in (
    re.match(r"([\d,]+) rows? of '(\w+)' left out for --budget", n)
    for n in part["notes"]) if m)
assert cut, part["notes"]
most = max(len(rows) for rows in part["tables"].values())
for name, rows in whole["tables"].items():
    left = part["tables"][name]
    assert rows[:len(left)] == left and len(left) == min(len(rows), most)
    assert len(left) + cut.get(name, 0) == len(rows), name
END
"$profan" gaps train.db -f json >whole.json
for bytes in 3000 5000 9999; do
	run 0 "$profan" gaps train.db -f json --budget $bytes &&
		cp out part.json && [ "$(wc -c <out)" -le $bytes ] &&
		"$PYTHON" -S budget.py 2>err
	result "a document of $bytes bytes" err
done
for format in text csv md; do
	run 0 "$profan" gaps train.db -n -1 -f $format --budget 4000 &&
		[ "$(wc -c <out)" -le 4000 ] && [ "$(wc -c <out)" -gt 1000 ]
	result "a budget of $format" err
done
size=$(wc -c <whole.json)
run 0 "$profan" gaps train.db -f json --budget "$size" &&
	cmp -s out whole.json
result "nothing is cut if it fits" err
run 2 "$profan" gaps train.db -f json --budget 100 &&
	grep -q 'without any rows' err
result "too small a budget is an error" err
tap_done
