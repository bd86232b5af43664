# SPDX-License-Identifier: MIT
# "profan diff": sums, planted changes, noise, errors, checks for CI, Markdown
# of hostile names; and the real pairs of ../shared/traces where that folder
# is.  NOISE_PAIRS=200 compares so many pairs of one program (make check-noise).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
py="$top_srcdir/tests/diff.py"

# each line "ok NAME" or "not ok NAME: WHY" of a command is a result
results() {
	"$PYTHON" -S "$py" "$@" >"$tmp/results" 2>"$tmp/err" ||
		echo "not ok $1: it failed" >>"$tmp/results"
	while read -r word rest; do
		case $word in
		ok) ok "${label:-$rest}" ;;
		*)
			rest=${rest#ok }
			not_ok "${label:-${rest%%: *}}" "$rest" "$tmp/err"
			;;
		esac
	done <"$tmp/results"
}

mkdir "$tmp/pairs" "$tmp/hosts"
results planted "$tmp/pairs"
label="no claim between captures of one program, ${NOISE_PAIRS:=$(amount 20 60 60)} pairs"
results noise "$tmp/pairs" "$NOISE_PAIRS"
label=

label="what holds a change on the host is named"
results host "$tmp/hosts"
label=

# ---- generated traces ----
for shape in "--steps 4 --layers 2" "--steps 3 --layers 1 --inference" \
	"--steps 2 --layers 3"; do
	n=$((${n:-0} + 1))
	# shellcheck disable=SC2086
	mktrace $shape >"$tmp/g$n.json" &&
		"$profan" ingest -q "$tmp/g$n.json" -o "$tmp/g$n.db"
done
label="laws of generated traces"
results laws "$tmp/g1.db" "$tmp/g2.db" "$tmp/g3.db"
label="key_averages() of generated traces"
results averages "$tmp/g1.db" "$tmp/g2.db"
label="trend of generated traces"
results trend "$tmp/g1.db" "$tmp/g2.db" "$tmp/g3.db" "$tmp/g1.db"
label=

# ---- errors: one message, exit code 3 ----
fails() { # NAME TEXT ARGUMENT...
	name=$1 text=$2
	shift 2
	run 3 "$profan" diff "$@" && [ ! -s "$tmp/out" ] &&
		[ "$(wc -l <"$tmp/err")" = 1 ] && grep -q "$text" "$tmp/err"
	result "$name"
}
fails "a missing file" "cannot open '$tmp/none'" "$tmp/none" "$tmp/g1.db"
echo nothing >"$tmp/text"
fails "no database and no trace" "'$tmp/text'" "$tmp/g1.db" "$tmp/text"
mkdir "$tmp/bare"
fails "a folder without traces" "'$tmp/bare'" "$tmp/g1.db" "$tmp/bare"
if [ -n "$SQLITE3" ]; then
	"$SQLITE3" "$tmp/foreign.db" 'CREATE TABLE t (a)'
	fails "a foreign database" "is an SQLite database without a trace" \
		"$tmp/foreign.db" "$tmp/g1.db"
	cp "$tmp/g1.db" "$tmp/newer.db"
	"$SQLITE3" "$tmp/newer.db" 'PRAGMA user_version = 99'
	fails "a newer schema" "newer profan" "$tmp/g1.db" "$tmp/newer.db"
fi
echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add",
"pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {}}]}' >"$tmp/cpu.json"
"$profan" ingest -q "$tmp/cpu.json" -o "$tmp/cpu.db"
cat >"$tmp/long.json" <<'END'
{"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1,
"dur": 4500000000000000, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2,
"dur": 4500000000000000, "args": {"device": 0, "stream": 7, "correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3,
"dur": 4500000000000000, "args": {"device": 0, "stream": 7, "correlation": 3}}
]}
END
"$profan" ingest -q "$tmp/long.json" -o "$tmp/long.db"
fails "times that cannot be added up" "too large" "$tmp/long.db" "$tmp/g1.db"
label="laws without GPU events"
results laws "$tmp/cpu.db"
label=

