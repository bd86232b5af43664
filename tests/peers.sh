# SPDX-License-Identifier: MIT
# Figures of every real trace against those that other tools computed, and
# the sums that must hold on each (tests/peers.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
peers=$shared/golden/peers

[ -d "$peers" ] && [ -d "$shared/traces" ] ||
	skip_all "no ../shared: figures of other tools NOT CHECKED"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

# GPU time by the operator around the launch call
ops='SELECT o.name AS op, sum(g.dur_ns) AS ns FROM gpu_event AS g
JOIN op AS o ON o.id = g.op_id WHERE g.kind IN (7, 8, 9) GROUP BY o.name'
# each piece of GPU work with the call that launched it
calls='SELECT call, dur_ns AS cpu_ns, gpu_dur_ns AS gpu_ns, delay_ns
FROM launches'

check() { # NAME FILE
	ingested "$1: ingest" "$2" || return
	for command in overlap kernels launches steps ops calls; do
		case $command in
		ops) set -- "$1" query "$tmp/t.db" "$ops" ;;
		calls) set -- "$1" query "$tmp/t.db" "$calls" ;;
		# HTA looks at all of the capture
		overlap) set -- "$1" overlap "$tmp/t.db" --whole-capture ;;
		*) set -- "$1" $command "$tmp/t.db" ;;
		esac
		trace=$1
		shift
		if run 0 "$profan" "$@" --format json; then
			mv "$tmp/out" "$tmp/$trace.$command"
			to_judge "$trace: $command" peers.py "$peers" $command \
				"$tmp/$trace.$command" "$trace"
		else
			not_ok "$trace: $command" "$tmp/err"
		fi
		set -- "$trace"
	done
}

real_traces check
judge_all
tap_done
