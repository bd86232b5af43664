# SPDX-License-Identifier: MIT
# make bench: speed, memory and size, beside the bounds that a release must
# hold.  Times are ratios of runs that took turns, the least of each, for no
# two machines are alike and few are quiet.  What the machine cannot measure is
# said, not passed.  What other programs take has no bound, for it depends on
# the processor: what follows reading is held against reading.  Peak memory of
# summary and report grows by what the path holds (analysis/path/path.h), some
# 35 MB a GB of ns; most else that they hold ends at a bound.
# About 6 GB in BENCH_DIR (the build folder by default).
#	BENCH_MB      size of the large inputs (1100)
#	BENCH_LARGE   1: also one that is ten times as large
#	BENCH_ROUNDS  runs of each (3)
#	BENCH_ONLY    of: ingest json share temp gz commands many wide large (all)
#	BENCH_WIDE    kinds of things of "wide" (all that wide.py names)
#	BENCH_WIDE_COUNT  how many of each (10000, and twice that)
#	TRACE_PROCESSOR  Perfetto's, if it is not in PATH
#	HTA_PYTHON    a Python that has HolisticTraceAnalysis
# Bounds of ns and owl (traces of ../shared made larger) are not those of the
# stand-ins that mktrace writes where ../shared is missing: these have none.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
dir=${BENCH_DIR:-$top_builddir/bench-data}
mb=${BENCH_MB:-1100}
rounds=${BENCH_ROUNDS:-3}
only=${BENCH_ONLY:-ingest json share temp gz commands many wide large}
measure=$top_builddir/tests/measure
mkdir -p "$dir" || exit 99
cd "$dir" || exit 99
failed=0
unknown=0

calc() { awk "BEGIN { printf \"%.4f\", ($1) }"; }
holds() { awk "BEGIN { exit !($1) }"; }
wanted() { # one of these
	for section; do
		case " $only " in
		*" $section "*) return ;;
		esac
	done
	false
}

# bound NAME VALUE OPERATOR LIMIT UNIT; no LIMIT: a figure without a bound
bound() {
	[ -n "$4" ] || {
		printf '  %-46s %9.3f %s\n' "$1" "$2" "$5"
		return
	}
	if holds "$2 $3 $4"; then
		verdict=ok
	else
		verdict=MISSED
		failed=$((failed + 1))
	fi
	printf '  %-46s %9.3f %-3s (%s %s)  %s\n' "$1" "$2" "$5" "$3" "$4" \
		"$verdict"
}

cannot() { # WHAT WHY
	unknown=$((unknown + 1))
	printf '  %-46s not measured: %s\n' "$1" "$2"
}

# used NAME COMMAND...: the least wall and CPU time of all runs of that name in
# NAME_wall and NAME_cpu, the most memory (MB) in NAME_peak
used() {
	name=$1
	shift
	"$measure" $watch "$tmp/used" "$@" >"$tmp/out" 2>"$tmp/err" || {
		echo "failed: $*"
		cat "$tmp/err"
		exit 1
	}
	read -r wall cpu peak _ written busiest two <"$tmp/used"
	peak=$(calc "$peak * 1024 / 1e6")
	keep "${name}_wall" '<' "$wall"
	keep "${name}_cpu" '<' "$cpu"
	keep "${name}_peak" '>' "$peak"
	keep "${name}_two" '<' "$two"
}
keep() { # VARIABLE OPERATOR VALUE: the least or the most so far
	eval "was=\${$1-}"
	[ -n "$was" ] && ! holds "$3 $2 $was" || eval "$1=\$3"
}
forget() {
	for name; do
		unset "${name}_wall" "${name}_cpu" "${name}_peak" "${name}_two"
	done
}
watch=
turns() { seq "$rounds"; }

# ---- one large trace ----

json() { # FILE
	[ -n "$PYTHON" ] || {
		cannot "json.load" "there is no python3"
		return
	}
	forget json
	used json "$PYTHON" -c \
		'import json, sys; json.load(open(sys.argv[1]))' "$1"
	bound "json.load / ingest, wall" "$(calc "$json_wall / $plain_wall")" \
		'>=' '' x
	bound "json.load / ingest, CPU" "$(calc "$json_cpu / $plain_cpu")" \
		'>=' '' x
	bound "json.load / ingest, peak" "$(calc "$json_peak / $plain_peak")" \
		'>=' '' x
}

