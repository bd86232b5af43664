# SPDX-License-Identifier: MIT
# Hundreds of ranks, and thousands of threads, in one database.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99

# ranks FOLDER COUNT: the same program on each
"$mktrace" --steps 2 --layers 1 --no-stacks >one.json
ranks() {
	mkdir "$1"
	i=0
	while [ $i -lt "$2" ]; do
		ln one.json "$1/rank$i.json"
		i=$((i + 1))
	done
}
# threads FOLDER RANKS THREADS [FIRST]: ranks with one event on each thread;
# the first may have another number of them
threads() {
	mkdir "$1"
	awk -v folder="$1" -v ranks="$2" -v threads="$3" -v first="${4-$3}" 'BEGIN {
		for (r = 0; r < ranks; r++) {
			count = r ? threads : first
			file = sprintf("%s/rank%05d.json", folder, r)
			printf "{\"distributedInfo\":{\"rank\":%d,\"world_size\":%d}," \
				"\"traceEvents\":[\n", r, ranks >file
			for (t = 0; t < count; t++)
				printf "%s{\"ph\":\"X\",\"cat\":\"cpu_op\"," \
					"\"name\":\"op\",\"pid\":%d,\"tid\":%d," \
					"\"ts\":%d,\"dur\":5}\n",
					t ? "," : "", 100 + r, 1000 + t, t >file
			print "]}" >file
			close(file)
		}
	}'
}
database() { # NAME: of the folder NAME
	run 0 "$profan" ingest -q "$1" -o "$1.db" || {
		cat err
		exit 99
	}
}

# ---- threads of all ranks together ----
# ids of threads go on over ranks, so a limit of one trace is none of all
if [ -n "${LONG-}" ]; then
	others=$(amount 600 600 65500)
	threads over 2 $others 65600
	run 1 "$profan" ingest over -o over.db &&
		[ "$(grep -c 'limit of tracks skipped: 64' err)" = 1 ]
	result "of 65,600 threads in one trace 64 are over: said, counted, exit 1"
	all=$((65536 + others))
	"$profan" query over.db -f csv \
		"SELECT count(*) AS n, max(id) AS last FROM track
	UNION ALL SELECT count(*), count(DISTINCT track_id) FROM event
	UNION ALL SELECT skipped_count, event_count FROM trace" >got
	printf '%s,%s\n' n last $all $all $all $all 64 65600 0 $others >want
	same "those of the other are not counted with them" want got
else
	skip "threads beyond a limit" "NOT TESTED without LONG=1"
fi

# ---- one bad file among many ----
ranks job 4
mkdir others
echo 'junk' >others/rank4.json
: >others/rank5.json
gzip -nc one.json | head -c 20 >others/rank6.json.gz
"$PYTHON" -S - others/rank7.pickle <<'EOF'
import pickle, sys
frames = [{"filename": "bad.py", "line": n, "name": "only_in_bad"}
          for n in range(50)]
history = [{"action": "alloc", "addr": 64 * n, "size": 64, "stream": 0,
            "time_us": n, "frames": frames[: n % 40 + 1]} for n in range(400)]
blocks = [{"size": 64, "requested_size": 64, "address": 64 * n,
           "state": "active_allocated", "frames": frames} for n in range(400)]
whole = pickle.dumps({
    "segments": [{"device": 0, "address": 0, "total_size": 25600, "stream": 0,
                  "segment_type": "small", "blocks": blocks}],
    "device_traces": [history]})
