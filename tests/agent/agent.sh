# SPDX-License-Identifier: MIT
# For the tests of the capture agent; source it.
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/tap.sh"
agent=$top_builddir/.libs/libprofan_agent.so
fakes=$top_builddir/tests/agent/.libs
drive=$top_builddir/tests/agent/drive
for name in $(env | sed -n 's/^\(PROFAN_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset RANK LOCAL_RANK WORLD_SIZE LD_PRELOAD
[ -f "$agent" ] || skip_all "the agent was not built"
[ "$PYTHON" ] || skip_all "python3 is missing"
CUDA_INJECTION64_PATH=$agent
NVTX_INJECTION64_PATH=$agent
PROFAN_CUPTI=$fakes/libfakecupti.so
PROFAN_OUT=$tmp/%n.pfr
export CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH PROFAN_CUPTI PROFAN_OUT
cd "$tmp" || exit 99
tap_shown="err look"

# A library with a sanitizer cannot be loaded before everything else.
sanitized=
if readelf -d "$agent" 2>/dev/null | grep -qE 'lib(a|ub|t)san'; then
	sanitized=yes
	# a program that forks while it has threads is what is tested
	TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS-}"
	export TSAN_OPTIONS
fi

# The allocator of gcc's AddressSanitizer may be locked by another thread at
# the fork, and stays so in the child: such rows would hang now and then.
locks_at_fork() {
	readelf -d "$agent" 2>/dev/null | grep -q libasan
}

# play CODE [VARIABLE=VALUE...] -- ACTION...: run the program with no capture
# file around; true if it ended with CODE (128 + signal as shells have it)
play() {
	play_code=$1
	shift
	rm -f "$tmp"/*.pfr "$tmp"/*.pfr.[0-9]*
	play_count=$#
	play_head=yes
	while [ "$play_count" -gt 0 ]; do
		if [ "$play_head" ] && [ "$1" = -- ]; then
			set -- "$@" "$drive"
			play_head=
		else
			set -- "$@" "$1"
		fi
		shift
		play_count=$((play_count - 1))
	done
	run "$play_code" timeout --foreground -s KILL 120 env "$@"
}

# look [--check|--crash] FILE...: what is in it into $tmp/look; false if wrong
look() {
	"$PYTHON" -S "$top_srcdir/tests/agent/pfr.py" "$@" >"$tmp/look" 2>&1
}
events() {
	"$PYTHON" -S "$top_srcdir/tests/agent/pfr.py" --events "$1" \
		>"$tmp/events" 2>&1
}

# has KEY VALUE: a line of the last look
has() {
	grep -qxF -- "$1=$2" "$tmp/look"
}
value() {
	sed -n "s/^$1=//p" "$tmp/look" | tr -d "'"
}
num() { # the same, 0 if it is not there
	set -- "$(value "$1")"
	echo "${1:-0}"
}