perfetto() { # FILE
	processor=${TRACE_PROCESSOR:-$(command -v trace_processor_shell ||
		command -v trace_processor)}
	[ -n "$processor" ] || {
		cannot "Perfetto's load / ingest" \
			"no trace_processor (set TRACE_PROCESSOR)"
		return
	}
	forget perfetto
	echo "SELECT count(*) FROM slice;" >"$tmp/count.sql"
	used perfetto "$processor" -q "$tmp/count.sql" "$1"
	bound "Perfetto's load / ingest, wall" \
		"$(calc "$perfetto_wall / $plain_wall")" '>=' '' x
	bound "Perfetto's load / ingest, CPU" \
		"$(calc "$perfetto_cpu / $plain_cpu")" '>=' '' x
}

hta() { # FILE
	[ -n "${HTA_PYTHON-}" ] || {
		cannot "Holistic Trace Analysis / ingest" \
			"no Python that has it (set HTA_PYTHON)"
		return
	}
	forget hta
	used hta "$HTA_PYTHON" -c 'import os, sys
from hta.trace_analysis import TraceAnalysis
TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=os.path.dirname(sys.argv[1])
              ).get_temporal_breakdown(visualize=False)' "$PWD/$1"
	bound "Holistic Trace Analysis / ingest, wall" \
		"$(calc "$hta_wall / $plain_wall")" '>=' '' x
	bound "Holistic Trace Analysis / ingest, peak" \
		"$(calc "$hta_peak / $plain_peak")" '>=' '' x
}

share() { # FILE
	watch=-t
	least=
	for i in $(turns); do
		used four "$profan" ingest -j 4 "$1" -o "$tmp/b.db"
		now=$(calc "100 * $busiest / $cpu")
		if holds "$busiest < 0"; then
			least=
			break
		fi
		[ -n "$least" ] && ! holds "$now < $least" || least=$now
	done
	watch=
	forget four
	if [ -n "$least" ]; then
		bound "busiest of 4 threads, share of CPU" "$least" '<=' 30 %
	else
		cannot "busiest of 4 threads" "no /proc/PID/task"
	fi
}

temp() { # of the last plain ingest, whose output is b.db
	if holds "$written < 0"; then
		cannot "temporary bytes / database" "no /proc/PID/io"
	else
		bound "temporary bytes / database" \
			"$(calc "($written - $dbsize) / $dbsize")" '<=' 1.5 x
	fi
}

gz() { # FILE
	[ -f "$1.gz" ] || gzip -6 -k "$1"
	cat "$1.gz" >/dev/null
	forget plain zipped
	for i in $(turns) $(turns); do
		used plain "$profan" ingest "$1" -o "$tmp/g.db"
		used zipped "$profan" ingest "$1.gz" -o "$tmp/g.db"
	done
	bound ".gz / plain, wall" "$(calc "$zipped_wall / $plain_wall")" \
		'<=' "$gz_limit" x
	bound ".gz / plain, CPU" "$(calc "$zipped_cpu / $plain_cpu")" '<=' '' x
}

# All that answer from the database alone; report has a bound of its own.
commands() {
	slowest=0 which=
	for command in summary table steps kernels modules ranges launches \
		calls overlap gaps syncs memory doctor info; do
		forget one
		for i in $(turns); do
			used one "$profan" "$command" "$tmp/b.db"
		done
		holds "$one_wall <= $slowest" || slowest=$one_wall which=$command
		[ $command != summary ] ||
			bound "summary, peak memory" "$one_peak" '<=' 100 MB
	done
	bound "slowest command ($which), wall" "$slowest" '<=' "$1" s
	bound "the same / ingest" "$(calc "$slowest / $plain_wall")" '<=' '' x
}

report() {
	forget report
	for i in $(turns); do
		rm -f "$tmp/b.html"
		used report "$profan" report "$tmp/b.db" -o "$tmp/b.html"
	done
	bound "report / ingest, wall" "$(calc "$report_wall / $plain_wall")" \
		'<=' 0.35 x
	bound "report, peak memory" "$report_peak" '<=' 150 MB
}

