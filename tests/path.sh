# SPDX-License-Identifier: MIT
# The path adds up to the window, tile behind tile, and the unchanged graph
# ends when the window did: on generated traces and on the real ones of
# ../shared/traces; where they are at hand it is equal to figures that were
# worked out without profan (tests/path.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
insight=$shared/golden/insight
tap_shown='out err'

# result, with what was printed; a substitution in its words would lose $?
told() { # NAME
	told_status=$? told_said=$(cat "$tmp/out")
	(exit $told_status)
	result "$1: $told_said"
}

# keep TRACE NAME OPTION...: a path of the database $tmp/t.db, which judge()
# holds against that of the trace
mkdir "$tmp/paths"
count=0
keep() {
	count=$((count + 1))
	echo "$tmp/paths/$count|$1|$2" >>"$tmp/list"
	shift 2
	run 0 "$profan" path "$tmp/t.db" --limit -1 -f json "$@" ||
		cat "$tmp/err"
	mv "$tmp/out" "$tmp/paths/$count"
}

judge() {
	run 0 "$PYTHON" -S "$top_srcdir/tests/path.py" --list "$tmp/list" \
		"$insight" || not_ok "path.py" "$tmp/err"
	relay "$tmp/out"
	rm -f "$tmp"/paths/*
	: >"$tmp/list"
}

follows() { # NAME FILE OPTIONS...
	name=$1
	ingested "$name" "$2" || return
	shift 2
	# its last step holds nothing, which the golden path has all the same
	[ "$name$*" != mi250_minitoy ] || set -- --step 1..2
	keep "$name" "$name $*" --list "$@"
}

grouped() { # NAME FILE
	ingested "$1" "$2" || return
	for group in op kernel module line step category; do
		keep '' "$1: --group $group" --group $group
	done
}

answers() { # NAME FILE: of a program whose changed run is known
	ingested "$1" "$2" || return
	asked=$("$PYTHON" -S "$top_srcdir/tests/path.py" --planted "$1")
	run 0 "$profan" path "$tmp/t.db" --what-if "$asked" --limit -1 -f json &&
		cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/path.py" --planted "$1" \
			"$tmp/path.json" "$insight/path_planted.csv"
	told "$1 $asked"
}

# a program that is run twice, before and after a change
program() { # NAME POINTS OPTION...
	name=$1 points=$2
	shift 2
	rm -f "$tmp/program.db"
	run 0 "$PYTHON" -S "$top_srcdir/tests/gen/mkpath.py" "$name" \
		"$tmp/program.json" "$@" && cp "$tmp/out" "$tmp/truth.json" &&
		run 0 "$profan" ingest -q "$tmp/program.json" \
			-o "$tmp/program.db" &&
		asked=$(sed 's/.*"question": "\([^"]*\)".*/\1/' \
			"$tmp/truth.json") &&
		run 0 "$profan" path "$tmp/program.db" --what-if "$asked" \
			--limit -1 -f json && cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/path.py" --program \
			"$tmp/path.json" "$tmp/truth.json" "$points"
	told "$name $* $asked"
}

"$mktrace" --steps 4 --layers 2 >"$tmp/plain.json"
follows plain "$tmp/plain.json"
follows plain "$tmp/plain.json" --step 1..2
follows plain "$tmp/plain.json" --from 1ms --to 3ms
follows plain "$tmp/plain.json" --whole-capture
grouped plain "$tmp/plain.json"
# what is asked beside it is no part of an answer
run 0 "$profan" ingest -q "$tmp/plain.json" -o "$tmp/plain.db"
for asked in 'gpu:^Memcpy=0' sync=off alloc=0 host=0.5 launch=0; do
	run 0 "$profan" path "$tmp/plain.db" -f csv --what-if "$asked" &&
		grep -F ",$asked," "$tmp/out" >"$tmp/alone"
	run 0 "$profan" path "$tmp/plain.db" -f csv --what-if "$asked" \
		--what-if 'copy=async;gpu:^Memcpy=0' \
		--what-if 'sync=off;copy=async;alloc=0' \
		--what-if 'gpu=0' --what-if 'comm=hidden;host=0' &&
		grep -F ",$asked," "$tmp/out" >"$tmp/beside"
	[ -s "$tmp/alone" ] && cmp "$tmp/alone" "$tmp/beside" 2>"$tmp/err"
	result "$asked: the same answer alone and beside others" "$tmp/beside"
done
for options in '--amd' '--no-stacks --no-steps' '--gpus 2 --inference'; do
	# shellcheck disable=SC2086
	"$mktrace" --steps 3 --layers 2 $options >"$tmp/other.json"
	follows "mktrace $options" "$tmp/other.json"
