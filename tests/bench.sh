# SPDX-License-Identifier: MIT
# make bench: speed, memory and size, as ratios measured in one run, beside
# the bounds that a release must hold.  Large: about 5 GB in BENCH_DIR (the
# build folder by default).  BENCH_MB sets the size of the inputs (1100);
# BENCH_LARGE=1 adds the ten times larger one.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
dir=${BENCH_DIR:-$top_builddir/bench-data}
mb=${BENCH_MB:-1100}
measure=$top_builddir/tests/measure
mkdir -p "$dir" || exit 99
cd "$dir" || exit 99
failed=0

calc() { awk "BEGIN { printf \"%.4f\", ($1) }"; }

# bound NAME VALUE OPERATOR LIMIT UNIT
bound() {
	if awk "BEGIN { exit !($2 $3 $4) }"; then
		verdict=ok
	else
		verdict=MISSED
		failed=$((failed + 1))
	fi
	printf '  %-44s %10.3f %-8s (%s %s)  %s\n' "$1" "$2" "$5" "$3" "$4" \
		"$verdict"
}

# used COMMAND...: sets wall, cpu, peak (MB)
used() {
	"$measure" "$tmp/used" "$@" >"$tmp/out" 2>"$tmp/err" || {
		echo "failed: $*"
		cat "$tmp/err"
		exit 1
	}
	read -r wall cpu peak _ <"$tmp/used"
	peak=$(calc "$peak / 1024")
}

# best of three, as the machine may be shared
ingest() { # FILE
	best=
	for i in 1 2 3; do
		used "$profan" ingest "$1" -o "$tmp/b.db"
		if [ -z "$best" ] || awk "BEGIN { exit !($wall < $best) }"; then
			best=$wall best_cpu=$cpu
		fi
		most=$(calc "$peak > ${most:-0} ? $peak : ${most:-0}")
	done
	wall=$best cpu=$best_cpu peak=$most
	most=
}

bench() { # NAME FILE MINIMUM_MB_PER_S
	name=$1 file=$2
	size=$(wc -c <"$file")
	cat "$file" >/dev/null
	echo "$name: $((size / 1000000)) MB"
	ingest "$file"
	plain_cpu=$cpu
	plain_wall=$wall
	[ -z "$3" ] || bound "ingest, MB of JSON a second" \
		"$(calc "$size / 1e6 / $wall")" '>=' "$3" MB/s
	printf '  %-44s %10.3f s\n' "ingest, wall" "$wall" \
		"ingest, CPU" "$cpu"
	bound "ingest, peak memory" "$peak" '<=' 96 MB
	dbsize=$(wc -c <"$tmp/b.db")
	bound "database, share of the JSON" \
		"$(calc "100 * $dbsize / $size")" '<=' 6 '%'
	if [ -n "$PYTHON" ]; then
		used "$PYTHON" -c 'import json, sys; json.load(open(sys.argv[1]))' \
			"$file"
		bound "ingest, CPU as a share of json.load" \
			"$(calc "$plain_cpu / $cpu")" '<=' 0.125 ''
	fi
	used "$profan" table --limit 36 "$tmp/b.db"
	bound "table of 36 rows, wall" "$wall" '<=' 0.1 s
	used "$profan" query --format csv "$tmp/b.db" \
		"SELECT name, count(*) AS n, sum(dur_ns) AS t FROM event
		GROUP BY name ORDER BY t DESC, name LIMIT 20"
	bound "group by name through query, wall" "$wall" '<=' 2.5 s
	[ -f "$file.gz" ] || gzip -6 -k "$file"
	ingest "$file.gz"
	bound "ingest of .gz, wall against plain" \
		"$(calc "$wall / $plain_wall")" '<=' "$gz_limit" x
}

gz_limit=1.6
grep -q 'define HAVE_ISAL 1' "$top_builddir/config.h" && gz_limit=1.3

[ -f "mk-$mb.json" ] || "$mktrace" --bytes "${mb}M" --layers 12 \
	>"mk-$mb.json"
bench "mktrace" "mk-$mb.json" ""
scale=$shared/tools/scale_trace.py
if [ -f "$scale" ] && [ -n "$PYTHON" ]; then
	[ -f "ns-$mb.json" ] || "$PYTHON" "$scale" \
		"$shared/traces/v100_ns_resolution.json.gz" "ns-$mb.json" $mb
	bench "ns (training, V100)" "ns-$mb.json" 700
	[ -f "owl-$mb.json" ] || "$PYTHON" "$scale" \
		"$shared/traces/h100_owlv2.json.gz" "owl-$mb.json" $mb
	bench "owl (inference, H100, stacks)" "owl-$mb.json" 900
else
	echo "NOT MEASURED: ns and owl, for ../shared is not there"
fi
if [ "${BENCH_LARGE:-}" = 1 ]; then
	large=$((mb * 10))
	[ -f "mk-$large.json" ] || "$mktrace" --bytes "${large}M" \
		--layers 12 >"mk-$large.json"
	used "$profan" ingest "mk-$large.json" -o "$tmp/b.db"
	echo "mktrace, ten times the size: $wall s"
	bound "ingest, peak memory" "$peak" '<=' 160 MB
fi
echo "$failed bounds missed"
[ "$failed" = 0 ]
