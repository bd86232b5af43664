# SPDX-License-Identifier: MIT
# Jobs of several GPUs and ranks (tests/devices.py): what --device and --rank
# take is exact, and the parts add up to the whole; and what analyses say
# about traces that lack something.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
helper=$top_srcdir/tests/devices.py

# one COMMAND GPU RANK: into $tmp/said/COMMAND-GPU-RANK
one() {
	arguments="$1 $tmp/job.db --format json --limit 0"
	[ "$1" != steps ] || arguments="$arguments --steps ^iteration"
	[ "$2" = all ] || arguments="$arguments --device $2"
	[ "$3" = all ] || arguments="$arguments --rank $3"
	# shellcheck disable=SC2086
	run 0 "$profan" $arguments && mv "$tmp/out" "$tmp/said/$1-$2-$3"
}

job() { # STYLE RANKS GPUS
	rm -rf "$tmp/job" "$tmp/said"
	mkdir "$tmp/said"
	"$PYTHON" -S "$helper" make "$tmp/job" "$2" "$3" "$1" || exit 99
	run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" ||
		cat "$tmp/err"
	ranks=
	[ "$2" = 1 ] || ranks=$(seq -s ' ' 0 $(($2 - 1)))
	for command in overlap gaps kernels launches syncs steps; do
		gpus=$(seq -s ' ' 0 $(($3 - 1)))
		case $command in
		syncs | steps) gpus= ;; # they take whole ranks
		esac
		name="$1, $2 ranks of $3 GPUs: $command" bad=
		for rank in all $ranks; do
			for gpu in all $gpus; do
				one $command "$gpu" "$rank" ||
					bad="$bad $gpu/$rank"
			done
		done
		[ -z "$bad" ] || not_ok "$name: GPU/rank$bad" "$tmp/err"
		to_judge "$name" devices.py check "$tmp/job" "$tmp/said" \
			$command "$gpus" "$ranks"
	done
	judge_all
}

if [ -n "${LONG-}" ]; then
	job cuda 1 8
	job hip 1 2
fi
job cuda 2 2
job graph 1 2

# says NAME TEXT COMMAND...: the note is among what the command prints
says() {
	said=$1 text=$2
	shift 2
	run 0 "$profan" "$@" --format json && grep -qF -- "$text" "$tmp/out"
	result "$said" "$tmp/out" "$tmp/err"
}

# silent NAME TEXT COMMAND...
silent() {
	said=$1 text=$2
	shift 2
	run 0 "$profan" "$@" --format json &&
		! grep -qF -- "$text" "$tmp/out"
	result "$said" "$tmp/out" "$tmp/err"
}

range() { # CATEGORY NAME TS DUR TID ARGS
	printf '{"ph":"X","cat":"%s","name":"%s","pid":%s,"tid":%s,"ts":%s,"dur":%s,"args":{%s}},\n' \
		"$1" "$2" "${7:-1}" "$5" "$3" "$4" "$6"
}

trace() { # NAME: events from standard input
	{
		echo '{"traceEvents":['
		cat
		echo '{"ph":"i","name":"x","pid":1,"tid":1,"ts":0.5}]}'
	} >"$tmp/$1.json"
	run 0 "$profan" ingest -q "$tmp/$1.json" -o "$tmp/$1.db" || cat "$tmp/err"
}

# a CPU-only trace
range cpu_op aten::mm 1 90 1 '' | trace cpu
for command in gaps overlap launches kernels steps syncs; do
	says "$command: a trace of the CPU only" ProfilerActivity.CUDA \
		$command "$tmp/cpu.db"
done
# GPU work without any call
range kernel k 1 9 7 '"device":0,"stream":7,"correlation":5' 0 | trace gpu
for command in gaps launches steps; do
	says "$command: no launch calls" \
		'1 GPU event (100.00 % of GPU time in the capture) has no' \
		$command "$tmp/gpu.db"
	says "$command: no CPU activity" 'record launch calls with' \
		$command "$tmp/gpu.db"
done
silent 'overlap: builds on no launch call' 'launch call' overlap "$tmp/gpu.db"
says 'kernels: operators need launch calls' 'has no launch call' \
	kernels "$tmp/gpu.db" --group name,op
