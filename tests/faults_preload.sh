# SPDX-License-Identifier: MIT
# Calls to the system that fail, one at a time (EVERY=1: each).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
grep -aq __asan_init "$profan" &&
	skip_all "sanitizers must be loaded before all else"
mkdir "$tmp/place"
# shellcheck disable=SC2086
${CC:-cc} -shared -fPIC -o "$tmp/faults.so" -I"$top_builddir" \
	"$top_srcdir/tests/faults_preload.c" -ldl 2>"$tmp/err" ||
	skip_all "no library can be made with ${CC:-cc}"
"$mktrace" --steps 2 --layers 1 >"$tmp/place/t.json"
"$mktrace" --steps 1 --layers 1 --amd >"$tmp/place/u.json"
"$mktrace" --steps 1 --layers 1 --old | gzip >"$tmp/place/u.json.gz"
mkdir "$tmp/place/runs"
cp "$tmp/place/t.json" "$tmp/place/runs/rank0.json"
cp "$tmp/place/u.json" "$tmp/place/runs/rank1.json"
"$mktrace" --steps 2 --layers 1 --plant graph >"$tmp/place/g.json"
# a page for view, beside the program
mkdir "$tmp/bin"
cp "$profan" "$tmp/bin/profan"
printf '%s\n' '<!DOCTYPE html>' '<meta name="generator" content="profan 0">' \
	'<script id="app">go()</script></body>' \
	>"$tmp/bin/profan.html"
echo "of something else" >"$tmp/place/runs/notes.log"
for name in t g; do
	run 0 "$profan" ingest -q "$tmp/place/$name.json" \
		-o "$tmp/place/$name.db" || {
		cat "$tmp/err"
		exit 99
	}
done
# the agent, and a program that it is in
PROFAN_AGENT=$top_builddir/.libs/libprofan_agent.so
export PROFAN_AGENT
program=$top_builddir/tests/gen/nvtxrun
[ -f "$PROFAN_AGENT" ] || {
	skip "capture" "NOT TESTED: the agent was not built"
	program=
}
run 0 "$PYTHON" -S "$top_srcdir/tests/faults_preload.py" "$tmp/bin/profan" \
	"$tmp/faults.so" "$tmp/place" "$program" ${EVERY:+all}
result "an answer or a message, and all files whole" "$tmp/out" "$tmp/err"
grep "^# " "$tmp/out"
tap_done
