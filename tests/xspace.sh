# SPDX-License-Identifier: MIT
# XSpace files of TensorFlow, JAX and PyTorch/XLA: our own small ones, damage
# to them, and real ones where they are at hand.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

"$PYTHON" -S "$top_srcdir/tests/gen/mkxspace.py" --all "$tmp"
read_case() { # CASE [ENV=VALUE...]: into $tmp/CASE.db, words into $tmp/said
	name=$1
	shift
	rm -f "$tmp/$name.db"
	env "$@" "$profan" ingest "$tmp/$name.xplane.pb" -o "$tmp/$name.db" \
		>"$tmp/said" 2>&1
}
sql() { # CASE STATEMENT
	"$profan" query "$tmp/$1.db" --format csv "$2" 2>&1 | tail -n +2
}
gives() { # NAME CASE STATEMENT EXPECTED
	sql "$2" "$3" >"$tmp/got"
	printf '%s\n' "$4" >"$tmp/want"
	same "$1" "$tmp/want" "$tmp/got"
}

# ---- a whole one ----
read_case whole
: >"$tmp/nothing"
same "a whole file needs no repair" "$tmp/nothing" "$tmp/said"
gives "it is told by its bytes; accounts; the time of day of time 0" whole \
	"SELECT format, base_ns, event_count, stored_count, skipped_count
	FROM trace" "xspace,1700000000000000000,23,23,0"
gives "kernels: picoseconds are divided once, their ends, too" whole \
	"SELECT name, start_ns, dur_ns, device, stream, grid_x, grid_y,
	block_x, registers_per_thread, shared_memory_bytes, correlation
	FROM kernels ORDER BY id LIMIT 1" \
	"gemm_kernel.kd,101000,200001,0,7,16,2,256,38,192,10"
gives "every kernel finds its call, copies say their bytes" whole \
	"SELECT g.what, count(*), count(g.launch_id), sum(size_bytes)
	FROM gpu_work AS g LEFT JOIN copies USING (id) GROUP BY 1" \
	"copy,3,0,12288
kernel,3,3,"
gives "a call begins in the nanosecond that its picoseconds are in" whole \
	"SELECT start_ns, end_ns FROM event WHERE name = 'cudaLaunchKernel'
	ORDER BY 1 LIMIT 1" "1050,21051"
gives "threads of one name are two tracks" whole \
	"SELECT pid, tid FROM track WHERE class = 'host' ORDER BY id" \
	"box,python
box,python/78"
gives "steps are the host's where it has them" whole \
	"SELECT step, start_ns FROM step" \
	"5,1000
6,1001000
7,2001000"
gives "derived lines are no work" whole \
	"SELECT kind, count(*) FROM event GROUP BY 1 ORDER BY 1" \
	"1,3
2,3
3,3
4,3
7,3
8,3
10,2
14,3"
gives "arguments: texts, references, decimals without loss" whole \
	"SELECT args FROM event WHERE name = 'MemoryAllocation'
	ORDER BY id LIMIT 1" \
	'"{""allocator_name"":""GPU_0_bfc"",""Device Type"":1,""Device Id"":0,""Bytes"":1024,""Total Allocated"":1024,""Addr"":4096,""fraction"":0.25}"'
read_case alike
gives "events that are alike have their own numbers" alike \
	"SELECT replace(replace(replace(args, char(34), ''), ',', ' '),
	'core_count', 'n') AS said FROM event ORDER BY id" \
	"{Bytes:16 Total Allocated:32}
{Bytes:32 Total Allocated:64}
{Bytes:-32 Total Allocated:64}
{Bytes:-16 Total Allocated:32}
{Bytes:16 Total Allocated:-1 Total Allocated:-1}
{Bytes:64 Total Allocated:-1 Total Allocated:-1}
{Bytes:16 Total Allocated:7 Total Allocated:7 Addr:1}
{Bytes:64 Total Allocated:9 Total Allocated:9 Addr:2}
{Bytes:16 Total Allocated:32 fraction:0.5}
{Bytes:64 Total Allocated:128 fraction:0.25}
{n:0 n:1 n:2 n:3 n:4 n:5 n:6 n:7 n:8 n:9 n:10}
{n:1 n:2 n:3 n:4 n:5 n:6 n:7 n:8 n:9 n:10 n:11}
{n:1 name:a}
{n:2 name:b}
{n:3 name:a}"
"$profan" info "$tmp/whole.db" >"$tmp/got" 2>&1
grep -q '^Ours .* 80 *16.00 GiB' "$tmp/got"
result "info: what the file says of its device" "$tmp/got"
for command in steps kernels launches overlap gaps syncs stacks memory doctor \
	table report trend; do
	set -- "$command" "$tmp/whole.db"
	[ "$command" != report ] || set -- "$@" -o "$tmp/page.html"
	"$profan" "$@" >"$tmp/got" 2>&1
	result "$command answers" "$tmp/got"