usage() { # NAME TEXT ARGUMENT...
	name=$1 text=$2
	shift 2
	run 2 "$profan" diff "$@" && grep -q "$text" "$tmp/err"
	result "$name"
}
usage "three captures without --" "which captures" \
	"$tmp/g1.db" "$tmp/g2.db" "$tmp/g3.db"
usage "no column of key_averages()" "columns of key_averages() are" \
	"$tmp/g1.db" "$tmp/g2.db" --columns self_cpu,self_gpu
usage "-- without a side" "which captures" "$tmp/g1.db" "$tmp/g2.db" --
for check in '>5%' 'step_time' 'step_time=5%' 'step_time>' 'step_time>x' \
	'step_time>5MB' 'kernels>5ms' 'step_time>5%%' 'nothing>5' \
	'step_time>1.2345678' 'step_time>99999999999999999999'; do
	usage "no check: $check" "'$check'" "$tmp/g1.db" "$tmp/g2.db" \
		--fail-on "$check"
done

# ---- checks ----
gate() { # CODE CHECK: from the base capture to the one with another sync
	run "$1" "$profan" diff "$tmp/pairs/base.db" "$tmp/pairs/sync.db" \
		--fail-on "$2" && {
		[ "$1" = 0 ] || {
			# first of all, and one line on stderr
			head -n 1 "$tmp/out" | grep -q "^failed: $2: " &&
				[ "$(wc -l <"$tmp/err")" = 1 ] &&
				grep -q "^profan: diff: failed: $2: " "$tmp/err"
		}
	}
	result "check $2: exit code $1" "$tmp/err" "$tmp/out"
}
gate 1 'syncs>0'
gate 0 'syncs>1'
gate 1 'syncs>=1'
gate 1 'syncs>99%'
gate 0 'syncs>100%'
gate 0 'kernels>0'
gate 1 'kernels>=+0'
gate 0 'step_time<-5%'
gate 0 'kernels<0'
gate 0 'step_time>1s'
gate 0 'collectives>0%'
gate 1 'peak_memory>2%' # not recorded: cannot be said to hold
if run 1 "$profan" diff "$tmp/pairs/base.db" "$tmp/pairs/batch.db" \
	--fail-on 'step_time>500%' && grep -q 'not comparable' "$tmp/err" &&
	run 0 "$profan" diff "$tmp/pairs/base.db" "$tmp/pairs/batch.db" --force \
		--fail-on 'step_time>500%'; then
	ok "times that are not comparable fail, but for --force"
else
	not_ok "times that are not comparable fail, but for --force" \
		"$tmp/out" "$tmp/err"
fi

# ---- traces as arguments ----
mkdir "$tmp/t"
cp "$tmp/g1.json" "$tmp/t/a.json"
cp "$tmp/g2.json" "$tmp/t/b.json"
run 0 "$profan" diff "$tmp/g1.db" "$tmp/g2.db" -f csv
grep -v '\.db\|json' "$tmp/out" >"$tmp/want"
if run 0 "$profan" diff "$tmp/t/a.json" "$tmp/t/b.json" -f csv &&
	[ -f "$tmp/t/a.json.profan.db" ]; then
	grep -v '\.db\|json' "$tmp/out" >"$tmp/got"
	same "traces are read beside themselves" "$tmp/want" "$tmp/got"
else
	not_ok "traces are read beside themselves" "$tmp/err"
fi
before=$(ls -i "$tmp/t/a.json.profan.db")
run 0 "$profan" diff "$tmp/t/a.json" "$tmp/t/b.json"
after=$(ls -i "$tmp/t/a.json.profan.db")
[ "$before" = "$after" ]
result "and not again" "$before, then $after"
sleep 0.01
cp "$tmp/g3.json" "$tmp/t/a.json"
run 0 "$profan" diff "$tmp/t/a.json" "$tmp/g3.db" -f json
grep -q '"verdict": "no change"' "$tmp/out"
result "a trace that was replaced is read again" "$tmp/out" "$tmp/err"
if [ "$(id -u)" = 0 ]; then
	skip "a folder that cannot be written to" "root can write anywhere"