done
for file in $(sampled "$top_srcdir"/tests/traces/good-*.json); do
	name=${file##*/}
	follows "${name%.json}" "$file"
done
judge
followed() { # NAME FILE: large with LONG
	follows "$@"
	[ -z "${LONG-}" ] || judge
}
# a path takes little: more of them than elsewhere
[ -n "${LONG-}" ] || tap_most=200000
real_traces followed
judge
if [ -d "$insight/path_planted" ]; then
	for file in $(sampled "$insight"/path_planted/*.json.gz); do
		name=${file##*/}
		answers "${name%.json.gz}" "$file"
	done
else
	skip 'planted programs' 'not at hand'
fi

program backward_gpu 0.2
inferred() {
	sed -n 's/.*"inferred_count": *\([0-9]*\).*/\1/p' "$tmp/path.json"
}
program comm_shows 0.2
guessed=$(inferred)
program comm_shows 0.2 records
[ "$guessed" -gt "$(inferred)" ]
result "what streams waited for is not inferred where records say it"
program data_half 0.8 records jitter
if [ -n "${LONG-}" ]; then
	for name in $("$PYTHON" -S "$top_srcdir/tests/gen/mkpath.py" --list); do
		program "$name" 0.2
		program "$name" 0.2 records
		program "$name" 0.8 records jitter
	done
else
	skip 'all programs, with jitter' 'LONG=1 is needed'
fi

# as a track of a slice, which is read again without a repair
"$mktrace" --steps 3 --layers 2 >"$tmp/track.json"
run 0 "$profan" ingest -q "$tmp/track.json" -o "$tmp/track.db"
for options in '' '--step 1' '--from 1ms --to 2ms'; do
	rm -f "$tmp/s.json" "$tmp/s.db"
	# shellcheck disable=SC2086
	run 0 "$profan" path "$tmp/track.db" --list --limit -1 -f json \
		$options && cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$profan" slice -q "$tmp/track.db" --path --whole \
			-o "$tmp/s.json" $options &&
		run 0 "$profan" ingest -q --strict "$tmp/s.json" \
			-o "$tmp/s.db" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/path.py" --track \
			"$tmp/s.json" "$tmp/path.json"
	told "slice --path $options"
done

# two paths: the changes add up
"$mktrace" --steps 4 --layers 3 >"$tmp/more.json"
run 0 "$profan" ingest -q "$tmp/more.json" -o "$tmp/more.db" &&
	run 0 "$profan" path "$tmp/track.db" -f json --limit -1 &&
	cp "$tmp/out" "$tmp/before.json" &&
	run 0 "$profan" path "$tmp/more.db" -f json --limit -1 &&
	cp "$tmp/out" "$tmp/after.json" &&
	run 0 "$profan" diff "$tmp/track.db" "$tmp/more.db" --path -f json \
		--limit -1 && cp "$tmp/out" "$tmp/diff.json" &&
	run 0 "$PYTHON" -S "$top_srcdir/tests/path.py" --change \
		"$tmp/diff.json" "$tmp/before.json" "$tmp/after.json"
told "diff --path"

# without GPU work, what a GPU's work and calls take is not asked, nor what a
# host that is alone takes, which is half of it
run 0 "$profan" ingest -q \
	"$top_srcdir/tests/truth/2.10.0/training/trace.json.gz" \
	-o "$tmp/host.db" &&
	run 0 "$profan" path "$tmp/host.db" -f json --limit -1 &&
	grep -q 'data loading takes no time' "$tmp/out" &&
	! grep -E 'do not wait|CUDA graph|is hidden|and fills|kernels are|host is' \
		"$tmp/out" >"$tmp/err"
result 'only names are asked of where no GPU works' "$tmp/err"

for scale in 9e14 4.6e15; do
	"$PYTHON" -S "$top_srcdir/tests/extremes.py" $scale >"$tmp/far.json"
	run 0 "$profan" ingest -q "$tmp/far.json" -o "$tmp/far-$scale.db"
done
run 0 "$profan" path "$tmp/far-9e14.db"
result 'times far apart'
run 3 "$profan" path "$tmp/far-4.6e15.db" && grep -q 'too far apart' "$tmp/err"
result 'times whose sums do not fit are refused'
run 0 "$profan" path "$tmp/t.db" --from 9000000000s
result 'a window behind the end'

# a DataLoader without workers says what one with four takes
pair() { # WITHOUT WITH
	run 0 "$profan" ingest -q "$shared/traces/$1.json.gz" -o "$tmp/w0.db" &&
		run 0 "$profan" ingest -q "$shared/traces/$2.json.gz" \
			-o "$tmp/w4.db" &&
		run 0 "$profan" path "$tmp/w0.db" --what-if data=0 -f json &&
		cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$profan" steps "$tmp/w4.db" -f json --limit -1 &&
		cp "$tmp/out" "$tmp/steps.json" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/path.py" --pair \
			"$tmp/path.json" "$tmp/steps.json"
	told "$1"
}
if [ -n "${LONG-}" ] && [ -f "$shared/traces/v100_resnet50_workers4.json.gz" ]; then
	pair v100_resnet50_workers0 v100_resnet50_workers4
	pair v100_resnet50_workers0_second v100_resnet50_workers4_second
else
	skip 'pairs of DataLoaders' 'LONG=1 and the traces are needed'
fi

# a call within one that waits: the thread goes on from where that returned
cat >"$tmp/within.json" <<'EOF'
[
{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 1, "tid": 1,
 "ts": 0, "dur": 300},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpy", "pid": 1, "tid": 1,
 "ts": 10, "dur": 100, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 20, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7,
 "ts": 30, "dur": 70, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "inner", "pid": 0, "tid": 7,
 "ts": 120, "dur": 190, "args": {"correlation": 2, "device": 0, "stream": 7}}
]
EOF
run 0 "$profan" ingest -q "$tmp/within.json" -o "$tmp/within.db" &&
	run 0 "$profan" path "$tmp/within.db" --list -f csv &&
	grep -q '^100000,10000,sync return,cudaMemcpy' "$tmp/out" &&
	grep -q '^110000,10000,launch delay,inner' "$tmp/out"
result 'a call within one that waits'

# a step of a thread that does nothing, and goes on when all is done
{
	sed '$d' "$tmp/within.json"
	echo ', {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1",
		"pid": 1, "tid": 2, "ts": 0, "dur": 9000}]'
} >"$tmp/idle.json"
run 0 "$profan" ingest -q "$tmp/idle.json" -o "$tmp/idle.db" &&
	run 0 "$profan" path "$tmp/idle.db" -f csv &&
	grep -q '^finding,.* of 310.000 us,' "$tmp/out" &&
	grep -q 'ends 8.690 ms before the last step does' "$tmp/err"
result 'a path that ends before its step'
run 0 "$profan" advise "$tmp/idle.db" -f csv &&
	grep -q '^finding,"*96.56 % of .* is behind.* Nothing that could' \
		"$tmp/out" &&
	run 0 "$profan" advise "$tmp/within.db" -f csv &&
	grep -q '^finding,.* % of 310.000 us' "$tmp/out"
result 'what is on such a path is held against the step'

# a call that loads code while the GPU has work launches when it ends
cat >"$tmp/load.json" <<'EOF'
[
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 0, "dur": 30},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 10, "dur": 8, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "long", "pid": 0, "tid": 7,
 "ts": 20, "dur": 300, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "cpu_op", "name": "aten::sort", "pid": 1, "tid": 1,
 "ts": 40, "dur": 1060},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 50, "dur": 1000, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "first", "pid": 0, "tid": 7,
 "ts": 1052, "dur": 100, "args": {"correlation": 2, "device": 0, "stream": 7}}
]
EOF
run 0 "$profan" ingest -q "$tmp/load.json" -o "$tmp/load.db" &&
	run 0 "$profan" path "$tmp/load.db" --what-if host=0 -f csv &&
	grep -q '^742000,.*,host=0,' "$tmp/out" &&
	run 0 "$profan" path "$tmp/load.db" --what-if host=0.5 -f csv &&
	grep -q '^525000,.*,host=0.5,' "$tmp/out"
result 'a call that takes long launches when it ends' "$tmp/out"