done
"$profan" diff "$tmp/whole.db" "$tmp/whole.db" >"$tmp/got" 2>&1
result "diff answers" "$tmp/got"
"$profan" memory "$tmp/whole.db" >"$tmp/got" 2>&1
grep -q 'GPU 0: at most 3.00 KiB' "$tmp/got"
result "memory: what allocators say" "$tmp/got"
# Columns of a table of memory: null is what nobody knows.
memory_of() { # DATABASE TABLE "KEY..." [OPTION]...
	db=$1 table=$2 keys=$3
	shift 3
	"$profan" memory "$db" -f json "$@" >"$tmp/answer" 2>"$tmp/said"
	"$PYTHON" -S -c '
import json, sys
for row in json.load(open(sys.argv[1]))["tables"].get(sys.argv[2], []):
    print(*(row[key] for key in sys.argv[3].split()))' \
		"$tmp/answer" "$table" "$keys"
}
read_case frees
memory_of "$tmp/frees.db" devices "device peak_bytes alive_bytes start_bytes
	allocated_bytes freed_count freed_bytes kept_bytes early_count
	early_bytes freed_twice_count reused_count jump_count unsized_count" \
	>"$tmp/got"
cat >"$tmp/want" <<'EOF'
XLA 0 1160 160 1000 224 2 192 32 0 0 0 0 0 0
XLA 1 516 16 500 16 2 None 16 1 None 1 0 0 2
XLA 2 300 0 300 0 1 None 0 1 None 0 0 0 1
XLA 3 32 32 0 32 2 None 0 0 0 1 0 0 1
EOF
same "a free without a size frees what is open at its address" \
	"$tmp/want" "$tmp/got"
grep -q '4 frees say no size' "$tmp/answer"
result "and those of what nobody saw allocated are counted" "$tmp/answer"
memory_of "$tmp/frees.db" ops "device op self_increase_bytes increase_bytes
	self_freed_count self_freed_bytes" | sort >"$tmp/got"
cat >"$tmp/want" <<'EOF'
XLA 0 (outside of ops) 128 128 0 0
XLA 0 f:Drop -64 -64 1 64
XLA 0 f:Make 96 96 0 0
XLA 0 f:Use -128 -192 1 128
XLA 1 f:Make 16 16 0 0
XLA 1 f:Use None None 2 None
XLA 2 f:Use None None 1 None
XLA 3 f:Use None None 2 None
EOF
same "it belongs to the ops of the thread that frees" "$tmp/want" "$tmp/got"
memory_of "$tmp/frees.db" devices "device allocated_bytes freed_bytes" \
	--from 0.05ms --to 0.1ms >"$tmp/got"
echo "XLA 0 0 64" >"$tmp/want"
same "also of what was allocated before a window" "$tmp/want" "$tmp/got"
memory_of "$tmp/frees.db" devices "device allocated_bytes freed_bytes" \
	--from 0.19ms --to 0.205ms >"$tmp/got"
echo "XLA 0 0 128" >"$tmp/want"
same "and frees before a window are none of it" "$tmp/want" "$tmp/got"
read_case frees_in_order
memory_of "$tmp/frees_in_order.db" devices "freed_bytes kept_count" >"$tmp/got"
echo "8 0" >"$tmp/want"
same "and where one thread has all in order" "$tmp/want" "$tmp/got"
"$profan" table "$tmp/whole.db" >"$tmp/got" 2>&1
grep -q "not torch's" "$tmp/got"
result "table says that it is not torch's" "$tmp/got"

"$profan" kernels "$tmp/whole.db" --group name,op >"$tmp/got" 2>&1
grep -q 'f:MatMul\|jit(f)/dot_general' "$tmp/got"
result "kernels by operator, as the trace calls it" "$tmp/got"
read_case device_steps
"$profan" kernels "$tmp/device_steps.db" --group op >"$tmp/got" 2>&1
grep -q '^jit(f)/dot_general .* 3 ' "$tmp/got"
result "kernels by operator without launch calls" "$tmp/got"
run 0 "$profan" path "$tmp/device_steps.db" -f json &&
	grep -q '"host_ns": null' "$tmp/out" && ! grep -q 'host decides' "$tmp/out"
result "path: steps of a GPU are no time of the host" "$tmp/out"
for command in launches doctor steps modules syncs; do
	"$profan" $command "$tmp/device_steps.db" 2>&1 | tr '\n' ' ' >"$tmp/got"
	if grep -qE 'torch.profiler|ProfilerActivity|with_stack|key_averages' \
		"$tmp/got"; then
		not_ok "$command: no option of another profiler" "$tmp/got"
	else
		ok "$command: no option of another profiler"
	fi
done

# ---- what programs reserve ----
read_case reserved
memory_of "$tmp/reserved.db" devices "device peak_bytes in_use_bytes
	peak_reserved_bytes capacity_bytes lifetime_peak_bytes unused_bytes" \
	>"$tmp/got"
cat >"$tmp/want" <<'EOF'
TPU 0 2100 3950 3950 5000 4500 None
TPU 1 64 None None 5000 4500 None
EOF
same "memory: with what programs reserve, by the device's own name" \
	"$tmp/want" "$tmp/got"
run 0 "$profan" memory "$tmp/reserved.db" &&
	grep -q '^TPU 0: at most 3.86 KiB of 4.88 KiB in use' "$tmp/out"
result "memory: and it is said first" "$tmp/out"

# ---- ranges of the application ----
read_case annotations
ranges_of() { # DATABASE
	"$profan" ranges "$1" -f csv --table ranges 2>"$tmp/said" |
		cut -d, -f1-4 | sort
}
ranges_of "$tmp/annotations.db" >"$tmp/got"
cat >"$tmp/want" <<'EOF'
Iterator::Root::Prefetch,1,400000,300000
Iterator::Root::Prefetch::Map,1,100000,100000
evaluate,1,600000,600000
load_batch,2,1060000,1060000
range,count,total_ns,self_ns
train,2,2000000,940000
EOF
same "ranges: the application's and tf.data's, not the runtime's" \
	"$tmp/want" "$tmp/got"