bench() { # NAME FILE CPU DATABASE COMMANDS: the bounds that differ
	size=$(wc -c <"$2")
	cat "$2" >/dev/null
	echo "$1: $((size / 1000000)) MB"
	forget plain
	unset reading
	for i in $(turns); do
		used plain "$profan" ingest --timings "$2" -o "$tmp/b.db"
		keep reading '<' \
			"$(awk '$1 == "reading" { print $3 / 1e3 }' "$tmp/out")"
	done
	printf '  ingest: %.2f s, %.2f s of CPU, %.0f MB of JSON a second\n' \
		"$plain_wall" "$plain_cpu" "$(calc "$size / 1e6 / $plain_wall")"
	bound "CPU of all / CPU of reading" \
		"$(calc "$plain_cpu / $reading")" '<=' "$3" x
	bound "peak memory" "$plain_peak" '<=' 64 MB
	dbsize=$(wc -c <"$tmp/b.db")
	bound "database, share of the JSON" \
		"$(calc "100 * $dbsize / $size")" '<=' "$4" %
	! wanted temp || temp
	! wanted share || share "$2"
	! wanted json || { json "$2" && perfetto "$2" && hta "$2"; }
	! wanted commands || { commands "$5" && report; }
	! wanted gz || gz "$2"
}

# ---- many small ones ----

# eight programs, eight captures of each, about 20 MB
make_many() {
	mkdir many-making || exit 99
	n=0
	for seed in 1 2 3 4 5 6 7 8; do
		for how in "" "--no-stacks" "--inference" "--old" "--amd" \
			"--style compact" "--layers 24" "--chrome"; do
			n=$((n + 1))
			"$mktrace" --bytes 20M --seed $seed $how \
				>"many-making/rank$n.json" || exit 99
		done
	done
	mv many-making many
}

# answer HOW COMMAND DATABASE: and write what it writes
answer() {
	how=$1 command=$2 db=$3
	rm -f "$tmp/made"
	case $command in
	diff | trend) set -- "$db" "$db" ;;
	export) set -- --rows -o "$tmp/made" "$db" ;;
	ingest) set -- -q "$db" -o "$tmp/made" ;;
	query) set -- "$db" "SELECT * FROM trace" ;;
	report | slice) set -- -o "$tmp/made" "$db" ;;
	*) set -- "$db" ;;
	esac
	$how "$profan" "$command" "$@"
}
quietly() { "$@" >/dev/null 2>&1; }
first() { used one "$@"; }
second() { used two "$@"; }

# twice COMMAND FILE TWICE_AS_MUCH: sets worst and which
twice() {
	answer quietly "$1" "$2" || {
		echo "  $1: refuses"
		return
	}
	forget one two
	for again in 1 2 3; do # other programs only ever add
		for i in $(turns); do
			answer first "$1" "$2"
			answer second "$1" "$3"
		done
		# what takes no time has no ratio
		! holds "$two_cpu < 0.1" || return 0
		ratio=$(calc "$two_cpu / $one_cpu")
		! holds "$ratio <= 2.3" || break
	done
	[ -n "$worst" ] && holds "$ratio <= $worst" || worst=$ratio which=$1
	holds "$ratio <= 2.3" || bound "$1, CPU" "$ratio" '<=' 2.3 x
}

# Twice as many of one thing take no more than about twice the time: every
# command and kind (wide.py); the worst of each kind is said, and all that miss.
wide() {
	[ -n "$PYTHON" ] || {
		cannot "many of one thing" "there is no python3"
		return
	}
	some=${BENCH_WIDE_COUNT:-10000}
	all=$("$profan" help --format json | "$PYTHON" -c 'import json, sys
print(*(c["name"] for c in json.load(sys.stdin)["commands"]
        if c["reads_database"] and c["name"] != "view"))')
	for kind in ${BENCH_WIDE:-$("$PYTHON" "$top_srcdir/tests/wide.py")}; do
		echo "wide: $((2 * some)) $kind against $some"
		for count in $some $((2 * some)); do
			"$PYTHON" "$top_srcdir/tests/wide.py" $kind $count \
				>"$tmp/wide-$count"
		done
		worst=
		few="$tmp/wide-$some" many="$tmp/wide-$((2 * some))"
		for each in ingest $all diff ranks trend; do
			twice $each "$few" "$many"
			[ $each != ingest ] || {
				for made in "$few" "$many"; do
					"$profan" ingest -q "$made" -o "$made.db"
				done
				few=$few.db many=$many.db
			}
		done
		[ -z "$worst" ] ||
			bound "worst ($which), CPU" "$worst" '<=' '' x
		rm -f "$tmp"/wide-*
	done
}

two_processors() { # sets cpu_one and cpu_two to what taskset -c takes
	cpu_one='' cpu_two=''
	allowed=$(taskset -pc $$ 2>/dev/null | sed 's/.*: //') || return
	for i in $(echo "$allowed" | tr ',' ' '); do
		case $i in
		*-*) i=$(seq "${i%-*}" "${i#*-}") ;;
		esac
		for j in $i; do
			if [ -z "$cpu_one" ]; then
				cpu_one=$j
			elif [ -z "$cpu_two" ]; then
				cpu_two=$cpu_one,$j
			fi
		done
	done
	[ -n "$cpu_two" ]
}