# much passes before the first work, and then it idles before a call that waits
cat >"$tmp/cold.json" <<'EOF'
{"displayTimeUnit": "ms", "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1,
 "ts": 0, "dur": 20000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceGetAttribute", "pid": 1,
 "tid": 1, "ts": 10, "dur": 19000, "args": {"correlation": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1,
 "ts": 20100, "dur": 9900},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 20110, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20130,
 "dur": 20, "args": {"correlation": 2, "device": 0, "stream": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 1, "tid": 1,
 "ts": 20200, "dur": 9000, "args": {"correlation": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 29300, "dur": 10, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 29320,
 "dur": 20, "args": {"correlation": 4, "device": 0, "stream": 7}}
]}
EOF
run 0 "$profan" ingest -q "$tmp/cold.json" -o "$tmp/cold.db" &&
	run 0 "$profan" path "$tmp/cold.db" -f csv &&
	grep -q 'what runs before the first GPU work' "$tmp/err" &&
	run 0 "$profan" path "$tmp/cold.db" --from 20ms -f csv &&
	! grep -q 'what runs before the first GPU work' "$tmp/err" &&
	run 0 "$profan" path "$tmp/cold.db" --what-if gpu:k=0.5 -f csv &&
	! grep -q 'what runs before the first GPU work' "$tmp/err"
result 'what no graph makes shorter'
run 0 "$profan" summary "$tmp/cold.db" &&
	tr -s ' \n' ' ' <"$tmp/out" >"$tmp/line" &&
	grep -q 'severe First uses, which load code or start the driver, hold 93.33 % of 30.000' \
		"$tmp/line" &&
	grep -q 'severe 20.130 ms pass before .*\. GPU idle .* it is cudaFree, cause: first use' \
		"$tmp/line"
result 'what runs before the first GPU work is no idle time'
"$PYTHON" -S -c 'import json, sys
doc = json.load(sys.stdin)
for e in doc["traceEvents"]:
    e["ts"] += 1000000
doc["traceEvents"].append({"ph": "C", "name": "sclk", "pid": 2, "ts": 0,
                           "args": {"MHz": 1}})
json.dump(doc, sys.stdout)' <"$tmp/cold.json" >"$tmp/sampled.json"
run 0 "$profan" ingest -q "$tmp/sampled.json" -o "$tmp/sampled.db" &&
	run 0 "$profan" summary "$tmp/sampled.db" &&
	grep -q 'severe  20.130 ms pass before' "$tmp/out"
result 'nor begins it with a sample of a clock' "$tmp/out"
sed 's/"ph": "C", "name": "sclk", "pid": 2/"ph": "X", "cat": "overhead", \
"name": "Activity Buffer Request", "pid": -1, "tid": 0, "dur": 900000/' \
	"$tmp/sampled.json" >"$tmp/begun.json"
run 0 "$profan" ingest -q "$tmp/begun.json" -o "$tmp/begun.db" &&
	run 0 "$profan" summary "$tmp/begun.db" &&
	grep -q 'severe  20.130 ms pass before' "$tmp/out"
result 'nor with the start of the profiler' "$tmp/out"
run 0 "$profan" syncs "$tmp/cold.db" -f csv &&
	grep -q 'No call waits for a GPU' "$tmp/out"
result 'what loads code waits for no GPU'

# the step's thread waits for those of gloo, which overlap; not for those of
# another process, nor while it works
gloo='"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce"'
cat >"$tmp/gloo.json" <<EOF
[
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1,
 "tid": 1, "ts": 0, "dur": 1000},
{"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1,
 "ts": 200, "dur": 100},
{$gloo, "pid": 1, "tid": 2, "ts": 100, "dur": 300},
{$gloo, "pid": 1, "tid": 3, "ts": 150, "dur": 350},
{$gloo, "pid": 1, "tid": 2, "ts": 900, "dur": 300},
{$gloo, "pid": 2, "tid": 4, "ts": 600, "dur": 100}
]
EOF
run 0 "$profan" ingest -q "$tmp/gloo.json" -o "$tmp/gloo.db" &&
	run 0 "$profan" path "$tmp/gloo.db" -f csv &&
	grep -q '^communication wait,400000,0.4,3,' "$tmp/out" &&
	grep -q '^range,500000,' "$tmp/out" &&
	grep -q '^operators,100000,' "$tmp/out" &&
	grep -q '^profan: 400.000 us of it .* threads that communicate' "$tmp/err"
result 'threads that communicate are waited for'

# the steps' thread ends the path, as in JAX, whose operators run on others
cat >"$tmp/steps.json" <<EOF
[
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1,
 "tid": 1, "ts": 0, "dur": 1000},
{"ph": "X", "cat": "python_function", "name": "<built-in function sleep>",
 "pid": 1, "tid": 1, "ts": 100, "dur": 700},
{"ph": "X", "cat": "cpu_op", "name": "dot", "pid": 1, "tid": 2, "ts": 850,
 "dur": 100}
]
EOF
run 0 "$profan" ingest -q "$tmp/steps.json" -o "$tmp/steps.db" &&
	run 0 "$profan" path "$tmp/steps.db" -f csv &&
	grep -q '^python,700000,0.7,1,' "$tmp/out" &&
	grep -q '^range,300000,' "$tmp/out"
result 'a path ends on the thread of the steps' "$tmp/out" "$tmp/err"

# calls that hold the host until their work is done, as syncs says of them; a
# copy that none of them launched holds up nothing
held() { # a call more, or nothing
	cat <<EOF
[
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 0, "dur": 1000},
{"ph": "X", "cat": "mtia_runtime", "name": "runFunction", "pid": 1, "tid": 1,
 "ts": 100, "dur": 300, "args": {"correlation": 1}},
{"ph": "X", "cat": "mtia_runtime", "name": "runFunction", "pid": 1, "tid": 1,
 "ts": 500, "dur": 400, "args": {"correlation": 2}}, $1
{"ph": "X", "cat": "mtia_ccp_events", "name": "fc", "pid": 0, "tid": 7,
 "ts": 150, "dur": 240, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 0,
 "tid": 7, "ts": 510, "dur": 20, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 0,
 "tid": 9, "ts": 10, "dur": 5, "args": {"device": 0, "stream": 9}},
{"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 0,
 "tid": 9, "ts": 980, "dur": 5, "args": {"device": 0, "stream": 9}},
{"ph": "X", "cat": "mtia_ccp_events", "name": "fc", "pid": 0, "tid": 7,
 "ts": 540, "dur": 350, "args": {"correlation": 2, "device": 0, "stream": 7}}
]
EOF
}
held '' >"$tmp/held.json"
run 0 "$profan" ingest -q "$tmp/held.json" -o "$tmp/held.db" &&
	run 0 "$profan" syncs "$tmp/held.db" -f csv &&
	grep -q 'hold the host until it is done' "$tmp/out" &&
	run 0 "$profan" path "$tmp/held.db" --what-if gpu=0.5 -f csv &&
	grep -q '^kernel,590000,' "$tmp/out" &&
	grep -q '^sync return,20000,' "$tmp/out" &&
	grep -q '^launch call,90000,' "$tmp/out" &&
	grep -q '^operators,300000,' "$tmp/out" &&
	grep -q '^295000,' "$tmp/out"
