# SPDX-License-Identifier: MIT
# Commands on traces: the cache that they are read into, and its removal.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99

"$mktrace" --steps 2 --layers 1 --seed 1 >one.json
"$mktrace" --steps 2 --layers 1 --seed 2 >two.json
run 0 "$profan" ingest one.json -o one.db
run 0 "$profan" ingest two.json -o two.db
number() { # FILE: its inode, which a new one does not have
	ls -i "$1"
}

# ---- a trace in place of a database ----
mkdir t
cp one.json t/one.json
for command in steps gaps syncs overlap kernels launches memory modules roofline graphs doctor \
	table stacks; do
	run 0 "$profan" "$command" one.db && mv out want
	run 0 "$profan" "$command" t/one.json && cmp -s want out
	result "$command of a trace" want out
done
run 0 "$profan" query t/one.json 'SELECT count(*) FROM event'
result "query of a trace"
run 0 "$profan" slice --step 0 t/one.json -o slice.json
result "slice of a trace"
run 0 "$profan" report t/one.json -f md -o - && grep -q '^### profan: one.json' out
result "report of a trace names the trace" out
rm -f t/*.db
run 0 "$profan" steps t/one.json
cat >want <<'EOF'
profan: reading t/one.json into t/one.json.profan.db; 'profan clean' removes it
EOF
same "it is said once" want err
before=$(number t/one.json.profan.db)
run 0 "$profan" gaps t/one.json && [ ! -s err ] &&
	[ "$(number t/one.json.profan.db)" = "$before" ]
result "and used again, silently"
run 0 "$profan" diff t/one.json two.db && [ ! -s err ] &&
	[ "$(number t/one.json.profan.db)" = "$before" ]
result "also by diff"
cp t/one.json.profan.db kept.db
PROFAN_DB=t/one.json run 0 "$profan" steps && [ ! -s err ]
result "PROFAN_DB may be a trace"
# two at one instant: each has an answer, one cache stays
: >twice
for n in 1 2 3 4 5; do
	rm -f t/one.json.profan.db
	"$profan" steps t/one.json >out.1 2>err.1 &
	first=$!
	"$profan" steps t/one.json >out.2 2>err.2 || cat err.2 >>twice
	wait "$first" || cat err.1 >>twice
	cmp out.1 out.2 >>twice 2>&1
	[ -e t/one.json.profan.db ] || echo "no cache $n" >>twice
	ls t/*.partial >>twice 2>/dev/null
done
[ ! -s twice ]
result "two at once make one cache" twice
# many at one instant: nobody replaces what the others read
: >many
for n in $(seq "$(amount 4 12 12)"); do
	rm -f t/one.json.profan.db
	for i in $(seq 16); do
		(sleep "0.0$(((i * 37 + n * 11) % 90 + 10))" && "$profan" summary -q t/one.json ||
			echo "round $n: $?") >/dev/null 2>>many &
	done
	wait
done
[ ! -s many ]
result "many at once have an answer each" many

# nor is what one reads removed by another
: >many
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	for i in 1 2 3 4 5 6 7 8; do
		"$profan" steps -q t/one.json >/dev/null 2>>many ||
			echo "round $n" >>many &
		"$profan" clean -q t >/dev/null 2>>many ||
			echo "round $n: clean" >>many &
	done
	wait
done
[ ! -s many ]
result "and so they have while others remove it" many

# ---- whose it is ----
(umask 0 && "$profan" steps -q one.json) >/dev/null &&
	run 0 "$profan" steps one.json && [ ! -s err ]
result "others cannot write it, whatever the umask" err
mkdir open cache
chmod 777 open
cp one.json open/t.json
XDG_CACHE_HOME=$tmp/cache run 0 "$profan" steps open/t.json &&
	[ "$(ls open)" = t.json ] && [ "$(ls cache/profan | wc -l)" -eq 1 ]
result "in a folder that others can write it lies in the user's own" err
XDG_CACHE_HOME=$tmp/cache run 0 "$profan" steps open/t.json && [ ! -s err ]
result "and is read again" err
XDG_CACHE_HOME=$tmp/cache run 0 "$profan" clean open/t.json &&
	[ -z "$(ls cache/profan)" ]
result "and is removed" err
if [ "$(id -u)" = 0 ]; then
	chown 65534 t/one.json.profan.db
	run 0 "$profan" steps t/one.json && grep -q reading err &&
		[ "$(stat -c %u t/one.json.profan.db)" = 0 ]
	result "one that another user owns is not believed" err
fi
rm t/one.json.profan.db
run 0 "$profan" steps -q t/one.json && [ ! -s err ]
result "-q says nothing"

# ---- a source that changed ----
changed() { # NAME
	before=$(number t/one.json.profan.db)
	run 0 "$profan" steps t/one.json && grep -q reading err &&
		[ "$(number t/one.json.profan.db)" != "$before" ]
	result "$1"
}
touch -d '2020-01-01 00:00:00' t/one.json
changed "an older file of the same size is read again"
cp two.json t/one.json
changed "another trace is read again"
run 0 "$profan" steps two.db && mv out want &&
	run 0 "$profan" steps t/one.json && cmp -s want out
result "and its figures are shown" out

# ---- nothing that is not a cache is replaced ----
rm t/one.json.profan.db
echo precious >t/one.json.profan.db
run 3 "$profan" steps t/one.json && grep -q "in the way" err &&
	grep -q precious t/one.json.profan.db
result "a file of that name is left"
cp one.db t/one.json.profan.db
run 3 "$profan" steps t/one.json && cmp -s one.db t/one.json.profan.db
result "and a database that somebody made"
rm t/one.json.profan.db
run 3 "$profan" slice --step 0 t/one.json -o t/one.json --force &&
	grep -q 'is an input' err && cmp -s two.json t/one.json
result "the trace is an input, which no output replaces"
run 3 "$profan" report t/one.json -o t/one.json --force &&
	cmp -s two.json t/one.json
result "also of report"

# ---- folders and several ----
mkdir -p runs/a runs/b
cp one.json runs/a/worker0.1700000000001.pt.trace.json
cp two.json runs/b/worker0.1700000000002.pt.trace.json
run 0 "$profan" info runs && [ -f runs/traces.profan.db ] &&
	grep -q '^Traces  *2' out
result "a folder is one database" out
run 0 "$profan" info runs && [ ! -s err ]
result "which is used again"
cp one.json runs/b/more.json
run 0 "$profan" info runs && grep -q reading err && grep -q '^Traces  *3' out
result "and made again for another trace" out
run 0 "$profan" info one.json two.json && [ -f one.json+1.profan.db ] &&
	grep -q '^Traces  *2' out
result "several traces are one database" out
run 2 "$profan" info one.db two.json && grep -q 'too many\|database' err
result "a database goes alone"
run 2 "$profan" info two.json one.db
result "in any order"
run 0 "$profan" diff runs/a runs/b
result "diff takes folders"
run 0 "$profan" trend runs/a runs/b -f csv && grep -q 'runs/a' out
result "trend takes folders" out

# ---- where nothing can be written ----
run 0 sh -c "cat one.json | '$profan' steps -" && [ ! -e ./-.profan.db ] &&
	grep -q 'not kept' err
result "a pipe is not kept"
if command -v flock >/dev/null; then
	: >two.json.profan.db.partial
	flock two.json.profan.db.partial sh -c \
		"'$profan' steps two.json >out 2>err"
	grep -q 'not kept' err && [ ! -e two.json.profan.db ]
	result "a second reader does not wait for the first" err
	rm two.json.profan.db.partial
else
	skip "a second reader" "NOT TESTED: no flock"
fi
mkdir temp
(
	TMPDIR=$tmp/temp
	export TMPDIR
	mkfifo pipe
	"$profan" steps pipe >/dev/null 2>&1 &
	pid=$!
	exec 9>pipe
	head -c 1000 one.json >&9
	i=0
	while [ -z "$(ls temp)" ] && [ "$i" -lt 1200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	ls temp >seen
	kill -TERM "$pid"
	wait "$pid"
	exec 9>&-
)
[ -s seen ] && [ -z "$(ls temp)" ]
result "a signal removes what is temporary" seen

# ---- nothing there ----
mkdir empty
(cd empty && run 3 "$profan" gaps)
cat >want <<'EOF'
profan: gaps: no database 'profan.db' here; run: profan ingest TRACE, or: profan gaps TRACE
EOF
same "no database says what to do" want err
echo hello >text.txt
run 3 "$profan" gaps text.txt && grep -q 'neither' err &&
	[ ! -e text.txt.profan.db ]
result "a text is refused before anything is said"

# ---- a trace alone ----
mkdir alone
cp one.json alone
run 0 "$profan" alone/one.json && [ "$(wc -l <out)" -ge 5 ] &&
	[ "$(head -1 out)" = alone/one.json ] &&
	grep -q '^  time    A step takes' out && grep -q '^  split   ' out &&
	grep -q '^  trust   ' out &&
	grep -q '^  next    profan report alone/one.json' out
result "a trace alone: where the time goes" out err
[ "$(awk 'length > 80' out | grep -c -v profan)" = 0 ]
result "in 80 columns" out
sed 's/"name": "Memset[^"]*"/"name": "'"$(printf %0170d 7)"'"/
	s/train_step/'"$(printf %0170d 8)"'/' one.json >long.json
run 0 "$profan" long.json -q && grep -q 00000000 out &&
	[ "$(awk 'length > 80' out | grep -c -v profan)" = 0 ]
result "names that are longer are cut to lines" out
run 0 "$profan" alone/one.json
sed -n 's/^  next  *//p; s/^          \(profan .*\)/\1/p' out >commands
while read -r program rest; do
	eval "run 0 \"\$$program\" $rest" || cat err