run 0 "$profan" "$tmp/annotations.db" &&
	tr '\n' ' ' <"$tmp/out" | grep -q '53.00 %, is loading data'
result "and what loads data is told first" "$tmp/out"
run 0 "$profan" table verdicts "$tmp/annotations.db" -f csv &&
	grep -q '^A1,.*53.00 %' "$tmp/out"
result "and by the verdict" "$tmp/out"
"$profan" report -q "$tmp/annotations.db" -o "$tmp/annotations.html" \
	2>"$tmp/said" && grep -q load_batch "$tmp/annotations.html"
result "and on the page" "$tmp/said"

# ---- collectives of XLA on CPUs ----
read_case apart
run 0 "$profan" steps "$tmp/apart.db" &&
	grep -q '^A step takes 500.000 us: GPU busy 40.00 %' "$tmp/out"
result "steps of two devices that share a number are no one step" "$tmp/out"
for command in gaps overlap; do
	run 0 "$profan" $command "$tmp/apart.db" &&
		grep -q '^GPU .* of the step (.* of 500.000 us)' "$tmp/out" &&
		run 0 "$profan" $command "$tmp/apart.db" --whole-capture &&
		grep -q '^2 GPUs ' "$tmp/out"
	result "$command: a GPU has no idle time in a step of another" "$tmp/out"
done
read_case tpu_apart
run 0 "$profan" overlap "$tmp/tpu_apart.db" &&
	grep -q '^TPU busy 36.36 % of 2 steps' "$tmp/out"
result "nor a TPU, which may be another than the first" "$tmp/out"
read_case warming
for command in summary advise; do
	"$profan" $command -f json "$tmp/warming.db" |
		grep -o 'skip-first [0-9]*' | sort -u
done >"$tmp/got"
printf 'skip-first 2\nskip-first 2\n' >"$tmp/want"
same "summary and advice count the same steps as warm-up" "$tmp/want" "$tmp/got"
# What a thread that launches does not say, another one of the runtime may.
read_case pooled
"$profan" gaps "$tmp/pooled.db" -f json >"$tmp/gaps.json"
"$profan" path "$tmp/pooled.db" -f json >"$tmp/path.json"
"$PYTHON" -S -c 'import json, sys
gaps, path = (json.load(open(p)) for p in sys.argv[1:])
for r in gaps["tables"]["causes"]:
    print("gap", r["cause"], r["ns"])
print("before", gaps["scalars"].get("before_ns"))
for r in path["tables"]["categories"][:2]:
    print("path", r["category"], r["ns"])' "$tmp/gaps.json" \
	"$tmp/path.json" >"$tmp/got" 2>&1
cat >"$tmp/want" <<'EOF'
gap range 8900000
gap unrecorded 1000000
gap launch latency 100000
before None
path range 8950000
path unrecorded 1100000
EOF
same "idle time is of the threads that are in something" "$tmp/want" "$tmp/got"
run 0 "$profan" summary "$tmp/pooled.db" && ! grep -q 'pass before' "$tmp/out"
result "the start of the profiler is no time of the program" "$tmp/out"
read_case awaited
# what another thread does stays where it is, whatever is asked
"$profan" path "$tmp/awaited.db" -f json >"$tmp/path.json"
! grep -q '"question": "[^"]* \(takes no time of its own\|itself\)' "$tmp/path.json"
result "what others do is not asked to be gone" "$tmp/path.json"
"$profan" path "$tmp/awaited.db" --group name -f csv |
	awk -F, '$5 == "operators" || $5 == "python" { print $1, $6 }' >"$tmp/got"
cat >"$tmp/want" <<'EOF'
5000000 dot.3
3000000 $array.py:615 _value
2000000 $train.py:3 step
EOF
same "who waits on the CPU is on the path where nobody works" "$tmp/want" "$tmp/got"
read_case cpu_comm
run 0 "$profan" steps "$tmp/cpu_comm.db" -f json &&
	grep -q '"comm_ns": 300000' "$tmp/out"
result "steps: a collective on the CPU is communication" "$tmp/out"

# ---- JAX tells it twice ----
mkdir "$tmp/logs"
cp "$tmp/whole.xplane.pb" "$tmp/logs/box.xplane.pb"
echo '{"traceEvents": [{"ph": "X", "name": "a", "cat": "x", "pid": 1,
	"tid": 1, "ts": 1, "dur": 5}]}' | gzip -c >"$tmp/logs/box.trace.json.gz"
"$profan" ingest "$tmp/logs" -o "$tmp/logs.db" >"$tmp/said" 2>&1
gives "a folder: the JSON beside an XSpace is not read again" logs \
	"SELECT count(*), max(format) FROM trace" "1,xspace"
grep -q '1 file tells what the \*.xplane.pb' "$tmp/said"
result "and one line says so" "$tmp/said"

echo '{"traceEvents": [
	{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
	{"ph": "M", "pid": 701, "tid": 1, "name": "thread_name", "args": {"name": "t"}},
	{"ph": "X", "name": "a", "pid": 701, "tid": 1, "ts": 1, "dur": 5}]}' \
	>"$tmp/bare.trace.json"
run 0 "$profan" ingest --dry-run -q -f csv "$tmp/bare.trace.json" &&
	grep -q ',tf-json,' "$tmp/out" &&
	run 0 "$profan" ingest -q "$tmp/bare.trace.json" -o "$tmp/bare.db" &&
	[ "$(sql bare "SELECT format FROM trace")" = tf-json ]
