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
# threads FOLDER RANKS THREADS: ranks with one event on each thread
threads() {
	mkdir "$1"
	awk -v folder="$1" -v ranks="$2" -v threads="$3" 'BEGIN {
		for (r = 0; r < ranks; r++) {
			file = sprintf("%s/rank%05d.json", folder, r)
			printf "{\"distributedInfo\":{\"rank\":%d,\"world_size\":%d}," \
				"\"traceEvents\":[\n", r, ranks >file
			for (t = 0; t < threads; t++)
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
threads wide 3 30000
database wide
"$profan" query wide.db -f csv \
	"SELECT count(*), max(id) FROM track
	UNION ALL SELECT count(*), count(DISTINCT track_id) FROM event" >got
printf 'count(*),max(id)\n90000,90000\n90000,90000\n' >want
same "90,000 threads, and no event is skipped" want got
threads over 2 65600
run 1 "$profan" ingest over -o over.db &&
	[ "$(grep -c 'limit of tracks skipped: 64' err)" = 2 ]
result "of 65,600 threads in one trace 64 are over: said, counted, exit 1"
"$profan" query over.db -f csv \
	"SELECT count(*), (SELECT sum(skipped_count) FROM trace) AS n FROM event" |
	tail -1 >got
echo 131072,128 >want
same "what is over is counted, of each trace for itself" want got

# ---- work grows as the ranks do ----
grep -aq __asan_init "$profan" && {
	skip "work grows as the ranks do" "sanitizers must be loaded before all else"
	tap_done
}
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
ranks r16 16
ranks r64 64
threads t128 128 13
threads t512 512 13
for name in r16 r64 t128 t512; do
	database $name
done
for command in steps syncs overlap gaps kernels launches calls modules memory \
	doctor info; do
	linear r16.db r64.db $command
	linear t128.db t512.db $command
done
linear r16.db r64.db report --force -o page.html
linear t128 t512 ingest -q --output x.db
tap_done