open(sys.argv[1], "wb").write(whole[:len(whole) * 9 // 10])
EOF
for i in 8 9; do ln one.json others/rank$i.json; done
run 3 "$profan" ingest -q job/* others/* -o bad.db && [ ! -e bad.db ]
result "without --keep-going one bad file ends all"
run 1 "$profan" ingest --keep-going job/* others/* gone.json -o bad.db &&
	grep -q "5 of 11 files could not be read; 'profan info' lists them" err
result "with it, the others are read, and the exit code is 1"
"$profan" query bad.db -f csv \
	"SELECT id, path, rank, why FROM unread ORDER BY id" >got
cat >want <<'EOF'
id,path,rank,why
5,others/rank4.json,4,is neither a profan database nor a trace (no JSON at byte 0)
6,others/rank5.json,5,is empty
7,others/rank6.json.gz,6,the gzip data is damaged
8,others/rank7.pickle,7,"ends inside its pickle, at byte 40295: its end, which holds what all of it is, is missing; --salvage keeps what is before that"
11,gone.json,,cannot open: No such file or directory
EOF
same "each file that was left out is a row that says why" want got
run 0 "$profan" info bad.db -f csv --table unread && [ "$(wc -l <out)" = 6 ]
result "info lists them" out
run 0 "$profan" ingest -q job/* others/rank[89].json -o good.db
content() { # DB: all that comes from the files, whatever their numbers
	for list in "text FROM string" "text FROM argset" \
		"ph, category, kind FROM event_type" "'x' FROM stack" \
		"'x' FROM stack_frame" "'x' FROM segment" "'x' FROM mem_block" \
		"event_count, rank FROM trace"; do
		"$profan" query "$1" -f csv "SELECT $list ORDER BY rowid"
	done
	"$profan" query "$1" -f csv "SELECT t.rank, e.name, e.start_ns, e.dur_ns
		FROM event AS e JOIN trace AS t ON t.id = e.trace_id
		ORDER BY e.id"
}
content good.db >want
content bad.db >got
same "what is stored is as if they had not been there" want got
for threads in 1 2 4; do
	run 1 "$profan" ingest -q -j $threads --keep-going job/* others/* \
		gone.json -o again.db && cmp bad.db again.db >>err
	result "the same bytes with $threads threads"
done
run 1 "$profan" ingest -q --keep-going job others -o folders.db &&
	"$profan" query folders.db -f csv "SELECT count(*) FROM unread" |
	tail -1 >out && grep -qx 4 out
result "in folders files called as a rank's are not passed over" out err
run 3 "$profan" ingest --keep-going others/rank[45].json -o none.db &&
	grep -q "no file could be read: 'others/rank4.json': is neither" err &&
	[ ! -e none.db ]
result "if no file can be read there is no database"
run 2 "$profan" ingest --keep-going --strict job -o none.db
result "--strict refuses what --keep-going passes over"

# ---- temporary files, and file systems without locks ----
if [ -n "$(command -v strace)" ] && strace -o calls true 2>err; then
	mkdir here there
	temporary() { # what made files without a name, and those with one
		sed -n 's/.*openat([^"]*"\([^"]*\)".*O_TMPFILE.*/\1/p' calls |
			sort -u >got
	}
	(unset TMPDIR && strace -f -o calls "$profan" ingest -q one.json \
		-o here/x.db)
	temporary
	echo here >want
	same "temporary files are beside the database" want got
	TMPDIR=$tmp/there strace -f -o calls "$profan" ingest -q one.json \
		-o here/x.db
	temporary
	echo "$tmp/there" >want
	same "or in TMPDIR" want got
	TMPDIR=/tmp strace -f -o calls "$profan" ingest -q --tmp "$tmp/there" \
		one.json -o here/x.db
	temporary
	same "or where --tmp says" want got
	strace -f -o calls "$profan" gaps here/x.db >/dev/null 2>&1
	grep -c 'F_.*LK' calls >got
	echo 0 >want
	same "a database that is read is not locked" want got
else
	skip "temporary files and locks" "no strace, or none that may trace"
fi
run 2 "$profan" ingest -q --tmp "$tmp/nowhere" one.json -o x.db &&
	grep -q "is no folder that can be written to" err
result "--tmp must be a folder"

# ---- answers for people ----
ranks r64 64
database r64
"$mktrace" --steps 2 --layers 1 --no-stacks --seed 7 >slow.json
mkdir mixed
for i in $(seq 0 19); do ln one.json mixed/rank$i.json; done
rm mixed/rank13.json
ln slow.json mixed/rank13.json
database mixed
table() { # COMMAND TITLE: the table of that title, and the notes about it
	"$profan" "$1" mixed.db | awk -v title="$2" '
		index($0, title) == 1 { on = 1 }
		/^$/ { on = 0 }
		on' >got
}
table gaps 'By GPU'
"$profan" gaps mixed.db -f csv --table devices |
	"$PYTHON" -S -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
busy = sorted(int(r["busy_ns"]) for r in rows)
at = 0.9 * (len(busy) - 1)
p90 = busy[int(at)] + (busy[int(at) + 1] - busy[int(at)]) * (at % 1)
for name, ns in (("min", busy[0]), ("p50", (busy[9] + busy[10]) / 2),
                 ("p90", p90), ("max", busy[-1])):
    print(name, "%.3f" % (ns / 1e6))' >want
awk '$1 ~ /^(min|p50|p90|max)$/ { print $1, $5 }' got >quantiles
same "of 20 ranks: quantiles over ranks" want quantiles
awk 'NR > 3 && $1 ~ /^[0-9]+$/ { print $1 }' got >out
echo 13 >want
same "and those that are out of line, here one" want out
"$profan" gaps mixed.db --rank 0..15 | grep -c '^ *[0-9][0-9]*  *0  .* ms ' >out
echo 16 >want
same "16 ranks are a row each" want out
"$profan" overlap mixed.db --limit -1 | grep -c '^ *[0-9][0-9]*  *0  .* ms ' >out
echo 20 >want
same "--limit -1 shows each" want out
: >bad
for command in steps gaps syncs overlap kernels launches calls modules memory \
	doctor info; do
	lines=$("$profan" $command mixed.db 2>&1 | wc -l)
	[ "$("$profan" $command r64.db 2>&1 | wc -l)" -le $((lines + 5)) ] ||
		echo $command
done >bad
[ ! -s bad ]
result "64 ranks take no more lines than 20" bad

# ---- some of the ranks ----
which() { # LIST: the ranks of the rows
	run 0 "$profan" overlap r64.db --rank "$1" -f csv --table devices &&
		sed 1d out | "$PYTHON" -S -c 'import csv, sys
print(*[r[0] for r in csv.reader(sys.stdin)])'
}
: >got
for list in 7 0..3 1,5,3 60..70 8..9,0,9; do
	which $list >>got
done
cat >want <<'EOF'
7
0 1 2 3
1 3 5
60 61 62 63
0 8 9
EOF
same "--rank takes lists and ranges" want got
: >bad
for list in '' , 1, ,1 1,,2 3..1 x 1..x -1 1...3; do
	run 2 "$profan" overlap r64.db --rank="$list" || echo "$list" >>bad
done
[ ! -s bad ]
result "what is no list is refused" bad err
run 3 "$profan" overlap r64.db --rank 64,99..101 &&
	grep -q 'there is no trace of rank 64,99..101' err
result "ranks that are not there"

# ---- ranges in ranges ----
# each holds all those behind it, and one kernel is launched in all
"$PYTHON" -S -c '
import json, sys
def event(cat, name, ts, dur, pid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 1,
            "ts": ts, "dur": dur, "args": args}
for name, count in ("nested", 256), ("deep", 300):
    events = [event("user_annotation", "r%03d" % i, i, 2000 - 2 * i)
              for i in range(count)]
    events += [event("user_annotation", "r001", 3000, 9),
               event("user_annotation", "r299", 4000, 9)]
    for i, ts in enumerate((1000, 3001, 4001)):
        events += [event("cuda_runtime", "cudaLaunchKernel", ts, 1,
                         correlation=i + 1),
                   event("kernel", "k", ts + 4000, 1, 0, correlation=i + 1,
                         device=0, stream=7)]
    json.dump(events, open(name + ".json", "w"))'
in_ranges() { # NAME: ranges with GPU work, and the note
	run 0 "$profan" ranges "$1.json" -f csv --table gpu --limit -1 &&
		sed 1d out | cut -d, -f1-3 | sort >got
	run 0 "$profan" ranges "$1.json" &&
		grep -c '^Note: 1 piece.* 256 ranges at once' out >>got
}
expect() {
	for i in $(seq 0 255); do
		[ "$i" = 1 ] && echo r001,2,2 || printf 'r%03d,1,1\n' "$i"
	done
}
in_ranges nested
{ expect; echo r299,1,1; echo 0; } >want
same "256 ranges in each other have the GPU work that they launched" want got
in_ranges deep
{ expect; echo 1; } >want
same "names of ranges that lie deeper have none, which is said" want got

# ---- names of kilobytes, and work that grows as the ranks do ----
grep -aq __asan_init "$profan" && {
	skip "memory, and work that grows as the ranks do" \
		"sanitizers take their own, and must be loaded before all else"
	tap_done
}
"$PYTHON" -S - "$profan" >bad <<'EOF'
import json, os, sys
NAMES, LONG = 800, 6000
def peak(name_bytes):
    """KB of each command that shows a list of NAMES kernels."""
    events = []
    for i in range(NAMES):
        name = "void " + "k" * (name_bytes - 20) + "<%d>(int)" % i
        events += [{"ph": "X", "cat": cat, "name": n, "pid": pid, "tid": tid,
                    "ts": i * 10 + ts, "dur": dur,
                    "args": {"correlation": i + 1, **args}}
                   for cat, n, pid, tid, ts, dur, args in (
                       ("cuda_runtime", "cudaLaunchKernel", 1, 1, 0, 1, {}),
                       ("kernel", name, 0, 7, 2, 3,
                        {"device": 0, "stream": 7}))]
    with open("names.json", "w") as f:
        json.dump(events, f)
    os.system("'%s' ingest -q names.json -o names.db" % sys.argv[1])
    used = []
    for command in "summary", "report":
        pid = os.fork()
        if not pid:
            os.dup2(os.open("names.out", os.O_WRONLY | os.O_CREAT), 1)
            os.execv(sys.argv[1], [sys.argv[1], command, "-q", "names.db"] +
                     ["-o", "names.html"] * (command == "report"))
        _, status, use = os.wait4(pid, 0)
        used.append((command, status, use.ru_maxrss))
    return used
for (command, rc, short), (_, rc2, long) in zip(peak(50), peak(LONG)):
    if rc or rc2 or (long - short) * 1024 > 8 * NAMES * LONG:
        print(command, rc, rc2, short, "KB,", long, "KB")
EOF
[ ! -s bad ]
result "names of 6 KB are a few times in memory, not once for each list" bad
# ---- what memory takes for each kernel ----
for n in 60000 260000; do
	awk -v n=$n 'BEGIN {
		print "{\"traceEvents\":["
		for (i = 0; i < n; i++) {
			args = sprintf("\"args\":{\"correlation\":%d", i + 1)
			printf "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\"," \
				"\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":8}\n",
				i ? "," : "", i % 7, 10 * i
			printf ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":" \
				"\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d," \
				"\"dur\":3,%s}}\n", 10 * i + 2, args
			printf ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\"," \
				"\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":6,%s," \
				"\"device\":0,\"stream\":7}}\n", i % 5, 10 * i + 9, args
		}
		print "]}"
	}' >$n.json
	"$profan" ingest -q $n.json -o $n.db || exit 99
	rm $n.json