result 'calls that hold the host wait for their work'
held '{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize",
	"pid": 1, "tid": 1, "ts": 950, "dur": 10, "args": {"correlation": 3}},' \
	>"$tmp/named.json"
run 0 "$profan" ingest -q "$tmp/named.json" -o "$tmp/named.db" &&
	run 0 "$profan" path "$tmp/named.db" -f csv &&
	! grep -q '^kernel,' "$tmp/out"
result 'where calls wait by their names, others do not'

# a thread that waits in a function has slept until its next call, though the
# function has returned by then
for late in 3 -5; do
	cat >"$tmp/asleep.json" <<EOF
[
{"ph": "X", "cat": "python_function", "name": "train.py(12): step", "pid": 1,
 "tid": 1, "ts": 0, "dur": 20000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 80, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "python_function", "name": "<built-in method run_backward>",
 "pid": 1, "tid": 1, "ts": 1000, "dur": 18000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": $((19000 + late)), "dur": 4, "args": {"correlation": 3}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add_", "pid": 1, "tid": 1,
 "ts": $((19000 + late)), "dur": 6},
{"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 1, "tid": 2,
 "ts": 1050, "dur": 17900},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 2, "ts": 1060, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 95,
 "dur": 150, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1075,
 "dur": 300, "args": {"correlation": 2, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "sgd", "pid": 0, "tid": 7, "ts": 19010,
 "dur": 100, "args": {"correlation": 3, "device": 0, "stream": 7}}
]
EOF
	rm -f "$tmp/asleep.db"
	run 0 "$profan" ingest -q "$tmp/asleep.json" -o "$tmp/asleep.db" &&
		run 0 "$profan" path "$tmp/asleep.db" -f csv &&
		grep -q '^operators,17[0-9]*,' "$tmp/out" &&
		awk -F, '/^python,/ && $2 > 2000000 { exit 1 }' "$tmp/out"
	result "a function that waits, and a call $late us after it"
done

# two ranks: one has to be chosen
"$mktrace" --steps 2 --layers 1 --seed 1 >"$tmp/a.json"
"$mktrace" --steps 2 --layers 1 --seed 2 >"$tmp/b.json"
run 0 "$profan" ingest -q "$tmp/a.json" "$tmp/b.json" -o "$tmp/two.db" &&
	run 2 "$profan" path "$tmp/two.db" && grep -q -- --trace "$tmp/err"
result 'several traces: one is chosen'
run 0 "$profan" path "$tmp/two.db" --trace 2
result 'the second of two traces'
# ---- a host that is only just ahead of a GPU that is never idle for long ----
{
	echo '['
	i=0
	while [ $i -lt 40 ]; do
		cat <<EOF
{"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1,
 "ts": $((100 + i * 10)), "dur": 10},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": $((107 + i * 10)), "dur": 2, "args": {"correlation": $((1 + i))}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
 "ts": $((110 + i * 10)), "dur": 9,
 "args": {"correlation": $((1 + i)), "device": 0, "stream": 7}},
EOF
		i=$((i + 1))
	done
	echo '{}]'
} >"$tmp/ahead.json"
run 0 "$profan" ingest -q "$tmp/ahead.json" -o "$tmp/ahead.db" &&
	run 0 "$profan" path "$tmp/ahead.db" -f csv &&
	grep -q '^finding,"The host decides 9.*\. Without the host'"'"'s operators, calls and Python at most 1[0-9.]* % would be saved' \
		"$tmp/out"
result 'a host that decides all, and would save little' "$tmp/out"

# ---- a function that waits counts though short ones, called so, follow ----
"$PYTHON" -S - >"$tmp/waits.json" <<'END'
import json
events = [("python_function", "a.py(9): step", 1, -50, 4000),
          ("cpu_op", "aten::mul", 1, 0, 100), ("kernel", "k", 9, 900, 50),
          ("python_function", "<built-in method run_backward of E>", 1, 110,
           3000), ("cpu_op", "aten::mm", 2, 300, 1800)]
events += [("python_function", "a.py(1): get", 1, 3200 + 20 * i, 10)
           for i in range(10)]
events += [("cpu_op", "aten::add", 1, 3450, 100)]
print(json.dumps({"traceEvents": [
    {"ph": "X", "cat": c, "name": n, "pid": 0 if c == "kernel" else 5,
     "tid": t, "ts": ts, "dur": dur,
     "args": {"stream": 7, "device": 0} if c == "kernel" else {}}
    for c, n, t, ts, dur in events]}))
END
rm -f "$tmp/waits.db"
run 0 "$profan" ingest -q "$tmp/waits.json" -o "$tmp/waits.db" &&
	run 0 "$profan" path "$tmp/waits.db" --group op --format csv &&
	grep -q '^1800000,.*,aten::mm$\|aten::mm,1800000' "$tmp/out"
result "what a waiting function waits for is on the path" "$tmp/out"

# ---- what the profiler does is no one else's, wherever it lies ----
x='"ph": "X", "pid": 1, "tid": 1'
gpu='"ph": "X", "cat": "kernel", "pid": 0, "tid": 7'
profiler='"ph": "X", "cat": "overhead", "name": "Activity Buffer Request",
 "pid": -1, "tid": 0'
