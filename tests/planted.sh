# SPDX-License-Identifier: MIT
# Faults that mktrace plants in a good program: gaps or syncs must name each
# one first, with its line (or op) and what it costs to the ns.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

check() { # FAULT WORDS OPTIONS...: words for planted.py
	name="$1 ($2)"
	fault=$1
	words=$2
	shift 2
	rm -f "$tmp/t.db"
	if run 0 "$mktrace" --steps 12 --layers 1 --plant "$fault" "$@" \
		--planted "$tmp/planted" --out "$tmp/t.json" &&
		run 0 "$profan" ingest -q --strict "$tmp/t.json" -o "$tmp/t.db" &&
		run 0 "$profan" gaps "$tmp/t.db" -f json --limit -1 &&
		cp "$tmp/out" "$tmp/gaps" &&
		run 0 "$profan" syncs "$tmp/t.db" -f json --limit -1 &&
		cp "$tmp/out" "$tmp/syncs" &&
		run 0 "$PYTHON" "$top_srcdir/tests/planted.py" "$tmp/planted" \
			"$tmp/gaps" "$tmp/syncs" $words; then
		ok "$name: $(cat "$tmp/out")"
	else
		not_ok "$name" "$tmp/out" "$tmp/err"
	fi
}

for fault in none sync loader pageable malloc launch collective graph \
	garbage module; do
	check $fault "stacks"
	check $fault "stacks amd" --amd
	check $fault "stacks nosteps" --no-steps
	check $fault "stacks gpus" --gpus 2
	check $fault "stacks inference seed" --inference --seed 7
	case $fault in
	garbage | module) ;; # nothing but stacks or operators shows them
	*) check $fault "no-stacks" --no-stacks ;;
	esac
done
tap_done
