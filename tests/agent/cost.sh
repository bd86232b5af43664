# SPDX-License-Identifier: MIT
# What the agent costs (make bench-agent): CPU time of its callback, bytes of
# the file, memory, drops at a million records a second, NVTX.  The bounds are
# for a quiet machine; not part of make check.
n=${PROFAN_BENCH_LAUNCHES:-2000000}
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/agent/agent.sh"

# bound NAME VALUE LIMIT UNIT
bound() {
	if [ "$2" -le "$3" ]; then
		ok "$1: $2 $4 (at most $3)"
	else
		not_ok "$1: $2 $4 (at most $3)"
	fi
}
said() {
	sed -n "s/^$1=//p" "$tmp/out"
}

play 0 -- init cost rate:"$n" flush cost || cat "$tmp/err"
"$PYTHON" -S - "$tmp/0.pfr" >"$tmp/stat" <<'EOP'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, kinds, stat = 16, {}, b""
while at < len(data):
    kind, flags, seq, size = struct.unpack_from("<HHII", data, at + 4)
    kinds[kind] = kinds.get(kind, 0) + 24 + (size + 7) // 8 * 8
    if kind == 6:
        stat = data[at + 24:at + 24 + size]
    at += (24 + size + 7) // 8 * 8
print(stat.decode() + "bytes=%d\nevent_bytes=%d" % (len(data), kinds[3]))
EOP
stat() {
	sed -n "s/^$1=//p" "$tmp/stat" | grep . || echo 0
}
records=$(said records | tail -1)
bound "CPU time in the callback" \
	$(($(said callback_ns | tail -1) / records)) 250 "ns per record"
bound "file, events" $(($(stat event_bytes) * 100 / $(stat events))) 1400 \
	"hundredths of a byte per event"
bound "file, all" $(($(stat bytes) * 100 / $(stat events))) 1400 \
	"hundredths of a byte per event"
bound "memory" $((($(said max_rss_kb | tail -1) - $(said max_rss_kb |
	head -1)) / 1024)) 64 "MiB"
bound "dropped at a million records a second" \
	$(($(stat dropped_queue) + $(stat discarded))) 0 "records"
[ "$(stat records)" = "$((2 * n))" ] && [ "$(stat events)" = "$((2 * n))" ]
result "$((2 * n)) records, all in the file"

# NVTX: as fast as it goes, so drops are no fault
for threads in 1 2 8; do
	play 0 -- init nvtxtime:$threads:200000
	bound "NVTX push and pop, $threads threads" "$(said pair_ns)" 150 ns
done
tap_done
