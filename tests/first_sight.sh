# SPDX-License-Identifier: MIT
# The text of every command for 80 columns: no line is wider, and no two rows
# of a table look the same (tests/first_sight.py).  Tables of key_averages()
# are PyTorch's own.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
mkdir "$tmp/said"
tap_shown=out

looks() { # NAME FILE
	ingested "$1" "$2" || return
	for command in steps gaps path 'path --group op' syncs overlap kernels launches memory \
		modules roofline graphs doctor info trend 'table verdicts' \
		'report -f text' 'kernels --group name,op' \
		'kernels --group op'; do
		# shellcheck disable=SC2086
		"$profan" $command "$tmp/t.db" >"$tmp/said/$command" \
			2>"$tmp/err" || :
	done
	"$profan" diff "$tmp/t.db" "${before:-$tmp/t.db}" >"$tmp/said/diff" \
		2>"$tmp/err" || :
	run 0 "$PYTHON" -S "$top_srcdir/tests/first_sight.py" "$1" 80 \
		"$tmp/said"/*
	result "$1"
}

for file in $(sampled "$top_srcdir"/tests/traces/good-*.json); do
	name=${file##*/good-}
	name=${name%.json}
	case $name in
	communication | distributed | kineto | long-name | memory | origins | utf8) ;;
	*) [ -n "${LONG-}" ] || continue ;;
	esac
	looks "$name" "$file"
done
"$mktrace" --steps 4 --layers 2 >"$tmp/plain.json"
looks "a run" "$tmp/plain.json"
cp "$tmp/t.db" "$tmp/before.db"
before=$tmp/before.db
"$mktrace" --steps 4 --layers 3 --seed 2 >"$tmp/other.json"
looks "another run" "$tmp/other.json"
[ -z "${EVERY-}" ] || real_traces looks
tap_done