done
# a thread, a stream, three events a kernel: what is allowed is a tenth more
# than what was measured
"$PYTHON" -S - "$profan" >bad <<'EOF'
import os, sys
FEW, MANY = 60000, 260000
def peak(command, kernels):
    pid = os.fork()
    if not pid:
        os.dup2(os.open("kernels.out", os.O_WRONLY | os.O_CREAT), 1)
        os.execv(sys.argv[1],
                 [sys.argv[1], command, "-q", "%d.db" % kernels])
    _, status, use = os.wait4(pid, 0)
    return 1024 * use.ru_maxrss if not status else 0
for command, most in (("path", 95), ("summary", 125), ("advise", 125),
                      ("syncs", 10), ("gaps", 10), ("launches", 20)):
    # which thread is how far when, and so the peak, is not always the same
    for _ in range(3):
        few, many = peak(command, FEW), peak(command, MANY)
        is_fine = few and many and many - few <= most * (MANY - FEW)
        if is_fine:
            break
    if not is_fine:
        print(command, few, many, (many - few) / (MANY - FEW))
EOF
[ ! -s bad ]
result "of each kernel more, so many bytes at most are kept" bad

# ---- one call that launches much ----
awk 'BEGIN {
	print "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cuda_runtime\"," \
		"\"name\":\"cudaGraphLaunch\",\"pid\":1,\"tid\":2,\"ts\":0," \
		"\"dur\":2,\"args\":{\"correlation\":1}}"
	for (i = 0; i < 100000; i++)
		printf ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"," \
			"\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":3,\"args\":{" \
			"\"device\":0,\"stream\":7,\"correlation\":1}}\n", 5 + 10 * i
	print "]}"
}' >much.json
run 0 "$profan" ingest -q much.json -o much.db &&
	(ulimit -t 15 && exec "$profan" path much.db) >out 2>err