result "its JSON alone: --dry-run says the format that the database says" \
	"$tmp/out"
run 0 "$profan" table "$tmp/bare.db" &&
	grep -q '^No operators were recorded, and no GPU work' "$tmp/out" &&
	run 0 "$profan" table "$tmp/bare.db" -f json &&
	grep -q '"gpu_ns": null' "$tmp/out"
result "table without operators: unknown is not 0" "$tmp/out"

# ---- there and back: JSON of it gives the same kernels ----
"$profan" slice "$tmp/whole.db" -o "$tmp/slice.json" >"$tmp/got" 2>&1 &&
	"$profan" ingest -q "$tmp/slice.json" -o "$tmp/slice.db" >"$tmp/got" 2>&1
result "slice: JSON of it can be read" "$tmp/got"
q="SELECT name, count(*), sum(dur_ns), min(device), min(stream)
	FROM gpu_work GROUP BY 1"
sql whole "$q" >"$tmp/want"
sql slice "$q" >"$tmp/got"
same "slice: the same work" "$tmp/want" "$tmp/got"

# ---- however it is cut into batches, packed and piped ----
all="SELECT t.pid, t.tid, e.name, e.category, e.start_ns, e.dur_ns, e.args
	FROM event AS e JOIN track AS t ON t.id = e.track_id ORDER BY e.id"
sql whole "$all" >"$tmp/all"
read_case whole PROFAN_CHUNK_BYTES=1
sql whole "$all" >"$tmp/got"
same "the same in batches of one event" "$tmp/all" "$tmp/got"
gzip -c "$tmp/whole.xplane.pb" >"$tmp/packed.pb.gz"
"$profan" ingest -q "$tmp/packed.pb.gz" -o "$tmp/packed.db" 2>"$tmp/said"
sql packed "$all" >"$tmp/got"
same "the same from gzip" "$tmp/all" "$tmp/got"
"$profan" ingest -q - -o "$tmp/piped.db" <"$tmp/whole.xplane.pb" \
	2>"$tmp/said"
sql piped "$all" >"$tmp/got"
same "the same from a pipe" "$tmp/all" "$tmp/got"

# ---- other planes and lines ----
read_case tpu
gives "TPU: operations are no GPU work, and their names short" tpu \
	"SELECT t.pid, t.tid, e.kind, e.name, count(*) FROM event AS e
	JOIN track AS t ON t.id = e.track_id WHERE t.class = 'gpu'
	GROUP BY 1, 2, 3, 4 ORDER BY 2" \
	"TPU 1,Async XLA Ops,21,add.1,1
TPU 1,XLA Modules,10,jit_f(1),1
TPU 1,XLA Ops,21,add.1,2"
for command in syncs launches; do
	"$profan" $command "$tmp/tpu.db" >"$tmp/got" 2>&1
	grep -q '^There is no GPU work, but that of TPUs' "$tmp/got" &&
		! grep -q 'record GPU work' "$tmp/got"
	result "TPU: $command says that there is work of TPUs" "$tmp/got"
done
# Figures of a command, and the same of its devices.
figures() { # DATABASE COMMAND KEY...
	"$profan" "$2" "$tmp/$1.db" -f json >"$tmp/answer" 2>"$tmp/said"
	"$PYTHON" -S -c '
import json, sys
answer = json.load(open(sys.argv[1]))
for row in [answer["scalars"]] + answer["tables"]["devices"]:
    print(*(row.get(key) for key in sys.argv[4:]))' "$tmp/answer" "$@"
}
# Planted in tests/gen/mkxspace.py; of the loop only what is inside of it has
# another class, and of what is under way only what has a name that says it.
tpu_overlap="total_ns busy_ns idle_ns computation_ns exposed_comm_ns
	exposed_copy_ns comm_ns overlap_ns event_count"
read_case tpu_work
figures tpu_work overlap $tpu_overlap >"$tmp/got"
cat >"$tmp/want" <<'EOF'
48200 24100 24100 15500 4100 4500 8100 4000 11
24100 18100 6000 11000 4100 3000 8100 4000 8
24100 6000 18100 4500 0 1500 0 0 3
EOF
same "TPU: busy time, classes and what hides behind what" "$tmp/want" "$tmp/got"
figures tpu_work gaps window_ns busy_ns idle_ns gap_count >"$tmp/got"
cat >"$tmp/want" <<'EOF'
48200 24100 24100 5
24100 18100 6000 2
24100 6000 18100 3
EOF
same "TPU: gaps" "$tmp/want" "$tmp/got"
run 0 "$profan" advise "$tmp/tpu_work.db" &&
	! grep -q 'Nothing can be judged\|while the GPU' "$tmp/out"
result "TPU: what it waits for is judged" "$tmp/out"
# Self times: of the loop 10000 less what is in it; all are the busy time.
ops_of() { # DATABASE [OPTION]...
	"$profan" kernels "$@" -f csv --table operations 2>"$tmp/said" |
		"$PYTHON" -S -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(*(row[key] or "-" for key in ("name", "calls", "self_ns",
          "total_ns", "flops", "bytes")))'
}
ops_of "$tmp/tpu_work.db" >"$tmp/got"
cat >"$tmp/want" <<'EOF'
fusion.1 4 11500 11500 400 4000
copy-done.3 2 4500 5000 - -
while.1 1 4000 10000 - -
all-reduce.2 1 2000 2000 - -
all-gather-done.4 1 1000 1000 - -
psum.7 1 1000 1000 - -
all-gather-start.4 1 100 100 - -
EOF
same "TPU: operations by name, self and total" "$tmp/want" "$tmp/got"
ops_of "$tmp/tpu_work.db" --group category | sed 's/ [^ ]* [^ ]* [^ ]*$//' \
	>"$tmp/got"
