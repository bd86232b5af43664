# SPDX-License-Identifier: MIT
# Slices: tests/slice.py, which has its own reader, works out what belongs in
# each and loads it as Perfetto does; profan reads it again without a repair,
# and says the same of it.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

# slice NAME TRACE [OPTION...]: from the database $tmp/t.db; judge() follows
count=0
slice() {
	trace=$2 whole=
	shift 2
	name="${trace##*/} $*"
	case " $* " in *' --whole '*) whole=whole ;; esac
	rm -f "$tmp/s.json" "$tmp/s.db"
	run 0 "$profan" slice -q "$tmp/t.db" "$@" -o "$tmp/s.json" || {
		not_ok "$name: is written" "$tmp/err"
		return 1
	}
	count=$((count + 1))
	cp "$tmp/s.json" "$tmp/s$count.json"
	echo "$tmp/s$count.json|$trace|$whole|$name" >>"$tmp/slices"
	run 0 "$profan" ingest -q --strict "$tmp/s.json" -o "$tmp/s.db"
	result "$name: read again without a repair"
}

judge() { # all of them
	run 0 "$PYTHON" -S "$top_srcdir/tests/slice.py" "$tmp/slices" ||
		not_ok "slice.py" "$tmp/err"
	relay "$tmp/out"
	rm -f "$tmp/slices" "$tmp"/s[0-9]*.json
}

# same_answer NAME COMMAND...: of the trace and of all of it as a slice
same_answer() {
	name=$1
	shift
	"$profan" "$@" "$tmp/t.db" >"$tmp/want" 2>&1
	"$profan" "$@" "$tmp/s.db" >"$tmp/got" 2>&1
	same "$name: profan $*" "$tmp/want" "$tmp/got"
}

ingest() { # TRACE
	rm -f "$tmp/t.db"
	run 0 "$profan" ingest -q "$1" -o "$tmp/t.db"
}

for file in $(sampled "$top_srcdir"/tests/traces/good-*.json); do
	ingest "$file" || continue
	"$profan" slice "$tmp/t.db" -o - 2>"$tmp/err" >/dev/null || {
		grep -q 'no event is in the window' "$tmp/err"
		result "${file##*/}: no events, no slice"
		continue
	}
	slice good "$file"
done

"$mktrace" --steps 3 >"$tmp/training.json"
ingest "$tmp/training.json"
slice training "$tmp/training.json"
for command in 'kernels -n -1' overlap launches gaps syncs 'table -f csv'; do
	# shellcheck disable=SC2086  # several words are meant
	same_answer training $command
done
slice training "$tmp/training.json" --step 1
slice training "$tmp/training.json" --gap 2
slice training "$tmp/training.json" --gap 1 --margin 0 --whole
slice training "$tmp/training.json" --from 3ms --to 3100us

# the same bytes, and the same in gzip, whose header says no time
cp "$tmp/s.json" "$tmp/first.json"
"$profan" slice -q "$tmp/t.db" --from 3ms --to 3100us -o "$tmp/s.json.gz"
"$profan" slice -q "$tmp/t.db" --from 3ms --to 3100us -o - >"$tmp/s.json"
same "the same bytes" "$tmp/first.json" "$tmp/s.json"
gzip -dc "$tmp/s.json.gz" >"$tmp/s.json"
same "the same in gzip" "$tmp/first.json" "$tmp/s.json"
od -An -tx1 -N10 "$tmp/s.json.gz" >"$tmp/got"
echo ' 1f 8b 08 00 00 00 00 00 00 ff' >"$tmp/want"
same "the header of gzip" "$tmp/want" "$tmp/got"

# numbers of threads that the viewer would take for the main thread's
"$mktrace" --steps 1 --layers 1 | "$PYTHON" -S -c '
import json, sys
t = json.load(sys.stdin)
t["traceEvents"] += [dict(e, tid=tid, ts=float(e["ts"]) + 0.5)
                     for e in t["traceEvents"] for tid in (-1029147072, 1 << 40)
                     if e.get("cat") == "cpu_op"]
t["traceEvents"].append({"ph": "M", "name": "thread_name", "pid": next(
    e["pid"] for e in t["traceEvents"] if e.get("cat") == "cpu_op"),
    "tid": -1029147072, "args": {"name": "autograd"}})
sys.stdout.write(json.dumps(t))' >"$tmp/negative.json"
ingest "$tmp/negative.json"
slice negative "$tmp/negative.json"
grep -q '"tid":"-1029147072","args":{"name":"autograd"}' "$tmp/s.json"
result "the name of such a thread"

# one GPU of two: its work and its arrows
cat >"$tmp/two.json" <<'END'
[{"ph":"X","cat":"cuda_runtime","name":"l","pid":9,"tid":9,"ts":1,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"l","pid":9,"tid":9,"ts":3,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"zero","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"one","pid":1,"tid":7,"ts":5,"dur":1,"args":{"device":1,"stream":7,"correlation":2}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":9,"tid":9,"ts":1},
{"ph":"f","cat":"ac2g","name":"ac2g","id":1,"bp":"e","pid":0,"tid":7,"ts":5},
{"ph":"s","cat":"ac2g","name":"ac2g","id":2,"pid":9,"tid":9,"ts":3},
{"ph":"f","cat":"ac2g","name":"ac2g","id":2,"bp":"e","pid":1,"tid":7,"ts":5}]
END
ingest "$tmp/two.json"
"$profan" slice -q "$tmp/t.db" --device 1 -o - |
	sed -n 's/.*"ph":"\(.\)".*"name":"\([a-z0-9]*\)".*/\1 \2/p' >"$tmp/got"
printf '%s\n' 'X l' 'X l' 'X one' 's ac2g' 'f ac2g' >"$tmp/want"
same "one GPU of two" "$tmp/want" "$tmp/got"

# nothing is replaced or left behind
ingest "$tmp/training.json"
run 3 "$profan" slice -q "$tmp/t.db" --step 1 -o "$tmp/first.json"
result "a file is not replaced"
run 3 "$profan" slice -q "$tmp/t.db" --gap 100000 -o "$tmp/none.json"
if [ -e "$tmp/none.json" ] || [ -e "$tmp/none.json.partial" ]; then
	not_ok "a failure leaves nothing"
else
	ok "a failure leaves nothing"
fi
if [ -w /dev/full ]; then
	"$profan" slice -q "$tmp/t.db" -o - >/dev/full 2>"$tmp/err"
	[ $? = 3 ]
	result "a full disk"
fi

check_real() { # NAME FILE
	ingest "$2"
	span=$("$profan" query "$tmp/t.db" -f csv \
		'SELECT last_ns - first_ns AS n FROM trace' | tail -1)
	slice part "$2" --from $((span / 3))ns --to $((span / 2))ns
	[ "$(wc -c <"$2")" -lt "$(amount 30000 60000 200000)" ] || {
		judge
		return
	}
	slice all "$2" && same_answer "$1" kernels -n -1 &&
		same_answer "$1" overlap -f csv
	"$profan" gaps -q "$tmp/t.db" -f csv | grep -q '^gap_count,[1-9]' &&
		slice gap "$2" --gap 1
	judge
}

judge
real_traces check_real
tap_done
