# SPDX-License-Identifier: MIT
# Causes, culprits, gaps and lengths of gaps add up to the idle time of all
# devices; devices are busy and idle for as long as "overlap" says, the share of
# "steps" is the same, and so is the time in steps; what blocking calls drained is the same in "gaps" and
# "syncs": on a generated trace, and on the real ones of ../shared/traces where
# that folder is there.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

cat >"$tmp/check.py" <<'END'
import json, sys
gaps, overlap, syncs, steps = (json.load(open(p)) for p in sys.argv[1:])
idle = gaps["scalars"]["idle_ns"]
for name in "causes", "culprits", "gaps", "lengths":
    total = sum(row["ns"] for row in gaps["tables"][name])
    assert total == idle, (name, total, idle)
devices = gaps["tables"]["devices"]
assert sum(d["idle_ns"] for d in devices) == idle, devices
spans = [[d[k] for k in ("trace_id", "device", "busy_ns", "idle_ns")]
         for d in devices]
others = [[d[k] for k in ("trace_id", "device", "busy_ns", "idle_ns")]
          for d in overlap["tables"]["devices"]]
assert sorted(spans) == sorted(others), (spans, others)
listed = [s for s in steps["tables"]["steps"] if not s["is_partial"]]
if len(devices) == 1:
    share = devices[0]["busy_ns"] / devices[0]["window_ns"]
    assert abs(steps["scalars"]["busy_share"] - share) < 1e-12, share
if len(devices) == 1 and sum(
        s["dur_ns"] for s in listed) == gaps["scalars"]["window_ns"]:
    in_steps = sum(s["busy_ns"] for s in listed)
    assert in_steps == gaps["scalars"]["busy_ns"], in_steps
for d in devices:
    assert d["busy_ns"] + d["idle_ns"] == d["window_ns"], d
for key in "idle_ns", "drained_ns":
    # without a GPU neither is known
    total = sum(row.get(key, 0) for row in syncs["tables"]["sites"])
    assert total == syncs["scalars"].get(key, 0), (key, total)
    assert (key in syncs["scalars"]) == bool(devices), key
assert total == (gaps["scalars"]["drained_ns"] or 0), total
assert syncs["scalars"].get("idle_ns", 0) <= gaps["scalars"]["idle_ns"]
for row in syncs["tables"]["sites"]:
    if devices:
        # what it took itself, on each GPU
        most = row["blocked_ns"] * len(devices)
        assert 0 <= row["idle_ns"] <= most, row
        assert 0 <= row["useful_ns"] <= row["blocked_ns"], row
    assert row["median_ns"] <= row["max_ns"] <= row["blocked_ns"], row
recoverable = sum(r["recoverable_ns"] for r in gaps["tables"]["causes"])
assert recoverable <= idle, (recoverable, idle)
END

check() { # NAME FILE
	rm -f "$tmp/t.db"
	run 0 "$profan" ingest -q "$2" -o "$tmp/t.db" &&
		run 0 "$profan" overlap "$tmp/t.db" -f json &&
		cp "$tmp/out" "$tmp/overlap" &&
		run 0 "$profan" steps "$tmp/t.db" -f json &&
		cp "$tmp/out" "$tmp/steps" &&
		run 0 "$profan" gaps "$tmp/t.db" -f json --limit -1 &&
		cp "$tmp/out" "$tmp/gaps" &&
		run 0 "$profan" syncs "$tmp/t.db" -f json &&
		cp "$tmp/out" "$tmp/syncs" &&
		run 0 "$PYTHON" -S "$tmp/check.py" "$tmp/gaps" \
			"$tmp/overlap" "$tmp/syncs" "$tmp/steps"
	result "$1: causes add up to the idle time"
}

"$mktrace" >"$tmp/training.json"
check training "$tmp/training.json"
"$mktrace" --old --steps 20 >"$tmp/old.json"
check old "$tmp/old.json"
real_traces check
# work that begins late on an idle GPU, as where code is loaded, waits behind
# nothing: neither runs the CPU ahead, nor was there work before the capture
{
	echo '['
	for i in 0 1 2 3; do
		cat <<EOF
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": $((i * 10000)), "dur": 40, "args": {"correlation": $i}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1,
 "tid": 1, "ts": $((i * 10000 + 50)), "dur": 4000},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts":
 $((i * 10000 + 3000)), "dur": 4,
 "args": {"correlation": $i, "device": 0, "stream": 7}},
EOF
	done
	echo '{}]'
} >"$tmp/late.json"
rm -f "$tmp/late.db"
run 0 "$profan" ingest -q "$tmp/late.json" -o "$tmp/late.db" &&
	run 0 "$profan" launches "$tmp/late.db" &&
	grep -q '^The CPU hardly runs ahead' "$tmp/out" &&
	tr '\n' ' ' <"$tmp/out" | grep -q 'Yet the work of 100.00 %' &&
	run 0 "$profan" doctor "$tmp/late.db" -f csv &&
	! grep -q 'backlog.*warn' "$tmp/out"
