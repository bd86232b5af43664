# SPDX-License-Identifier: MIT
# The agent through the life of a program: ends of all kinds, fork and exec,
# disks that are full or slow, windows, and things that are not there.
# PROFAN_KILLS: how many programs to kill at random (3, with LONG 20).
# PROFAN_LONG: also what takes minutes.
kills=${PROFAN_KILLS:-3}
[ -z "${LONG-}" ] || kills=${PROFAN_KILLS:-20}
long=${PROFAN_LONG-}
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/agent/agent.sh"

# ---- ends ----
for end in '' exit; do
	# shellcheck disable=SC2086
	play 0 -- init launch:5000 nvtx:100 $end &&
		look --check 0.pfr && has events.API 5000 &&
		has events.KERNEL 4688 && has events.MEMCPY 312 &&
		has events.PUSH 300 && has events.POP 300 && has end 1
	result "a program that ends by '${end:-return}' leaves all and END"
done
grep -qxF init=1 "$tmp/out" && grep -qxF errno=77 "$tmp/out" &&
	[ ! -s "$tmp/err" ]
result "entry points return 1, keep errno and say nothing"

play 0 -- init launch:5000 nvtx:10 flush launch:5000 _exit &&
	look --crash 0.pfr && has end 0 && [ "$(value events.API)" -ge 5000 ] &&
	[ "$(value events.API)" -le 10000 ]
result "_exit without preload: what was flushed is there, no END"
grep -qxF flush=1 "$tmp/out"
result "profan_flush says that it was written"

if [ "$sanitized" ]; then
	skip "_exit, quick_exit and vfork under LD_PRELOAD" "sanitizers"