cat >"$tmp/want" <<'EOF'
loop fusion 4 11500
copy-done 2 4500
while 1 4000
(not said) 3 3100
all-reduce 1 1000
EOF
same "TPU: and by category" "$tmp/want" "$tmp/got"
# what most of the time is in may be many operations of a kind
"$profan" ingest -q "$tmp/tpu_waits.xplane.pb" -o "$tmp/tpu_waits.db"
for command in kernels summary; do
	run 0 "$profan" $command "$tmp/tpu_waits.db" && tr -s '\n ' ' ' <"$tmp/out" |
		grep -q "copy-done takes 80.00 % of the time of the TPUs' operations\
 (8.000 us of 10.000 us): there they wait for what copy-start began"
	result "TPU: $command says what kind decides" "$tmp/out"
done
run 0 "$profan" kernels "$tmp/tpu_work.db" && grep -q '^fusion.1 takes 47' "$tmp/out"
result "TPU: or else what operation takes most" "$tmp/out"
"$profan" table "$tmp/tpu_work.db" >"$tmp/out" 2>&1 &&
	grep -q '^fusion.1 takes ' "$tmp/out"
result "TPU: table lists them" "$tmp/out"
read_case tpu_long
gives "TPU: of the text of an operation its name is what it is called" \
	tpu_long "SELECT name, args ->> '$.long_name' FROM event ORDER BY start_ns" \
	"add.1,%add.1 = f32[4]{0:T(256)} add.1(f32[4] %x = 3)
all-reduce.2,%all-reduce.2 = f32[4]{0:T(256)} all-reduce.2(f32[4] %x = 3)
% = x,"
"$profan" overlap "$tmp/tpu_long.db" -f json 2>"$tmp/said" |
	grep -q '"total_ns": 2000'
result "TPU: and says that it is communication" "$tmp/said"

# ---- TPUs against their roofs ----
read_case tpu_roof
roofs() { # [OPTION...]
	"$profan" roofline "$tmp/tpu_roof.db" -f csv --table operations "$@" \
		2>"$tmp/said" | "$PYTHON" -S -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(*(row[key] or "-" for key in ("name", "self_ns", "tflop_per_s",
          "gb_per_s", "bound", "roofed_ns", "roof_ns", "above_roof_ns",
          "over_roof_ns")))'
}
roofs --group kernel >"$tmp/got"
cat >"$tmp/want" <<'EOF'
while.6 8000 - - - 0 - - 0
dot.1 6000 306 0.03333333333333333 compute 6000 2000 4000 0
bare.7 5000 - 327.6 memory 5000 1000 4000 0
add.2 3250 6.153846153846154e-05 1008 memory 3250 2000 1250 0
near.3 3000 0 54600 over roof 0 - - 3000
all-reduce.4 2000 5e-05 0.819 - 0 - - 0
copy-done.5 1000 - - - 0 - - 0
EOF
same "TPU: operations against their roofs" "$tmp/want" "$tmp/got"
"$profan" roofline "$tmp/tpu_roof.db" -f json >"$tmp/answer" 2>"$tmp/said" &&
	"$PYTHON" -S - "$tmp/answer" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))["scalars"]
f = {k: v for k, v in d.items() if k.startswith("tpu_")}
assert f == {"tpu_self_ns": 28250, "tpu_roof_ns": 5000,
             "tpu_above_roof_ns": 9250, "tpu_over_roof_ns": 3000,
             "tpu_no_roof_ns": 11000}, f
END
result "TPU: the parts of its time are the whole"
# 918e6 operations at 459e3 of them in a ns take one of the calls, too
roofs --group kernel --gpu 'TPU v5p' | grep '^dot.1' >"$tmp/got"
roofs --group kernel --peak bf16=1,gbps=1 --gpu 'TPU v2 (one core)' |
	grep '^dot.1' >>"$tmp/got"
cat >"$tmp/want" <<'EOF'
dot.1 6000 306 0.03333333333333333 compute 6000 4000 2000 0
dot.1 6000 306 0.03333333333333333 over roof 0 - - 6000
EOF
same "TPU: other peaks" "$tmp/want" "$tmp/got"
# the page has what the commands say
"$profan" report -q "$tmp/tpu_roof.db" -o "$tmp/roof.html" 2>"$tmp/said" &&
	"$profan" kernels "$tmp/tpu_roof.db" -f json >"$tmp/answer" &&
	"$profan" roofline "$tmp/tpu_roof.db" -g kernel -f json \
		>"$tmp/roofs" && "$PYTHON" -S - "$tmp" <<'END'
import json, re, sys
at = sys.argv[1]
page = open(at + "/roof.html").read()
def check(table, answer, keys):
    rows = re.search(r"<table id=%s>.*?</table>" % table, page, re.S).group(0)
    got = [(re.search(r"row>([^<]*)<", row).group(1),
            [float(v) for v in re.findall(r"<td data-v=([^ >]+)", row)])
           for row in rows.split("<tr>")[2:]]
    want = [(row["name"], [float(row[k]) for k in keys if row[k] is not None])
            for row in json.load(open(answer))["tables"]["operations"]]
    assert got == want, (got, want)