else
	rm -f "$tmp"/t/*.db
	chmod a-w "$tmp/t"
	mkdir "$tmp/temporary"
	TMPDIR=$tmp/temporary run 0 "$profan" diff "$tmp/t/a.json" \
		"$tmp/g3.db" && [ -z "$(ls "$tmp/temporary")" ]
	result "a folder that cannot be written to"
	chmod u+w "$tmp/t"
fi

# ---- several captures per side ----
mkdir "$tmp/several"
label="not comparable, without steps, without a GPU, one step"
mkdir "$tmp/withheld"
results withheld "$tmp/withheld"
label="several captures a side: exact test, too few, one twice"
results captures "$tmp/several"
label=

# ---- a comment: names that would do something on GitHub ----
cat >"$tmp/hostile.py" <<'END'
import json, sys
names = ["a|b|c", "`code`", "@everyone", "#123", "<b>x</b>", "</details>",
         "https://example.com/x", "a\\|b", "```", "-->", "x\ny"]
events = []
for i, name in enumerate(names):
    t = 100 * i
    dur = 10 + i * int(sys.argv[1])
    events += [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1,
         "ts": t, "dur": 50, "args": {"External id": i}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
         "pid": 1, "tid": 1, "ts": t + 1, "dur": 5,
         "args": {"correlation": i + 1}},
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
         "ts": t + 10, "dur": dur,
         "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
json.dump({"traceEvents": events}, open(sys.argv[2], "w"))
END
"$PYTHON" -S "$tmp/hostile.py" 1 "$tmp/h1.json"
"$PYTHON" -S "$tmp/hostile.py" 4 "$tmp/h2.json"
cat >"$tmp/comment.py" <<'END'
import re, sys
text = open(sys.argv[1]).read()
lines = text.split("\n")
start = lines.index("<details><summary>More</summary>")
end = lines.index("</details>")
assert lines[start + 1] == "" and lines[end - 1] == "", "no blank line"
rows = 0
for i, line in enumerate(lines):
    if i in (start, end):
        continue
    bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
    assert not re.search(r"[<>@#`]|https?:", bare), (line, bare)
    if line.startswith("| "):
        cells = len(re.sub(r"\\\|", "", line).split("|"))
        head = cells if not rows else head
        assert cells == head, (line, cells, head)
        rows += 1
    else:
        rows = 0
table = lines[lines.index("**GPU work that changed, per capture**"):start]
assert sum(l.startswith("| `") for l in table) <= 10, table
assert len(text) < 65536, len(text)
END
run 0 "$profan" diff "$tmp/h1.json" "$tmp/h2.json" --format md &&
	cp "$tmp/out" "$tmp/comment" &&
	"$PYTHON" -S "$tmp/comment.py" "$tmp/comment" >"$tmp/err" 2>&1
result "hostile names in a comment" "$tmp/err" "$tmp/comment"

# ---- real pairs ----
if [ ! -d "$shared/traces" ]; then
	skip "real pairs" "NO REAL TRACES at $shared/traces"
	tap_done
fi
take() { # FILE
	taken=${1##*/}
	"$profan" ingest -q "$1" -o "$tmp/${taken%.json.gz}.db" \
		2>"$tmp/err" || not_ok "$taken" "$tmp/err"
}
take "$shared/traces/h100_bert_small.json.gz"
take "$shared/traces/mi300_bert_small.json.gz"
label="laws of h100_bert_small -> mi300_bert_small"
results laws "$tmp/h100_bert_small.db" "$tmp/mi300_bert_small.db"
run 0 "$profan" diff "$tmp/h100_bert_small.db" "$tmp/mi300_bert_small.db" -f csv
if grep -q '^comparable,no' "$tmp/out" && grep -q ',position,' "$tmp/out" &&
	grep -q '^verdict,withheld' "$tmp/out"; then
	ok "h100_bert_small -> mi300_bert_small: paired by position, no verdict"
else
	not_ok "h100_bert_small -> mi300_bert_small" "$tmp/out" "$tmp/err"
fi

# ---- frames that cross: a range that __enter__() opens, a lost end ----
cross() { # MICROSECONDS
	"$PYTHON" -S - "$1" >"$tmp/cross$1.json" <<'END'
import json, sys
events = []
def add(cat, name, start, end, pid=1, tid=1, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=start, dur=end - start, args=args))
def op(name, start, end, work):
    add("cpu_op", name, start, end)
    add("cuda_runtime", "cudaLaunchKernel", start + 1, start + 2, correlation=start)
    add("kernel", f"k_{name}", end, end + work, 0, 7, device=0, stream=7, correlation=start)
