# SPDX-License-Identifier: MIT
# Records of every kind, of three versions of CUPTI, and odd ones.
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/agent/agent.sh"

# The events without what changes from run to run.
normal() { # FILE
	events "$1"
	time=$(sed -n 's/^time=//p' "$tmp/out")
	tid=$(sed -n 's/^tid=//p' "$tmp/out")
	"$PYTHON" -S - "$time" "$tid" "$tmp/events" <<'EOP'
import re, sys
time, tid = int(sys.argv[1]), sys.argv[2]
for line in open(sys.argv[3]):
    line = re.sub(r"(start|end)=(\d+)",
                  lambda m: "%s=%d" % (m[1], int(m[2]) - time), line)
    print(re.sub(r"\b(tid|id0|id1)=%s\b" % tid, r"\1=TID", line), end="")
EOP
}

for version in 18 28 130001; do
	lib=libfakecupti.so
	[ $version = 18 ] && lib=libfakecupti11.so
	play 0 FAKE_CUPTI_VERSION=$version PROFAN_CUPTI="$fakes/$lib" \
		PROFAN_KINDS=all PROFAN_GRAPH=graph -- init all &&
		look --check 0.pfr && has meta.cupti_version "'$version'"
	result "version $version: records of all kinds"
	normal 0.pfr >"$tmp/got"
	same "version $version: every field" \
		"$top_srcdir/tests/agent/all-$version.txt" "$tmp/got"
	[ "${UPDATE-}" ] && cp "$tmp/got" "$top_srcdir/tests/agent/all-$version.txt"
	play 0 FAKE_CUPTI_VERSION=$version PROFAN_CUPTI="$fakes/$lib" -- \
		init queries && look --check 0.pfr && events 0.pfr
	sed 's/ start=.* c=/ c=/; s/ tid=[0-9]*//' "$tmp/events" >"$tmp/got"
	{
		echo "API rt=0 untimed=0 c=2 ret=0 call=b'cudaEventQuery_v3020'"
		echo "API rt=0 untimed=0 c=5 ret=0 call=b'cuLaunchKernelEx_ptsz'"
		case $version in
		130001) echo "API rt=0 untimed=0 c=6 ret=0 call=b'__cudaLaunchKernel_v13000'" ;;
		*) echo "API rt=0 untimed=0 c=6 ret=0 call=b'#1010 (unnamed)'" ;;
		esac
		echo "API rt=0 untimed=0 c=7 ret=0 call=b'#6000000 (unnamed)'"
	} >"$tmp/want"
	same "version $version: calls that are kept" "$tmp/want" "$tmp/got"
	has stat.filtered "'3'"
	result "version $version: calls that are not are counted"
done
grep -qxF recorded=001 "$tmp/out"
result "calls that are not kept are not even collected, from 12.5 on"
play 0 PROFAN_API=all -- init queries && look 0.pfr && has events.API 7 &&
	grep -qxF recorded=111 "$tmp/out"
result "PROFAN_API=all keeps every call"

play 0 -- init unknown && look --check 0.pfr && has stat.unknown "'1'" &&
	has events.KERNEL 1 && has stat.kind.46 "'1'"
result "a kind that the agent does not know"
play 0 PROFAN_KINDS=+events -- init zero && look --check 0.pfr &&
	has stat.invalid_time "'3'" && has events.KERNEL 3 &&
	events 0.pfr && [ "$(grep -c 'untimed=1' "$tmp/events")" = 4 ]
result "missing times are marked and counted"
play 0 -- init backwards && look --check 0.pfr &&
	has stat.invalid_time "'1'" && events 0.pfr &&
	grep -q 'start=5000 end=4000 ' "$tmp/events"
result "end before start is kept as it is and counted"
play 0 PROFAN_KINDS=kernel -- init names && look --check 0.pfr && events 0.pfr
sed -n "s/.*name=b['\"]\(.\{0,12\}\).*/\1/p" "$tmp/events" | tr "'" ' ' |
	cut -d' ' -f1 >"$tmp/got"
printf '%s\n' '' '' eeeeeeeeeeee llllllllllll llllllllllll '\xff\xfe' rrrrrrrr \
	ssssrrrr ssssrrrr >"$tmp/want"
same "names: none, long, not UTF-8, an address used again" "$tmp/want" \
	"$tmp/got"
has stat.cut_names "'2'" &&
	[ "$(grep -o 'name=b.ee*' "$tmp/events" | wc -c)" = 65543 ] &&
	[ "$(grep -o 'name=b.ll*' "$tmp/events" | head -1 | wc -c)" = 65543 ]
result "names are cut at 65 535 bytes and counted"

for kinds in kernel,memcpy all,-runtime -kernel +events nothing; do
	play 0 PROFAN_KINDS=$kinds -- init launch:16 sleep:1 nvtx:1
	look --check 0.pfr
	case $kinds in
	kernel,memcpy) has events.KERNEL 15 && ! grep -q events.API "$tmp/look" ;;
	all,-runtime) has events.KERNEL 15 && ! grep -q events.API "$tmp/look" ;;
	-kernel) has events.API 16 && ! grep -q events.KERNEL "$tmp/look" ;;
	+events) has events.KERNEL 15 && has events.API 16 ;;
	nothing) grep -q "'nothing' is unknown" "$tmp/err" ;;
	esac
	result "PROFAN_KINDS=$kinds"
done
play 0 PROFAN_CLOCK=realtime -- init launch:3 nvtx:1 && look --check 0.pfr &&
	events 0.pfr && [ "$(grep -c ' rt=1 ' "$tmp/events")" = 6 ] &&
	has meta.clock "'realtime'"
result "PROFAN_CLOCK=realtime marks CUPTI's frames, not NVTX's"
tap_done
