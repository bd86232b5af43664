# SPDX-License-Identifier: MIT
# Rooflines: every row of real traces against a list that another program made
# (tests/roofline.py), and what must hold of any trace.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

list=$shared/golden/insight/roofline_calls.csv
ask() { # OPTION...
	"$profan" roofline -q "${db:-$tmp/t.db}" -n -1 "$@"
}
figure() { # KEY OPTION...
	key=$1
	shift
	ask -f csv "$@" | sed -n "s/^$key,//p"
}

against_list() { # NAME FILE
	grep -q "^$1," "$list" || return 0
	ingested "$1" "$2" || return
	ask -g op,shape -f json >"$tmp/answer" 2>&1
	"$PYTHON" -S "$top_srcdir/tests/roofline.py" "$1" "$list" "$tmp/answer" \
		>"$tmp/why" 2>&1
	result "$1: every row of the list" "$tmp/why"
	peers=${list%calls.csv}tracelens.csv
	grep -qs "^$1," "$peers" || return 0
	"$PYTHON" -S "$top_srcdir/tests/tracelens.py" "$1" "$peers" \
		"$tmp/answer" >"$tmp/why" 2>&1
	result "$1: as TraceLens reports it, or it is known why not" "$tmp/why"
}
if [ -f "$list" ]; then
	real_traces against_list
else
	skip "real traces" "NOT TESTED: ../shared/golden is not there"
fi

# FLOPs as torch's own profiler counts them where it does
"$mktrace" --steps 3 | sed '0,/"schemaVersion"/s//"with_flops": 1, &/' \
	>"$tmp/training.json"
ingested training "$tmp/training.json" || tap_done
"$profan" query -q "$tmp/t.db" -f csv "SELECT sum(flops) AS n FROM average
	WHERE grouping = 0 AND name IN ('aten::mm', 'aten::addmm', 'aten::bmm')" |
	tail -1 >"$tmp/want"
ask -f json | "$PYTHON" -S -c 'import json, sys
t = json.load(sys.stdin)["tables"]["calls"]
print(sum(r["matrix_flops"] for r in t
          if r["op"] in ("aten::mm", "aten::addmm", "aten::bmm")))' >"$tmp/got"
grep -q '^[1-9]' "$tmp/want" || echo "torch counts none" >"$tmp/want"
same "as many FLOPs as torch counts" "$tmp/want" "$tmp/got"

# however it is grouped, the sums are the same
for group in op op,shape kernel; do
	ask -g $group -f json | "$PYTHON" -S -c 'import json, sys
d = json.load(sys.stdin)
t, f = d["tables"]["calls"], d["tables"]["families"]
for key in "calls", "kernel_ns", "matrix_flops", "vector_flops", "least_bytes":
    print(key, sum(r[key] for r in t), sum(r[key] for r in f))
r = d["tables"]["not_modelled"]
s = d["scalars"]
print(s["gpu_ns"], s["modelled_ns"] + sum(x["gpu_ns"] for x in r))' \
		>"$tmp/$group.sums" 2>&1
done
awk 'NR < 6 && $2 != $3 || NR == 6 && $1 != $2 { bad = 1 }
	END { exit bad || NR != 6 }' "$tmp/op.sums"
result "rows add up to families, and with the rest to all" "$tmp/op.sums"
same "by shape: the same sums" "$tmp/op.sums" "$tmp/op,shape.sums"
same "by kernel: the same sums" "$tmp/op.sums" "$tmp/kernel.sums"

# two windows are the whole: each call counts once
for key in gpu_ns modelled_ns matrix_flops least_bytes; do
	figure $key >"$tmp/want"
	echo $(($(figure $key --to 3ms) + $(figure $key --from 3ms))) >"$tmp/got"
	same "$key: two windows are the whole" "$tmp/want" "$tmp/got"
done

# no peak, no roof; a peak of one's own; no such GPU
{
	figure roof_ns --gpu 'T4' --peak gbps=1e12,fp16=1e12,bf16=1e12,fp32=1e12
	ask --gpu H100 >/dev/null 2>&1
	echo $?
	ask --peak bf16=fast >/dev/null 2>&1
	echo $?
} >"$tmp/got"
printf '0\n2\n2\n' >"$tmp/want"
same "peaks that are asked for, and wrong ones" "$tmp/want" "$tmp/got"

