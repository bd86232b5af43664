# SPDX-License-Identifier: MIT
# Ingest against Python's json over traces of a changed structure.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
count=$(amount 10 80 300)
run 0 "$PYTHON" -S "$top_srcdir/tests/mutants.py" "$profan" "$tmp" $count \
	"${PROFAN_TEST_SEED:-1}"
result "$count traces of a changed structure" "$tmp/out" "$tmp/err"
tap_done
