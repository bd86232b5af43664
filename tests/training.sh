# SPDX-License-Identifier: MIT
# What is beside traces: RAVE's rows and summary, memory timelines of torch,
# folded stacks.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99

sql() { # DB SQL
	"$profan" query "$1" "$2" -f csv | tail -n +2
}
accounts() { # DB: do rows and skips add up?
	sql "$1" 'SELECT sum(event_count - stored_count - metadata_count -
		paired_count - skipped_count) FROM trace' | grep -qx 0
}
refused() { # NAME WORDS FILE
	run 3 "$profan" ingest "$3" -o no.db && [ ! -e no.db ] &&
		[ "$(wc -l <err)" = 1 ] && grep -q -e "$2" err
	result "$1" err
}

# ---- RAVE ----
mkdir -p job/runs/r_1/version_0 job/profiler_output
v=job/runs/r_1/version_0
cat >$v/timing_profile.json <<'EOF'
[
  {
    "step": 1,
    "batch_idx": 0,
    "total_batch_time": 0.5,
    "samples_per_second": 2.0
  },
  {"step": 101, "batch_idx": 100, "total_batch_time": 0.1, "samples_per_second": 10.0},
  {"step": 131, "batch_idx": 0, "total_batch_time": NaN, "samples_per_second": Infinity},
  {"step": 231, "batch_idx": 100, "total_batch_time": 0.3, "samples_per_second": 1e0, "more": {"a": [1, {}]}},
  {"step": "x", "batch_idx": 7},
  {"batch_idx": 7}
]
EOF
cat >$v/memory_profile.json <<'EOF'
[{"step": 0, "cpu_memory_percent": 10.5, "gpu_memory_allocated_gb": 0.5, "gpu_memory_reserved_gb": 1, "batch_idx": 0},
 {"step": 100, "cpu_memory_percent": 11.5, "gpu_memory_allocated_gb": 1.5, "gpu_memory_reserved_gb": 1e300, "batch_idx": 100}]
EOF
cat >$v/training_summary.json <<'EOF'
{"total_training_time_seconds": 14.5, "total_steps": 450, "average_time_per_step": null,
 "training_start_time": 1795324315.740109}
EOF
"$mktrace" --steps 2 --layers 1 --seed 1 >job/profiler_output/profile_step_20.json
: >job/profiler_output/profile_step_20_stacks.txt
run 0 "$profan" ingest --dry-run job -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]
assert len(t["runs"]) == 1 and not t["passed"], t
assert sorted(r["format"] for r in t["files"]) == ["chrome"] + ["rave"] * 3'
result "rows and traces in two places are one run" out
run 0 "$profan" ingest job -o job.db && accounts job.db
result "a run of RAVE is one database" err
sql job.db 'SELECT ordinal, step, batch_idx, batch_ns, rate FROM train_row' >got
cat >want <<'EOF'
1,1,0,500000000,2
2,101,100,100000000,10
3,131,0,,
4,231,100,300000000,1
EOF
same "batches; what is no number is NULL" want got
sql job.db 'SELECT ordinal, step, cpu_percent, allocated_bytes, reserved_bytes
	FROM train_memory' >got
printf '%s\n' 1,0,10.5,536870912,1073741824 2,100,11.5,1610612736, >want
same "memory: GiB to bytes" want got
sql job.db "SELECT key, value FROM train_fact ORDER BY key LIMIT 1 OFFSET 0" >got
echo total_steps,450 >want
same "the summary" want got
sql job.db "SELECT kind, is_skip, count FROM repair" >got
printf 'malformed_event,1,2\nmalformed_event,1,1\n' | sort >want
sort -o got got
same "rows without a step, facts without a value are counted" want got
run 0 "$profan" steps job.db -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]
r, = t["training_times"]
assert (r["row_count"], r["first_ns"], r["mean_ns"], r["median_ns"],
        r["longest_ns"]) == (3, 5e8, 2e8, 3e8, 5e8), r
assert [x["implied_count"] for x in t["training_batches"]] == [1, 1, None, .3]'
result "steps has them, the first apart" out
run 0 "$profan" memory job.db && grep -q '512.00 MiB *1.00 GiB *512.00 MiB' out
result "memory has them, with what is reserved and not allocated" out
run 0 "$profan" info job.db && grep -q 'total_steps *450' out &&
	tr '\n' ' ' <out | grep -q '231 of the 450'