# old convolutions say no stride: a backward call of the same input and weight
# does, unless two say different things; hostile sizes are no sizes
cat >"$tmp/old.py" <<'END'
import json, sys
outs = json.loads(sys.argv[1])
n, events = 0, []
def call(op, dims, types):
    global n
    n += 1
    t = n * 10
    args = {"Input Dims": dims, "Input type": types}
    events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1,
                   "ts": t, "dur": 8, "args": args})
    events.append({"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1,
                   "name": "cudaLaunchKernel", "ts": t + 1, "dur": 2,
                   "args": {"correlation": n}})
    events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
                   "ts": t + 2, "dur": 4,
                   "args": {"device": 0, "stream": 7, "correlation": n}})
x, w = [1, 4, 8, 8], [6, 4, 3, 3]
call("aten::convolution", [x, w], ["float", "float"])
for o in outs:
    call("aten::cudnn_convolution_backward", [x, o, w], ["float"] * 3)
call("aten::mm", [[1 << 40, 1 << 40], [1 << 40, 1 << 40]], ["float"] * 2)
call("aten::mm", "\"[[2", ["float"] * 2)
json.dump({"schemaVersion": 1, "traceEvents": events}, sys.stdout)
END
: >"$tmp/got"
for outs in '[]' '[[1,6,4,4]]' '[[1,6,4,4],[1,6,8,8]]'; do
	"$PYTHON" -S "$tmp/old.py" "$outs" >"$tmp/old.json"
	ingested old "$tmp/old.json" || continue
	figure matrix_flops >>"$tmp/got"
done
# 2 * 6*4*4 places * 4*3*3
printf '\n6912\n\n' >"$tmp/want"
same "old convolutions learn their result, or have none" "$tmp/want" "$tmp/got"

# collectives against the link: the transfer of ranks of one machine, shares
# where all are known to be on it; whole kernels of a single rank
"$mktrace" --ranks 4 --steps 3 --out "$tmp/job"
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/t.db" || not_ok "job" "$tmp/err"
"$profan" ranks -q "$tmp/t.db" -f json >"$tmp/ranks.json"
ask --peak link_gbps=1000 -f json >"$tmp/within.json"
ask --peak link_gbps=0.001 -f json >"$tmp/fast.json"
ask --rank 1 --peak link_gbps=1000 -f json >"$tmp/one.json"
"$PYTHON" -S - "$tmp" >"$tmp/got" 2>&1 <<'END'
import json, sys
def tables(name):
    return json.load(open("%s/%s.json" % (sys.argv[1], name)))["tables"]
kinds = [[k["kind"], k["count"], k["transfer_ns"], k["bus_gb_per_s"]]
         for k in tables("ranks")["collectives"]]
links = tables("within")["links"]
print(kinds and kinds == [[r["collective"], r["count"], r["time_ns"],
                           r["bus_gb_per_s"]] for r in links])
print(all(r["one_machine"] == "yes" and r["timed"] == "transfer" and
          (r["link_share"] or 0) == (r["bus_gb_per_s"] or 0) / 1000
          for r in links))
print(any(r["link_share"] for r in links))
print(any(r["link_share"] for r in tables("fast")["links"]))
one = tables("one")["links"]
print(len(one) > 0, all(r["timed"] == "kernel" and r["link_share"] is None
                        for r in one))