many() {
	[ -d many ] || make_many
	cat many/* >/dev/null
	echo "many: $(ls many | wc -l) files, $(du -sm many | cut -f 1) MB"
	two_processors || {
		cannot "two processors against one" \
			"no taskset, or one processor"
		return
	}
	forget one two
	for i in $(turns); do
		used one taskset -c "$cpu_one" "$profan" ingest many \
			-o "$tmp/b.db"
		used two taskset -c "$cpu_two" "$profan" ingest many \
			-o "$tmp/b.db"
	done
	bound "one processor / two, wall" "$(calc "$one_wall / $two_wall")" \
		'>=' 1.8 x
	bound "CPU on two / CPU on one" "$(calc "$two_cpu / $one_cpu")" \
		'<=' '' x
	# what a machine that others use as well cannot show by its clock
	watch=-t
	forget both
	for i in $(turns); do
		used both taskset -c "$cpu_two" "$profan" ingest many \
			-o "$tmp/b.db"
	done
	watch=
	holds "$both_two < 0" || bound "the same were they idle (estimate)" \
		"$(calc "$one_cpu / $both_two")" '>=' '' x
	bound "peak memory, 2 threads" "$two_peak" '<=' 64 MB
	forget four
	used four "$profan" ingest -j 4 many -o "$tmp/b.db"
	bound "peak memory, 4 threads" "$four_peak" '<=' 96 MB
}

# ---- ten times as large ----

large() {
	[ "${BENCH_LARGE:-}" = 1 ] || {
		cannot "ten times the size" "BENCH_LARGE is not 1"
		return
	}
	[ -f "mk-$1.json" ] || "$mktrace" --bytes "$1M" --layers 12 \
		>"mk-$1.json"
	ten=$(($1 * 10))
	[ -f "mk-$ten.json" ] || "$mktrace" --bytes "${ten}M" --layers 12 \
		>"mk-$ten.json"
	echo "mktrace: $ten MB against $1 MB"
	forget small ten
	for i in $(turns); do
		used small "$profan" ingest "mk-$1.json" -o "$tmp/b.db"
		# what was just written may not be in memory yet
		used ten "$profan" ingest "mk-$ten.json" -o "$tmp/b.db"
	done
	bound "peak memory" "$ten_peak" '<=' 64 MB
	bound "wall" "$(calc "$ten_wall / $small_wall")" '<=' 10.2 x
	bound "CPU" "$(calc "$ten_cpu / $small_cpu")" '<=' 10.2 x
}

# Two large traces; what is asked of each takes its plain ingest.
traces() {
	scale=$shared/tools/scale_trace.py
	if [ -f "$scale" ] && [ -n "$PYTHON" ]; then
		[ -f "ns-$mb.json" ] || "$PYTHON" "$scale" \
			"$shared/traces/v100_ns_resolution.json.gz" "ns-$mb.json" "$mb"
		bench "ns (training, V100)" "ns-$mb.json" 1.6 4.3 0.2
		[ -f "owl-$mb.json" ] || "$PYTHON" "$scale" \
			"$shared/traces/h100_owlv2.json.gz" "owl-$mb.json" "$mb"
		bench "owl (inference, H100, stacks)" "owl-$mb.json" 1.5 2.1 ''
	else
		cannot "ns and owl" "../shared is not there; stand-ins:"
		[ -f "mk-train-$mb.json" ] || "$mktrace" --bytes "${mb}M" --layers 12 \
			--no-stacks >"mk-train-$mb.json"
		bench "mktrace, training" "mk-train-$mb.json" '' '' ''
		[ -f "mk-infer-$mb.json" ] || "$mktrace" --bytes "${mb}M" --layers 12 \
			--inference >"mk-infer-$mb.json"
		bench "mktrace, inference, stacks" "mk-infer-$mb.json" '' '' ''
	fi
}

# zlib takes twice the time of ISA-L
gz_limit=1.3
grep -q 'define HAVE_ISAL 1' "$top_builddir/config.h" && gz_limit=1.05

uname -m
sed -n '/^model name/ { s/.*: //p; q; }' /proc/cpuinfo 2>/dev/null
! wanted ingest json share temp gz commands || traces
! wanted many || many
! wanted wide || wide
! wanted large || large "$mb"
echo "$failed bounds missed, $unknown not measured"
[ "$failed" = 0 ]