# no stacks, no shapes, no steps
{
	range cpu_op aten::mm 1 20 1 ''
	range cuda_runtime cudaLaunchKernel 2 3 1 '"correlation":5'
	range kernel k 5 9 7 '"device":0,"stream":7,"correlation":5' 0
	range cuda_runtime cudaLaunchKernel 12 3 1 '"correlation":6'
	range kernel k 25 9 7 '"device":0,"stream":7,"correlation":6' 0
} | trace bare
for command in gaps syncs; do
	says "$command: no stacks" with_stack=True $command "$tmp/bare.db"
done
says 'kernels: no shapes' record_shapes=True kernels "$tmp/bare.db" \
	--group op,shape
silent 'kernels: by name need no shapes' record_shapes kernels "$tmp/bare.db"
says 'steps: no steps' '--steps' steps "$tmp/bare.db"
says 'a GPU that is not there' 'no GPU work on GPU 3; there is some on 0' \
	gaps "$tmp/bare.db" --device 3
run 3 "$profan" gaps "$tmp/bare.db" --step 1 &&
	grep -q 'name other ranges with --steps' "$tmp/err" &&
	ok 'gaps: --step without steps' || not_ok 'gaps: --step without steps' \
	"$tmp/err"
run 3 "$profan" gaps "$tmp/bare.db" --rank 0 &&
	grep -q 'no trace of rank 0' "$tmp/err" &&
	ok 'gaps: --rank without ranks' || not_ok 'gaps: --rank without ranks' \
	"$tmp/err"
# python functions that ingest was told to leave out, and a cut file
{
	range python_function 'a.py(1): f' 1 9 1 ''
	cat "$tmp/bare.json" | sed 1d
} | sed '$d' | trace python
run 0 "$profan" ingest -q --no-python-functions "$tmp/python.json" \
	-o "$tmp/left.db"
says 'functions left out' '1 Python function left out' gaps "$tmp/left.db"
silent 'functions kept' 'left out' gaps "$tmp/python.db"
head -c -20 "$tmp/bare.json" >"$tmp/cut.json"
run 0 "$profan" ingest -q "$tmp/cut.json" -o "$tmp/cut.db"
for command in gaps overlap launches kernels steps syncs; do
	says "$command: a file that was cut off" '1 trace cut off' \
		$command "$tmp/cut.db"
done
# calls wait, and there is no GPU work: no column says what that cost a GPU
{
	range cpu_op aten::item 1 20 1 ''
	range cuda_runtime cudaDeviceSynchronize 2 9 1 '"correlation":5'
} | trace waits
says 'syncs: no GPU' 'is not known' syncs "$tmp/waits.db"
silent 'syncs: nothing of a GPU' 'idle_ns' syncs "$tmp/waits.db"
run 0 "$profan" report "$tmp/waits.db" -o "$tmp/waits.html" &&
	grep -q cudaDeviceSynchronize "$tmp/waits.html" &&
	! grep -q 'GPU busy meanwhile' "$tmp/waits.html"
result 'report: waits without a GPU'
# a window counts its own: the second kernel's call was cut away
{
	range cuda_runtime cudaLaunchKernel 2 3 1 '"correlation":5'
	range kernel k 10 10 7 '"device":0,"stream":7,"correlation":5' 0
	range kernel k 30 30 7 '"device":1,"stream":7,"correlation":6' 1
} | trace window
says 'window: the whole' '1 GPU event (75.00 % of GPU time in the capture)' \
	launches "$tmp/window.db"
silent 'window: without it' 'no launch call' launches "$tmp/window.db" --to 20us
says 'window: only it' '1 GPU event (100.00 % of GPU time)' \
	launches "$tmp/window.db" --from 20us
silent 'device: without it' 'no launch call' launches "$tmp/window.db" \
	--device 0
says 'device: only it' '1 GPU event (100.00 % of GPU time)' \
	launches "$tmp/window.db" --device 1