done <commands >failed
[ "$(wc -l <commands)" = 2 ] && [ ! -s failed ]
result "the commands that it names run" commands failed
run 0 "$profan" one.db && [ "$(head -1 out)" = one.db ]
result "a database alone" out
run 0 "$profan" runs && grep -q 'GPU' out
result "a folder alone" out
run 0 "$profan" one.json two.json --trace 2 && grep -q -e '^  time' out
result "several, with options" out
run 0 "$profan" summary one.db -f json && grep -q '"verdicts"' out
result "as JSON" out
(cd alone && run 0 "$profan" ./one.json -q && [ ! -s ../err ])
result "as a path"
run 3 "$profan" nowhere.json && grep -q "cannot open 'nowhere.json'" err
result "a trace that is not there"
run 2 "$profan" gasp && grep -q "did you mean 'gaps'" err
result "a typo is one still"
run 3 "$profan" nowhere.nsys-rep && grep -q "cannot open 'nowhere.nsys-rep'" err &&
	run 2 "$profan" --json one.db && grep -q "options follow it" err
result "no command is called as a file, nor as an option" err
run 2 "$profan" gaps one.db -o x.json && grep -q "'-o'; '>FILE'" err
result "where what is printed goes" err
run 2 "$profan" version && grep -q "did you mean 'profan --version'" err &&
	run 2 "$profan" flamegraph one.db &&
	grep -q "did you mean 'profan stacks'" err
