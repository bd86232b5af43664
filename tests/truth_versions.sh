# SPDX-License-Identifier: MIT
# What torch itself said, release by release, of small programs that it
# profiled (tests/truth/capture.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"

[ -n "$PYTHON" ] || skip_all "python3 is missing"
[ -d "$top_srcdir/tests/truth/2.6.0" ] || skip_all "no captures"
TMPDIR=$tmp
export TMPDIR
"$PYTHON" "$top_srcdir/tests/truth/check.py" "$profan" \
	"$top_srcdir"/tests/truth/*/*/
