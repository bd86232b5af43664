# SPDX-License-Identifier: MIT
# Colors of text: on a terminal, if nobody declines them, and the same text.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
"$mktrace" --steps 3 --layers 1 >"$tmp/a.json"
"$mktrace" --steps 3 --layers 1 --plant loader >"$tmp/waits.json"
if ingested "a trace" "$tmp/a.json"; then
	"$PYTHON" -S "$top_srcdir/tests/color.py" "$profan" "$tmp/t.db" \
		>"$tmp/lines" 2>"$tmp/err" || not_ok "color.py" "$tmp/err"
	relay "$tmp/lines"
	# what colors mean
	run 0 "$profan" summary "$tmp/waits.json" --color always &&
		grep -q "^  $(printf '\033')\[1;31msevere" "$tmp/out" &&
		run 1 "$profan" syncs "$tmp/t.db" --max-per-step 0 --color always &&
		grep -q "^$(printf '\033')\[1;31mfailed: " "$tmp/out"
	result "what is severe, and checks that failed, are red"
fi
tap_done
