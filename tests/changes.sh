# SPDX-License-Identifier: MIT
# Advice on real programs (tests/changes.py), each before and after one change:
#	LONG=1 make check TESTS=tests/changes.sh PYTHON=env/bin/python VERBOSE=1
# with a Python that has torch: minutes, on a machine that does nothing else.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "${LONG-}" ] || skip_all "NOT TESTED: make check-long does, with torch"
"$PYTHON" -c 'import torch' 2>/dev/null ||
	skip_all "NOT TESTED: $PYTHON has no torch"
programs=$top_srcdir/tests/changes.py
recorded() { # NAME SIDE
	rm -f "$tmp/$1-$2.meet"
	timeout 100 "$PYTHON" "$programs" "$1" "$2" 5 "$tmp" >"$tmp/log" 2>&1
}

where=
"$PYTHON" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null &&
	where=gpu
for name in $("$PYTHON" "$programs" list) \
	${where:+$("$PYTHON" "$programs" list gpu)}; do
	for side in before after; do
		tries=0
		# gloo may find the port of the other rank closed
		until recorded "$name" "$side" || [ $((tries += 1)) -ge 6 ]; do
			:
		done
		[ "$tries" -lt 6 ] || not_ok "$name $side" "$tmp/log"
	done
done
for device in cpu $where; do
	run 0 "$PYTHON" "$programs" judge "$profan" "$tmp" "$device" ||
		not_ok "changes.py" "$tmp/err"
	relay "$tmp/out"
done
[ "$where" ] || skip "programs on a GPU" "torch has none here"
tap_done
