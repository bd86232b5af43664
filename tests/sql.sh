# SPDX-License-Identifier: MIT
# Every statement of schema/query/ runs on a real database, says at its top
# what it answers, and is compiled into the program.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
db=$tmp/t.db
"$mktrace" --steps 2 --layers 1 >"$tmp/t.json" &&
	run 0 "$profan" ingest "$tmp/t.json" -o "$db" || {
	not_ok "a database to ask" "$tmp/err"
	tap_done
}

for file in "$top_srcdir"/schema/query/*.sql; do
	[ -f "$file" ] || continue
	name=${file##*/}
	name=${name%.sql}
	case $(head -1 "$file") in
	'-- '*) ok "$name: begins with what it answers" ;;
	*) not_ok "$name: begins with what it answers" "$file" ;;
	esac
	if run 0 "$profan" query "$db" "EXPLAIN $(cat "$file")"; then
		ok "$name: can be prepared"
	else
		not_ok "$name: can be prepared" "$tmp/err"
	fi
	if run 0 "$profan" query "$db" -- "$(cat "$file")"; then
		ok "$name: runs"
	else
		not_ok "$name: runs" "$tmp/err"
	fi
	# the total order: a query of many rows must say one
	if grep -qi 'order by' "$file" || grep -qi 'one row' "$file"; then
		ok "$name: rows have an order"
	else
		not_ok "$name: rows have an order" "$file"
	fi
done
tap_done
