# SPDX-License-Identifier: MIT
# The checklist for a GPU, without one: that it says so, and its logic on a
# program that only pretends to launch kernels.
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/agent/agent.sh"
check=$top_srcdir/agent/gpu-check.sh
unset PROFAN_OUT
PROFAN_AGENT=$agent
export PROFAN_AGENT PYTHON

if [ -e /dev/nvidiactl ]; then
	skip "no GPU: exit 77" "there is one"
else
	run 77 sh "$check" -o "$tmp/none" && grep -q 'nothing can be checked' \
		"$tmp/out"
	result "no GPU: says so, exit 77"
fi
run 2 sh "$check" --nonsense
result "a wrong option: exit 2"

if [ "$sanitized" ]; then
	skip "its logic" "sanitizers"
	tap_done
fi
cat >"$tmp/program" <<EOP
#!/bin/sh
# with less: one kernel is missing
PROFAN_CUPTI=$PROFAN_CUPTI
export PROFAN_CUPTI
unset PROFAN_VERBOSE
n=\$((\${2:-0} - \${LESS-0})) 2>/dev/null
case \$1 in
info) echo devices=1 ;;
launch) exec "$drive" init "kernels:\$n" ;;
timed) echo ns_per_launch=100.0; exec "$drive" init "kernels:10" ;;
window) exec "$drive" init kernels:\$n profstart kernels:\$n profstop kernels:\$n ;;
delay) exec "$drive" init kernels:\$n sleep:3000 kernels:\$((2 * n)) ;;
*) exit 9 ;;
esac
EOP
chmod +x "$tmp/program"
GPU_CHECK_PROGRAM=$tmp/program
export GPU_CHECK_PROGRAM
run 0 sh "$check" -o "$tmp/gpu" G01 G02 G05 &&
	grep -q '^PASS G01 .*100 kernels, 100 launch calls' "$tmp/out" &&
	[ "$(tail -1 "$tmp/out")" = '3 passed, 0 failed, 0 skipped' ]
result "rows that hold pass"
LESS=1
export LESS
run 1 sh "$check" -o "$tmp/gpu" G01 G04 G13 &&
	grep -q '^FAIL G01 .*99 kernels, not 100' "$tmp/out" &&
	grep -q '^FAIL G13 .*ended with 9' "$tmp/out" &&
	[ "$(tail -1 "$tmp/out" | cut -d, -f2)" = ' 2 failed' ]
result "rows that do not hold fail, and so does the whole"
tap_done