result "what others call it"
run 2 "$profan" && grep -q '^Usage: profan TRACE' out && [ ! -s err ]
result "nothing at all: what it is, and 2"
run 0 "$profan" -V && grep -q '^profan [0-9]' out
result "-V"

# ---- messages that say what there is ----
run 2 "$profan" table --sort cuda_tim_total one.db &&
	grep -q "did you mean 'cuda_time_total'" err
result "a sort key that is nearly one"
run 3 "$profan" gaps --step 7 one.db &&
	grep -q 'there are 2, with numbers from 0 to 1' err
result "no such steps: which there are"
run 2 "$profan" capture --kinds foo true && grep -q "'foo'" err
result "capture --kinds knows its words"
for kind in $(sed -n '/group_names\[PF_GROUPS\]/,/};/p' \
	"$top_srcdir/agent/options.c" | grep -o '"[a-z]*"' | tr -d '"'); do
	grep -q "|$kind[|\"]\|\"$kind|" "$top_srcdir/src/cmd/cmd_capture.c" ||
		echo "$kind"
done >got
[ ! -s got ]
result "which are those of the agent" got

run 0 "$profan" help --completion bash && sed -n \
	"s/^	\"\\([a-z]*\\) --sort\".*words='\\(.*\\)';;/\\1 \\2/p" out >offered