# Devices of other vendors: one launch (1 us to 3 us), work from 5 us to 95 us, a
# call that waits from 10 us to 100 us, and the same work again, so that the GPU
# idles from 95 us to 115 us.
# waits NAME CATEGORY LAUNCH WAIT [CATEGORY OF WORK]
waits() {
	{
		range "$2" "$3" 1 2 1 '"correlation":5'
		range "$2" "$4" 10 90 1 '"correlation":6'
		range "${5:-kernel}" k 5 90 7 '"device":0,"stream":7,"correlation":5' 0
		range "$2" "$3" 110 2 1 '"correlation":7'
		range "${5:-kernel}" k 115 5 7 '"device":0,"stream":7,"correlation":7' 0
	} | trace vendor
	run 0 "$profan" syncs "$tmp/vendor.db" --format json &&
		grep -q "\"blocked_ns\": 90000, \"count\": 1, \"call\": \"$4\"" \
			"$tmp/out" &&
		grep -q '"useful_ns": 85000,' "$tmp/out"
	result "$1: $4 waits" "$tmp/out" "$tmp/err"
	run 0 "$profan" gaps "$tmp/vendor.db" --format json &&
		grep -q '"drained_ns": 20000' "$tmp/out" &&
		grep -q '"cause": "sync", "ns": 5000,' "$tmp/out"
	result "$1: what the GPU idles for in $4" "$tmp/out" "$tmp/err"
	run 0 "$profan" launches "$tmp/vendor.db" --format json &&
		grep -q '"launch_count": 2,' "$tmp/out"
	result "$1: $3 launches" "$tmp/out" "$tmp/err"
	run 0 "$profan" path "$tmp/vendor.db" --format json &&
		grep -q '"sync return"' "$tmp/out"
	result "$1: the path returns from $4" "$tmp/out" "$tmp/err"
	# and one more, whose work is not there
	sed 's/"correlation":7}},$/"correlation":8}},/;t' "$tmp/vendor.json" |
		sed "/\"$3\"/s/\"correlation\":8/\"correlation\":9/" \
			>"$tmp/lost.json"
	run 0 "$profan" ingest -q "$tmp/lost.json" -o "$tmp/lost.db" &&
		run 0 "$profan" doctor "$tmp/lost.db" --format json &&
		grep -q '"check": "launches without GPU work", "count": 1,' \
			"$tmp/out"
	result "$1: $3 without its work" "$tmp/out" "$tmp/err"
}
for call in urQueueFinish urEventWait; do
	waits XPU xpu_runtime urEnqueueKernelLaunchWithArgsExp $call
done
for call in zeCommandQueueSynchronize zeCommandListHostSynchronize \
	zeEventHostSynchronize zeFenceHostSynchronize; do
	waits XPU xpu_driver zeCommandListAppendLaunchKernel $call
done
for call in piQueueFinish piEventsWait; do
	waits XPU xpu_runtime piEnqueueKernelLaunch $call
done
waits MTIA mtia_runtime runFunction synchronizeStream mtia_ccp_events
for call in Stream Device Event StreamWithTimeout; do
	waits NPU privateuse1_runtime aclrtLaunchKernel aclrtSynchronize$call
done
for call in Stream Device Event; do
	waits HPU hpu_runtime synLaunch syn${call}Synchronize hpu_op
done
# what the streams of a MTIA wait for is no work, and lasts as long as it likes
{
	range mtia_runtime runFunction 1 2 1 '"correlation":5'
	range mtia_ccp_events event_wait 3 90 7 '"stream":1,"wait_on_stream":2' 0
	range mtia_ccp_events k 20 10 8 '"stream":2,"correlation":5' 0
	range mtia_runtime runFunction 10 2 1 '"correlation":6'
	range mtia_ccp_events k 95 10 7 '"stream":1,"correlation":6' 0
	range mtia_ccp_events event_record 31 60 8 '"stream":2' 0
	range mtia_ccp_events dma_request 40 10 8 '"stream":2' 0
} | trace mtia
says 'MTIA: waits of streams keep no GPU busy' '"busy_ns": 30000,' \
	gaps "$tmp/mtia.db"
says 'MTIA: nor are they kernels' '"kernel_count": 2,' kernels "$tmp/mtia.db"
says 'MTIA: what they wait for is a dependency' \
	'{"cause": "dependency", "ns": 45000,' gaps "$tmp/mtia.db"
says 'MTIA: they are told beside the calls' \
	'{"name": "event_wait", "source": "record", "count": 1, "ns": 90000,' \
	syncs "$tmp/mtia.db"

