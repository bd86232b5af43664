# SPDX-License-Identifier: MIT
# What torch itself said, release by release, of small programs that it
# profiled (tests/truth/capture.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"

[ -n "$PYTHON" ] || skip_all "python3 is missing"
[ -d "$top_srcdir/tests/truth/2.6.0" ] || skip_all "no captures"
TMPDIR=$tmp
export TMPDIR
truth=$top_srcdir/tests/truth
# some of the last release; all where rules changed; or all
set --
for release in $(amount 2.15 "2.3 2.4 2.6 2.11 2.12 2.15" "2"); do
	set -- "$@" "$truth/$release".*/*/
done
"$PYTHON" -S "$truth/check.py" "$profan" $(sampled "$@")