END
printf 'True\nTrue\nTrue\nFalse\nTrue True\n' >"$tmp/want"
same "collectives against the link" "$tmp/want" "$tmp/got"
# a product without shapes has no model: how much is in products is not known
call() { # OP KERNEL TS CORRELATION MORE
	cat <<END
{"ph":"X","cat":"cpu_op","name":"$1","pid":1,"tid":1,"ts":$3,"dur":9,"args":{$5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,
"ts":$3,"dur":2,"args":{"correlation":$4}},
{"ph":"X","cat":"kernel","name":"$2","pid":0,"tid":7,"ts":$((${3} + 20)),"dur":5,
"args":{"device":0,"stream":7,"correlation":$4}}
END
}
{ echo '{"traceEvents":['
	call aten::neg neg 100 1 '"Input Dims":[[64]],"Input type":["float"]'
	echo ,
	call aten::mm gemm 200 2
	echo ']}'; } >"$tmp/shapeless.json"
ingested shapeless "$tmp/shapeless.json" &&
	[ "$(figure modelled_ns) $(figure matrix_flops) $(figure vector_flops)" = \
		"5000  64" ]
result "products without a model are not 0" "$tmp/err"

# a function whose end was lost began in a product, which stays one
"$PYTHON" -S - >"$tmp/lost.json" <<'END'
import json
events = []
def add(cat, name, start, end, pid=1, tid=1, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=start, dur=end - start, args=args))
for n in range(3):
    at = 1000 * n + 10
    add("cpu_op", "aten::mm", at, at + 200,
        **{"Input Dims": [[64, 128], [128, 32]], "Input type": ["float"] * 2})
    add("python_function", "my.py(1): run", at + 3, at + 150)
    add("python_function", "<built-in function next>", at + 5, 90000)
    add("cpu_op", "my::op", at + 10, at + 100)
    add("cuda_runtime", "cudaLaunchKernel", at + 20, at + 25, correlation=n + 1)
    add("kernel", "gemm", at + 120, at + 130, 0, 7, device=0, stream=7, correlation=n + 1)
json.dump({"traceEvents": events}, __import__("sys").stdout)
END
ingested lost "$tmp/lost.json" && [ "$(figure matrix_flops)" = 1572864 ]
result "products in which a function never ends" "$tmp/err"

# kernels of a few us end above any roof, whatever they do
sed 's/"dur": 10,/"dur": 5,/g' "$tmp/lost.json" >"$tmp/short.json"
for want in lost short; do
	run 0 "$profan" ingest -q "$tmp/$want.json" -o "$tmp/$want.db" &&
		run 0 "$profan" roofline "$tmp/$want.db" --gpu 'H100 SXM'
	cp "$tmp/out" "$tmp/$want.out"
done
grep -q 'take 5.000 us in the mean' "$tmp/short.out" &&
	! grep -q 'in the mean' "$tmp/lost.out"
result 'short kernels are told' "$tmp/short.out"

# the lead is what the most of the time is; reasons are those that the GPU has
{ echo '{"traceEvents":['
	call aten::neg neg 100 1 '"Input Dims":[[64]],"Input type":["float"]'
	for n in 2 3 4; do
		echo ,
		call aten::mm gemm ${n}00 $n
	done
	echo ']}'; } >"$tmp/most.json"
finding() { # DB OPTION...
	"$profan" roofline -q "$@" -f json | "$PYTHON" -S -c \
		'import json, sys; print(json.load(sys.stdin)["scalars"]["finding"])'
}
run 0 "$profan" ingest -q "$tmp/most.json" -o "$tmp/most.db" &&
	finding "$tmp/most.db" --gpu 'V100 SXM2' >"$tmp/got"
echo 'For 75.00 % of the GPU work in the capture (15.000 us of 20.000 us) no' \
	'roof is known. Of the rest, 100.00 % (5.000 us) is in kernels that are' \
	'too short for a roof: fewer of them save more than faster ones' \
	>"$tmp/want"
same 'a roof of little is not the lead' "$tmp/want" "$tmp/got"
finding "$tmp/most.db" --gpu 'V100 SXM2' --peak gbps=0.001 >"$tmp/got"
echo 'For 75.00 % of the GPU work in the capture (15.000 us of 20.000 us) no' \
	'roof is known. Of the rest, 100.00 % (5.000 us) is faster than its roof.' \
	'What could be gained is not known: the peaks of V100 SXM2 are too' \
	'low, or data was in a cache' >"$tmp/want"
same 'a roof that work breaks says nothing of what could be gained' \
	"$tmp/want" "$tmp/got"
for gpu in 'V100 SXM2' 'H100 SXM'; do
	"$profan" roofline -q "$tmp/lost.db" --gpu "$gpu" --peak fp32=0.001 |
		tr '\n' ' ' | grep -o 'products were.* left out'
done >"$tmp/got"
printf 'products were left out\nproducts were rounded to tf32 or left out\n' \
	>"$tmp/want"
same 'no tf32 of a GPU that has none' "$tmp/want" "$tmp/got"

tap_done