def python(name, start, end):
    add("python_function", name, start, end)
op("first", 1, 4, 1)
python("nn.Module: Net_0", 5, 1005)
python("__enter__", 10, 40)
add("user_annotation", "range", 20, 900)
op("in_enter", 30, 35, 1)
python("<built-in function next>", 50, 3000)
op("in_range", 100, 600, int(sys.argv[1]))
python("nn.Module: Net_1", 1100, 1500)
op("after", 1200, 1300, 1)
json.dump({"traceEvents": events}, sys.stdout)
END
	"$profan" ingest -q "$tmp/cross$1.json" -o "$tmp/cross$1.db"
}
cross 5
cross 9
"$profan" diff -q "$tmp/cross5.db" "$tmp/cross9.db" -f json |
	"$PYTHON" -S -c 'import json, sys
tables = json.load(sys.stdin)["tables"]
print(*sorted(r["path"] for r in tables["rows"]), sep="\n")
print([r["a_self_ns"] for r in tables["ops"] if r["name"] == "range"])' \
	>"$tmp/got" 2>&1
cat >"$tmp/want" <<'END'
first
nn.Module: Net_0 > in_enter
nn.Module: Net_0 > range > in_range
nn.Module: Net_1 > after
[375000]
END
same "what crosses takes nothing from modules and ranges" "$tmp/want" "$tmp/got"

# ranks of both sides, the one that changed first: classes add up to its step,
# and the ranks' to those of all
for late in 0 2; do
	rm -rf "$tmp/job"
	"$mktrace" --ranks 64 --steps 3 --layers 1 \
		$([ $late = 0 ] || echo "--straggler $late") --out "$tmp/job"
	"$profan" ingest -q "$tmp/job" -o "$tmp/late$late.db" || exit 99
done
run 0 "$profan" diff "$tmp/late0.db" "$tmp/late2.db" -f json --limit -1 &&
	"$PYTHON" -S - "$tmp/out" >"$tmp/err" 2>&1 <<'EOP'
import json, sys
t = json.load(open(sys.argv[1]))["tables"]
ranks, falls = t["ranks"], {r["class"]: r for r in t["waterfall"]}
assert ranks[0]["rank"] == 2 and ranks[0]["class"] == "step", ranks
assert {r["rank"] for r in ranks} == set(range(64)), ranks
for rank in range(64):
    of = [r for r in ranks if r["rank"] == rank]
    for key in "a_ns", "b_ns", "delta_ns", "a_sum_ns", "b_sum_ns":
        assert sum(r[key] for r in of[1:]) == of[0][key], (key, of)
for name, fall in falls.items():
    of = [r for r in ranks if r["class"] == ("step" if name == "sum" else name)]
    for key in "a_sum_ns", "b_sum_ns":
        assert sum(r[key] for r in of) == fall[key], (name, key, of, fall)
EOP
result 'by rank and class, which add up' "$tmp/err"
run 0 "$profan" diff "$tmp/g1.db" "$tmp/g2.db" && ! grep -q 'by rank' "$tmp/out"
result 'one rank has no ranks' "$tmp/out"
for rank in 0 1; do
	"$profan" ingest -q "$tmp/job/rank-$rank.json" -o "$tmp/rank$rank.db"
done
run 0 "$profan" diff "$tmp/rank0.db" "$tmp/rank1.db" &&
	! grep -q 'by rank' "$tmp/out"
result 'nor has one rank against another' "$tmp/out"

# what advice would save is of a step, as all figures of a difference are
run 0 "$profan" advise "$tmp/g1.db" -f json && cp "$tmp/out" "$tmp/g1.json"
run 0 "$profan" diff "$tmp/g1.db" "$tmp/g1.db" --advice -f json &&
	"$PYTHON" -S - "$tmp/g1.json" "$tmp/out" >"$tmp/err" 2>&1 <<'EOP'
