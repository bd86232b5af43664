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
			formats/event.h | formats/planes.h)
				case $events_readers in
				*" $folder "*) continue ;;
				esac ;;
			esac
			case " $allowed" in
			*" ${header%/*} "*) ;;
			*) echo "$where includes $header" ;;
			esac
		done >"$tmp/bad"
	if [ -s "$tmp/bad" ]; then
		not_ok "src/$folder includes only: $allowed" "$tmp/bad"
	else
		ok "src/$folder includes only: $allowed"
	fi
}

# a folder of analysis/
analysis() { # FOLDER OTHERS...
	analyses=
	for folder; do analyses="$analyses analysis/$folder"; done
	# shellcheck disable=SC2086  # words
	check $analyses $rooms torch
}

# who reads events, and so may know what one is (formats/event.h)
time='analysis/time analysis/trust'
all="analysis/idle analysis/path analysis/memory analysis/ranks $time analysis/roofline analysis/advise analysis/graphs"
events_readers=" events torch $all compare export page "
rooms='base show store events'
check base
check show base
check formats base
for format in json pfr xspace memsnap logs sqlite; do
	check formats/$format base formats formats/json
done
for format in nsys rocm; do
	check formats/$format base formats formats/json formats/pfr formats/sqlite
done
check store base formats show
check events base show store
# shellcheck disable=SC2046  # words
check ingest base formats $(cd src && echo formats/*/ | sed 's#/ # #g; s#/$##') show store events
check torch $rooms ingest
analysis idle
analysis ranks
analysis memory
analysis graphs
analysis path graphs
analysis time trust idle ranks graphs
analysis trust time idle ranks graphs
analysis roofline time ranks graphs
analysis advise time trust idle memory path ranks roofline
# shellcheck disable=SC2086  # words
{
	check compare $rooms ingest torch $all
	check export $rooms $all
	check page $rooms torch $all compare
	check cmd $rooms formats ingest torch $all compare export page
}

grep -ln 'sqlite3\.h\|sqlite3ext\.h' src/*/*.[ch] src/*/*/*.[ch] src/*.c 2>/dev/null |
	grep -v '^src/store/\|^src/formats/sqlite/' >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "only src/store and src/formats/sqlite include sqlite3.h" "$tmp/bad"
else
	ok "only src/store and src/formats/sqlite include sqlite3.h"
fi

# "config.h" is the first include of every .c, also through an own header
for f in src/*.c src/*/*.c src/*/*/*.c; do
	[ -f "$f" ] || continue
	first=$(grep -m1 '^#include' "$f")
	case $first in
	'#include "config.h"' | '#include "'*impl.h'"' | '') ;;
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
grep -nE "(^|[^A-Za-z0-9_])($words)\(" src/*.c src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] \
	>"$tmp/bad" 2>/dev/null
grep -niE 'select \*' src/*/*.c src/*/*/*.c >>"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "no banned calls" "$tmp/bad"
else
	ok "no banned calls"
fi

# who may end the program (json, html, tables: misuse by a caller is a bug)
grep -nE '(^|[^A-Za-z0-9_.>])(_?exit|abort|perror)\(' src/*/*.c src/*/*/*.c |
	grep -vE '^src/(base/(log|mem|json)|page/html|show/doc)\.c' >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "only main, log and mem end the program, and misuse" "$tmp/bad"
else
	ok "only main, log and mem end the program, and misuse"
fi
# how a microsecond is written is said in base/num.c; what is read has both
grep -nE "µ|xc2.xb5|\" ?us\"|' ?us'" src/*.c src/*/*.[ch] src/*/*/*.[ch] reports/* |
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