check("operations", at + "/answer",
      ("calls", "self_ns", "share", "total_ns", "flops", "bytes"))
check("roof-operations", at + "/roofs",
      ("calls", "self_ns", "tflop_per_s", "gb_per_s", "roof_share",
       "above_roof_ns"))
END
result "TPU: the page has the operations of the commands" "$tmp/said"
sed 's/TPU v6 Lite/TPU v0 Lite/' "$tmp/tpu_roof.xplane.pb" \
	>"$tmp/tpu_roof0.xplane.pb"
"$profan" ingest -q "$tmp/tpu_roof0.xplane.pb" -o "$tmp/tpu_roof.db"
roofs --group kernel | sed -n 2p >"$tmp/got"
echo "dot.1 6000 306 0.03333333333333333 - 0 - - 0" >"$tmp/want"
same "TPU: without peaks there are rates alone" "$tmp/want" "$tmp/got"
roofs --group kernel --peak gbps=1638 | grep -E '^(dot|bare)' >"$tmp/got"
cat >"$tmp/want" <<'EOF'
dot.1 6000 306 0.03333333333333333 - 0 - - 0
bare.7 5000 - 327.6 memory 5000 1000 4000 0
EOF
same "TPU: with the peak of its memory alone, only what needs no other" \
	"$tmp/want" "$tmp/got"
read_case tpu_calls
"$profan" gaps "$tmp/tpu_calls.db" -f csv --table causes 2>"$tmp/said" |
	cut -d, -f1,2 | sort >"$tmp/got"
cat >"$tmp/want" <<'EOF'
cause,ns
launch latency,50000
range,220000
unrecorded,330000
EOF
same "TPU: what the host did before it brought a program" "$tmp/want" "$tmp/got"
"$profan" report -q "$tmp/tpu_calls.db" -o "$tmp/calls.html" 2>"$tmp/said" &&
	grep -q 'TPU idle' "$tmp/calls.html" &&
	! grep -qE 'starves|Launch-bound' "$tmp/calls.html"
result "TPU: no program is bound by its launch" "$tmp/said"
"$profan" steps "$tmp/tpu_work.db" -f json >"$tmp/answer" 2>"$tmp/said" &&
	"$PYTHON" -S -c '
import json, sys
row, = json.load(open(sys.argv[1]))["tables"]["steps"]
print(*(row[key] for key in ("dur_ns", "kernel_ns", "copy_ns", "comm_ns",
                             "other_ns", "busy_ns", "kernel_union_ns",
                             "kernel_count", "copy_count")))' \
		"$tmp/answer" >"$tmp/got"
echo "24100 13500 4500 2100 4000 20100 13600 9 2" >"$tmp/want"
same "TPU: what a step's time goes to" "$tmp/want" "$tmp/got"
"$profan" report -q "$tmp/tpu_work.db" -o "$tmp/tpu.html" 2>"$tmp/said"
grep -q 'data-k=busy_share data-v=0.5' "$tmp/tpu.html" &&
	grep -q '2 TPUs busy' "$tmp/tpu.html" &&
	! grep -qE 'GPUs? (busy|idle) |data-q=' "$tmp/tpu.html"
result "TPU: the report shows it, by its name" "$tmp/said"
"$profan" slice "$tmp/tpu_work.db" -o "$tmp/tpu.json" >"$tmp/said" 2>&1 &&
	"$profan" ingest -q "$tmp/tpu.json" -o "$tmp/twin.db" >"$tmp/said" 2>&1
figures twin overlap $tpu_overlap >"$tmp/got"
figures tpu_work overlap $tpu_overlap >"$tmp/want"
same "TPU: the same from JSON of it" "$tmp/want" "$tmp/got"
read_case tpu_and_gpu
figures tpu_and_gpu overlap busy_ns event_count >"$tmp/got"
printf '201001 2\n201001 2\n' >"$tmp/want"
same "a TPU beside a GPU of its number is left out" "$tmp/want" "$tmp/got"
"$profan" doctor "$tmp/tpu.db" 2>&1 | tr '\n' ' ' >"$tmp/got"
! grep -q 'unknown categories' "$tmp/got"
result "TPU: doctor knows what its ranges are" "$tmp/got"
read_case device_steps
gives "steps of a device where the host has none" device_steps \
	"SELECT step, start_ns, dur_ns FROM step" \
	"0,1000,500000
1,1001000,500000"
read_case twice
gives "planes of one name are one device" twice \
	"SELECT count(*), count(DISTINCT device) FROM kernels" "3,1"
read_case later_wins
gives "of two definitions the later one counts" later_wins \
	"SELECT name FROM event" "second"
read_case epoch
gives "a line that counts from 1970 begins where the others do" epoch \
	"SELECT start_ns, dur_ns, base_ns FROM event, trace" \
	"1001,3,1700000000000000000"
read_case negative
gives "before the line's time; a negative duration" negative \
	"SELECT start_ns, dur_ns FROM event ORDER BY 1" \
	"-4991,2
10,0"
read_case many_names
gives "more names than are kept at once" many_names \
	"SELECT count(*), count(DISTINCT name), sum(name = 'n' || (start_ns - 1))
	FROM event" "70000,70000,70000"

