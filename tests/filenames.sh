# SPDX-License-Identifier: MIT
# Files and folders whose names would steer a terminal: what every command says of
# them only shows (filenames.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
mkdir "$tmp/named"
: >"$tmp/named/$(printf 'a\377')" 2>"$tmp/err" ||
	skip_all "the file system has no such names"
run 0 "$PYTHON" -S "$top_srcdir/tests/filenames.py" "$profan" "$tmp/named" \
	"$top_srcdir/tests/traces/good-kineto.json"
result "names of files act nowhere" "$tmp/out" "$tmp/err"
tap_done
