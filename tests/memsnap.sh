# SPDX-License-Identifier: MIT
# Memory snapshots: every figure against tests/memsnap.py, which has its own
# reader, on snapshots made there and on the samples of ../shared/inputs where
# they are; hostile and damaged pickles; a secret that is not copied.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
memsnap="$PYTHON -S $top_srcdir/tests/memsnap.py"
mkdir "$tmp/made" && $memsnap make "$tmp/made" || exit 99

answer() { # FILE: into $tmp/t.db, and $tmp/answer
	rm -f "$tmp/t.db"
	run 0 "$profan" ingest "$1" -o "$tmp/t.db" &&
		run 0 "$profan" memory -q "$tmp/t.db" -f json -n -1 &&
		cp "$tmp/out" "$tmp/answer"
}

for file in "$tmp"/made/good-*.pickle; do
	name=${file##*/good-}
	name=${name%.pickle}
	answer "$file"
	result "$name: is read"
	[ ! -s "$tmp/err" ]
	result "$name: no warning"
	mv "$tmp/t.db" "$tmp/$name.db"
	mv "$tmp/answer" "$tmp/$name.answer"
	to_judge "$name: every figure" memsnap.py check "$file" "$tmp/$name.db" \
		"$tmp/$name.answer"
	for format in csv md; do
		run 0 "$profan" memory -q "$tmp/$name.db" -f $format --events
		result "$name: as $format"
	done
done

# addresses and streams as SQL and the arguments of events have them, and as
# lines of stacks do
for name in unsigned around negative least hex digits long4; do
	run 0 "$profan" query -q "$tmp/$name.db" -f json "SELECT args FROM event
		WHERE category = 'allocator' ORDER BY id"
	mv "$tmp/out" "$tmp/$name.keys"
	to_judge "$name: keys of events are those of the pickle" memsnap.py keys \
		"$tmp/made/good-$name.pickle" "$tmp/$name.keys"
done
for name in two torch20 unsigned seen-first; do
	run 0 "$profan" stacks -q --weight memory "$tmp/$name.db"
	mv "$tmp/out" "$tmp/$name.flame"
	to_judge "$name: lines of stacks are those of memory_viz" memsnap.py flame \
		"$tmp/made/good-$name.pickle" "$tmp/$name.flame"
done
judge_all
run 0 "$profan" stacks -q --weight memory "$tmp/unsigned.db"
grep -q '^stream_18446744073709551615;active_allocated;' "$tmp/out"
result "a stream of 64 bits in lines of stacks" "$tmp/out"
run 0 "$profan" query -q -f csv "$tmp/unsigned.db" \
	'SELECT address FROM segment ORDER BY id LIMIT 1'
[ "$(tr -d '\r' <"$tmp/out" | tail -n 1)" = 18446742974197923840 ]
result "an address of 64 bits in SQL" "$tmp/out"
"$profan" diff -q "$tmp/unsigned.db" "$tmp/negative.db" |
	grep -q '^As much is allocated'
result "the same with signed and with unsigned keys: no change"

# protocols and compression change nothing
tables='SELECT * FROM segment; SELECT * FROM mem_block; SELECT * FROM stack_frame;
SELECT * FROM stack; SELECT * FROM mem_history; SELECT * FROM block_column;
SELECT * FROM string'
if [ -n "$SQLITE3" ]; then
	"$SQLITE3" "$tmp/two.db" "$tables" >"$tmp/want"
	run 0 "$profan" ingest "$tmp/made/two.pickle.gz" -o "$tmp/two-gz.db"
	for name in two-p2 two-p5 two-gz; do
		"$SQLITE3" "$tmp/$name.db" "$tables" >"$tmp/got"
		same "$name: the same rows" "$tmp/want" "$tmp/got"
	done
fi
# small batches change nothing
PROFAN_CHUNK_BYTES=64 "$profan" ingest -q "$tmp/made/good-two.pickle" \
	-o "$tmp/chunks.db" && cmp "$tmp/two.db" "$tmp/chunks.db" >"$tmp/why" 2>&1
result "the same bytes in small batches" "$tmp/why"

! grep -c canary-of-tests "$tmp/secret.db" >"$tmp/why"
result "what is no memory is not copied" "$tmp/why"

run 0 "$profan" memory "$tmp/oom.db"
grep -q '^GPU 0: out of memory: asked for 8.00 MiB' "$tmp/out"
result "the first line says why memory ran out" "$tmp/out"
run 0 "$profan" memory "$tmp/list.db"
grep -q '_record_memory_history' "$tmp/out"
result "no history: says how to record one" "$tmp/out"
for command in kernels launches gaps steps overlap syncs calls modules ranges \
	table info doctor summary; do
	run 0 "$profan" $command "$tmp/list.db" &&
		cat "$tmp/out" "$tmp/err" | grep -q .
	result "$command of a snapshot: answers"
done
# dumps in a row: the rows of both answers of memory, and what they differ by
run 0 "$profan" memory -q -f json "$tmp/two.db" && mv "$tmp/out" "$tmp/a.json" &&
	run 0 "$profan" memory -q -f json "$tmp/oom.db" &&
	mv "$tmp/out" "$tmp/b.json" &&
	run 0 "$profan" trend -f json "$tmp/two.db" "$tmp/oom.db" &&
	"$PYTHON" -S - "$tmp" <<'END' >"$tmp/why" 2>&1
import json, sys
a, b, t = (json.load(open(sys.argv[1] + "/" + n))["tables"]
           for n in ("a.json", "b.json", "out"))
want, last = [], {}
for d in (a, b):
    for r in d["now"]:
        gpu, n = r["device"], r["allocated_bytes"]
        want.append((gpu, n, n - last[gpu] if gpu in last else None,
                     r["reserved_bytes"], r["split_bytes"]))
        last[gpu] = n
got = [(r["device"], r["allocated_bytes"], r["change_bytes"],
        r["reserved_bytes"], r["split_bytes"]) for r in t["dumps"]]
assert got == want and any(r[2] for r in want), (got, want)
END
result "trend of snapshots: what memory says of each, and the change" "$tmp/why"
"$mktrace" --steps 2 --layers 1 --seed 1 >"$tmp/steps.json"
run 0 "$profan" trend "$tmp/steps.json" "$tmp/two.db" -f json &&
	grep -q 'is a memory snapshot, which has no GPU work, so it has no row' \
		"$tmp/out"
result "trend of a trace and a snapshot: says why not" "$tmp/out"
"$profan" clean -q "$tmp" >"$tmp/out" 2>&1

# two snapshots: the lines of a GPU add up to its change, which is that of the
# one call stack: all its lines, and what it holds is part of what is allocated
cat >"$tmp/stack.py" <<'EOF'
import json, subprocess, sys
profan, db = sys.argv[1:]

def answer(*args):
    return json.loads(subprocess.run(
        [profan, "memory", "-q", "-f", "json", *args, db], check=True,
        capture_output=True).stdout)

whole = answer("-n", "-1")["tables"]
held, stacks = 0, {r["stack"]: r for r in whole["stacks"] if r["stack"]}
assert len(stacks) > 1, whole["stacks"]
for number, row in stacks.items():
    one = answer("--stack", str(number))
    frames = one["tables"]["frames"]
    lines = ["%s:%s:%s" % (f["file"], f["line"], f["function"])
             for f in frames]
    assert any(line.endswith(row["frame"]) for line in lines), (row, lines)
    assert [f["depth"] for f in frames] == list(range(len(frames)))
    held += one["scalars"]["held_bytes"]
live = sum(r["allocated_bytes"] for r in whole["now"])
assert 0 < held <= live, (held, live)
EOF
run 0 "$PYTHON" -S "$tmp/stack.py" "$profan" "$tmp/two.db"
result "--stack: the lines of one, and what it holds"
run 2 "$profan" memory "$tmp/two.db" --stack 999999 &&
	grep -q 'no call stack 999999' "$tmp/err"
result "--stack: one that is not there"

# two answers of memory
for pair in 'two oom' 'oom two' 'list two' 'two two'; do
	# shellcheck disable=SC2086  # two words are meant
	set -- $pair
	for name in "$1" "$2"; do
		"$profan" memory -q -f json -n -1 "$tmp/$name.db" >"$tmp/$name.json"
	done
	run 0 "$profan" diff -q -f json -n -1 "$tmp/$1.db" "$tmp/$2.db"
	"$PYTHON" -S - "$tmp/out" "$tmp/$1.json" "$tmp/$2.json" >"$tmp/why" 2>&1 <<'EOF'
import collections, json, sys
diff, a, b = (json.load(open(p))["tables"] for p in sys.argv[1:])
want, lines = collections.Counter(), collections.Counter()
for sign, side in ((-1, a), (1, b)):
    for row in side["now"]:
        want[row["gpu"]] += sign * row["allocated_bytes"]
for row in diff["lines"]:
    assert row["change_bytes"] == row["b_bytes"] - row["a_bytes"], row
    lines[row["device"]] += row["change_bytes"]
for row in diff["devices"]:
    name = row["device"]
    assert row["allocated_change_bytes"] == want[name] == lines[name], row
assert set(want) == {r["device"] for r in diff["devices"]}
peak = [{r["device"]: r["peak_bytes"] for r in side["devices"]}
        for side in (a, b)]
lines = collections.Counter()
for row in diff["peak_lines"]:
    assert row["change_bytes"] == row["b_bytes"] - row["a_bytes"], row
    for key in "ab":
        lines[row["device"], key] += row[key + "_bytes"]
for row in diff["peaks"]:
    name = row["device"]
    got = row["a_peak_bytes"], row["b_peak_bytes"]
    assert got == tuple(p[name] for p in peak), (row, peak)
    assert got == (lines[name, "a"], lines[name, "b"]), (row, lines)
assert {r["device"] for r in diff["peaks"]} == set(peak[0]) & set(peak[1])
EOF
	result "diff of snapshots ($pair): lines add up to the change" "$tmp/why"
done
"$profan" diff "$tmp/two.db" "$tmp/two.db" | grep -q '^As much is allocated'
result "the same snapshot twice: no change"
"$profan" ingest -q "$tmp/made/good-secret.pickle" -o "$tmp/low.db"
"$profan" ingest -q "$tmp/made/good-hex.pickle" -o "$tmp/high.db"
run 0 "$profan" diff "$tmp/low.db" "$tmp/high.db" &&
	grep -q '^GPU 0: the peak is 4.88 KiB higher in B than in A' "$tmp/out"
result "diff of snapshots: first what changes most, be it the peak" "$tmp/out"
for words in '--fail-on syncs>0' '--columns self_cpu' '--format html'; do
	# shellcheck disable=SC2086  # two words are meant
	run 2 "$profan" diff "$tmp/two.db" "$tmp/oom.db" $words
	result "diff of snapshots refuses $words" "$tmp/err"
done
# the page and the summary say what there is, and nothing of time
for name in oom list two; do
	run 0 "$profan" report --force -o "$tmp/p.html" "$tmp/$name.db" &&
		grep -q 'id=memory-now' "$tmp/p.html" &&
		! grep -qE 'GPU idle|is no GPU activity|table as of torch' "$tmp/p.html"
	result "$name: report"
done
run 0 "$profan" table verdicts "$tmp/oom.db" -f csv
grep -q 'V8,memory,fired,severe' "$tmp/out"
result "out of memory is a severe verdict" "$tmp/out"
run 0 "$profan" summary "$tmp/oom.db"
sed -n 2p "$tmp/out" | grep -q '^  memory  GPU 0: out of memory'
result "and the first line of the summary" "$tmp/out"
run 0 "$profan" steps "$tmp/oom.db" -f json
grep -q '"classes": \[\]' "$tmp/out" && ! grep -q mean_ns "$tmp/out"
result "no step, no time of steps" "$tmp/out"
# lines at the peak add up to it
run 0 "$profan" stacks -q --weight memory --at peak "$tmp/two.db"
"$profan" memory "$tmp/two.db" -q -f csv -n 0 |
	awk -F , '/^device,peak_bytes/ { on = 1; next } /^\r?$/ { on = 0 }
	on { sum += $2 } END { printf "%d\n", sum }' >"$tmp/want"
awk '{ sum += $NF } END { printf "%d\n", sum }' "$tmp/out" >"$tmp/got"
same "stacks at the peak add up to it" "$tmp/want" "$tmp/got"
# two snapshots are two traces; ids go on
run 0 "$profan" ingest -q "$tmp/made/good-two.pickle" \
	"$tmp/made/good-oom.pickle" -o "$tmp/both.db"
run 0 "$profan" query "$tmp/both.db" -f csv \
	'SELECT trace_id, count(*) FROM segment GROUP BY 1 ORDER BY 1'
printf 'trace_id,count(*)\r\n1,4\r\n2,2\r\n' | tr -d '\r' >"$tmp/want"
tr -d '\r' <"$tmp/out" >"$tmp/got"
same "two snapshots in one database" "$tmp/want" "$tmp/got"

# ---- what does not agree ----
for name in disagrees late types first sums bare one; do
	answer "$tmp/made/odd-$name.pickle"
	result "$name: is read"
done
warns() { # NAME WORDS
	rm -f "$tmp/t.db"
	"$profan" ingest "$tmp/made/odd-$1.pickle" -o "$tmp/t.db" 2>&1 |
		grep -q "$2"
	result "$1: warns"
}
warns disagrees 'history and the final state do not agree: 1'
warns sums 'segments whose blocks do not add up, or do not follow each other: 1'
warns late 'times that go back held at the one before: 1'
warns types 'malformed events skipped: 3'

# doctor says what they are, and of stacks what memory shows
doctor() { # FILE PATTERN [PATTERN-THAT-IS-NOT-THERE]
	rm -f "$tmp/t.db"
	"$profan" ingest -q "$tmp/made/$1.pickle" -o "$tmp/t.db" >"$tmp/why" 2>&1
	run 0 "$profan" doctor "$tmp/t.db" && grep -q "$2" "$tmp/out" &&
		{ [ -z "$3" ] || ! grep -qE "$3" "$tmp/out"; }
	result "$1: doctor says $2${3:+, not $3}" "$tmp/out"
}
doctor odd-disagrees '^snapshot disagrees  *1 ' 'mended'
doctor odd-sums '^snapshot disagrees  *1 .*warn' 'mended'
doctor odd-late '^repairs  *1 ' 'disagrees'
doctor odd-bare '^no stacks  *1 .*note' 'a memory snapshot has none.*stacks'
doctor good-two '^whole microseconds  *1 ' 'no stacks'
doctor good-untimed '^no shapes' 'no stacks|whole microseconds'

# memory and info say of it what is so
says_of() { # FILE COMMAND PATTERN [PATTERN-THAT-IS-NOT-THERE]
	rm -f "$tmp/t.db"
	"$profan" ingest -q "$tmp/made/$1.pickle" -o "$tmp/t.db" >"$tmp/why" 2>&1
	run 0 "$profan" "$2" "$tmp/t.db" && tr '\n' ' ' <"$tmp/out" >"$tmp/line" &&
		grep -q "$3" "$tmp/line" &&
		{ [ -z "$4" ] || ! grep -qE "$4" "$tmp/line"; }
	result "$1: $2 says $3${4:+, not $4}" "$tmp/out"
}
says_of odd-sums memory 'GPU 0: its segments are 18.00 MiB, and the blocks'
says_of good-two memory 'Allocations by stack' 'contradicts itself|outside of'
says_of odd-bare memory '(no stack)' 'outside of ops'
says_of odd-one memory 'has no history but for one entry of a GPU: call'
says_of good-list memory 'has no history: call'
says_of odd-one memory '^GPU 0: [^;]* reserved when the snapshot' 'after 0 ns'
# what was left out is not what was not there
for name in keys low words; do
	says_of odd-$name memory '^No segment could be read' 'no (segments|history)'
	says_of odd-$name memory '59 of 59 entries of the history could not'
	says_of odd-$name summary 'No segment could be read' 'nothing was reserved'
	says_of odd-$name doctor 'skipped events' '_record_memory_history'
done
"$profan" diff "$tmp/t.db" "$tmp/t.db" >"$tmp/out" && head -n 1 "$tmp/out" |
	grep -q '^No segment could be read' && grep -q '4 segments could' "$tmp/out"
result "diff of what was left out" "$tmp/out"
run 0 "$profan" trend "$tmp/t.db" "$tmp/t.db" &&
	grep -q '^No segment could be read' "$tmp/out"
result "trend of what was left out" "$tmp/out"
says_of good-two info 'Stored events' 'averages'

# ---- entries without times: their number is no time ----
time_like='[0-9] ([nmu]|&micro;|µ)?s\b'
said() { # COMMAND
	tr '\n' ' ' <"$tmp/out" | grep -q 'after [0-9]* entries of its history' &&
		! grep -qE "$time_like" "$tmp/out"
	result "no times: $1 says after how many entries" "$tmp/out"
}
for command in memory 'memory --events' summary; do
	# shellcheck disable=SC2086  # two words are meant
	run 0 "$profan" $command "$tmp/untimed.db"
	said "$command"
done
run 0 "$profan" memory "$tmp/untimed.db" --events -f json &&
	! grep -qE '"(allocated|freed|lifetime|peak|unused|age)_ns": [0-9]' "$tmp/out"
result "no times: memory has none as json" "$tmp/out"
run 0 "$profan" info "$tmp/untimed.db" -f json &&
	grep -q '"span_ns": null' "$tmp/out"
result "no times: info has no span" "$tmp/out"
for name in untimed two; do
	run 0 "$profan" report --force -o "$tmp/p.html" "$tmp/$name.db"
	grep -oE '<dt>Recorded.*|<figcaption>.*</figcaption>|<p class=lead>.*|aria-label="GPU[^"]*"' \
		"$tmp/p.html" >"$tmp/out"
	[ $name = two ] || said report
done
grep -q '<dt>Recorded' "$tmp/out" && grep -qE "$time_like" "$tmp/out"
result "with times: the page has them" "$tmp/out"
run 0 "$profan" slice "$tmp/untimed.db" -o "$tmp/s.json" &&
	grep -q 'no times: in their place' "$tmp/err" &&
	! grep -q 'events of' "$tmp/err"
result "no times: slice says what it wrote instead" "$tmp/err"
run 0 "$profan" slice "$tmp/two.db" -o "$tmp/s2.json" &&
	grep -qE 'events of [0-9.]+ .?s to' "$tmp/err" &&
	! grep -q 'no times' "$tmp/err"
result "with times: slice says how long" "$tmp/err"
rm -f "$tmp/t.db"
run 0 "$profan" ingest -q "$tmp/made/odd-first.pickle" -o "$tmp/t.db" &&
	run 0 "$profan" query "$tmp/t.db" -f csv \
		'SELECT min(start_ns) AS n FROM event' &&
	[ "$(tr -d '\r' <"$tmp/out" | tail -n 1)" = 0 ]
result "a first entry without a time is held at the next" "$tmp/out"

# ---- what is refused ----
refused() { # FILE
	rm -f "$tmp/x.db"
	run 3 "$profan" ingest "$1" -o "$tmp/x.db" && [ ! -e "$tmp/x.db" ] &&
		[ "$(wc -l <"$tmp/err")" = 1 ]
}
for file in "$tmp"/made/bad-*.pickle; do
	name=${file##*/bad-}
	refused "$file"
	result "${name%.pickle}: refused in one line"
done
says() { # NAME WORDS
	run 3 "$profan" ingest "$tmp/made/bad-$1.pickle" -o "$tmp/x.db"
	grep -q "$2" "$tmp/err"
	result "$1: says $2"
}
says object-2 'opcode GLOBAL ([a-z]*.system) at byte'
says object-4 'opcode STACK_GLOBAL at byte'
says memo-steps 'a memo index out of order at byte'
says pops 'too few values at byte'
says zip 'torch.save'
says lfs 'git lfs'
says other 'no "segments"'

# every cut of a small one, and many with bytes changed
small=$tmp/made/small.pickle
size=$(wc -c <"$small") at=3 cuts=0 step=$(amount 61 7 1)
: >"$tmp/why"
while [ $at -lt "$size" ]; do
	head -c $at "$small" >"$tmp/cut.pickle"
	refused "$tmp/cut.pickle" || echo "cut at $at" >>"$tmp/why"
	at=$((at + step)) cuts=$((cuts + 1))
done
[ ! -s "$tmp/why" ]
result "$cuts cuts of a small snapshot are refused" "$tmp/why"
# --salvage: what is kept is what the whole has, in its order; totals are those
# of the whole, or there are none; nothing is lost uncounted
cat >"$tmp/salvage.py" <<'EOF'
import json, os, subprocess, sys
profan, whole, out, count = sys.argv[1:4] + [int(sys.argv[4])]
TOTALS = ("Total Allocated", "Total Reserved")

def rows(db, sql):
    return json.loads(subprocess.run(
        [profan, "query", "-q", "-f", "json", db, sql], check=True,
        capture_output=True).stdout)["tables"]["rows"]

def read(db):
    sql = ("SELECT k.pid, e.name, t.base_ns + e.start_ns AS at, e.args"
           " FROM event AS e JOIN trace AS t ON t.id = 1 JOIN track AS k"
           " ON k.id = e.track_id WHERE e.category = 'allocator' ORDER BY e.id")
    by = {}
    for r in rows(db, sql):
        args = json.loads(r["args"])
        totals = [args.pop(k, None) for k in TOTALS]
        args.pop("stack", None)
        by.setdefault(r["pid"], []).append(((r["name"], r["at"], args), totals))
    state = rows(db, "SELECT count(*) AS n, sum(size_bytes) AS b FROM mem_block")
    return by, state[0], rows(db, "SELECT event_count - stored_count -"
                              " metadata_count - paired_count - skipped_count"
                              " AS lost FROM trace")[0]["lost"]

data = open(whole, "rb").read()
subprocess.run([profan, "ingest", "-q", whole, "-o", out], check=True)
want, full, _ = read(out)
kept = bare = 0
for n in range(count):
    at = len(data) * (n + 1) // (count + 1)
    open(out + ".cut", "wb").write(data[:at])
    plain = subprocess.run([profan, "ingest", out + ".cut", "-o", out + ".no"],
                           capture_output=True, text=True)
    assert plain.returncode == 3 and not os.path.exists(out + ".no"), at
    r = subprocess.run([profan, "ingest", "--salvage", out + ".cut", "-o", out],
                       capture_output=True, text=True)
    assert ("--salvage" in plain.stderr) == (r.returncode == 1), (at, plain)
    if r.returncode == 3:
        assert r.stderr.count("\n") == 1, r
        continue
    assert r.returncode == 1 and "first at byte %d" % at in r.stderr, (at, r)
    got, state, lost = read(out)
    assert lost == 0 and state in (full, {"n": 0, "b": None}), (at, state)
    for pid, events in got.items():
        part = want[pid][:len(events)]
        assert [e[0] for e in events] == [e[0] for e in part], (at, pid)
        known = [e for e in events if e[1][0] is not None]
        assert not known or events == part, (at, pid, "totals")
        bare += not known
        kept += len(events)
    said = subprocess.run([profan, "memory", out], capture_output=True, text=True)
    doctor = subprocess.run([profan, "doctor", out], capture_output=True, text=True)
    assert "cut off" in said.stdout, said
    assert "ends at byte %d" % at in doctor.stdout, doctor
assert kept and bare, (kept, bare)
EOF
for name in $(amount two "two small oom" "two small oom"); do
	whole=$tmp/made/good-$name.pickle
	[ -f "$whole" ] || whole=$tmp/made/$name.pickle
	run 0 "$PYTHON" -S "$tmp/salvage.py" "$profan" "$whole" "$tmp/salved.db" \
		"$(amount 5 40 400)"
	result "$name: --salvage keeps what is before a cut, and counts the rest"
done
run 2 "$profan" ingest --salvage --strict "$small" -o "$tmp/x.db"
result "--salvage goes without --strict"
mkdir "$tmp/killed" && "$mktrace" --steps 1 --layers 1 >"$tmp/killed/a.json" &&
	cp "$tmp/killed/a.json" "$tmp/killed/a.json.tmp" &&
	head -c 20000 "$tmp/killed/a.json" >"$tmp/killed/b_rank3.pt.trace.json.tmp"
run 0 "$profan" ingest --dry-run -q -f csv "$tmp/killed" && ! grep -q b_rank3 "$tmp/out" &&
	run 0 "$profan" ingest --salvage --dry-run -q -f csv "$tmp/killed" &&
	grep -q '^1,2,3,.*b_rank3.pt.trace.json.tmp' "$tmp/out" &&
	grep -q 'a.json.tmp.*unfinished copy' "$tmp/out"
result "--salvage reads unfinished files of folders" "$tmp/out"

mkdir "$tmp/damaged" && $memsnap damage "$small" "$tmp/damaged" "$(amount 12 300 2000)"
for file in "$tmp"/damaged/*; do
	rm -f "$tmp/x.db"
	code=0
	"$profan" ingest -q "$file" -o "$tmp/x.db" >"$tmp/out" 2>"$tmp/err" ||
		code=$?
	case $code in
	0) "$profan" memory -q "$tmp/x.db" >"$tmp/out" 2>"$tmp/err" ||
		echo "$file: memory" >>"$tmp/why" ;;
	3) [ ! -e "$tmp/x.db" ] || echo "$file: left" >>"$tmp/why" ;;
	*) echo "$file: $code" >>"$tmp/why" ;;
	esac
done
[ ! -s "$tmp/why" ]
result "damaged snapshots: an answer or a refusal" "$tmp/why"

# ---- samples of real programs ----
if [ -d "$shared/inputs/memsnap" ]; then
	for file in "$shared"/inputs/memsnap/*.pickle.gz; do
		name=${file##*/}
		name=${name%.pickle.gz}
		answer "$file"
		result "$name: is read"
		mv "$tmp/t.db" "$tmp/$name.db"
		mv "$tmp/answer" "$tmp/$name.answer"
		to_judge "$name: every golden figure" memsnap.py golden \
			"${file%.pickle.gz}.golden.json" "$tmp/$name.db" \
			"$tmp/$name.answer"
		"$profan" stacks -q --weight memory "$tmp/$name.db" 2>"$tmp/err" |
			LC_ALL=C sort >"$tmp/got"
		gzip -dc "${file%.pickle.gz}.memory.folded.gz" | grep . |
			LC_ALL=C sort >"$tmp/want"
		grep -q ' [0-9]*$' "$tmp/want" || continue
		same "$name: lines of torch's memory()" "$tmp/want" "$tmp/got"
	done
	judge_all
	while IFS='	' read -r name class _; do
		case $name in
		p_*) ;;
		*) continue ;;
		esac
		rm -f "$tmp/x.db"
		if [ "$class" = refuse ]; then
			refused "$shared/inputs/bad/$name"
		else
			run 0 "$profan" ingest "$shared/inputs/bad/$name" \
				-o "$tmp/x.db" &&
				run 0 "$profan" memory "$tmp/x.db"
		fi
		result "$name: $class"
	done <"$shared/inputs/bad/expected.tsv"
else
	skip "samples" "NOT TESTED: ../shared/inputs/memsnap is not there"
fi
tap_done
