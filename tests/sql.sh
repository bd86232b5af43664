# SPDX-License-Identifier: MIT
# Every statement of schema/load/ and schema/query/ runs on a real database, says at its top
# what it answers, and is compiled into the program.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
db=$tmp/t.db
"$mktrace" --steps 2 --layers 1 >"$tmp/t.json" &&
	run 0 "$profan" ingest "$tmp/t.json" -o "$db" || {
	not_ok "a database to ask" "$tmp/err"
	tap_done
}

for file in "$top_srcdir"/schema/load/*.sql "$top_srcdir"/schema/query/*.sql; do
	[ -f "$file" ] || continue
	name=${file##*/}
	name=${name%.sql}
	case $(head -1 "$file") in
	'-- '*) ok "$name: begins with what it answers" ;;
	*) not_ok "$name: begins with what it answers" "$file" ;;
	esac
	run 0 "$profan" query "$db" -- "$(cat "$file")"
	result "$name: runs"
	# the total order: a query of many rows must say one
	grep -qi 'order by' "$file" || grep -qi 'one row' "$file"
	result "$name: rows have an order" "$file"
done
tap_done