cat >"$tmp/profiler.json" <<EOF
[
{$x, "cat": "cpu_op", "name": "aten::normal_", "ts": 100, "dur": 3000},
{$profiler, "ts": 200, "dur": 2000},
{$x, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 2300, "dur": 600,
 "args": {"correlation": 1}},
{$profiler, "ts": 2400, "dur": 100},
{"ph": "X", "cat": "overhead", "name": "Lazy Function Loading", "pid": -1,
 "tid": 0, "ts": 2600, "dur": 50},
{$gpu, "name": "k", "ts": 2890, "dur": 1000,
 "args": {"correlation": 1, "device": 0, "stream": 7}}
]
EOF
run 0 "$profan" ingest -q "$tmp/profiler.json" -o "$tmp/profiler.db" &&
	run 0 "$profan" path "$tmp/profiler.db" --what-if 'host:^aten::=0' \
		--what-if launch=0 -f csv &&
	grep -q '^finding,"*The profiler decides 55.41 % of 3.790 ms' "$tmp/out" &&
	grep -q '^profiler,2100000,' "$tmp/out" &&
	grep -q '^operators,200000,' "$tmp/out" &&
	grep -q '^launch call,440000,' "$tmp/out" &&
	grep -q '^first use,50000,' "$tmp/out" &&
	grep -q '^200000,.*,host:^aten::=0,' "$tmp/out" &&
	grep -q '^590000,.*,launch=0,' "$tmp/out"
result 'the profiler in an operator and in a launch call' "$tmp/out"
run 0 "$profan" path "$tmp/profiler.db" --group op -f csv &&
	grep -q '^2100000,.*,$' "$tmp/out" &&
	grep -q '^1690000,.*,aten::normal_$' "$tmp/out" &&
	run 0 "$profan" advise "$tmp/profiler.db" &&
	grep -q '^A21  *200.000 us ' "$tmp/out"
result 'the profiler is in no operator' "$tmp/out"

# an operator below many others is found, and what runs behind it is not its
awk 'BEGIN {
	x = "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"pid\": 1, \"tid\": 1, "
	print "["
	for (i = 0; i < 400; i++)
		printf "%s\"name\": \"outer\", \"ts\": %d, \"dur\": %d},\n", \
			x, i, 3000 - 2 * i
	print x "\"name\": \"deep\", \"ts\": 500, \"dur\": 700},"
	print x "\"name\": \"in it\", \"ts\": 600, \"dur\": 100},"
	print x "\"name\": \"beside\", \"ts\": 1300, \"dur\": 50}"
	print "]"
}' >"$tmp/deep.json"
run 0 "$profan" ingest -q "$tmp/deep.json" -o "$tmp/deep.db" &&
	run 0 "$profan" path "$tmp/deep.db" --what-if 'op:deep=0' \
		--what-if 'op:beside=0' -f csv &&
	grep -q '^700000,.*,op:deep=0,' "$tmp/out" &&
	grep -q '^50000,.*,op:beside=0,' "$tmp/out"
result 'operators below many others' "$tmp/out"

# ---- work of before the capture holds up a stream ----
queued() { # END FROM STREAM OF: until then other work goes on, of the first
	# long work when it begins, and of what was launched before its stream
	cat <<EOF
[
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 100},
{$x, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 10, "dur": 10,
 "args": {"correlation": 1}},
{$gpu, "name": "early", "ts": 30, "dur": $(($1 - 30)),
 "args": {"correlation": 1, "device": 0, "stream": $3}},
{$x, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 50, "dur": 10,
 "args": {"correlation": 2}},
{$gpu, "name": "held", "ts": $2, "dur": 1000,
 "args": {"correlation": 2, "device": 0, "stream": 7}},
{$x, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 70, "dur": 10,
 "args": {"correlation": 3}},
{$gpu, "name": "long", "ts": $(($2 + 1000)), "dur": 4000,
 "args": {"correlation": 3, "device": 0, "stream": 7}}
]
EOF
}
path_of() { # END FROM STREAM
	queued "$@" >"$tmp/queued.json"
	rm -f "$tmp/queued.db"
	run 0 "$profan" ingest -q "$tmp/queued.json" -o "$tmp/queued.db" &&
		run 0 "$profan" path "$tmp/queued.db" -f csv
}
path_of 40 9000 3 && grep -q '^queued behind,8890000,' "$tmp/out" &&
	grep -q '^finding,"*Work queued behind what was not recorded decides 63.50 %' \
		"$tmp/out" &&
	grep -q 'Of the rest the largest part is in kernels .* name long ' \
		"$tmp/out" &&
	! grep -q '^unexplained,\|^finding,.*unexplained' "$tmp/out" &&
	run 0 "$profan" advise "$tmp/queued.db" -f csv &&
	grep -q '^finding,.*long.* holds 28.57 % of the critical path of 14.000 ms, in kernels' \
		"$tmp/out" &&
	run 0 "$profan" gaps "$tmp/queued.db" --from 1ms -f csv &&
	grep -q '^queued behind,' "$tmp/out"
result 'a stream that work of before the capture holds up' "$tmp/out"
path_of 40 900 3 && grep -q '^unexplained,790000,' "$tmp/out" &&
	path_of 5000 9000 3 && grep -q '^unexplained,8890000,' "$tmp/out" &&
	path_of 40 9000 7 && grep -q '^unexplained,' "$tmp/out" &&
	! grep -q '^queued behind,' "$tmp/out"
result 'soon, beside other work, or behind work of its stream it is not' \
	"$tmp/out"

# ---- GPU work alone: whatever ended last, of any stream, is before the next ----
alone() { # START DUR STREAM ...
	while [ $# -ge 3 ]; do
		printf '{%s, "name": "k%s", "ts": %s, "dur": %s,
"args": {"device": 0, "stream": %s}}%s\n' "$gpu" "$3" "$1" "$2" "$3" \
			"$([ $# -gt 3 ] && echo ,)"
		shift 3
	done
}
{
	echo '['
	alone 0 100 1  103 97 2  400 100 1  450 200 2  900 100 3
	echo ']'
} >"$tmp/alone.json"
run 0 "$profan" ingest -q "$tmp/alone.json" -o "$tmp/alone.db" &&
	run 0 "$profan" path "$tmp/alone.db" -f csv &&
	grep -q '^kernel,547000,' "$tmp/out" &&
	grep -q '^unexplained,350000,' "$tmp/out" &&
	grep -q '^kernel gap,103000,0.103,3,' "$tmp/out" &&
	! grep -q '^no launch record' "$tmp/out"
result 'of GPU work alone the path is on all streams' "$tmp/out"

