# SPDX-License-Identifier: MIT
# Databases in which single cells were changed: no command crashes on one.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
count=$(amount 8 50 200)
"$mktrace" --steps 2 --layers 1 >"$tmp/t.json"
run 0 "$profan" ingest -q "$tmp/t.json" -o "$tmp/t.db" || {
	cat "$tmp/err"
	exit 99
}
mkdir "$tmp/work"
run 0 "$PYTHON" -S "$top_srcdir/tests/cells.py" "$profan" "$tmp/t.db" "$tmp/work" \
	$count "${PROFAN_TEST_SEED:-1}"
result "$count databases with other cells" "$tmp/out"
tap_done