result "info says that training ended early" out
# The page: what the commands print, and columns as high as the rows say.
page() { # DB
	run 0 "$profan" report "$1.db" -o "$1.html" && "$PYTHON" -S \
		"$top_srcdir/tests/report/check.py" "$profan" "$1.db" "$1.html" \
		>out && ! grep -qv '^ok' out
}
page job && grep -q '<section id=training>' job.html &&
	! grep -q 'timed batches in order' job.html
result "report has a section of them, and no chart of three" out err
mkdir many && "$PYTHON" -S -c '
import json
rows = range(200)
json.dump([{"step": 1 + n, "batch_idx": n, "samples_per_second": 1.0,
            "total_batch_time": (n * 37 % 101 + 1) / 1000 + (n == 61)}
           for n in rows], open("many/timing_profile.json", "w"))
json.dump([{"step": n, "batch_idx": n, "cpu_memory_percent": 5.0,
            "gpu_memory_allocated_gb": n / 128,
            "gpu_memory_reserved_gb": n / 64 + 1}
           for n in rows], open("many/memory_profile.json", "w"))'
run 0 "$profan" ingest -q many -o many.db && page many && "$PYTHON" -S - <<'END'
import re
page = open("many.html").read()
section = page.partition("<section id=training>")[2].partition("</section>")[0]
charts = re.findall("<svg class=steps.*?</svg>", section, re.S)

def columns(chart, colour):
    return [float(h) for h in re.findall(
        'height="([0-9.]+)" fill="%s"' % colour, chart)]

def want(values, top):
    # what is lower than a line can be is not drawn
    parts = [max(values[c * 200 // 120:(c + 1) * 200 // 120])
             for c in range(120)]
    return [100 * p / top for p in parts if 100 * p / top >= 0.15]

times = [(n * 37 % 101 + 1) / 1000 + (n == 61) for n in range(200)]
reserved = [n / 64 + 1 for n in range(200)]
allocated = [n / 128 for n in range(200)]
assert len(charts) == 2
for chart, colour, values, top in (
        (charts[0], "#3f84c8", times, max(times)),
        (charts[1], "#7fbf86", reserved, max(reserved)),
        (charts[1], "#3f9a4a", allocated, max(reserved))):
    got, w = columns(chart, colour), want(values, top)
    assert len(got) == len(w) and all(
        abs(a - b) < 0.006 for a, b in zip(got, w)), (colour, got, w)
assert "200 timed batches" in section and "longest 1.0" in section
END
result "report draws them: the highest of those in a column" out err
cp many/timing_profile.json other.json
run 0 "$profan" ingest -q many/timing_profile.json other.json -o two.db &&
	run 0 "$profan" report two.db -o two.html &&
	grep -q '<section id=training>' two.html &&
	! grep -q 'timed batches in order' two.html
result "report: rows of two scripts are no order" out err
for command in steps gaps overlap launches; do
	run 0 "$profan" $command job/profiler_output/profile_step_20.json -f json
	mv out want
	run 0 "$profan" $command job.db -f json
	"$PYTHON" -S - <<'END'
import json, sys
a, b = (json.load(open(p)) for p in ("want", "out"))
sys.exit(a["scalars"] != b["scalars"])
END
	result "$command is that of the trace alone" want out
done
"$profan" clean -q job >out 2>&1
run 0 "$profan" ingest -q $v/timing_profile.json -o rows.db &&
	run 0 "$profan" steps rows.db && run 0 "$profan" doctor rows.db &&
	run 0 "$profan" report rows.db -o rows.html
result "rows alone" err
run 0 "$profan" steps rows.db && tr '\n' ' ' <out |
	grep -q 'no steps of a trace; batches .* 300.000 ms in the median'
result "rows alone: steps says what a batch takes" out
run 0 "$profan" trend rows.db rows.db -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))
a, b = t["tables"]["training_trend"]
assert a == b and (a["row_count"], a["first_ns"], a["mean_ns"], a["median_ns"],
                   a["longest_ns"]) == (3, 5e8, 2e8, 3e8, 5e8), t'
