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

counts=$(amount 4 "2 3 4 8" "2 3 4 8 2 4")
alike() { # NAME PATH...: whatever the number of threads
	name=$1
	shift
	: >"$tmp/bad"
	ingest "$tmp/one.db" 1 "$@"
	mv "$tmp/said" "$tmp/said.one"
	for threads in $counts; do
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
	: >"$tmp/bad"
	for text; do
		grep -qF -- "$text" "$tmp/said.one" || {
			echo "not said: $text"
			cat "$tmp/said.one"
		} >>"$tmp/bad"
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

# nor the types that lines of devices get, which the file knows nothing of; with
# so many categories the last of them needs another page
devices() { # COUNT: a trace of JAX with so many events on host and device
	cat <<-'end'
		{"traceEvents":[
		{"args":{"name":"/device:GPU:0"},"name":"process_name","ph":"M","pid":1},
		{"args":{"name":"Stream #16(Kernel,MemcpyH2D)"},"name":"thread_name",
		"ph":"M","pid":1,"tid":1},
	end
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < 187; i++)
			printf "{\"name\":\"c\",\"cat\":\"category %d\",\"ph\":\"X\"," \
				"\"pid\":701,\"tid\":5,\"dur\":1,\"ts\":%d},\n", i, i
		for (i = 0; i < n; i++)
			printf "{\"name\":\"call %d\",\"ph\":\"X\",\"pid\":701," \
				"\"tid\":5,\"dur\":1,\"ts\":%d},\n", i % 999, 2 * i
		for (i = 0; i < n; i++)
			printf "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1," \
				"\"tid\":1,\"dur\":1,\"ts\":%d},\n",
				i % 9 ? "fusion" : i % 2 ? "MemcpyH2D" : "Memset",
				2 * i
	}'
	echo '{}]}'
}
devices 40000 >"$tmp/jax.json"
alike "a trace with lines of devices" "$tmp/jax.json"
alike "three of them" "$tmp/jax.json" "$good" "$tmp/jax.json" "$tmp/jax.json"

# ---- of several formats ----
mkdir "$tmp/mixed"
"$top_builddir/tests/gen/mkpfr" >"$tmp/mixed/b.pfr"
"$top_builddir/tests/gen/mkpfr" --killed --layers 3 >"$tmp/mixed/f.pfr"
cp "$tmp/many/rank1.json" "$tmp/mixed/a.json"
cp "$tmp/many/rank6.json" "$tmp/mixed/d.json"
cp "$tmp/jax.json" "$tmp/mixed/e.json"
gzip -c "$tmp/many/rank4.json" >"$tmp/mixed/g.json.gz"
if [ -n "$PYTHON" ]; then
	gen=$top_srcdir/tests
	mkdir "$tmp/made"
	"$PYTHON" -S "$gen/memsnap.py" make "$tmp/made"
	"$PYTHON" -S "$gen/nsys.py" make "$tmp/made"
	"$PYTHON" -S "$gen/gen/mkxspace.py" whole >"$tmp/mixed/c.xplane.pb"
	"$PYTHON" -S "$gen/gen/mkxspace.py" tpu >"$tmp/mixed/i.xplane.pb"
	cp "$tmp/made/good-long.pickle" "$tmp/mixed/b2.pickle"
	cp "$tmp/made/good-two.pickle" "$tmp/mixed/h.pickle"
	cp "$tmp/made/plain.sqlite" "$tmp/mixed/c2.sqlite"
	cp "$tmp/made/graphs.sqlite" "$tmp/mixed/h2.sqlite"
fi
cp "$tmp/many/rank2.json" "$tmp/mixed/j.json"
alike "files of every format" "$tmp"/mixed/*
says "all are read" "exit 0"
"$profan" query --format csv "$tmp/one.db" "SELECT count(*) FROM trace" |
	tail -1 >"$tmp/got"
ls "$tmp/mixed" | wc -l | tr -d ' ' >"$tmp/want"
same "each is a trace" "$tmp/want" "$tmp/got"
export PROFAN_CHUNK_BYTES=997
alike "the same in small batches" "$tmp"/mixed/*
unset PROFAN_CHUNK_BYTES
# What traces share is asked of when it is theirs: averages of the first wait,
# and the second has operators and is merged, while the third is read for long.
if [ -f "$tmp/mixed/h2.sqlite" ]; then
	kept=$counts counts="2 3 4 2"
	alike "averages of kernels alone, before a trace with operators" \
		"$tmp/mixed/h2.sqlite" "$tmp/many/rank2.json" \
		"$tmp/many/rank1.json"
	counts=$kept
	q="SELECT key, value, (SELECT count(*) FROM average WHERE trace_id = 1)
		FROM trace_fact WHERE trace_id = 1 AND key GLOB 'averages_*'"
	"$profan" query --format csv "$tmp/more.db" "$q" >"$tmp/got"
	ingest "$tmp/alone.db" 1 "$tmp/mixed/h2.sqlite"
	"$profan" query --format csv "$tmp/alone.db" "$q" >"$tmp/want"
	same "they are those of it alone" "$tmp/want" "$tmp/got"
fi
# a damaged one of each, behind a good one and before others
for file in c2.sqlite g.json.gz $(amount "" "b.pfr c.xplane.pb b2.pickle" \
	"b.pfr c.xplane.pb b2.pickle"); do
	file=$tmp/mixed/$file
	[ -f "$file" ] || continue
	head -c $(($(wc -c <"$file") * 2 / 3)) "$file" >"$tmp/cut.${file##*.}"
	alike "a cut .${file##*.} in the middle" "$tmp/mixed/e.json" \
		"$tmp/mixed/g.json.gz" "$tmp/cut.${file##*.}" "$tmp"/mixed/*
done

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
	# under nohup HUP is ignored
	[ $signal = TERM ] && threads=2 || threads=4
	env --default-signal=HUP,TERM "$profan" ingest -j $threads \
		"$tmp/many" "$tmp/pipe" -o "$tmp/kept.db" >/dev/null 2>&1 &
	pid=$!
	exec 9>"$tmp/pipe"
	head -c 30000 "$a" >&9
	kill -$signal "$pid"
	exec 9>&-
	wait "$pid" 2>/dev/null
	same "the database after SIG$signal" "$tmp/before.db" "$tmp/kept.db"
done
# ---- the disk is full: now while reading, now while writing, now at the end ----
for most in "4 2" "4 4" "8 2" "8 4" "60 2" "60 4" "400 2" "400 4" "1200 2" \
	"1200 4"; do
	blocks=${most% *} threads=${most#* }
	sh -c "trap '' XFSZ; ulimit -f $blocks; exec '$profan' ingest -q \
		-j $threads '$tmp/many' -o '$tmp/kept.db'" >"$tmp/said.one" 2>&1
	code=$?
	same "the database after $blocks blocks, -j $threads" \
		"$tmp/before.db" "$tmp/kept.db"
	[ $code = 3 ] && [ "$(wc -l <"$tmp/said.one")" = 1 ]
	result "$blocks blocks, -j $threads: one sentence" "$tmp/said.one"
done
ingest "$tmp/kept.db" 4 "$tmp/many"
ls "$tmp"/kept.db.* "$tmp"/.profan-* >"$tmp/left" 2>/dev/null
[ ! -s "$tmp/left" ]
result "nothing is left behind" "$tmp/left"
tap_done
