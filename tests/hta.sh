# SPDX-License-Identifier: MIT
# "gaps --hta" against what Holistic Trace Analysis computed, where that is at
# hand; on a generated trace: streams against the gaps of the only stream.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
golden=$shared/golden/peers/hta_idle_breakdown.csv

cat >"$tmp/one.py" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
stream, = doc["tables"]["streams"]
device, = doc["tables"]["devices"]
waits = sum(stream[k + "_ns"] for k in ("host_wait", "kernel_wait", "other"))
assert waits == stream["idle_ns"], stream
assert stream["busy_ns"] == device["busy_ns"], stream
assert 0 < stream["idle_ns"] < device["idle_ns"], stream
assert stream["event_count"] == device["event_count"], stream
END

run 0 "$mktrace" --out "$tmp/t.json" &&
	run 0 "$profan" ingest -q "$tmp/t.json" -o "$tmp/t.db" &&
	run 0 "$profan" gaps "$tmp/t.db" --hta -f json &&
	cp "$tmp/out" "$tmp/doc" &&
	run 0 "$PYTHON" -S "$tmp/one.py" "$tmp/doc"
result "one stream"

# what HTA 0.5.0 says of each of two real ranks: the temporal breakdown, how
# much communication computation hides, idle time of streams, kernels
pair=$shared/traces/two_ranks_rank
if [ -f "$pair-0.json.gz" ]; then
	run 0 "$profan" ingest -q "$pair-0.json.gz" "$pair-1.json.gz" \
		-o "$tmp/two.db" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/hta.py" --ranks \
			"$top_srcdir/tests/hta_two_ranks.csv" "$profan" \
			"$tmp/two.db"
	result 'two ranks: 61 figures'
else
	skip 'two ranks' 'NOT TESTED: ../shared is not there'
fi

[ -f "$golden" ] || {
	skip "real traces" "NOT TESTED: ../shared is not there"
	tap_done
}
check() { # NAME FILE
	grep -q "^$1," "$golden" || return 0
	if ingested "$1" "$2" &&
		run 0 "$profan" gaps "$tmp/t.db" --whole-capture --hta -f json &&
		cp "$tmp/out" "$tmp/doc" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/hta.py" "$golden" "$1" \
			"$tmp/doc"; then
		ok "$1: $(cat "$tmp/out")"
	else
		not_ok "$1" "$tmp/err"
	fi
}

real_traces check
tap_done
