# SPDX-License-Identifier: MIT
# Events without a time, steps that hold nothing, traces that hold nothing, and
# GPUs whose memory is not recorded: planted, each beside the same trace without
# it, whose figures it must leave alone.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

"$PYTHON" -S "$top_srcdir/tests/times.py" "$profan" "$tmp" >"$tmp/results" \
	2>"$tmp/err"
result "all was judged"
relay "$tmp/results"
tap_done
