# SPDX-License-Identifier: MIT
# Several files at once: while one is read, those before it are merged and
# written.  The database does not show it, nor does what is said.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
good=$top_srcdir/tests/traces/good-pretty.json
set -- "$top_srcdir"/tests/traces/good-*.json
[ -f "$good" ] || good=$1

# of several sizes, so that now the reading is ahead, now the writing
mkdir "$tmp/many"
n=0
for how in "--steps 30 --layers 1 --no-stacks" "--steps 1 --layers 1" \
	"--steps 3 --layers 2" "--steps 1 --layers 8" "--steps 2 --inference" \
	"--steps 9 --chrome" "--steps 2 --old --style compact" "--steps 2 --amd"; do
	n=$((n + 1))
	"$mktrace" $how --seed $n >"$tmp/many/rank$n.json"
done
cp "$good" "$tmp/many/rank0.json"

ingest() { # OUT THREADS PATH...
	out=$1 threads=$2
	shift 2
	rm -f "$out"
	"$profan" ingest -j "$threads" -o "$out" "$@" >"$tmp/said" 2>&1
	echo "exit $?" >>"$tmp/said"
}

alike() { # NAME PATH...: whatever the number of threads
	name=$1
	shift
	: >"$tmp/bad"
	ingest "$tmp/one.db" 1 "$@"
	mv "$tmp/said" "$tmp/said.one"
	for threads in 2 3 4 8 2 4; do
		ingest "$tmp/more.db" $threads "$@"
		cmp "$tmp/said" "$tmp/said.one" >>"$tmp/bad" 2>&1 || {
			echo "-j $threads says:"
			cat "$tmp/said"
		} >>"$tmp/bad"
		if [ -f "$tmp/one.db" ]; then
			cmp "$tmp/one.db" "$tmp/more.db" >>"$tmp/bad" 2>&1
		else
			[ ! -e "$tmp/more.db" ]
		fi || echo "-j $threads: another database" >>"$tmp/bad"
		ls "$tmp"/more.db.* >>"$tmp/bad" 2>/dev/null
	done
	[ ! -s "$tmp/bad" ]
	result "$name" "$tmp/bad"
}
says() { # NAME TEXT...: the last ingest with one thread
	name=$1
	shift
	for text; do
		grep -qF -- "$text" "$tmp/said.one" || {
			echo "not said: $text"
			cat "$tmp/said.one"
		} >"$tmp/bad"
	done
	[ ! -s "$tmp/bad" ]
	result "$name" "$tmp/bad"
}

alike "a folder, 1 to 8 threads" "$tmp/many"
says "a folder is read" "exit 0"
"$profan" query --format csv "$tmp/one.db" \
	"SELECT group_concat(id || ' ' || substr(path, -10), ', ') FROM
	(SELECT id, path FROM trace ORDER BY id)" | tail -1 >"$tmp/order"
for i in 0 1 2 3 4 5 6 7 8; do
	printf '%d rank%d.json%s' $((i + 1)) $i "$([ $i = 8 ] || echo ', ')"
done | sed 's/.*/"&"/' >"$tmp/want"
echo >>"$tmp/want"
same "traces are in the order of the files" "$tmp/want" "$tmp/order"
export PROFAN_CHUNK_BYTES=20011
alike "the same in small chunks" "$tmp/many"
unset PROFAN_CHUNK_BYTES

# each alone: what is in a trace does not depend on its neighbours
q="SELECT count(*), sum(dur_ns), min(start_ns) FROM event"
: >"$tmp/want"
: >"$tmp/got"
for i in 0 1 2 3 4 5 6 7 8; do
	ingest "$tmp/alone.db" 4 "$tmp/many/rank$i.json"
	"$profan" query --format csv "$tmp/alone.db" "$q" | tail -1 >>"$tmp/want"
	"$profan" query --format csv "$tmp/one.db" "$q
		WHERE trace_id = $((i + 1))" | tail -1 >>"$tmp/got"
done
same "the same events as alone" "$tmp/want" "$tmp/got"

# more annotations than fit a page: two threads must not share out the pages
"$mktrace" --steps 400 --layers 1 --no-stacks --inference >"$tmp/steps.json"
: >"$tmp/bad"
for i in 1 2 3 4 5 6; do
	ingest "$tmp/more.db" 4 "$tmp/steps.json"
	[ -f "$tmp/first.db" ] || cp "$tmp/more.db" "$tmp/first.db"
	cmp "$tmp/first.db" "$tmp/more.db" >>"$tmp/bad" 2>&1
done
[ ! -s "$tmp/bad" ]
result "one file with many annotations, six times" "$tmp/bad"

# ---- one of them is bad ----
gzip -c "$tmp/many/rank3.json" | head -c 20000 >"$tmp/cut.json.gz"
: >"$tmp/empty.json"
echo '[1, 2, 3]' >"$tmp/other.json"
head -c 50000 "$tmp/many/rank4.json" >"$tmp/short.json"
a=$tmp/many/rank3.json b=$tmp/many/rank4.json c=$tmp/many/rank1.json
for bad in empty other missing; do
	alike "$bad in the middle" "$a" "$b" "$tmp/$bad.json" "$c" "$a"
	says "$bad: one sentence" "$bad.json'" "exit 3"
done
alike "a short and a cut one in the middle" "$a" "$tmp/short.json" \
	"$tmp/cut.json.gz" "$c"
says "both are named" "short.json'" "cut.json.gz'" "exit 0"
alike "the first of two bad ones is named" "$a" "$tmp/empty.json" "$c" \
	"$tmp/other.json"
says "the first" "empty.json'"
alike "--strict refuses the second, the fourth is bad too" --strict "$a" \
	"$tmp/short.json" "$c" "$tmp/empty.json"
says "--strict: the second" "short.json'" "exit 3"

# ---- stopped while several are open ----
cp "$tmp/one.db" "$tmp/kept.db" 2>/dev/null || ingest "$tmp/kept.db" 4 "$a"
cp "$tmp/kept.db" "$tmp/before.db"
mkfifo "$tmp/pipe"
for signal in HUP TERM KILL; do
	"$profan" ingest -j 4 "$tmp/many" "$tmp/pipe" -o "$tmp/kept.db" \
		>/dev/null 2>&1 &
	pid=$!
	exec 9>"$tmp/pipe"
	head -c 30000 "$a" >&9
	kill -$signal "$pid"
	wait "$pid" 2>/dev/null
	exec 9>&-
	same "the database after SIG$signal" "$tmp/before.db" "$tmp/kept.db"
done
ingest "$tmp/kept.db" 4 "$tmp/many"
ls "$tmp"/kept.db.* "$tmp"/.profan-* >"$tmp/left" 2>/dev/null
[ ! -s "$tmp/left" ]
result "nothing is left behind" "$tmp/left"
tap_done