# ---- what is long late was let go by what ended a while before ----
rt="$x, \"cat\": \"cuda_runtime\""
late() { # us from the end of the one to the begin of the other
	cat <<EOF
[
{$rt, "name": "cudaLaunchKernel", "ts": 0, "dur": 8,
 "args": {"correlation": 1}},
{$gpu, "name": "long", "ts": 10, "dur": 1990,
 "args": {"correlation": 1, "device": 0, "stream": 7}},
{$rt, "name": "cudaLaunchKernel", "ts": 8, "dur": 8,
 "args": {"correlation": 2}},
{$gpu, "name": "k", "ts": $((2000 + $1)), "dur": 90,
 "args": {"correlation": 2, "device": 0, "stream": 8}}
]
EOF
}
late 40 >"$tmp/late.json"
late 60 >"$tmp/later.json"
run 0 "$profan" ingest -q "$tmp/late.json" -o "$tmp/late.db" &&
	run 0 "$profan" ingest -q "$tmp/later.json" -o "$tmp/later.db" &&
	run 0 "$profan" path "$tmp/late.db" -f csv &&
	grep -q '^kernel,2080000,' "$tmp/out" &&
	grep -q '^inferred wait,40000,' "$tmp/out" &&
	run 0 "$profan" path "$tmp/later.db" -f csv &&
	grep -q '^kernel,90000,' "$tmp/out" &&
	! grep -q '^inferred wait' "$tmp/out"
result 'work that is long late was held up by other streams' "$tmp/out"

# ---- a call that frees works on when what it waited for is over ----
cat >"$tmp/free.json" <<EOF
[
{$rt, "name": "cudaLaunchKernel", "ts": 0, "dur": 8,
 "args": {"correlation": 1}},
{$gpu, "name": "k", "ts": 10, "dur": 90,
 "args": {"correlation": 1, "device": 0, "stream": 7}},
{$rt, "name": "cudaFree", "ts": 50, "dur": 450, "args": {"correlation": 2}},
{$rt, "name": "cudaMalloc", "ts": 500, "dur": 100, "args": {"correlation": 3}},
{$rt, "name": "cudaLaunchKernel", "ts": 600, "dur": 8,
 "args": {"correlation": 4}},
{$gpu, "name": "k", "ts": 610, "dur": 90,
 "args": {"correlation": 4, "device": 0, "stream": 7}}
]
EOF
run 0 "$profan" ingest -q "$tmp/free.json" -o "$tmp/free.db" &&
	run 0 "$profan" path "$tmp/free.db" -f csv &&
	grep -q '^allocator,500000,' "$tmp/out" &&
	! grep -q '^sync return' "$tmp/out" &&
	run 0 "$profan" gaps "$tmp/free.db" -f csv &&
	grep -q '^allocator,500000,' "$tmp/out" &&
	run 0 "$profan" syncs "$tmp/free.db" -f csv &&
	grep -q '2 calls block the host for 550.000 us, all of them the allocator'"'"'s' "$tmp/out"
result 'calls of the allocator: path, gaps and syncs say the same' "$tmp/out"

# ---- a step is no name for what is in it ----
cat >"$tmp/bare.json" <<EOF
[
{$x, "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 1000},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 100},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 990, "dur": 10}
]
EOF
run 0 "$profan" ingest -q "$tmp/bare.json" -o "$tmp/bare.db" &&
	run 0 "$profan" path "$tmp/bare.db" && tr -s '\n' ' ' <"$tmp/out" |
	grep -q '89.00 % is in steps, and in nothing that is recorded in them'
result 'time in steps alone has no name' "$tmp/out"

# ---- names in questions are those that are shown, or the trace's own ----
cat >"$tmp/weigh.json" <<EOF
[
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 10},
{$x, "cat": "python_function", "name": "train.py(7): weigh", "ts": 10, "dur": 80},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 90, "dur": 10}
]
EOF
asks_for() { # NAME
	run 0 "$profan" path "$tmp/weigh.db" -f csv --table what_if \
		--what-if "host:$1=0" && grep -q '^80000,' "$tmp/out"
}
run 0 "$profan" ingest -q "$tmp/weigh.json" -o "$tmp/weigh.db" &&
	asks_for 'train.py:7 weigh' && asks_for 'train.py.7.: weigh'
result 'functions are asked for as they are shown' "$tmp/out"