# A NPU, as torch_npu writes it (tests/devices.py npu): of each command what is
# planted
"$PYTHON" -S "$helper" npu >"$tmp/npu.json"
run 0 "$profan" ingest -q "$tmp/npu.json" -o "$tmp/npu.db" || cat "$tmp/err"
says 'NPU: kernels are tasks by their type, and collectives' \
	'"kernel_count": 8,' kernels "$tmp/npu.db"
says 'NPU: the time of kernels' '"kernel_ns": 1600000,' kernels "$tmp/npu.db"
says 'NPU: nothing counts twice' '"busy_ns": 1680000,' gaps "$tmp/npu.db"
says 'NPU: collectives are communication' '"comm_ns": 400000,' \
	overlap "$tmp/npu.db"
says 'NPU: copies' '"copy_ns": 80000,' overlap "$tmp/npu.db"
says 'NPU: one device' '{"rank": null, "device": 3,' overlap "$tmp/npu.db"
says 'NPU: calls by connection' '"launch_count": 8,' launches "$tmp/npu.db"
says 'NPU: what has no call' '"orphan_count": 4' launches "$tmp/npu.db"
says 'NPU: calls that wait' '"blocked_ns": 1800000, "count": 4, "call": "AscendCL@aclrtSynchronizeStreamWithTimeout"' \
	syncs "$tmp/npu.db"
says 'NPU: what streams wait for' \
	'{"name": "wait", "source": "record", "count": 4, "ns": 1600000,' \
	syncs "$tmp/npu.db"
says 'NPU: why no operator' "no flow of torch_npu leads to it" \
	doctor "$tmp/npu.db"
run 0 "$profan" table "$tmp/npu.db" &&
	grep -qx 'Self NPU time total: 1.680ms' "$tmp/out"
result 'NPU: no table sums up what is derived or waits' "$tmp/out" "$tmp/err"
says 'NPU: steps' '"step_count": 4,' steps "$tmp/npu.db"
run 0 "$profan" slice "$tmp/npu.db" -o "$tmp/part.json" &&
	run 0 "$profan" ingest -q "$tmp/part.json" -o "$tmp/part.db" || cat "$tmp/err"
for command in kernels overlap launches syncs; do
	run 0 "$profan" $command "$tmp/npu.db" --format json &&
		cp "$tmp/out" "$tmp/want" &&
		run 0 "$profan" $command "$tmp/part.db" --format json
	same "NPU: $command of a slice" "$tmp/want" "$tmp/out"
done
# Arrows lead from operators to tasks, with a call or without one; where it is
# not certain which, none does.
"$PYTHON" -S "$helper" npu flows >"$tmp/flows.json"
run 0 "$profan" ingest -q "$tmp/flows.json" -o "$tmp/flows.db" || cat "$tmp/err"
for threads in 1 2; do
	run 0 "$profan" ingest -q --threads $threads "$tmp/flows.json" \
		-o "$tmp/flows$threads.db" || cat "$tmp/err"
done
same 'NPU: arrows at any number of threads' "$tmp/flows1.db" "$tmp/flows2.db"
run 0 "$profan" slice "$tmp/flows.db" -o "$tmp/arrows.json" &&
	run 0 "$profan" ingest -q "$tmp/arrows.json" -o "$tmp/flows_part.db" ||
	cat "$tmp/err"
cat >"$tmp/want" <<'END'
gpu_name,op,count
hcom_allReduce__1_0,c10d::allreduce_,1
hcom_allReduce__1_1,c10d::allreduce_,1
hcom_allReduce__1_2,c10d::allreduce_,1
hcom_allReduce__1_3,c10d::allreduce_,1
mm,aten::mm,4
relu,aten::relu,3
END
for db in flows flows_part; do
	run 0 "$profan" query "$tmp/$db.db" --format csv \
		"SELECT gpu_name, op, count(*) AS count FROM gpu_ops
		GROUP BY 1, 2 ORDER BY 1, 2"
	same "NPU: operators of tasks in $db" "$tmp/want" "$tmp/out"
	# a slice has all starts before all ends
	sed -i -e /relu/d -e s/mm,4/mm,1/ "$tmp/want"
done
printf 'name,calls,steps\nmm,4,4\nrelu,0,3\n' >"$tmp/want"
run 0 "$profan" query "$tmp/flows.db" --format csv \
	"SELECT s.text AS name, count(g.launch_id) AS calls,
		count(g.step) AS steps
	FROM gpu_event AS g JOIN string AS s ON s.id = g.name_id
	WHERE s.text IN ('mm', 'relu') GROUP BY 1 ORDER BY 1"