result "rows alone: trend has the batches of each" out
sed 's/0\.3,/0.7,/' $v/timing_profile.json >slower.json
run 0 "$profan" ingest -q slower.json -o slower.db
run 0 "$profan" diff rows.db slower.db -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))
a, b = t["tables"]["training_trend"]
assert t["scalars"]["batch_change_ns"] == b["median_ns"] - a["median_ns"], t
assert b["longest_ns"] == 700000000 and b["capture"] == "slower.db", t'
result "rows alone: diff says how the batches changed" out
run 0 "$profan" diff --redact rows.db slower.db && ! grep -q 'slower' out &&
	grep -q '^The median batch' out
result "and names no file with --redact" out
run 0 "$profan" kernels rows.db && grep -q 'only a trace has that' out
result "rows alone: kernels says that only a trace has them" out
"$profan" ingest -q $v/memory_profile.json -o rows.db
run 0 "$profan" memory rows.db && tr '\n' ' ' <out |
	grep -q 'at most 1.50 GiB of the GPU allocated and 1.00 GiB reserved'
result "rows alone: memory says what the script saw" out
for n in $(seq 0 "$(amount 61 7 1)" 400); do
	for f in timing_profile memory_profile training_summary; do
		head -c "$n" $v/$f.json >part.json
		"$profan" ingest -q part.json -o part.db >out 2>err
		rc=$?
		if [ $rc = 0 ]; then
			accounts part.db
		else
			[ $rc = 3 ] && [ "$(wc -l <err)" = 1 ] &&
				[ ! -e part.db ]
		fi || echo "$f $n: $rc $(cat err)"
		rm -f part.db
	done
done >got
[ ! -s got ]
result "cut anywhere: an answer or one sentence" got
printf '[{"step": 1, "batch_idx": 0, "a": %s1' "$(printf '%070d' 0 | tr 0 '[')" \
	>deep.json
refused "nested too deep" "too deep" deep.json
for bytes in '"step": 1 "batch_idx": 0}=no comma at byte 12' \
	'"step": 1, "batch_idx": 0} {}=no comma at byte 29' \
	'"step": 1, "batch_idx": 0},=no value at byte 29' \
	'"step": 1, "batch_idx": 0,}=no value at byte 28' \
	'"step": 1, "batch_idx" 0}=no colon at byte 25' \
	'"step": 1, "batch_idx"}=no colon at byte 24' \
	'"step": 1, "batch_idx":}=no value at byte 25'; do
	printf '[{%s]' "${bytes%=*}" >bad.json
	refused "no JSON: ${bytes%=*}" "${bytes#*=}" bad.json
done
printf '[{"step": 1, "batch_idx": 0}, 5]' >five.json
refused "something else than a row" "something else" five.json
: >x_stacks.txt
refused "torch's empty stacks say why" "verbose=True" x_stacks.txt

# ---- memory timelines ----
"$PYTHON" -S - <<'END'
import gzip, json, random
random.seed(3)
t0 = 1795326270770494079
rows, level, live = [], [0] * 8, []
for i in range(18):
    rows.append([-1, 1, 512 * (i + 1), i % 8])
for i in range(4000):
    t0 += random.randrange(5000)
    if live and random.random() < .45:
        n, c = live.pop(random.randrange(len(live)))
        rows.append([t0, 4, -n, c])
    else:
        n, c = random.randrange(1, 1 << 24), random.randrange(8)
        live.append((n, c))
        rows.append([t0, 2, n, c])
gzip.open("m.raw.json.gz", "wt").write(json.dumps(rows))
json.dump(rows, open("raw.json", "w"))
times, sizes, best = [], [], (-1, None)
for i, (t, a, n, c) in enumerate(rows):
    level[c] += n
    times.append((rows[18][0] if t < 0 else t) // 1000)
    sizes.append([0] + level)
    if sum(level) > best[0]:
        best = (sum(level), level[:])
json.dump([times, sizes], open("m.json", "w"))
json.dump([best[1], level, sum(best[1]), sum(level)], open("figures", "w"))
END
for f in raw.json m.json m.raw.json.gz; do
	run 0 "$profan" ingest -q $f -o m.db && accounts m.db &&
		run 0 "$profan" memory m.db -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]["categories"]
peak, end, all_peak, all_end = json.load(open("figures"))
assert [r["peak_bytes"] for r in t] == peak + [all_peak]
assert [r["end_bytes"] for r in t] == end + [all_end]'
	result "$f: by category at the peak and at the end" out
	run 0 "$profan" counters m.db -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]["counters"]