[ "$(wc -l <offered)" -ge 9 ]
result "completion offers columns to sort by" out
while read -r command columns; do
	for column in $columns; do
		run 0 "$profan" "$command" --sort "$column" one.db ||
			cat err
	done
done <offered >got
[ ! -s got ]
result "which are there" got

# ---- on a terminal ----
terminal() { # COMMAND...: its output and messages, as a terminal gets them
	"$PYTHON" -S - "$@" <<'EOF'
import os, pty, sys
def read(fd):
    data = os.read(fd, 4096)
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))
EOF
}
if [ -n "$PYTHON" ]; then
	terminal "$profan" ingest one.json -o shown.db </dev/null >out 2>&1
	grep -q '^profan: shown.db: [0-9,]* events, 1 GPU, 2 steps; next: profan report shown.db' out
	result "a last line on a terminal" out
	terminal "$profan" ingest -q one.json -o shown.db </dev/null >out 2>&1
	[ ! -s out ]
	result "not with -q" out
	[ -p pipe ] || mkfifo pipe
	"$PYTHON" -S - "$profan" >got 2>&1 <<'EOF'
import os, pty, signal, subprocess, sys, time
ours, theirs = pty.openpty()
# of a job in the background it would be ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen([sys.argv[1], "ingest", "pipe", "-o", "int.db"],
                     stderr=theirs)
pipe = os.open("pipe", os.O_WRONLY)
os.write(pipe, b'{"traceEvents":[')
while not os.path.exists("int.db.partial"):
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
print(-p.wait(), os.read(ours, 100), os.path.exists("int.db.partial"))
EOF
	printf '%s\n' "2 b'\\r\\n' False" >want
	same "Ctrl-C ends the line and leaves nothing" want got
else
	skip "a last line on a terminal" "NOT TESTED: no python3"
fi
run 0 "$profan" ingest one.json -o shown.db && [ ! -s err ] && [ ! -s out ]
result "nothing in a pipe"
run 2 "$profan" ingest one.json -o - && [ ! -e ./- ]
result "no database on standard output"

# ---- clean ----
cp one.db mine.profan.db
cp kept.db kept.copy
ls ./*.profan.db runs/*.profan.db runs/*/*.profan.db >want 2>/dev/null
run 0 "$profan" clean --dry-run &&
	ls ./*.profan.db runs/*.profan.db runs/*/*.profan.db 2>/dev/null |
	cmp -s want - && grep -q 'would remove runs/traces.profan.db' err &&
	! grep -q mine err
result "clean --dry-run removes nothing"
run 0 "$profan" clean runs && [ ! -e runs/traces.profan.db ] &&
	[ ! -e runs/a/traces.profan.db ] && [ -e one.json+1.profan.db ] &&
	[ -e runs/b/more.json ]
result "clean FOLDER"
run 0 "$profan" steps two.json && run 0 "$profan" clean two.json &&
	[ ! -e two.json.profan.db ] && [ -e two.json ]
result "clean TRACE"
run 0 "$profan" clean && [ ! -e one.json+1.profan.db ] &&
	[ -e mine.profan.db ] && [ -e one.db ] && [ -e kept.db ] &&
	[ -e one.json ]
result "clean: caches and nothing else"
run 0 "$profan" clean one.db kept.db one.json && [ -e one.db ] &&
	[ -e kept.db ] && grep -q 'nothing to remove' err
result "a database by name is no cache"
run 3 "$profan" clean nowhere
result "clean of what is not there"
tap_done
