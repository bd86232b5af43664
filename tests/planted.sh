# SPDX-License-Identifier: MIT
# Faults that mktrace plants in a good program: gaps or syncs must name each
# one first, with its line (or op) and what it costs to the ns.  Every fault
# with stacks and in one other program; with LONG=1 in all of them.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

check() { # FAULT WORDS OPTIONS...: words for planted.py
	fault=$1 words=$2 count=$((count + 1))
	shift 2
	rm -f "$tmp/t.db"
	mkdir "$tmp/$count"
	if run 0 "$mktrace" --steps 12 --layers 1 --plant "$fault" "$@" \
		--planted "$tmp/$count/planted" --out "$tmp/t.json" &&
		run 0 "$profan" ingest -q --strict "$tmp/t.json" -o "$tmp/t.db" &&
		run 0 "$profan" gaps "$tmp/t.db" -f json --limit -1 &&
		mv "$tmp/out" "$tmp/$count/gaps" &&
		run 0 "$profan" syncs "$tmp/t.db" -f json --limit -1 &&
		mv "$tmp/out" "$tmp/$count/syncs"; then
		echo "$fault|$words|$tmp/$count" >>"$tmp/list"
	else
		not_ok "$fault ($words)" "$tmp/out" "$tmp/err"
	fi
}

other() { # its turn comes with every fifth fault
	turn=$((turn + 1))
	[ -n "${LONG-}" ] || [ $((turn % 5)) = $((faults % 5)) ] || return
	check $fault "$@"
}

faults=0 count=0
for fault in none sync loader pageable malloc launch collective graph \
	garbage module; do
	check $fault "stacks"
	faults=$((faults + 1)) turn=0
	other "stacks amd" --amd
	other "stacks nosteps" --no-steps
	other "stacks gpus" --gpus 2
	other "stacks inference seed" --inference --seed 7
	case $fault in
	garbage | module) ;; # nothing but stacks or operators shows them
	*) other "no-stacks" --no-stacks ;;
	esac
done
run 0 "$PYTHON" -S "$top_srcdir/tests/planted.py" "$tmp/list" ||
	not_ok "planted.py" "$tmp/err"
relay "$tmp/out"
tap_done