import json, sys
advise, diff = (json.load(open(f)) for f in sys.argv[1:])
rows = {r["id"]: r for r in diff["tables"]["advice"]}
steps, checked = diff["scalars"]["steps_a"], 0
assert steps > 1, steps
for a in advise["tables"]["advice"]:
    if a["at_most_ns"] is None or a["id"] not in rows:
        continue
    assert abs(rows[a["id"]]["a_at_most_ns"] - a["at_most_ns"] / steps) <= 1, a
    checked += a["at_most_ns"] > 0
assert checked, rows
EOP
result 'what advice would save is of a step' "$tmp/err"

# where no GPU works: other shapes are other work, and of time in which no
# operator ran none is to blame
host() { # NAME ROWS SLEEP: four steps of an operator, and of nothing
	{
		echo '{"record_shapes": 1, "traceEvents": ['
		for i in 0 1 2 3 4 5 6 7; do
			at=$((i * (2000 + $3)))
			cat <<EOF
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#$i", "pid": 1,
 "tid": 1, "ts": $at, "dur": $((1990 + $3 + i))},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1,
 "ts": $((at + 10)), "dur": $((1500 + i)),
 "args": {"Input Dims": [$2], "Input type": ["float"]}},
EOF
		done
		echo '{}]}'
	} >"$tmp/$1.json"
	rm -f "$tmp/$1.db"
	run 0 "$profan" ingest -q "$tmp/$1.json" -o "$tmp/$1.db"
}
same='[8, 8], [8, 8], [8, 8], [8, 8], [8, 8], [8, 8]'
host host '[64, 64]' 0 && host wide '[256, 64]' 0 && host slow '[64, 64]' 9000 &&
	run 0 "$profan" diff "$tmp/host.db" "$tmp/wide.db" &&
	grep -q '^Times are not compared, as the shapes are different' \
		"$tmp/out" &&
	run 0 "$profan" diff "$tmp/host.db" "$tmp/slow.db" &&
	tr '\n' ' ' <"$tmp/out" | grep -q 'largest [a-z]* *change is outside of operators and calls: [^(]*\.  *Comparable'
result 'without a GPU shapes are compared, and no operator is blamed for nothing'
host behind "$same, [1, 2]" 0 && host other "$same, [3, 2]" 0 &&
	run 0 "$profan" diff "$tmp/behind.db" "$tmp/other.db" &&
	tr '\n' ' ' <"$tmp/out" |
	grep -q '(aten::linear \.\.\. 1x2 -> \.\.\. 3x2)'
result 'shapes that differ are named, behind those that do not'

# Python functions have rows, and rows add up to the step: with functions that
# outlive it (prof.step()), built-in ones, other lines and other addresses
python() { # NAME SLEEP LINE
	{
		echo '{"traceEvents": ['
		for i in 0 1 2 3 4 5 6 7; do
			at=$((100 + i * (2000 + $2)))
			end=$((at + 1900 + $2))
			cat <<EOF
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#$i", "pid": 1,
 "tid": 1, "ts": $at, "dur": $((1900 + $2))},
{"ph": "X", "cat": "python_function", "name": "own/train.py($3): step",
 "pid": 1, "tid": 1, "ts": $((at + 10 + $2 / 1000)), "dur": $((1800 + $2))},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1,
 "ts": $((at + 20)), "dur": $((1500 + i))},
{"ph": "X", "cat": "python_function",
 "name": "<built-in method sleep of X object at 0x7f$3>",
 "pid": 1, "tid": 1, "ts": $((at + 1600)), "dur": $((100 + $2))},
{"ph": "X", "cat": "python_function", "name": "torch/profiler.py(9): step",
 "pid": 1, "tid": 1, "ts": $((end - 40 - $2 / 1000)), "dur": 120},
{"ph": "X", "cat": "python_function", "name": "torch/profiler.py(99): stop",
 "pid": 1, "tid": 1, "ts": $((end - 20)), "dur": 60},
