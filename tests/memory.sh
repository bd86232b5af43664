# SPDX-License-Identifier: MIT
# Memory: every figure against tests/memory.py, which has its own reader, on
# generated traces and on the real ones of ../shared/traces where they are;
# and TensorBoard's own figures for two of them.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

check() { # NAME FILE
	ingested "$1" "$2" || return
	"$profan" memory -q "$tmp/t.db" -f json -n -1 >"$tmp/answer" 2>&1
	"$PYTHON" -S "$top_srcdir/tests/memory.py" "$2" "$tmp/answer" \
		>"$tmp/why" 2>&1
	result "$1: every figure" "$tmp/why"
}

# Figures of torch_tb_profiler 0.4.3: ops, allocations, bytes, increase.
tensorboard() { # DEVICE WANT
	"$profan" memory -q "$tmp/t.db" -f csv -n -1 | awk -F , -v device="$1" '
	/^$/ { is_ops = 0 }
	is_ops && $1 == device && $3 != "" {
		ops++; count += $4; bytes += $5; increase += $6
	}
	/^device,op,calls,/ { is_ops = 1 }
	END { printf "%d %d %.0f %.0f\n", ops, count, bytes, increase }' \
		>"$tmp/got"
	echo "$2" >"$tmp/want"
	same "as TensorBoard: $1 $2" "$tmp/want" "$tmp/got"
}

"$mktrace" --steps 3 >"$tmp/training.json"
check training "$tmp/training.json"
check good-memory "$top_srcdir/tests/traces/good-memory.json"
# what workers of a DataLoader send is not the allocator's
for release in 2.8.0 2.15.0; do
	check "shared memory, torch $release" \
		"$top_srcdir/tests/truth/$release/memory_workers/trace.json.gz"
done

# what grows with each step is said, with who keeps it, wherever it is read;
# not a warm-up, a sawtooth, noise or what would take long to matter
grows() { # KIND WORDS-OR-NOTHING [COMMANDS]
	"$PYTHON" -S "$top_srcdir/tests/memory.py" plant "$1" "$tmp/$1.json"
	check "$1" "$tmp/$1.json"
	for command in ${3:-memory summary}; do
		run 0 "$profan" $command -q "$tmp/t.db"
		tr -s '\n ' ' ' <"$tmp/out" >"$tmp/line"
		if [ -n "$2" ]; then
			grep -q "$2. All of that is allocated by aten::mul, and kept" \
				"$tmp/line"
		else
			! grep -q 'grows by' "$tmp/line"
		fi
		result "$1: $command says ${2:-nothing of growth}" "$tmp/out"
	done
}
grows leak 'Memory allocated on CPU grows by 4.00 KiB with each of the last 5 steps'
grows uneven 'CPU grows by at least 4.00 KiB with each of the last 5 steps'
grows others 'Memory allocated on GPU 1 grows by 8.00 KiB with each of 6 steps' \
	memory
grows warm-up ''
grows sawtooth ''
grows noise ''
grows small ''

check_real() { # NAME FILE
	check "$1" "$2"
	case $1 in
	v100_resnet50_workers0)
		tensorboard 'GPU 0' '44 4110 63689511936 47436198912'
		tensorboard CPU '12 834 375720720 375719904'
		;;
	v100_resnet50_workers4)
		tensorboard 'GPU 0' '44 4140 62648853504 47434626048'
		tensorboard CPU '4 54 528 480'
		;;
	esac
}

real_traces check_real
tap_done