assert len(t) == 8 and all(r["sample_count"] == 4018 for r in t)
assert [r["last"] for r in t] == json.load(open("figures"))[1]'
	result "$f: counters"
done
sql m.db 'SELECT base_ns, first_ns FROM trace' >got
"$PYTHON" -S -c 'import json
print(json.load(open("raw.json"))[18][0], 0, sep=",")' >want
same "its time of day" want got
"$profan" ingest -q raw.json -o one.db
for chunk in 1 100; do
	PROFAN_CHUNK_BYTES=$chunk "$profan" ingest -q raw.json -o cut.db &&
		cmp -s one.db cut.db
	result "batches of $chunk give the same bytes"
done
mkdir tl && cp m.json m.raw.json.gz tl && echo '[[0, 1], [2, 3]]' >tl/x.json &&
	run 0 "$profan" ingest --dry-run tl -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]
assert [r["path"] for r in t["files"]] == ["tl/m.raw.json.gz"], t
assert [r["path"] for r in t["passed"]] == ["tl/m.json", "tl/x.json"], t'
result "in a folder, of both forms the raw one is read" out
for bad in '[[1,2,3],[[0,1],[0]]]' '[[1],[[0,1,2,3,4,5,6,7,8],[0,1,2,3,4,5,6,7,8]]]' \
	'[[1,2],[[0,1,2,3,4,5,6,7,8]]]' '[[-1,1,5,8]]' '[[-1,1,5,-1]]' \
	'[[1,2,3,4],[1,2,3]]' '[[1,2,"x",4]]' '[[1,2,3.5,4]]' '[[1,2' '[[1,2,3,4' \
	'[[-1,1,9223372036854775807,0],[-1,1,9223372036854775807,0]]' '[[]' \
	'[[1,2,3,4],{}]'; do
	printf '%s' "$bad" >bad.json
	refused "$bad" "memory timeline\|ends early\|form that" bad.json
done

# ---- folded stacks ----
cat >f.folded <<'EOF'
main.py(3):_<module>;f;g 10
main.py(3):_<module>;f 5
main.py(3):_<module>;f;g 7
main.py(3):_<module> 1

no number
;empty 5
a;;b 5
a;b -3
a;b 99999999999999999999
 7
EOF
run 0 "$profan" ingest f.folded -o f.db && accounts f.db &&
	grep -q 'malformed events skipped: 6, first at byte 10' err
result "lines that are none are counted, with the first" err
run 0 "$profan" stacks f.db && cp out got
cat >want <<'EOF'
main.py(3):_<module> 1
main.py(3):_<module>;f 5
main.py(3):_<module>;f;g 17
EOF
same "stacks: equal ones are one, and the sum is that of the lines" want got
"$PYTHON" -S - <<'END'
with open("f.folded") as f, open("leaf.folded", "w") as out:
    for line in f.read().split("\n")[:4]:
        stack, n = line.rsplit(" ", 1)
        out.write(";".join(reversed(stack.split(";"))) + " " + n + "\r\n")
END
run 0 "$profan" ingest -q leaf.folded -o leaf.db &&
	run 0 "$profan" stacks leaf.db && cp out got
same "the innermost first, and CR LF" want got
cp f.folded job/x.txt
run 0 "$profan" ingest -q job/profiler_output/profile_step_20.json f.folded \
	-o both.db && run 0 "$profan" stacks --weight samples both.db &&
	cp out got
same "beside a trace" want got
run 0 "$profan" stacks --weight cpu both.db && ! grep -q 'main.py(3)' out
result "and not part of it"
run 0 "$profan" stacks --weight samples job.db && [ ! -s out ] &&
	grep -q 'there are no folded stacks' err
result "a database without any says so" err
"$PYTHON" -S -c '
print(";".join("f%d" % i for i in range(100000)), 3)
print("x" * (2 << 20) + ";y 4")
print("\033[31m;\u202e\"<b>", 5)' >odd.folded
run 0 "$profan" ingest odd.folded -o odd.db && accounts odd.db &&
	run 0 "$profan" stacks odd.db && [ "$(wc -l <out)" = 2 ] &&
	! grep -q "$(printf '\033')" out
