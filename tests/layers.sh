# SPDX-License-Identifier: MIT
# Which folder of src/ may include which (see ARCHITECTURE.md).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$top_srcdir" || exit 99

check() { # FOLDER ALLOWED...
	folder=$1
	allowed="$* "
	grep -Hn '^#include "' src/"$folder"/*.[ch] 2>/dev/null |
		sed 's/:#include "/ /; s/".*//' |
		while read -r where header; do
			[ "$header" = config.h ] && continue
			case $header in
			trace/event.h | trace/planes.h)
				case $events_readers in
				*" $folder "*) continue ;;
				esac ;;
			esac
			case " $allowed" in
			*" ${header%%/*} "*) ;;
			*) echo "$where includes $header" ;;
			esac
		done >"$tmp/bad"
	if [ -s "$tmp/bad" ]; then
		not_ok "src/$folder includes only: $allowed" "$tmp/bad"
	else
		ok "src/$folder includes only: $allowed"
	fi
}

# who reads events, and so may know what one is (trace/event.h)
events_readers=" events torch idle memory path ranks analysis roofline graphs advise diff export timeline report "
rooms='base table store embed events'
check base
check table base
check trace base
check embed base
check pfr base trace
check xspace base trace
check foreign base trace
check nsys base trace pfr foreign
check rocm base trace pfr foreign
check store base trace pfr table embed
check memsnap base trace
check telemetry base trace
check process base
check ingest base trace pfr xspace memsnap telemetry foreign nsys rocm table embed store events
check events base table store embed
check torch base table store embed ingest events
check idle $rooms
check ranks $rooms
check memory $rooms
check path $rooms graphs
check training $rooms
check analysis $rooms torch idle ranks graphs
check roofline $rooms analysis ranks graphs
check graphs $rooms
check advise $rooms torch idle memory path ranks analysis roofline
check diff $rooms torch idle path analysis advise
check export $rooms idle memory path
check render base table embed
check timeline $rooms path analysis render
check report $rooms torch idle memory path training analysis roofline advise diff timeline render
check compare $rooms analysis diff timeline render report
check fleet $rooms ingest torch idle memory ranks analysis diff
check cmd $rooms process trace ingest fleet torch idle memory path training ranks analysis \
	roofline graphs advise diff \
	export timeline render report compare

grep -ln 'sqlite3\.h\|sqlite3ext\.h' src/*/*.[ch] src/*.c 2>/dev/null |
	grep -v '^src/store/\|^src/foreign/' >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "only src/store and src/foreign include sqlite3.h" "$tmp/bad"
else
	ok "only src/store and src/foreign include sqlite3.h"
fi

# "config.h" is the first include of every .c, also through an own header
for f in src/*.c src/*/*.c; do
	[ -f "$f" ] || continue
	first=$(grep -m1 '^#include' "$f")
	case $first in
	'#include "config.h"' | '#include "'*_impl.h'"' | '') ;;
	*) echo "$f: $first" ;;
	esac
done >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "config.h comes first" "$tmp/bad"
else
	ok "config.h comes first"
fi

# calls that have no place here
words='strcpy|strcat|sprintf|strtok|atoi|atof|gets|gmtime|localtime|alloca'
grep -nE "(^|[^A-Za-z0-9_])($words)\(" src/*.c src/*/*.[ch] tests/*/*.[ch] \
	>"$tmp/bad" 2>/dev/null
grep -niE 'select \*' src/*/*.c >>"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "no banned calls" "$tmp/bad"
else
	ok "no banned calls"
fi

# who may end the program (jsonw, html, table/: misuse by a caller is a bug)
grep -nE '(^|[^A-Za-z0-9_.>])(_?exit|abort|perror)\(' src/*/*.c |
	grep -vE '^src/(base/(log|mem|jsonw)|report/html|table/(find|rows|table))\.c' >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "only main, log and mem end the program, and misuse" "$tmp/bad"
else
	ok "only main, log and mem end the program, and misuse"
fi
# how a microsecond is written is said in base/num.c; what is read has both
grep -nE "µ|xc2.xb5|\" ?us\"|' ?us'" src/*.c src/*/*.[ch] reports/* |
	grep -vE '^src/base/num\.[ch]:.*"us"|"us", PF_NS' |
	grep -vE "^reports/app\.js:.*' us'" >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "microseconds are written in one way" "$tmp/bad"
else
	ok "microseconds are written in one way"
fi
# opening looks for every table: what stands in its place is damage
sed -n 's/^CREATE TABLE \([a-z_]*\).*/\1/p' "$top_srcdir/schema/tables.sql" |
	while read -r table; do
		grep -q "('$table')" "$top_srcdir/schema/load/damaged.sql" ||
			echo "$table"
	done >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "schema/load/damaged.sql knows every table" "$tmp/bad"
else
	ok "schema/load/damaged.sql knows every table"
fi
# the same of a fleet
sed -n 's/^CREATE TABLE \([a-z_]*\).*/\1/p' "$top_srcdir/schema/fleet/tables.sql" |
	while read -r table; do
		grep -q "('$table')" "$top_srcdir/schema/fleet/damaged.sql" ||
			echo "$table"
	done >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "schema/fleet/damaged.sql knows every table" "$tmp/bad"
else
	ok "schema/fleet/damaged.sql knows every table"
fi
tap_done
