# SPDX-License-Identifier: MIT
# NVTX through the agent: from a program of our own, with the real headers
# where there are any (PROFAN_NVTX_INCLUDE, a folder with nvtx3/), and from
# Python.
includes=${PROFAN_NVTX_INCLUDE-/usr/local/cuda/include}
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/agent/agent.sh"
: "${CC:=cc}"

play 0 -- nvtx:2 && look --check 0.pfr && events 0.pfr
sed "s/ start=[0-9]* end=[0-9]* tid=[0-9]*//" "$tmp/events" | head -9 >"$tmp/got"
zero='category=0 colour=0'
{
	echo "PUSH rt=0 untimed=0 name=b'outer' domain=0 $zero range=0 ptype=0"
	echo "PUSH rt=0 untimed=0 name=b'inner \\xe2\\x82\\xac' domain=0 $zero range=0 ptype=0"
	echo "PUSH rt=0 untimed=0 name=b'registered' domain=1 category=5 colour=4279312947 range=0 ptype=1 payload=0"
	echo "MARK rt=0 untimed=0 name=b'mark' domain=0 $zero range=0 ptype=0"
	echo "RSTART rt=0 untimed=0 name=b'process range' domain=0 $zero range=2 ptype=0"
	echo "POP rt=0 untimed=0 name=b'' domain=1 $zero range=0 ptype=0"
	echo "POP rt=0 untimed=0 name=b'' domain=0 $zero range=0 ptype=0"
	echo "POP rt=0 untimed=0 name=b'' domain=0 $zero range=0 ptype=0"
	echo "REND rt=0 untimed=0 name=b'' domain=0 $zero range=2 ptype=0"
} >"$tmp/want"
same "every kind of call" "$tmp/want" "$tmp/got"
play 0 -- nvtxdeep:300 && look --check 0.pfr && has events.PUSH 256 &&
	has events.POP 256 && has stat.dropped_nvtx "'44'" &&
	grep -qxF depth=299 "$tmp/out" && grep -qxF last=0 "$tmp/out" &&
	grep -qxF below=-1 "$tmp/out"
result "ranges nested deeper than is kept: pairs stay pairs, the rest counted"
each=$(amount 600 3000 3000)
play 0 -- nvtxthreads:8:$each && look --check 0.pfr &&
	[ "$(($(num events.PUSH) + $(num events.MARK) + $(num events.RSTART) +
		$(num stat.dropped_nvtx)))" = $((40 * each)) ]
result "eight threads: each call is written or counted, pairs stay pairs"
play 0 -- unique:70000 && look --check 0.pfr &&
	[ "$(($(num events.PUSH) + $(num stat.dropped_nvtx)))" = 70000 ]
result "more names than the table has: they stand in the events"
events 0.pfr
[ "$(grep -c '^PUSH' "$tmp/events")" = \
	"$(grep '^PUSH' "$tmp/events" | grep -o 'op_id = [0-9]*' | sort -u | wc -l)" ]
result "and none of them is mistaken for another"
play 0 -- nvtxsignal && look --check 0.pfr &&
	[ "$(sed -n 's/^signals=//p' "$tmp/out")" -gt 0 ]
result "calls in a signal handler"
play 0 PROFAN_NVTX=0 -- nvtx:5 init launch:3 && look --check 0.pfr &&
	! grep -q events.PUSH "$tmp/look"
result "PROFAN_NVTX=0"
play 0 PROFAN_KINDS=-nvtx -- nvtx:5 init launch:3 && look --check 0.pfr &&
	! grep -q events.PUSH "$tmp/look"
result "PROFAN_KINDS=-nvtx"

include=
for folder in $includes; do
	[ -f "$folder/nvtx3/nvToolsExt.h" ] && include=$folder
done
for language in c c++; do
	name="NVTX's own headers, $language"
	if [ ! "$include" ]; then
		skip "$name" "NOT RUN: no nvtx3 (set PROFAN_NVTX_INCLUDE)"
	elif [ "$sanitized" ]; then
		skip "$name" "sanitizers"
	elif ! run 0 ${CC%% -*} -x $language -I"$include" -o "$tmp/real" \
		"$top_srcdir/tests/agent/nvtx3_check.c" -ldl; then
		not_ok "$name" "$tmp/err"
	else
		rm -f "$tmp"/*.pfr
		run 0 "$tmp/real" && look --check 0.pfr && events 0.pfr
		sed "s/ start=[0-9]* end=[0-9]* tid=[0-9]*//" "$tmp/events" >"$tmp/got"
		same "$name" "$top_srcdir/tests/agent/nvtx3_check.txt" "$tmp/got"
		[ "${UPDATE-}" ] &&
			cp "$tmp/got" "$top_srcdir/tests/agent/nvtx3_check.txt"
	fi
done
if [ "$sanitized" ]; then
	skip "late attach from Python" "sanitizers"
else
	rm -f "$tmp"/*.pfr
	run 0 "$PYTHON" -S -c "
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
assert lib.profan_start() == 1
fake = ctypes.CDLL(sys.argv[2])
fake.fake_record.restype = ctypes.c_void_p
for i in range(100):
    assert fake.fake_record(10)
    fake.fake_done()
assert lib.profan_flush() == 1
" "$agent" "$PROFAN_CUPTI" && look --check 0.pfr && has events.KERNEL 100
	result "late attach from Python"
fi
tap_done
