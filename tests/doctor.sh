# SPDX-License-Identifier: MIT
# What "doctor" counts in every real trace against an independent count of
# its JSON (tests/doctor.py), and in traces with planted faults.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

check() { # NAME TRACE
	if ! run 0 "$profan" ingest -q "$2" -o "$tmp/t.db" ||
		! run 0 "$profan" doctor -q "$tmp/t.db" --format csv; then
		not_ok "$1" "$tmp/err"
		return
	fi
	cp "$tmp/out" "$tmp/csv"
	if run 0 "$PYTHON" -S "$top_srcdir/tests/doctor.py" "$2" "$tmp/csv"; then
		ok "$1: $(grep -c '^ok' "$tmp/out") checks"
	else
		grep -v '^ok' "$tmp/out" >"$tmp/bad"
		not_ok "$1" "$tmp/bad" "$tmp/err"
	fi
}

"$mktrace" --steps 2 --layers 2 | gzip >"$tmp/made.json.gz"
check "a trace that we made" "$tmp/made.json.gz"
# what a thread launches into a graph has lost no work; what another launches
# meanwhile has
{
	echo '[{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,'
	echo '"ts": 90, "dur": 5, "args": {"correlation": 9, "stream": 7}}'
	for call in '10 1 1 cudaStreamBeginCapture' '20 2 1 cudaLaunchKernel' \
		'30 3 1 cudaMemcpyAsync' '40 4 2 cudaLaunchKernel' \
		'50 5 1 cudaStreamEndCapture' '60 6 1 cudaLaunchKernel' \
		'80 9 1 cudaLaunchKernel'; do
		set -- $call
		echo ',{"ph": "X", "cat": "cuda_runtime", "name": "'$4'",'
		echo '"pid": 1, "tid": '$3', "ts": '$1', "dur": 2,'
		echo '"args": {"correlation": '$2'}}'
	done
	echo ']'
} | gzip >"$tmp/graph.json.gz"
check "a graph is captured" "$tmp/graph.json.gz"
grep -qx 'launches into graphs,2,.*' "$tmp/csv" &&
	grep -qx 'launches without GPU work,2,.*' "$tmp/csv"
result "launches into it, and others" "$tmp/csv"
# one range every 20 us, or less often
for every in 19 21; do
	awk -v every=$every 'BEGIN {
		print "{\"schemaVersion\": 1, \"traceEvents\": ["
		for (i = 0; i < 1200; i++)
			printf "%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "\
				"\"aten::add\", \"pid\": 1, \"tid\": 1, \"ts\": %d, "\
				"\"dur\": 3, \"args\": {\"External id\": %d}}\n",
				i ? "," : "", i * every, i + 1
		print "]}"
	}' </dev/null | gzip >"$tmp/every$every.json.gz"
	check "a range every $every us" "$tmp/every$every.json.gz"
	cp "$tmp/csv" "$tmp/csv$every"
done
grep -qx 'slowed host,1200,.*warn' "$tmp/csv19" &&
	grep -qx 'slowed host,0,.*ok' "$tmp/csv21"
result "what slowed the host" "$tmp/csv19" "$tmp/csv21"
real_traces check
tap_done