same 'NPU: calls and steps of tasks with arrows' "$tmp/want" "$tmp/out"
mkdir -p "$tmp/w_ascend_pt/ASCEND_PROFILER_OUTPUT"
cp "$tmp/npu.json" "$tmp/w_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
echo 'Name,Type,Start Time(us)' \
	>"$tmp/w_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
run 0 "$profan" ingest -q "$tmp/w_ascend_pt" -o "$tmp/folder.db" || cat "$tmp/err"
says 'NPU: a folder of torch_npu' '"kernel_count": 8,' kernels "$tmp/folder.db"

# what to record is said in the words of the device's own profiler
# activity CATEGORY OF CALLS, ACTIVITY
activity() {
	{
		range cpu_op aten::mm 1 90 1 ''
		range "$1" synchronizeStream 5 9 1 '"correlation":5'
	} | trace activity
	for command in gaps overlap launches kernels steps doctor; do
		says "$command: no work of $1" "ProfilerActivity.$2" \
			$command "$tmp/activity.db"
	done
}
activity cuda_runtime CUDA
activity xpu_runtime XPU
activity mtia_runtime MTIA
activity hpu_runtime HPU
activity privateuse1_runtime PrivateUse1
"$PYTHON" -S "$helper" npu host >"$tmp/host.json"
run 0 "$profan" ingest -q "$tmp/host.json" -o "$tmp/host.db" || cat "$tmp/err"
says 'NPU: no work' 'ProfilerActivity.NPU of torch_npu.profiler recorded calls' \
	gaps "$tmp/host.db"
# Who recorded launches of a device is not told to record its work.
# launched CATEGORY OF CALLS, CALL, DB
launched() {
	for command in gaps overlap launches kernels steps roofline graphs; do
		silent "$command: launches in $1, but no work" \
			'record GPU work' $command "$3"
	done
	says "launches: $2 is no proof of none" \
		'so of no call is known what it launched' launches "$3"
	says "doctor: $2 has no work" 'launches work, but has no record of it' \
		doctor "$3"
}
for call in 'xpu urEnqueueKernelLaunch' 'mtia runFunction' 'hpu synLaunch' \
	'privateuse1 aclrtLaunchKernel'; do
	{
		range cpu_op aten::mm 1 90 1 ''
		range "${call% *}_runtime" "${call#* }" 5 9 1 '"correlation":5'
	} | trace launched
	launched "${call% *}_runtime" "${call#* }" "$tmp/launched.db"
done
launched CANN Node@launch "$tmp/host.db"

# --steps with the name of profiler steps changes nothing
"$mktrace" --steps 4 --layers 1 >"$tmp/made.json"
run 0 "$profan" ingest -q "$tmp/made.json" -o "$tmp/made.db" || cat "$tmp/err"
same_steps() { # COMMAND...
	for part in '' '--step 1..2' '--skip-first 2'; do
		# shellcheck disable=SC2086
		if run 0 "$profan" "$@" $part && cp "$tmp/out" "$tmp/want" &&
			run 0 "$profan" "$@" $part --steps '^ProfilerStep#'; then
			same "$1 $part: --steps" "$tmp/want" "$tmp/out"
		else
			not_ok "$1 $part: --steps" "$tmp/err"
		fi
	done
}
for command in gaps kernels launches memory modules overlap steps syncs trend; do
	same_steps $command "$tmp/made.db" --format json
done
same_steps slice "$tmp/made.db" -o -
same_steps stacks "$tmp/made.db" -o -
same_steps diff "$tmp/made.db" "$tmp/made.db" --format json
run 2 "$profan" kernels "$tmp/made.db" --steps '(' &&
	grep -q 'is no pattern' "$tmp/err" &&
	ok 'a wrong pattern' || not_ok 'a wrong pattern' "$tmp/err"
run 3 "$profan" steps "$tmp/made.db" --steps 'nothing like it' &&
	grep -q 'no range of the host matches' "$tmp/err" &&
	ok 'a pattern without a match' ||
	not_ok 'a pattern without a match' "$tmp/err"
tap_done