else
	for end in _exit quick_exit; do
		play 0 LD_PRELOAD="$agent" -- init launch:5000 $end &&
			look --check 0.pfr && has events.API 5000
		result "$end under LD_PRELOAD leaves all and END"
	done
	play 0 LD_PRELOAD="$agent" -- init launch:100 vfork launch:100 &&
		look --check 0.pfr && has events.API 200 &&
		grep -qxF waited=3 "$tmp/out"
	result "_exit of a vfork child leaves its parent's capture alone"
	run 0 env -u CUDA_INJECTION64_PATH -u NVTX_INJECTION64_PATH \
		LD_PRELOAD="$agent" sh -c 'echo "$CUDA_INJECTION64_PATH"; \
			echo "$NVTX_INJECTION64_PATH"; ls /proc/$$/task | wc -l' &&
		printf '%s\n%s\n1\n' "$(realpath "$agent")" \
			"$(realpath "$agent")" >"$tmp/want" &&
		cmp -s "$tmp/want" "$tmp/out" && ! ls "$tmp"/*.pfr.* 2>/dev/null
	result "LD_PRELOAD sets the variables and starts nothing"
	run 0 env NVTX_INJECTION64_PATH=mine LD_PRELOAD="$agent" \
		sh -c 'echo "$NVTX_INJECTION64_PATH"' &&
		[ "$(cat "$tmp/out")" = mine ]
	result "LD_PRELOAD does not change a variable that is set"
fi

play 134 -- init launch:5000 flush launch:100 abort &&
	look --crash 0.pfr && [ "$(value events.API)" -ge 5000 ] && has end 0
result "abort: what was flushed is there"
play 143 -- init launch:5000 flush launch:100 term &&
	look --crash 0.pfr && [ "$(value events.API)" -ge 5000 ] && has end 0
result "SIGTERM ends the program as ever"
play 137 -- init launch:5000 flush kill &&
	look --crash 0.pfr && [ "$(value events.API)" -ge 5000 ]
result "SIGKILL: what was flushed is there"

i=0
bad=0
while [ $i -lt "$kills" ]; do
	i=$((i + 1))
	rm -f "$tmp"/*.pfr
	PROFAN_FLUSH_MS=7 "$drive" init nvtx:1000 hang >"$tmp/out" 2>"$tmp/err" &
	child=$!
	sleep "0.$(printf '%02d' $((i * 7 % 19)))"
	kill -9 $child
	wait $child 2>/dev/null
	[ -f 0.pfr ] || continue
	look --crash 0.pfr || {
		bad=$((bad + 1))
		cp "$tmp/look" "$tmp/killed"
	}
done
[ $bad = 0 ] || mv "$tmp/killed" "$tmp/look"
[ $bad = 0 ]
result "$kills programs killed at random moments: only the end is missing"

# ---- fork and exec ----
children_have_files_of_their_own() {
	play 0 PROFAN_OUT="$tmp/%p.pfr" -- init launch:100 nvtx:5 fork2:nvtx:7 launch:50
	parent=$(sed -n 's/^pid=//p' "$tmp/out" | head -1)
	child=$(sed -n 's/^child=//p' "$tmp/out" | head -1)
	look --check "$parent.pfr" && has events.API 150 && has events.PUSH 15 &&
		has meta.pid "'$parent'"
	result "fork: the parent's capture is whole"
	look --check "$child.pfr" && has events.PUSH 21 && has meta.pid "'$child'" &&
		has meta.ppid "'$parent'" && ! grep -q '^events.API' "$tmp/look"
	result "fork: a child with NVTX has its own"
	events "$child.pfr"
	grep -q "name=b'registered'.* domain=1" "$tmp/events"
	result "fork: the child's domains and registered strings are defined anew"
	play 0 PROFAN_OUT="$tmp/%p.pfr" -- nvtx:5 fork2:init fork2:nvtx:3 fork2:sleep:1
	[ "$(ls "$tmp"/*.pfr | wc -l)" = 2 ] &&
		look --check "$(sed -n 's/^pid=//p' "$tmp/out" | head -1).pfr"
	result "fork: a child without events leaves no file"
	play 0 PROFAN_OUT="$tmp/%p.pfr" -- fork2:init nvtx:1 &&
		[ "$(ls "$tmp"/*.pfr | wc -l)" = 1 ]
	result "fork: no file of a child that only initialised CUDA"
}

children_of_busy_threads() {
	play 0 PROFAN_OUT="$tmp/%p.pfr" -- init forkstorm:20 &&
		grep -qxF good=20 "$tmp/out"
	result "children forked while threads are busy"
	parent=$(sed -n 's/^pid=//p' "$tmp/out" | head -1)
	[ "$(ls "$tmp"/*.pfr | wc -l)" = 21 ] && look --check "$parent.pfr" &&
		rm "$parent.pfr" && look --check "$tmp"/*.pfr &&
		[ "$(grep -cxF events.PUSH=9 "$tmp/look")" = 20 ]
	result "and every file of theirs is whole"
}

if locks_at_fork; then
	skip "fork" "AddressSanitizer"
else
	children_have_files_of_their_own
fi
if [ "$sanitized" ]; then
	skip "children forked while threads are busy" "sanitizers"
else
	children_of_busy_threads
fi

play 0 -- init launch:100 flush exec init launch:30 &&
	look --crash 0.pfr && has events.API 100 && has end 0 &&
	look --check 0.pfr.1 && has events.API 30
result "exec: one file before, another one after"
run 0 "$drive" init launch:1 && [ -f 0.pfr.2 ]
result "a file that is there is never written over"
play 0 -- init late late launch:10 stop again launch:10 &&
	look --check 0.pfr && has events.API 20
result "loading twice does no harm, stop and start go on in one file"
play 0 -u CUDA_INJECTION64_PATH -- nvtx:3 &&
	look --check 0.pfr && has events.PUSH 9 &&
	! grep -q cupti "$tmp/look"
result "NVTX alone: no CUPTI is looked for"
play 0 -- init threads:4:5000 &&
	look --check 0.pfr && has events.API 20000
result "four threads"
if unshare -rpf true 2>/dev/null && [ ! "$sanitized" ]; then
	rm -f "$tmp"/*.pfr
	run 0 unshare -rpf "$drive" init launch:10 &&
		look --check 0.pfr && has meta.pid "'1'" && has events.API 10
	result "a pid namespace"
else
	skip "a pid namespace" "cannot be made here"
fi

# ---- disks ----
play 0 -- limit:100000 init launch:100000 sleep:50 launch:100 &&
	look --crash 0.pfr && [ "$(value bytes)" -le 100000 ] &&
	[ "$(value events.API)" -gt 1000 ] && ! grep -q 'cut short' "$tmp/look" &&
	grep -q 'the capture ends here' "$tmp/err" &&
	[ "$(wc -l <"$tmp/err")" = 1 ]
result "a full disk: whole frames, one line of warning, no harm"
play 0 PROFAN_OUT=/dev/full -- init launch:1000 flush &&
	grep -q 'No space' "$tmp/err" && [ ! -e /dev/full.1 ]
result "/dev/full"
play 0 PROFAN_OUT=/nowhere/x.pfr -- init launch:10 nvtx:5 &&
	grep -q 'nothing is captured' "$tmp/err"
result "a folder that is not there"
play 0 PROFAN_MAX_MB=1 -- init launch:100000 flush launch:10000 &&
	look --check 0.pfr && has stat.truncated "'size'" && has end 1 &&
	[ "$(value bytes)" -le 1200000 ] && [ "$(value events.API)" -gt 10000 ]
result "PROFAN_MAX_MB ends the capture, all else is counted"
play 0 -- init launch:100 flush closefds launch:100 flush nvtx:3 &&
	look --crash 0.pfr && has events.API 100 && has end 0 &&
	! grep -q PFRM "$tmp/out" "$tmp/err"
result "descriptors closed by the program: nothing is written elsewhere"
mkfifo "$tmp/fifo"
(exec 3<"$tmp/fifo" && sleep 2) &
reader=$!
play 0 PROFAN_OUT="$tmp/fifo" PROFAN_EXIT_MS=100 -- init launch:20000
result "a pipe that nobody reads: the program ends"
kill $reader 2>/dev/null
wait $reader 2>/dev/null
(
	exec 3<"$tmp/fifo"
	until [ -e "$tmp/go" ]; do sleep 0.1; done
	cat <&3 >"$tmp/slow"
) &
play 0 PROFAN_OUT="$tmp/fifo" PROFAN_EXIT_MS=60000 -- init launch:800000 \
	touch:"$tmp/go"
wait $!
result "a slow disk: the program runs on"
"$PYTHON" -S - "$tmp/slow" "$top_srcdir/tests/agent" >"$tmp/look" 2>&1 <<'EOP'
import sys
sys.path.insert(0, sys.argv[2])
import pfr
pfr.crc32c = lambda data: 0
p = pfr.Pfr.__new__(pfr.Pfr)
import struct
data = open(sys.argv[1], "rb").read()
at, stat = 16, b""
while at < len(data):
    kind, flags, seq, size = struct.unpack_from("<HHII", data, at + 4)
    assert data[at:at + 4] == b"PFRM"
    if kind == 6:
        stat = data[at + 24:at + 24 + size]
    at += (24 + size + 7) // 8 * 8
stat = dict(l.split(b"=") for l in stat.split(b"\n") if l)
print(stat)
dropped, events = int(stat[b"dropped_queue"]), int(stat[b"events"])
lost = int(stat.get(b"discarded", 0))
assert kind == 7 and dropped > 0
assert dropped + events + lost == 1600000, (dropped, events, lost)
EOP
result "a slow disk: what did not fit is counted"

# ---- what the program does is its own business ----
for how in noreader fullpipe; do
	play 0 PROFAN_FLUSH_MS=x timeout -s KILL 20 -- $how nvtx:2 &&
		look --check 0.pfr && has events.PUSH 6
	result "stderr is a pipe that nobody reads: $how"
done
play 0 timeout -s KILL 20 -- cancel && look --check 0.pfr && has events.PUSH 2
result "the thread of the first call is cancelled: no lock is kept"
if [ "$sanitized" ]; then
	skip "the thread of the first call has the smallest stack" "sanitizers"
else
	play 0 -- smallstack && look --check 0.pfr && has events.PUSH 1
	result "the thread of the first call has the smallest stack"
fi
if [ "$sanitized" ]; then
	skip "main ends by pthread_exit" "sanitizers have threads"
else
	play 0 PROFAN_FLUSH_MS=50 timeout -s KILL 20 -- leave &&
		look --check 0.pfr && has events.PUSH 30 && has end 1
	result "main ends by pthread_exit: our threads do not keep the program"
fi
if locks_at_fork; then
	skip "descriptors in a forked child" "AddressSanitizer"
else
	play 0 -- init nvtx:1 flush closefds fork:fds &&
		grep -qxF fds=200 "$tmp/out"
	result "a forked child keeps a descriptor that was ours and is no more"
fi

# ---- what is not there ----
play 0 PROFAN_CUPTI=/nowhere.so -- init nvtx:2 &&
	look --check 0.pfr && has events.PUSH 6 &&
	grep -q '^meta.cupti_error=.*nowhere' "$tmp/look" &&
	grep -qxF init=1 "$tmp/out" && [ ! -s "$tmp/err" ]
result "no CUPTI: NVTX goes on, the file says why"
for what in all enable register thread subscribe; do
	play 0 FAKE_CUPTI_FAIL=$what -- init nvtx:1 launch:100 &&
		look --check 0.pfr && grep -q '^meta.cupti_error=' "$tmp/look" &&
		grep -qxF init=1 "$tmp/out"
	result "CUPTI fails: $what"
done
grep -q 'another tool' "$tmp/look"
result "another client of CUPTI is named"
for what in version attribute clock flush record; do
	play 0 FAKE_CUPTI_FAIL=$what -- init launch:100 nvtx:1 &&
		look --check 0.pfr &&
		case $what in
		clock) has events.API 100 && has meta.clock "'realtime'" ;;
		flush) [ "$(value stat.errors)" -ge 1 ] ;;
		record) [ "$(value stat.bad_buffers)" -ge 1 ] ;;
		*) has events.API 100 ;;
		esac
	result "CUPTI goes on without: $what"
done
play 0 FAKE_CUPTI_HANG=1 PROFAN_EXIT_MS=300 -- init launch:100 flush launch:7 &&
	look --crash 0.pfr && has events.API 100 && has end 0 &&
	has stat.exit_timeout "'1'"
result "CUPTI hangs at the end: bounded, said so, no END"
play 0 -- init launch:10 drop:5 launch:3 flush drop:4 launch:1 &&
	look --check 0.pfr && has stat.dropped_cupti "'9'"
result "records that CUPTI dropped are added up"
play 0 PROFAN_BUFFER_KB=16 PROFAN_BUFFERS_MB=1 PROFAN_OUT="$tmp/0.pfr" -- \
	init threads:8:4000 &&
	look 0.pfr && [ "$(($(num events.API) + $(num events.KERNEL) +
		$(num events.MEMCPY) + $(num stat.discarded) +
		$(num stat.dropped_queue)))" = 64000 ]
result "few buffers: each record is written or counted"

# ---- the window ----
play 0 PROFAN_START=api -- init launch:10 nvtx:1 profstart launch:20 nvtx:2 \
	profstop launch:40 nvtx:4 profstart launch:80 &&
	look --check 0.pfr && has events.API 100 && has events.PUSH 6
result "PROFAN_START=api"
play 0 PROFAN_START=off -- init launch:10 again launch:20 stop launch:40 &&
	look --check 0.pfr && has events.API 20
result "PROFAN_START=off, profan_start and profan_stop"
play 0 PROFAN_START=signal -- init launch:10 raise:12 sleep:1000 launch:20 \
	raise:12 sleep:1000 launch:40 &&
	look --check 0.pfr && has events.API 20
result "PROFAN_START=signal"
play 0 PROFAN_DELAY_S=1 -- init launch:10 sleep:2500 launch:20 &&
	look --check 0.pfr && has events.API 20
result "PROFAN_DELAY_S"
play 0 PROFAN_DURATION_S=1 -- init launch:10 sleep:2500 launch:20 &&
	look --check 0.pfr && has events.API 10
result "PROFAN_DURATION_S"
play 0 -- init launch:10 destroy launch:5 profstop launch:5 &&
	look --check 0.pfr && has events.API 20
result "the end of a context and cudaProfilerStop only flush"

if [ "$long" ]; then
	play 0 -- init launch:10 sleep:1500 takeover pretend:45000 nvtx:1 &&
		look --check 0.pfr && has stat.takeover "'1'" &&
		[ "$(grep -c 'taken CUPTI' "$tmp/err")" = 1 ]
	result "another profiler takes CUPTI's buffers: seen, said once"
	play 0 -- init launch:10 sleep:45000 launch:10 &&
		look --check 0.pfr && ! grep -q takeover "$tmp/look" &&
		has events.API 20
	result "an idle program is not taken for that"
	play 0 PROFAN_KINDS=kernel -- init configs:262200 && look --check 0.pfr &&
		has events.KERNEL 262144 && has events.KERNEL_INLINE 56
	result "more launch configurations than the table has"
fi

play 0 PROFAN_FLUSH_MS=10 -- init launch:10 sleep:1000 launch:10 sleep:200 &&
	look --check 0.pfr && [ "$(value frames.STAT)" -le 8 ] &&
	[ "$(value frames.CLOCK)" -ge 3 ]
result "an idle program's file does not grow"

# ---- names of files ----
play 0 PROFAN_OUT="t-%q{RANK}-%q{NONE}-%n-%%-%x.pfr" RANK=../3 -- init \
	launch:1 && look --check t-.._3-none-0-%-%x.pfr &&
	has meta.RANK "'../3'" && ! grep -q meta.HOME "$tmp/look"
result "the name of the file; ranks in META and no other variable"
play 0 PROFAN_CMDLINE=0 -- init launch:1 && look --check 0.pfr &&
	! grep -q meta.cmdline "$tmp/look"
result "PROFAN_CMDLINE=0"
tap_done