# ---- damage: what is lost is counted ----
lost() { # CASE KIND EVENTS STORED
	read_case "$1"
	gives "$1: $2 is counted" "$1" "SELECT r.kind, r.count, t.event_count,
		t.stored_count FROM trace AS t, repair AS r" "$2,$3"
}
lost no_time untimed_skipped "1,1,0"
lost past_the_limit time_range "1,2,1"
lost unknown_name lost_name "1,1,1"
lost group bad_message "1,6,6"
lost bad_event malformed_event "2,3,1"
lost bad_stat bad_message "1,1,1"
lost unknown_plane plane "2,7,5"
gives "an event without a name says its number" unknown_name \
	"SELECT name FROM event" "unknown 77"
refuses() { # CASE WORDS
	read_case "$1"
	status=$?
	[ "$status" = 3 ] && [ ! -e "$tmp/$1.db" ] && grep -q "$2" "$tmp/said" &&
		[ "$(wc -l <"$tmp/said")" = 1 ]
	result "refused: $1" "$tmp/said"
}
refuses perfetto 'a trace of Perfetto'
refuses other 'no XSpace'
refuses pprof 'is a pprof profile .*: read it with pprof'
refuses overview 'no XSpace: its first field is no plane'
refuses nameless 'no XSpace: it has no plane with a name'
gzip -c "$tmp/pprof.xplane.pb" >"$tmp/memory.prof"
run 3 "$profan" "$tmp/memory.prof" && grep -q 'is a pprof profile' "$tmp/err" &&
	run 3 "$profan" table "$tmp/memory.prof" &&
	grep -q 'is a pprof profile' "$tmp/err"
result "a pprof profile, packed: every command refuses it by name" "$tmp/err"
refuses long_varint 'cannot be read at byte 0'
refuses past_the_end 'cut off before its first event'
refuses filtered 'text filter'
read_case secret
gives "bytes, compressed texts and the environment are not copied" secret \
	"SELECT count(*) FROM event WHERE args IS NULL" "2"
"$profan" report -q "$tmp/secret.db" -o "$tmp/secret.html" 2>"$tmp/err"
"$profan" slice -q "$tmp/secret.db" --from 0 -o "$tmp/secret.json" 2>"$tmp/err"
"$profan" export -q --rows "$tmp/secret.db" -o "$tmp/secret.rows" 2>"$tmp/err"
for command in info doctor table kernels steps; do
	"$profan" $command "$tmp/secret.db" -f json
done >"$tmp/secret.txt" 2>&1
[ -s "$tmp/secret.html" ] && [ -s "$tmp/secret.json" ] &&
	[ -s "$tmp/secret.rows" ] && grep -q '"info"' "$tmp/secret.txt" &&
	! grep -l hf_0123456789 "$tmp"/secret.db "$tmp"/secret.html \
		"$tmp"/secret.json "$tmp"/secret.rows "$tmp"/secret.txt \
		>"$tmp/found"
result "no secret in the database, a page, a slice, an export, an answer" \
	"$tmp/found"

# ---- cut anywhere: an answer or one sentence ----
cat >"$tmp/cut.py" <<'EOF'
import os, sqlite3, subprocess, sys
profan, path, out = sys.argv[1:]
data = open(path, "rb").read()