# ---- time without records is not the host's ----
unrecorded() { # WORK
	cat <<EOF
[
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 1000},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 5000, "dur": 100} $1
]
EOF
}
unrecorded ", {$x, \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\",
	\"ts\": 5010, \"dur\": 10, \"args\": {\"correlation\": 1}},
	{$gpu, \"name\": \"k\", \"ts\": 5030, \"dur\": 1000,
	\"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}}" \
	>"$tmp/unrecorded.json"
unrecorded '' >"$tmp/cpu.json"
run 0 "$profan" ingest -q "$tmp/unrecorded.json" -o "$tmp/unrecorded.db" &&
	run 0 "$profan" ingest -q "$tmp/cpu.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" path "$tmp/unrecorded.db" -f json &&
	grep -q '"host_ns": *1020000,' "$tmp/out" &&
	grep -q '"unexplained_ns": *4000000,' "$tmp/out" &&
	grep -q '"Nothing recorded explains 66.33 % of 6.030 ms, the host decides' \
		"$tmp/out" &&
	run 0 "$profan" path "$tmp/cpu.db" -f csv &&
	grep -q 'recorded; the host has 21.57 % of 5.100 ms, nothing recorded explains 78.43 %' \
		"$tmp/out"
result 'time without records is not the host deciding' "$tmp/out"
# ---- who wakes a thread: only what a record says, or autograd, or a pool ----
# A step's thread (1) pauses from 1000 to 5000 us; beside it works another (2).
beside() { # HOW the thread pauses; what the other records; the other's work
	"$PYTHON" -S - "$@" <<'END'
import json, sys
how, other, work = sys.argv[1:]
def event(cat, name, tid, ts, dur):
    return {"ph": "X", "cat": cat, "name": name, "pid": 5, "tid": tid,
            "ts": ts, "dur": dur}
def functions(tid, *items):
    return [event("python_function", name, tid, ts, dur)
            for name, ts, dur in items]
LOCK = "of _thread.lock object at 0x7f00>"
events = [event("user_annotation", "ProfilerStep#1", 1, 0, 6000),
          event("cpu_op", "aten::mm", 1, 100, 900),
          event("cpu_op", "aten::add", 1, 5010, 900)]
if how != "silent":
    events += functions(1, ("train.py(9): step", 0, 6000),
                        ("train.py(12): pause", 1000, 4000))
    events += functions(1, {
        "lock": (f"<built-in method acquire {LOCK}", 1010, 3990),
        "sleep": ("<built-in function sleep>", 1010, 3990),
        "poll": ("<built-in method poll of select.poll object>", 1010, 3990),
        "python": ("train.py(13): count", 1010, 3990)}[how])
if other in ("releases", "sleeps"):
    events += functions(2, ("pump.py(5): pump", 0, 6000))
    around = "threading.py(280): _release_save" if other == "sleeps" else \
        "threading.py(366): notify"
    events += functions(2, (around, 4900, 30),
                        (f"<built-in method release {LOCK}", 4910, 5))
if other == "works":
    events += functions(2, ("pump.py(5): pump", 0, 6000))
events += [event("cpu_op", "aten::sort", 2, *map(int, w.split("+")))
           for w in work.split(",")]
print(json.dumps({"traceEvents": events}))
END
}
is_on() { # the other's time on the path, in us; what the thread is said to do
	beside "$3" "$4" "$5" >"$tmp/beside.json"
	rm -f "$tmp/beside.db"
	run 0 "$profan" ingest -q "$tmp/beside.json" -o "$tmp/beside.db" &&
		run 0 "$profan" path "$tmp/beside.db" --list --limit -1 -f json &&
		"$PYTHON" -S -c 'import json, sys
tiles = json.load(sys.stdin)["tables"]["tiles"]
assert sum(t["ns"] for t in tiles) == 6000000
other = sum(t["ns"] for t in tiles if t["thread"] == "2")
assert other == int(sys.argv[1]) * 1000, (other, tiles)
assert sum(t["ns"] for t in tiles if t["name"] == sys.argv[2]) >= 1900000, tiles' \
			"$1" "$2" <"$tmp/out"
}
# it lets go of a lock at 4910, and the thread goes on at 5000
is_on 4910 aten::sort lock releases 200+2000,2500+2390
result 'a thread that lets go of a lock is waited for' "$tmp/err"
is_on 0 "<built-in method acquire of _thread.lock object at 0x7f00>" \
	lock sleeps 200+2000,2500+2390 &&
	is_on 0 "<built-in method acquire of _thread.lock object at 0x7f00>" \
		lock works 200+2000,2500+2390
result 'one that sleeps itself, or is merely busy, is not' "$tmp/err"
# of a thread that began in the capture no functions are recorded
# 30 us until it begins
is_on 3930 aten::sort lock none 1040+3900
result 'a thread that works from then until its end is waited for' "$tmp/err"
is_on 0 "<built-in method acquire of _thread.lock object at 0x7f00>" \
	lock none 200+4790 &&
	is_on 0 "<built-in method acquire of _thread.lock object at 0x7f00>" \
		lock none 1040+1000 &&
	is_on 0 "<built-in method acquire of _thread.lock object at 0x7f00>" \
		lock none 3000+3500
result 'one that began before, or ends before or behind it, is not' "$tmp/err"
for how in sleep poll python; do
	case $how in
	sleep) name='<built-in function sleep>' ;;
	poll) name='<built-in method poll of select.poll object>' ;;
	python) name='train.py:13 count' ;;
	esac
	is_on 0 "$name" $how none 1040+3950 &&
		is_on 0 "$name" $how releases 200+2000,2500+2400
	result "nor any where the thread is in $how" "$tmp/err"
done
is_on 0 ProfilerStep#1 silent none 200+4790 &&
	is_on 0 ProfilerStep#1 silent none 1400+1000,2500+2450 &&
	is_on 3940 aten::sort silent none 1040+3900
result 'without functions: who did nothing before and works all the while' \
	"$tmp/err"

# autograd's thread hands the main one a node of the CPU while it works on
cat >"$tmp/node.json" <<'EOF'
[
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
 "tid": 1, "ts": 0, "dur": 2000},
{"ph": "X", "cat": "cpu_op", "name": "aten::sum", "pid": 1, "tid": 1,
 "ts": 10, "dur": 180},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 200, "dur": 800,
 "name": "autograd::engine::evaluate_function: SumBackward0"},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 1100, "dur": 500,
 "name": "autograd::engine::evaluate_function: MmBackward0"},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2,
 "ts": 1110, "dur": 280},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1400, "dur": 10,
 "name": "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"},
{"ph": "X", "cat": "cpu_op", "name": "aten::add_", "pid": 1, "tid": 1,
 "ts": 1610, "dur": 380}
]
EOF
run 0 "$profan" ingest -q "$tmp/node.json" -o "$tmp/node.db" &&
	run 0 "$profan" path "$tmp/node.db" --what-if 'host:^aten::mm$=0' \
		-f csv && grep -q '^280000,.*,host:' "$tmp/out"
result 'a node that autograd hands over follows what it does before' "$tmp/out"
# ... but who begins with it, as it may in whole microseconds, was not woken by it
for at in 5001 5000; do
	cat >"$tmp/begins.json" <<EOF
[
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
 "tid": 1, "ts": 0, "dur": 8000},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 10, "dur": 190},
{"ph": "X", "cat": "cpu_op", "name": "work", "pid": 1, "tid": 4,
 "ts": 200, "dur": 4790},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1,
 "ts": 5000, "dur": 2900},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": $at, "dur": 2800,
 "name": "autograd::engine::evaluate_function: MmBackward0"}
]
EOF
	rm -f "$tmp/begins.db"
	run 0 "$profan" ingest -q "$tmp/begins.json" -o "$tmp/begins.db" &&
		run 0 "$profan" path "$tmp/begins.db" -f csv &&
		cp "$tmp/out" "$tmp/begins.$at"
done
grep -q '^range,4910000,' "$tmp/begins.5001" &&
	cmp -s "$tmp/begins.5001" "$tmp/begins.5000"
result 'who begins with a node of autograd is not woken by it' "$tmp/begins.5000"

# what is behind the steps begins when it begins, and overlaps are no more time
cat >"$tmp/behind.json" <<'EOF'
[
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
 "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 0, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2,
 "ts": 5000, "dur": 300},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 3,
 "ts": 5200, "dur": 200},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2,
 "ts": 5600, "dur": 300}
]
EOF
run 0 "$profan" ingest -q "$tmp/behind.json" -o "$tmp/behind.db" &&
	run 0 "$profan" steps "$tmp/behind.db" --width 200 &&
	grep -q 'on the CPU take 700.000 us behind the last step' "$tmp/out"
