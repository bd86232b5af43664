# SPDX-License-Identifier: MIT
# Precision of kernels by their names (data/kernels.csv) against the types that
# traces record of operators; sums of time by class; the verdict on it.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

compare() { # NAME FILE AT-LEAST: kernels compared
	run 0 "$profan" ingest -q "$2" -o "$tmp/$1.db" ||
		not_ok "$1: ingest" "$tmp/err"
	if run 0 "$PYTHON" -S "$top_srcdir/tests/precision.py" "$profan" \
		"$tmp/$1.db" "$2" "$top_srcdir/data/matrix_ops.csv" &&
		[ "$(cat "$tmp/out")" -ge "$3" ]; then
		ok "$1: $(cat "$tmp/out") names against types of operators"
	else
		not_ok "$1" "$tmp/out" "$tmp/err"
	fi
}

verdict() { # DB: what advice says of products in single precision
	run 0 "$profan" table verdicts "$1" --format csv || return 1
	sed -n 's/^A6,precision,\([a-z]*\),.*\. \([0-9.]* % of the time in products\).*/\1: \2/p' \
		"$tmp/out"
}

# ---- planted: every kind of operator, times that are known ----
cat >"$tmp/plant.py" <<'PLANT'
import json, sys
rows = [  # operator, type, kernel, us
    ("aten::mm", "float", "ampere_sgemm_128x64_nn", int(sys.argv[1])),
    ("aten::mm", "c10::BFloat16", "nvjet_tst_128x64_TNT", 3000),
    ("aten::mm", "float", "ampere_s1688gemm_128x128_ldg4_nn", 2000),
    ("aten::mm", "float", "my_own_product", int(sys.argv[2])),
    ("aten::linalg_inv_ex", "float", "ampere_sgemm_32x32_nn", 5000),
    ("aten::add", "float", "void at::native::gemm_add<float>(int)", 7000),
    ("my::op", "float", "my_own_kernel", 9000),
]
e, t, gpu = [], 1000, 1030
for n, (op, kind, kernel, us) in enumerate(rows):
    e.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1,
              "ts": t, "dur": 20, "args": {"External id": n + 1,
              "Input type": [kind, kind]}})
    e.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
              "pid": 1, "tid": 1, "ts": t + 5, "dur": 5,
              "args": {"correlation": n + 1, "External id": n + 1}})
    e.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7,
              "ts": gpu, "dur": us, "args": {"correlation": n + 1,
              "External id": n + 1, "device": 0, "stream": 7}})
    t, gpu = t + 20, gpu + us
json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB",
           "computeMajor": 8, "computeMinor": 0}], "traceEvents": e},
          sys.stdout)
PLANT
planted() { # FP32-US UNKNOWN-US WANTED
	"$PYTHON" -S "$tmp/plant.py" "$1" "$2" >"$tmp/planted.json"
	compare "planted-$1-$2" "$tmp/planted.json" 3
	got=$(verdict "$tmp/planted-$1-$2.db")
	case $got in
	"$3"*) ok "planted $1 us of fp32, $2 us unknown: $3" ;;
	*) not_ok "planted $1 us of fp32, $2 us unknown: $3" "$got" ;;
	esac
}
planted 500 0 'fired: 9.09 %'
planted 5000 0 'fired: 50.00 %'
planted 5000 2500 'fired: 40.00 %'

# ---- a name that says something else is found ----
sed 's/nvjet_tst_128x64_TNT/nvjet_hsh_128x64_TNT/' "$tmp/planted.json" \
	>"$tmp/other.json"
run 0 "$profan" ingest -q "$tmp/other.json" -o "$tmp/other.db"
if run 1 "$PYTHON" -S "$top_srcdir/tests/precision.py" "$profan" \
	"$tmp/other.db" "$tmp/other.json" "$top_srcdir/data/matrix_ops.csv" &&
	grep -q 'fp16, but its operator works on c10::BFloat16' "$tmp/err"; then
	ok "a name against its operator's type"
else
	not_ok "a name against its operator's type" "$tmp/err"
fi

# ---- real traces, where they are ----
for pair in b200_vllm_eager:3 h100_bert_small:3 h100_nsfw_vit:3 \
	h100_owlv2:5 h100_timesformer:3 mi250_minitoy:2 mi300_bert_small:3 \
	mi300_qwen:2 mi300_triton_compile:2 v100_resnet50_workers0:20 \
	a100_diff_control:0 cuda_sync_simple_add:0; do
	file=$shared/traces/${pair%:*}.json.gz
	if [ -f "$file" ] && ! is_quick "$file"; then
		skip "${pair%:*}" "NOT TESTED: make check-long does"
	elif [ -f "$file" ]; then
		compare "${pair%:*}" "$file" "${pair#*:}"
	else
		skip "${pair%:*}" "it is not here"
	fi
done
tap_done