result 'late work on an idle GPU is no backlog'

# whether the CPU runs ahead is said by the queue, which is said beside it; and
# what is recorded into a graph is no launch that works
"$PYTHON" -S -c '
import json
def call(ts, name, **args):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1,
            "ts": ts, "dur": 10, "args": args}
def kernel(ts, i):
    return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
            "ts": ts, "dur": 2,
            "args": {"device": 0, "stream": 7, "correlation": i}}
def dump(name, events):
    json.dump(events, open("'"$tmp"'/" + name, "w"))
dump("three.json", [e for t in range(0, 9000, 1000) for i in range(3) for e in (
    call(t + 10 * i, "cudaLaunchKernel", correlation=t + i + 1),
    kernel(t + 400 + 10 * i, t + i + 1))])
dump("captured.json", [call(0, "cudaLaunchKernel", correlation=1),
    kernel(15, 1), call(20, "cudaStreamBeginCapture")] +
    [call(40 + 20 * i, "cudaLaunchKernel", correlation=2 + i)
     for i in range(3)] + [call(100, "cudaStreamEndCapture")])'
rm -f "$tmp/three.db" "$tmp/captured.db"
run 0 "$profan" ingest -q "$tmp/three.json" -o "$tmp/three.db" &&
	run 0 "$profan" launches "$tmp/three.db" &&
	grep -q '^The CPU runs ahead at times: .* 43.82 % of' "$tmp/out" &&
	grep -q 'A launch finds 1 other in' "$tmp/out" &&
	run 0 "$profan" ingest -q "$tmp/captured.json" -o "$tmp/captured.db" &&
	run 0 "$profan" launches "$tmp/captured.db" &&
	grep -q '^3 launches are recorded into graphs and run when' "$tmp/out" &&
	run 0 "$profan" gaps "$tmp/captured.db" &&
	grep -q '^3 launches are recorded into graphs and run when' "$tmp/out" &&
	run 0 "$profan" syncs "$tmp/captured.db" &&
	grep -q '^3 launches are recorded into graphs and run when' "$tmp/out" &&
	run 0 "$profan" launches "$tmp/captured.db" -f json &&
	grep -q '"captured_count": 3' "$tmp/out"
result 'launches: the queue, and graphs that are captured' "$tmp/out"

# bursts between which the queue is empty are no running ahead, however many
# launches they have; and calls that wait for the GPU, load code or find the
# queue full are said to
"$PYTHON" -S -c '
import json
def call(ts, name, i, dur=10):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1,
            "ts": ts, "dur": dur, "args": {"correlation": i}}
def work(ts, i, dur=2, cat="kernel", name="k"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts,
            "dur": dur, "args": {"device": 0, "stream": 7, "correlation": i}}
def launches(at, count, first, step=50):
    return [e for i in range(count) for e in (
        call(at + 11 * i, "cudaLaunchKernel", first + i),
        work(at + 11 * count + step * i, first + i))]
def dump(name, events):
    json.dump(events, open("'"$tmp"'/" + name, "w"))
dump("always.json", launches(0, 40, 1))
dump("burst.json", launches(0, 40, 1) + launches(100000, 40, 41))
dump("slow.json", launches(0, 4, 1) +
     [call(1000, "cudaMemcpyAsync", 5, 500),
      work(1400, 5, 90, "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)"),
      call(2000, "cudaLaunchKernelExC", 6, 3000), work(5005, 6)])
dump("full.json", launches(0, 1010, 1) +
     [call(11115, "cudaLaunchKernel", 2000, 60), work(70000, 2000)])'
while read -r name want; do
	rm -f "$tmp/$name.db"
	run 0 "$profan" ingest -q "$tmp/$name.json" -o "$tmp/$name.db" &&
		run 0 "$profan" launches "$tmp/$name.db" &&
		tr '\n' ' ' <"$tmp/out" | grep -q "$want"
	result "launches: $name" "$tmp/out"
done <<'END'
always The CPU runs ahead: launched work waits in 9
burst The CPU hardly runs ahead: launched work waits in 4.
slow 3.500 ms of .* Of that, waits for the GPU take 500.000 us and first uses 3.000 ms
full 1 over 50 us takes 60.000 us .* 1 of them finds the queue full
END

# a call that ends with its kernel launches synchronously, which both say
"$PYTHON" -S -c '
import json
json.dump([e for i in range(1, 20) for e in (
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
     "tid": 1, "ts": 100 * i, "dur": 90, "args": {"correlation": i}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
     "ts": 100 * i + 8, "dur": 80,
     "args": {"device": 0, "stream": 7, "correlation": i}})],
    open("'"$tmp/held.json"'", "w"))'