result "path of 100,000 kernels of one launch takes no time of their square" \
	out err

# ---- modules in modules, and gaps in all of them ----
awk 'BEGIN {
	print "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cuda_runtime\"," \
		"\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1," \
		"\"ts\":100000,\"dur\":0,\"args\":{\"correlation\":1}}"
	for (i = 0; i < 100000; i++)
		printf ",{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":" \
			"\"nn.Module: M%d_0\",\"pid\":1,\"tid\":1,\"ts\":%d," \
			"\"dur\":%d,\"args\":{\"Python id\":%d," \
			"\"Python parent id\":%d,\"Python module id\":%d}}\n" \
			",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"," \
			"\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":1,\"args\":{" \
			"\"device\":0,\"stream\":7,\"correlation\":1}}\n", i, i,
			200000 - 2 * i, i + 1, i, i, 300000 + 2 * i
	print "]}"
}' >deep.json
run 0 "$profan" ingest -q deep.json -o deep.db &&
	(ulimit -t 5 && exec "$profan" gaps deep.db) >out 2>err
result "gaps in 100,000 modules that are nested take no time of their square" \
	out err

# shellcheck disable=SC2086
${CC:-cc} -shared -fPIC -o steps.so "$top_srcdir/tests/scale_steps.c" \
	-ldl 2>err || {
	skip "work grows as the ranks do" "no library can be made with ${CC:-cc}"
	tap_done
}
steps() { # COMMAND...: what SQLite had to do, in $n
	LD_PRELOAD=$tmp/steps.so PROFAN_SQL_STEPS=$tmp/n "$@" >out 2>err </dev/null ||
		echo "failed: $*" >>bad
	n=$(cat n)
}
linear() { # FEW MANY COMMAND...: four times the ranks, at most five the work
	few=$1 many=$2
	shift 2
	: >bad
	steps "$profan" "$@" "$few"
	before=$n
	steps "$profan" "$@" "$many"
	[ "$before" -gt 0 ] && [ "$n" -le $((before * 5)) ] ||
		echo "steps of SQLite: $before, then $n" >>bad
	[ ! -s bad ]
	result "$1: four times the ranks, at most five times the work ($few)" bad
}
rm -f n
run 2 env LD_PRELOAD="$tmp/steps.so" PROFAN_SQL_STEPS="$tmp/n" "$profan" \
	path r64.db && refused=$(cat n) && steps "$profan" syncs r64.db &&
	[ "$refused" -lt $((n / 10)) ]
result "several ranks are refused before they are read" n out err
ranks_few=$(amount 32 32 128)
ranks r16 16
threads few $ranks_few 13
threads many $((ranks_few * 4)) 13
for name in r16 few many; do
	database $name
done
for command in steps syncs overlap gaps kernels launches calls modules memory \
	doctor info; do
	linear r16.db r64.db $command
	linear few.db many.db $command
done
# with collectives of several ranks
for n in 16 64; do
	"$mktrace" --ranks $n --steps 2 --layers 1 --out c$n
	database c$n
done
for command in summary steps overlap gaps kernels roofline ranks trend; do
	linear c16.db c64.db $command
done
linear r16.db r64.db report --force -o page.html
linear few many ingest -q --output x.db
tap_done