def varint(at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at

# A file that ends between two planes looks whole: nothing says how many.
ends, at = {0}, 0
while at < len(data):
    _, at = varint(at)
    length, at = varint(at)
    at += length
    ends.add(at)
bad = 0
last = -1
step = (1 if os.environ.get("EVERY") else
        7 if os.environ.get("LONG") else 97)
for n in list(range(0, len(data), step)) + [len(data)]:
    open(out + ".pb", "wb").write(data[:n])
    if os.path.exists(out):
        os.unlink(out)
    r = subprocess.run([profan, "ingest", "-q", out + ".pb", "-o", out],
                       capture_output=True, text=True)
    if r.returncode == 3 and r.stderr.count("\n") == 1:
        continue
    if r.returncode:
        bad += 1
        print(n, r.returncode, r.stderr)
        continue
    c = sqlite3.connect(out)
    e, s, k = c.execute("SELECT event_count, stored_count, skipped_count"
                        " FROM trace").fetchone()
    cut = c.execute("SELECT sum(count) FROM repair WHERE kind IN"
                    " ('cut_off', 'bad_message')").fetchone()[0]
    if e != s + k or e < last or (not cut and n not in ends):
        bad += 1
        print(n, e, s, k, cut)
    last = e
print("%d of %d" % (bad, len(data)))
EOF
"$PYTHON" -S "$tmp/cut.py" "$profan" "$tmp/whole.xplane.pb" "$tmp/cut.db" \
	>"$tmp/got" 2>&1
grep -q '^0 of' "$tmp/got"
result "cut anywhere: an answer or one sentence" "$tmp/got"

# ---- real ones ----
if [ -f "$shared/tools/inputs/check_goldens.py" ]; then
	"$PYTHON" -S "$shared/tools/inputs/check_goldens.py" "$profan" \
		"$shared/inputs" xplane >"$tmp/got" 2>&1
	grep -q ', 0 failed$' "$tmp/got"
	result "real files: kernels, devices, steps, accounts" "$tmp/got"
else
	skip "real files" "../shared/tools/inputs is not there"
fi

# By its raw bytes each free has an allocation at its address, and none is left.
tpu_real="$shared/inputs/xplane/tpu_v6e_inference.xplane.pb.gz"
if [ -f "$tpu_real" ]; then
	"$profan" ingest -q "$tpu_real" -o "$tmp/real.db"
	memory_of "$tmp/real.db" devices "device peak_bytes before_bytes
		freed_count freed_bytes kept_count early_count
		freed_twice_count reused_count jump_count unsized_count" \
		>"$tmp/got"
	cat >"$tmp/want" <<-'EOF'
		TPU 0 16106341504 0 117 37582013696 0 0 0 0 0 0
		TPU 1 10737555584 0 112 32213226752 0 0 0 0 0 0
		TPU 2 10737555584 0 112 32213226752 0 0 0 0 0 0
		TPU 3 10737555584 0 112 32213226752 0 0 0 0 0 0
	EOF
	same "a real TPU's frees, none of which says a size" \
		"$tmp/want" "$tmp/got"
	# xprof's hlo_stats: self times in us, of the four devices
	ops_of "$tmp/real.db" --group op | head -6 | cut -d' ' -f1-3 >"$tmp/got"
	cat >"$tmp/want" <<-'EOF'
		copy-done.4 400 77773215731
		copy-done.2 400 77642772818
		copy-done 400 75671038513
		copy-done.5 400 72946182662
		jit(f)/jit(main)/add 1200 9619893637
		jit(_psum)/jit(main)/reduce_sum 12 1460345258
	EOF
	same "a real TPU's operations by operator, as xprof has them" \
		"$tmp/want" "$tmp/got"
	# xprof's peakBytesInUse and memoryCapacity
	memory_of "$tmp/real.db" devices "device in_use_bytes capacity_bytes" \
		>"$tmp/got"
	cat >"$tmp/want" <<-'EOF'
		TPU 0 21492569216 33550237696
		TPU 1 21492671104 33550237696
		TPU 2 21492671104 33550237696
		TPU 3 21492569216 33550237696
	EOF
	same "a real TPU's memory, with what its programs reserve" \
		"$tmp/want" "$tmp/got"
else
	skip "a real TPU's frees" "../shared/inputs/xplane is not there"
fi

# All ranges of a real run are the program's own, in both of its formats.
if [ -d "$shared/inputs/jax_0.12" ]; then
	for format in xplane.pb trace.json.gz; do
		"$profan" ingest -q "$shared/inputs/jax_0.12/vm.$format" \
			-o "$tmp/real.db"
		ranges_of "$tmp/real.db" >"$tmp/got"
		cat >"$tmp/want" <<-'EOF'
			forward+backward,4,425748134,425748134
			range,count,total_ns,self_ns
			train,4,429589705,3841571
		EOF
		same "ranges of a real run of JAX, $format" \
			"$tmp/want" "$tmp/got"
	done
else
	skip "ranges of a real run of JAX" "../shared/inputs is not there"
fi

# The same run by two formats: the events of the .pb that xprof printed as JSON,
# whose times are in decimals of a microsecond: a figure may differ by 1 ns an
# event, and a count by none.
cat >"$tmp/twins.py" <<'EOF'
import json, os, subprocess, sys
profan, folder, tmp = sys.argv[1:]

def answer(*args):
    return json.loads(subprocess.run([profan, *args, "-f", "json"], check=True,
                                     capture_output=True).stdout)

def look(path, db):
    subprocess.run([profan, "ingest", "-q", path, "-o", db], check=True)
    k = answer("kernels", "-n", "-1", db)
    o = answer("overlap", db)["scalars"]
    calls = answer("launches", db)["scalars"]["launch_count"]
    rows = {}
    for r in k["tables"]["kernels"]:
        n, ns = rows.get(r["name"], (0, 0))
        rows[r["name"]] = n + r["calls"], ns + r["total_ns"]
    return rows, *(o[key] for key in ("busy_ns", "computation_ns", "copy_ns",
                                      "event_count", "total_ns")), calls

for name in ("jax_mi300_attention", "jax_mi300_8gpu_2025",
             "tf_v100_bert_8gpu"):
    a, b = (look(os.path.join(folder, name + end), tmp + "/twin%d.db" % i)
            for i, end in enumerate((".xplane.pb.gz",
                                     ".xprof.trace.json.gz")))
    assert a[4] == b[4] > 0, (name, a[4], b[4])
    assert a[0].keys() == b[0].keys(), (name, a[0].keys() ^ b[0].keys())
    for kernel, (n, ns) in a[0].items():
        m, other = b[0][kernel]
        assert n == m and abs(ns - other) <= n, (name, kernel, n, m, ns, other)
    assert a[6] == b[6], (name, a[6], b[6])  # calls that have work
    for i in (1, 2, 3, 5):
        assert abs(a[i] - b[i]) <= a[4], (name, i, a[i], b[i])
EOF
if [ -d "$shared/inputs/xplane" ]; then
	"$PYTHON" -S "$tmp/twins.py" "$profan" "$shared/inputs/xplane" "$tmp" \
		>"$tmp/got" 2>&1
	result "a profile and its JSON: the same kernels, calls and busy time" "$tmp/got"
	run 0 "$profan" ingest -q -o "$tmp/keras.db" \
		"$shared/inputs/xplane/tf221_cpu_keras_callback.xplane.pb.gz" &&
		run 0 "$profan" advise "$tmp/keras.db" &&
		tr -s ' \n' ' ' <"$tmp/out" |
		grep -q 'The largest part, 41.11 %, is in ExecutorDoneCallback'
	result "TensorFlow: who runs a function waits for the threads that do" "$tmp/out"
else
	skip "profiles and their JSON" "../shared/inputs/xplane is not there"
fi
tap_done