result "deep, long and hostile ones"
for first in '<module> (a.py:6)' '<frozen importlib._bootstrap>' '[unknown]' \
	/usr/lib/libc.so; do
	printf '%s;b 7\n%s;main 5\n' "$first" "$first" >first.folded
	run 0 "$profan" ingest -q first.folded -o first.db &&
		run 0 "$profan" stacks first.db && sort out | diff - first.folded
	rm -f first.db
done >got
[ ! -s got ]
result "the first frame looks like markup, a list or a path" got
for bad in '<p style="a;b">5' '<a>;b' '["a;b", 5' '<p> 5'; do
	printf '%s\n' "$bad" >first.folded
	refused "$bad" "markup\|\"ph\"" first.folded
done
size=$(wc -c <f.folded)
for n in $(seq 1 "$(amount 19 3 1)" "$size"); do
	head -c "$n" f.folded >part.folded
	"$profan" ingest -q part.folded -o part.db >out 2>err
	rc=$?
	{ [ $rc = 0 ] && accounts part.db; } ||
		{ [ $rc = 3 ] && [ "$(wc -l <err)" = 1 ]; } || echo "$n: $rc"
	rm -f part.db
done >got
[ ! -s got ]
result "cut anywhere: an answer or one sentence" got
echo 'just some text; 5 lines of it' >text.txt
refused "other texts are no stacks" "" text.txt

# ---- real ones ----
if [ -d "$shared/inputs/memory_timeline" ]; then
	for f in "$shared"/inputs/memory_timeline/*.json*; do
		g=${f%.json*}.golden.json
		case $f in *golden*) continue ;; esac
		run 0 "$profan" ingest -q "$f" -o real.db &&
			run 0 "$profan" memory real.db -f json && "$PYTHON" -S - \
			"$g" <<'END'
import json, sys
want = json.load(open(sys.argv[1]))
got = json.load(open("out"))["tables"]["categories"]
assert got[-1]["peak_bytes"] == want["peak_bytes"], got
for i, r in enumerate(got[:-1]):
    for key, what in ("peak_bytes", "at_peak"), ("end_bytes", "at_end"):
        w = want[what]
        assert r[key] == w.get(r["category"], w.get(str(i), 0)), r
END
		result "${f##*/}" out err
	done
	for f in torch215_verbose_cpu torch_old_gpt2_cpu; do
		file=$shared/inputs/folded/$f.txt
		[ -e "$file" ] || file=$file.gz
		run 0 "$profan" ingest -q "$file" -o real.db && accounts real.db &&
			run 0 "$profan" stacks real.db && "$PYTHON" -S - \
			"$shared/inputs/folded/$f.golden.json" <<'END'
import json, sys
want = json.load(open(sys.argv[1]))
lines = [l.rsplit(" ", 1) for l in open("out").read().split("\n") if l]
assert sum(int(n) for s, n in lines) == want["total"]
assert len(lines) == want["stacks"], len(lines)
assert max(s.count(";") for s, n in lines) + 1 == want["deepest"]
END
		result "$f: the sum, how many stacks, how deep" out err
	done
	for name in rave_run rave_no_profiler_steps; do
		tar xzf "$shared/inputs/folders/$name.tar.gz"
		run 0 "$profan" ingest -q $name -o real.db && "$PYTHON" -S - \
			"$shared/inputs/folders/$name.golden.json" <<'END'
import json, sqlite3, sys
want = json.load(open(sys.argv[1]))["rave"]
c = sqlite3.connect("real.db")
rows = c.execute("SELECT step, batch_idx, batch_ns FROM train_row"
                 " ORDER BY ordinal").fetchall()
w = want["timing"]
assert [r[0] for r in rows] == w["steps"]
assert [r[1] for r in rows] == w["batch_idx"]
assert abs(sum(r[2] for r in rows) / len(rows) / 1e9
           - w["mean_batch_time_s"]) < 1e-9
w = want["memory"]
rows = c.execute("SELECT step, cpu_percent FROM train_memory"
                 " ORDER BY ordinal").fetchall()
assert [r[0] for r in rows] == w["steps"]
assert max(r[1] for r in rows) == w["cpu_percent_max"]
for key, value in c.execute("SELECT key, value FROM train_fact"):
    assert want["summary"][key] == value
END
		result "$name: rows and summary" err
	done
else
	skip "files of real programs" "../shared is not here"
fi
tap_done
