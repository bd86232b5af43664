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
real_traces check
tap_done