EOF
		done
		echo '{}]}'
	} >"$tmp/$1.json"
	run 0 "$profan" ingest -q "$tmp/$1.json" -o "$tmp/$1.db"
}
cat >"$tmp/sums.py" <<'EOF'
import json, sys
t = json.load(open(sys.argv[1]))["tables"]
by = {r["name"]: r for r in t["ops"]}
assert sum(r["delta_self_ns"] for r in t["ops"]) == 9000000, t["ops"]
assert t["waterfall"][-1]["delta_ns"] == 9000000, t["waterfall"]
sleep = by["<built-in method sleep of X object> in own/train.py:12 step"]
assert sleep["delta_self_ns"] == 9000000 and sleep["match"] == "line", sleep
outlives = by["torch/profiler.py:9 step"]
assert outlives["a_self_ns"] == 20000, outlives # without what is behind it
assert outlives["b_self_ns"] == 29000, outlives
assert by["(the step itself)"]["delta_self_ns"] == -9000, by
EOF
python py_a 0 12 && python py_b 9000 13 &&
	run 0 "$profan" diff "$tmp/py_a.db" "$tmp/py_b.db" &&
	tr '\n' ' ' <"$tmp/out" | sed 's/  */ /g' >"$tmp/line" &&
	grep -q 'largest [a-z]* *change is outside of operators and calls: [^(]*(<built-in method sleep of X object> in own/train.py:1[23] step)\.' \
		"$tmp/line" &&
	run 0 "$profan" diff "$tmp/py_a.db" "$tmp/py_b.db" --format json &&
	cp "$tmp/out" "$tmp/py.json" &&
	run 0 "$PYTHON" -S "$tmp/sums.py" "$tmp/py.json"
result 'without a GPU Python functions have rows, and all add up to the step'
# kernels that are slower are no copy, nor communication, that changed more
work() { # NAME KERNEL COPY COMM, in us
	"$PYTHON" -S -c 'import json, sys
def event(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": ts, "dur": dur, "args": args}
kernel, copy, comm = map(int, sys.argv[1:])
events = []
for step in range(6):
    at, n, start = 100000 * step, 10 * step + 1, 100000 * step + 100
    events += [event("cpu_op", "aten::mm", 1, 1, at, 900)]
    for i, (cat, name, us) in enumerate(
            [("kernel", f"gemm_{k}", kernel) for k in "abcdef"] +
            [("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", copy),
             ("kernel", "ncclDevKernel_AllReduce", comm)]):
        args = {"correlation": n + i, "device": 0, "stream": 7}
        events += [event("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 10 * i,
                         5, correlation=n + i),
                   event(cat, name, 0, 7, start, us, **args)]
        start += us
    events += [event("user_annotation", f"ProfilerStep#{step}", 1, 1, at,
                     start - at)]
json.dump(events, sys.stdout)' "$2" "$3" "$4" >"$tmp/$1.json"
	run 0 "$profan" ingest -q "$tmp/$1.json" -o "$tmp/$1.db"
}
work usual 1000 2000 2000 && work slower 2000 6000 5000 &&
	run 0 "$profan" diff "$tmp/usual.db" "$tmp/slower.db" &&
	tr '\n' ' ' <"$tmp/out" | grep -q 'change is in kernels: [^(]*(gemm_'
result 'what changed most of kernels is a kernel that computes'
if [ -z "${LONG-}" ]; then
	skip "larger real pairs" "NOT TESTED: make check-long does"
	tap_done
fi
for trace in "$shared"/traces/*.json.gz; do
	take "$trace"
done
label="v100_resnet50_workers0 -> workers4"
results resnet "$tmp/v100_resnet50_workers0.db" "$tmp/v100_resnet50_workers4.db"
label="six pairs of ResNet50: verdicts, page, text, gate"
results pairs "$tmp"
for device in $(amount '' 'v100 mi300' 'v100 h100 mi300 a100 cuda two_ranks'); do
	label="laws of all pairs of $device"
	results laws "$tmp/${device}"_*.db
done
label="names of a100_diff_control -> test as HTA joins them"
if [ -f "$shared/golden/peers/hta_trace_diff.csv" ]; then
	results hta "$tmp/a100_diff_control.db" "$tmp/a100_diff_test.db" \
		"$shared/golden/peers/hta_trace_diff.csv"
else
	skip "$label" "NO FIGURES OF HTA in $shared/golden"
fi
tap_done
