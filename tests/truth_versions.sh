# SPDX-License-Identifier: MIT
# What torch itself said, release by release, of small programs that it
# profiled (tests/truth/capture.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"

[ -n "$PYTHON" ] || skip_all "python3 is missing"
[ -d "$top_srcdir/tests/truth/2.6.0" ] || skip_all "no captures"
TMPDIR=$tmp
export TMPDIR
truth=$top_srcdir/tests/truth
if [ -n "${LONG-}" ]; then
	set -- "$truth"/*/*/
else # the first and the last release
	set -- "$truth"/2.3.*/*/ "$truth"/2.15.*/*/
fi
"$PYTHON" "$truth/check.py" "$profan" "$@"
