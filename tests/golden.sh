# SPDX-License-Identifier: MIT
# Every folder tests/golden/NAME is a test: "cmd" is run by sh in an empty
# folder, with profan and mktrace in the path and $traces naming tests/traces;
# "out", "err" and "code" are what it must print and return (err and code may
# be missing: nothing and 0).  UPDATE=1 rewrites them: read the diff.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
traces=$top_srcdir/tests/traces
export traces

rewrite() { # DIR CODE
	cp "$tmp/out" "$1/out"
	rm -f "$1/err" "$1/code"
	[ ! -s "$tmp/err" ] || cp "$tmp/err" "$1/err"
	[ "$2" = 0 ] || echo "$2" >"$1/code"
}

: >"$tmp/empty"
echo 0 >"$tmp/zero"
for dir in "$top_srcdir"/tests/golden/*/; do
	dir=${dir%/}
	name=${dir##*/}
	[ -f "$dir/cmd" ] || { not_ok "$name" "no file cmd"; continue; }
	mkdir "$tmp/work"
	code=0
	(cd "$tmp/work" && exec sh -e "$dir/cmd") >"$tmp/out" 2>"$tmp/err" \
		</dev/null || code=$?
	rm -rf "$tmp/work"
	echo "$code" >"$tmp/code"
	if [ "${UPDATE:-}" = 1 ]; then
		rewrite "$dir" "$code"
	fi
	err=$dir/err want=$dir/code
	[ -f "$err" ] || err=$tmp/empty
	[ -f "$want" ] || want=$tmp/zero
	{
		diff -u "$dir/out" "$tmp/out"
		diff -u "$err" "$tmp/err"
		diff -u "$want" "$tmp/code"
	} >"$tmp/diff" 2>&1
	if [ -s "$tmp/diff" ]; then
		not_ok "$name" "$tmp/diff"
	else
		ok "$name"
	fi
done
tap_done
