# SPDX-License-Identifier: MIT
# Files that people take for traces are refused alike wherever they are named:
# in the words that say what they are and what makes a readable file of them.
# No trace is refused for looking like one.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
mkdir "$tmp/in"
cd "$tmp/in" || exit 99

kind() { # NAME WORDS: the file is what printf makes of the rest
	kind_name=$1 words=$2
	shift 2
	# shellcheck disable=SC2059  # it is a format
	printf "$@" >"$kind_name"
	echo "$kind_name|$words" >>"$tmp/kinds"
}

database() { # NAME WORDS SQL
	[ -n "$SQLITE3" ] || return 0
	"$SQLITE3" "$1" "$3" && echo "$1|$2" >>"$tmp/kinds"
}

nsys="Nsight Systems: 'nsys export --type sqlite"
kind report1.nsys-rep "$nsys" 'NVIDIA Tegra Profiler Report 1.\n\v'
kind renamed.json "$nsys" 'NVIDIA Tegra Profiler Report 1.\n\v'
kind old.qdrep "$nsys" '\001\002\003'
kind kernel.ncu-rep 'Nsight Compute' 'NVR\000\001'
kind trace.pftrace "'traceconv json" '\001\002\003'
kind pointer.sqlite "'git lfs pull'" 'version https://git-lfs.github.com/spec/v1\n'
kind model.pt 'a ZIP archive (as torch.save' 'PK\003\004\024'
kind other.pickle 'a pickle, but no memory snapshot' '\200\002}q\001.'
kind empty.xplane.pb 'is empty' ''
kind step_5_stacks.txt 'verbose=True' ''
kind stats.csv "'nsys export" 'Time (%%),Total Time (ns),Instances,Avg (ns),Name\n'
kind copies.csv "'nsys export" 'Time (%%),Total Time (ns),Count,Operation\n'
kind ranges.csv "'nsys export" 'Time (%%),Total Time (ns),Instances,Style,Range\n'
kind results.stats.csv "'rocprofv3" '"Name","Calls","TotalDurationNs","Percentage"\n'
kind results.csv "'rocprofv3" '"Index","KernelName","gpu-id","queue-id"\n'
kind pmc_perf.csv "'rocprofv3" 'Dispatch_ID,GPU_ID,Queue_ID,Kernel_Name\n'
kind timestamps.csv "'rocprofv3" 'Dispatch_ID,GPU_ID,BeginNs,EndNs\n'
kind host.overview_page.pb '\*.xplane.pb' '\001\002\003'
kind events.out.tfevents.1.host 'a log of TensorBoard' \
	'\030\000\000\000\000\000\000\000\243\177K"\011\000\000\000\200\231\371\332A\032\rbrain.Event:2'
kind packed.json "'xz -dc" '\3757zXZ\000'
kind wide.json 'UTF-16' '\377\376{\000'
kind notes.json 'neither a profan database nor a trace' 'hello\n'
kind list.json 'a list of other things' '[1, 2]'
database rocprof.db 'rocprof (version 1).*rocprofv3' 'CREATE TABLE KERN(a)'
database dlprof.sqlite 'DLProf' \
	'CREATE TABLE read_only_ops(a); CREATE TABLE db_version(b)'
database mine.db 'its tables: a_table' 'CREATE TABLE a_table(a)'
"$mktrace" --steps 1 --layers 1 --out "$tmp/good.json" &&
	"$profan" ingest -q "$tmp/good.json" -o "$tmp/good.db" || exit 99
cp "$tmp/good.db" "$tmp/there.db"

refused() { # NAME WORDS COMMAND...
	refused_name=$1 refused_words=$2
	shift 2
	run 3 "$profan" "$@" || {
		echo "$*: exit code $tap_code"
		return
	}
	grep -q -e "$refused_words" "$tmp/err" || {
		echo "$*: not '$refused_words':"
		cat "$tmp/err"
	}
}

while IFS='|' read -r name words; do
	{
		refused "$name" "$words" "$name"
		for command in gaps table summary report info; do
			refused "$name" "$words" $command "$name"
		done
		refused "$name" "$words" diff "$name" "$tmp/good.db"
		refused "$name" "$words" diff "$tmp/good.db" "$name"
		refused "$name" "$words" ingest "$name" -o "$tmp/there.db"
		run 1 "$profan" merge "$name" -o "$tmp/fleet.db"
		grep -q -e "$words" "$tmp/err" || {
			echo merge:
			cat "$tmp/err"
		}
		run 0 "$profan" ingest --dry-run "$name" "$tmp/good.json" \
			--format csv
		grep -q -e "$words" "$tmp/out" || {
			echo 'ingest --dry-run':
			cat "$tmp/out"
		}
		cmp "$tmp/good.db" "$tmp/there.db"
	} >"$tmp/bad" 2>&1 || :
	[ ! -s "$tmp/bad" ]
	result "$name" "$tmp/bad"
done <"$tmp/kinds"

mkdir "$tmp/reports" && cp report1.nsys-rep "$tmp/reports"
run 3 "$profan" ingest "$tmp/reports" -o "$tmp/o.db" &&
	grep -q "but 'report1.nsys-rep', which is .*nsys export" "$tmp/err"
result 'a folder of reports says how they are exported' "$tmp/err"
cp "$tmp/good.json" "$tmp/reports"
run 0 "$profan" ingest "$tmp/reports" -o "$tmp/o.db" && [ ! -s "$tmp/err" ]
result 'beside a trace nothing is said' "$tmp/err"

# what only looks like one of these is read
for name in x.nsys-rep x.pftrace x.overview_page.pb stats.csv.json; do
	run 0 "$profan" ingest -q "$tmp/good.json" -o "$tmp/a.db" &&
		cp "$tmp/good.json" "$tmp/$name" &&
		run 0 "$profan" gaps "$tmp/$name" &&
		run 0 "$profan" ingest "$tmp/$name" -o "$tmp/b.db"
	result "a trace called $name" "$tmp/err"
done
tap_done