rm -f "$tmp/held.db"
run 0 "$profan" ingest -q "$tmp/held.json" -o "$tmp/held.db" &&
	run 0 "$profan" launches "$tmp/held.db" -f csv &&
	grep -q '"Launches are synchronous: 100.00 % of the time of GPU work' \
		"$tmp/out" &&
	run 0 "$profan" syncs "$tmp/held.db" -f csv &&
	grep -q 'hold the host until it is done. 100.00 % of the time of GPU' \
		"$tmp/out"
result 'synchronous launches are called so' "$tmp/out"

# the gaps between the kernels of one call are not the host's
graph() { # 0: all are of the first call
	echo '['
	for i in 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29; do
		cat <<EOF
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts":
 $((i * 10)), "dur": 7,
 "args": {"correlation": $((1 + i * $1)), "device": 0, "stream": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cuLaunchKernelEx", "pid": 1,
 "tid": 1, "ts": $((70 + i)), "dur": 1, "args": {"correlation": $((1 + i))}},
EOF
	done
	echo '{}]'
}
for each in 0 1; do
	graph $each >"$tmp/graph.json"
	rm -f "$tmp/graph.db"
	cp "$tmp/graph.json" "$tmp/other.json" # without a path: by idle time
	run 0 "$profan" ingest -q "$tmp/graph.json" "$tmp/other.json" \
		-o "$tmp/graph.db" &&
		run 0 "$profan" table verdicts "$tmp/graph.db" -f csv &&
		grep '^A4,' "$tmp/out" | cut -d, -f3,5
done >"$tmp/got"
printf '%s\n' withheld, fired,0.2893401015228426 >"$tmp/want"
same 'gaps between the kernels of one call bind no launch' "$tmp/want" "$tmp/got"

# a device that waits for another: for the work that ended last before its own
# began, whatever else ran on the other by the time the gap is known
{
	echo '['
	for i in 1 2 3; do
		cat <<EOF
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9,
 "tid": 1, "ts": $i, "dur": 1, "args": {"correlation": $i}},
EOF
	done
	cat <<'EOF'
{"ph": "X", "cat": "kernel", "name": "early", "pid": 1, "tid": 7, "ts": 10,
 "dur": 10, "args": {"correlation": 1, "device": 1, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "awaited", "pid": 0, "tid": 7, "ts": 10,
 "dur": 185, "args": {"correlation": 2, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "waiting", "pid": 1, "tid": 7, "ts": 200,
 "dur": 10, "args": {"correlation": 3, "device": 1, "stream": 7}},
EOF
	for i in $(seq 300 400); do
		cat <<EOF
{"ph": "X", "cat": "kernel", "name": "next", "pid": 0, "tid": 7, "ts": $i,
 "dur": 1, "args": {"correlation": $i, "device": 0, "stream": 7}},
EOF
	done
	echo '{}]'
} >"$tmp/two.json"
rm -f "$tmp/two.db"
run 0 "$profan" ingest -q "$tmp/two.json" -o "$tmp/two.db" &&
	run 0 "$profan" gaps "$tmp/two.db" --device 1 -f csv --table culprits &&
	grep ',dependency,awaited,' "$tmp/out" >"$tmp/got"
[ -s "$tmp/got" ]
result 'what ended last on another device is what the work waited for' "$tmp/out"

# a stream's first work, so long after its call: what held it up was recorded
# by neither, though a call says that it waits for another stream
cat >"$tmp/held.json" <<'EOF'
[
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 0, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamWaitEvent", "pid": 1,
 "tid": 1, "ts": 20, "dur": 5, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 40, "dur": 5, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "first", "pid": 0, "tid": 7, "ts": 8,
 "dur": 10, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "held", "pid": 0, "tid": 9, "ts": 9000,
 "dur": 10, "args": {"correlation": 3, "device": 0, "stream": 9}}]
EOF
said="work queued behind what was not recorded"
run 0 "$profan" ingest -q "$tmp/held.json" -o "$tmp/held.db" &&
	run 0 "$profan" gaps "$tmp/held.db" --format json &&
	grep -q "of that idle is $said" "$tmp/out" &&
	run 0 "$profan" path "$tmp/held.db" --format json &&
	grep -q '"finding": "Work queued behind what was not recorded decides 98' \
		"$tmp/out"
result 'a hole that nothing recorded explains has one word' "$tmp/out"

# who sleeps until another thread is done is explained by what that one is in,
# and by its own line where that one is in nothing
"$PYTHON" -S -c '
import json
def on(tid, cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
            "ts": ts, "dur": dur, "args": args}