result 'of time behind the last step only that in which operators run' "$tmp/out"

# ---- XLA's threads compute what a function of JAX waits for ----
xla() { # FUNCTION, its end, the last operation's end in us
	"$PYTHON" -S - "$@" <<'END'
import json, sys
name, end, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def named(tid, thread):
    return {"ph": "M", "pid": 701, "tid": tid, "name": "thread_name",
            "args": {"name": thread}}
def event(tid, name, ts, dur, **args):
    e = {"ph": "X", "pid": 701, "tid": tid, "name": name, "ts": ts, "dur": dur}
    return {**e, "args": args} if args else e
hlo = {"hlo_module": "jit_f", "program_id": "1"}
print(json.dumps({"displayTimeUnit": "ns", "traceEvents": [
    {"ph": "M", "pid": 701, "name": "process_name",
     "args": {"name": "/host:CPU"}},
    named(1, "python"), named(2, "tf_XLAPjRtCpuClient/1"),
    named(3, "tf_XLAEigen/2"), named(4, "beside"),
    event(1, "train", 0, 6000, step_num="1", group_id="0"),
    event(1, "$train.py:9 step", 5, 5990),
    event(1, "PjitFunction(f)", 10, 90),
    event(1, name, 110, end - 110),
    event(2, "dot.1", 120, 2000, hlo_op="dot.1", **hlo),
    event(2, "ThreadPool::Await", 1000, 1000),
    event(3, "dot.1", 1000, 400, hlo_op="dot.1", **hlo),
    event(2, "tanh.2", 2121, last - 2121, hlo_op="tanh.2", **hlo)] + [
    event(4, "$pump.py:3 pump", 0, 6000)] + [
    event(4, "$pump.py:7 beat", 100 * i, 90) for i in range(60)]}))
END
}
computes() { # us of operators on the path; FUNCTION END LAST [OPTION]
	xla "$2" "$3" "$4" >"$tmp/xla.json"
	rm -f "$tmp/xla.db"
	run 0 "$profan" ingest -q "$tmp/xla.json" -o "$tmp/xla.db" &&
		run 0 "$profan" path "$tmp/xla.db" --list --limit -1 -f json \
			${5:-} &&
		"$PYTHON" -S -c 'import json, sys
tiles = json.load(sys.stdin)["tables"]["tiles"]
ops = [t for t in tiles if t["category"] == "operators"]
assert sum(t["ns"] for t in ops) == int(sys.argv[1]) * 1000, tiles
assert not any("pump" in (t["name"] or "") for t in tiles), tiles
assert {t["name"] for t in ops} <= {"dot.1", "tanh.2"}, tiles' "$1" <"$tmp/out"
}
for name in '$numpy asarray' '$array.py:631 _value' \
	'$api.py:2490 try_to_block'; do
	computes 4879 "$name" 5800 5000
	result "operations of XLA while $name waits" "$tmp/err"
done
computes 4879 '$train.py:12 look' 5010 5000
result 'the same of a method that is not recorded: both end as one' "$tmp/err"
computes 4879 '$numpy asarray' 5800 5000 --whole-capture
result 'and where all of the capture is asked about, not its steps' "$tmp/err"
# a step that does not wait for them
xla '$numpy asarray' 5800 5000 | sed 's/"ts": 0, "dur": 6000/"ts": 0, "dur": 200/' \
	>"$tmp/xla.json"
rm -f "$tmp/xla.db"
run 0 "$profan" ingest -q "$tmp/xla.json" -o "$tmp/xla.db" &&
	run 0 "$profan" summary "$tmp/xla.db" --width 200 &&
	grep -q 'on the CPU take 4.799 ms behind the last step' "$tmp/out"
result 'a step that only starts them is said to' "$tmp/out"
mv "$tmp/xla.db" "$tmp/starts.db"
xla '$numpy asarray' 5800 5500 >"$tmp/xla.json"
run 0 "$profan" ingest -q "$tmp/xla.json" -o "$tmp/xla.db"
run 0 "$profan" diff --width 200 "$tmp/xla.db" "$tmp/starts.db" &&
	grep -q 'as steps of B end before most of what they start' "$tmp/out"
result 'and not held against one that waits' "$tmp/out"
run 0 "$profan" diff --width 200 --whole-capture "$tmp/xla.db" "$tmp/starts.db" &&
	! grep -q 'without profiler steps' "$tmp/out"
result 'all of a capture with steps is not said to have none' "$tmp/out"
computes 0 '$train.py:12 look' 5800 5000 &&
	computes 0 '$train.py:12 look' 5000 5500 &&
	computes 0 '$<unknown> acquire' 5800 5000
result 'no operations where they end at another time, or a lock is waited for' \
	"$tmp/err"

# what the thread of the steps does behind them, as to validate, is not theirs
cat >"$tmp/validates.json" <<EOF
[
{$x, "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 100},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 90},
{$x, "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 100, "dur": 100},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 100, "dur": 90},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 300, "dur": 5000},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 5300, "dur": 5000}
]
EOF
run 0 "$profan" ingest -q "$tmp/validates.json" -o "$tmp/validates.db" &&
	run 0 "$profan" steps --width 200 "$tmp/validates.db" &&
	! grep -q 'only start' "$tmp/out" &&
	run 0 "$profan" diff --width 200 "$tmp/validates.db" \
		"$tmp/validates.db" && ! grep -q 'end before' "$tmp/out"
result 'work of their own thread behind steps is not started by them' "$tmp/out"

# ---- what nothing names is one sum, of the path and of the advice ----
cat >"$tmp/bare.json" <<EOF
[
{$x, "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 1000},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 100},
{$x, "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 1200, "dur": 800},
{$x, "cat": "cpu_op", "name": "aten::mm", "ts": 1900, "dur": 100}
]
EOF
rm -f "$tmp/bare.db"
run 0 "$profan" ingest -q "$tmp/bare.json" -o "$tmp/bare.db" &&
	run 0 "$profan" path "$tmp/bare.db" && tr -s '\n' ' ' <"$tmp/out" |
	grep -q '90.00 % is in steps, and in nothing that is recorded in them' &&
	run 0 "$profan" advise "$tmp/bare.db" && tr -s '\n' ' ' <"$tmp/out" |
	grep -q '^90.00 % of the critical path is in steps'
result 'time that nothing names, between steps too' "$tmp/out"
tap_done