def work(ts, i):
    return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
            "ts": ts, "dur": 10,
            "args": {"device": 0, "stream": 7, "correlation": i}}
json.dump([
    on(1, "python_function", "train.py(41): main", 0, 2000),
    on(1, "python_function", "<built-in method run_backward of X>", 10, 1490),
    on(2, "cuda_runtime", "cudaLaunchKernel", 100, 5, correlation=1),
    work(110, 1),
    on(2, "cpu_op", "aten::mm", 120, 900),
    on(2, "cuda_runtime", "cudaFree", 120, 900, correlation=2),
    on(1, "cuda_runtime", "cudaLaunchKernel", 1520, 5, correlation=3),
    work(1530, 3)], open("'"$tmp/asleep.json"'", "w"))'
run 0 "$profan" ingest -q "$tmp/asleep.json" -o "$tmp/asleep.db" &&
	run 0 "$profan" gaps "$tmp/asleep.db" -f csv --table causes &&
	cut -d, -f1,2 <"$tmp/out" >"$tmp/got"
printf '%s\n' cause,ns allocator,900000 python,500000 'launch latency,10000' \
	>"$tmp/want"
same 'a thread that sleeps is explained by the one that it waits for' \
	"$tmp/want" "$tmp/got"

# of more devices than there are the gaps are not explained, which is said
"$PYTHON" -S -c '
import json
json.dump([e for i in range(1100) for e in (
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
     "tid": 1, "ts": i, "dur": 1, "args": {"correlation": i + 1}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": i, "tid": 7, "ts": i + 1,
     "dur": 500, "args": {"device": i, "stream": 7, "correlation": i + 1}})],
    open("'"$tmp/many.json"'", "w"))'
check "1,100 GPUs" "$tmp/many.json"
run 0 "$profan" gaps "$tmp/t.db" && tr '\n' ' ' <"$tmp/out" |
	grep -q 'of 1024 GPUs are explained: those of 76 more count'
result 'gaps of more than 1,024 GPUs are not explained' "$tmp/out"
# the profiler's work is called as its record is, not as the range around it
cat >"$tmp/profiler.json" <<'EOF'
[
{"ph": "X", "cat": "user_annotation", "name": "replayed", "pid": 1, "tid": 1,
 "ts": 0, "dur": 20000},
{"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1,
 "tid": 0, "ts": 100, "dur": 6000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 7000, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 7020,
 "dur": 10, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0,
 "ts": 8000, "dur": 9000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
 "tid": 1, "ts": 18000, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 18020,
 "dur": 10, "args": {"correlation": 2, "device": 0, "stream": 7}}
]
EOF
rm -f "$tmp/profiler.db"
run 0 "$profan" ingest -q "$tmp/profiler.json" -o "$tmp/profiler.db" &&
	run 0 "$profan" gaps "$tmp/profiler.db" -f csv &&
	grep -q "85.47 % of it the profiler's own work, Activity Buffer Request" \
		"$tmp/out" &&
	grep -q '^9000000,.*,profiler,Buffer Flush,,,' "$tmp/out"
result "the profiler's work is called as its record is" "$tmp/out"
# ---- a call that waits for what was launched before the capture ----
cat >"$tmp/before.json" <<'END'
[{"ph": "X", "cat": "kernel", "name": "first", "pid": 0, "tid": 1, "ts": 0,
"dur": 5, "args": {"device": 0, "stream": 1, "correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
"tid": 1, "ts": -20, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
"tid": 1, "ts": 10, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1,
"tid": 1, "ts": 30, "dur": 90000, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "queued", "pid": 0, "tid": 2,
"ts": 90000, "dur": 15, "args": {"device": 0, "stream": 2, "correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
"tid": 1, "ts": 90035, "dur": 10, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "last", "pid": 0, "tid": 2, "ts": 90050,
"dur": 5, "args": {"device": 0, "stream": 2, "correlation": 4}}]
END
run 0 "$profan" ingest -q "$tmp/before.json" -o "$tmp/before.db" &&
	run 0 "$profan" syncs "$tmp/before.db" && tr '\n' ' ' <"$tmp/out" |
	grep -q 'for 90.000 ms. No GPU work is recorded for 89.985 ms of that. '
result "syncs: idle time of another cause is not none" "$tmp/out"
# no call begins in what is left of it, but one goes on
run 0 "$profan" syncs "$tmp/before.db" --from 80ms -f csv &&
	grep -q '^finding,"No call that blocks the host begins here, but ' \
		"$tmp/out" &&
	grep -q 'due to one that began before, cudaDeviceSynchronize' "$tmp/out"
result "syncs: a call that began before is none that blocks for 0 ns" "$tmp/out"
tap_done
