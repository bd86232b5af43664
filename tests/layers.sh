# SPDX-License-Identifier: MIT
# Which folder of src/ may include which (see ARCHITECTURE.md).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$top_srcdir" || exit 99

check() { # FOLDER ALLOWED...
	folder=$1
	echo "$folder" >>"$tmp/checked"
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

# who reads events, and so may know what one is (formats/event.h)
time='analysis/time analysis/trust'
all="analysis/idle analysis/path analysis/memory analysis/ranks $time analysis/roofline analysis/advise analysis/graphs"
events_readers=" events torch $all compare export page "
rooms='base show store events'
formats='formats/json formats/kineto formats/logs formats/memsnap formats/nsys formats/pfr formats/rocm formats/sqlite formats/xspace'
# shellcheck disable=SC2086  # words
{
	check base
	check show base
	check formats base
	for format in json xspace memsnap logs sqlite; do
		check formats/$format base formats
	done
	check formats/kineto base formats formats/json
	check formats/pfr base formats formats/kineto
	check formats/nsys base formats formats/kineto formats/sqlite
	check formats/rocm base formats formats/kineto formats/json formats/sqlite
	check store base formats show
	check events base show store
	check ingest base formats $formats show store events
	check torch $rooms ingest
	for folder in idle ranks memory graphs; do
		check analysis/$folder $rooms
	done
	check analysis/path $rooms analysis/graphs
	check analysis/time $rooms torch analysis/ranks analysis/graphs
	check analysis/trust $rooms torch
	check analysis/roofline $rooms $time analysis/ranks analysis/graphs
	check analysis/advise $rooms torch $time analysis/idle analysis/memory \
		analysis/path analysis/ranks analysis/roofline
	check compare $rooms ingest torch $time analysis/idle analysis/memory \
		analysis/path analysis/ranks analysis/advise
	check export $rooms analysis/idle analysis/memory analysis/path
	check page $rooms torch $time analysis/idle analysis/memory \
		analysis/path analysis/roofline analysis/advise compare
	check cmd $rooms ingest torch $all compare export page
}

# a folder without a line would be checked by nobody
(cd src && for f in */*.c */*/*.c; do echo "${f%/*}"; done | sort -u) >"$tmp/there"
sort -u "$tmp/checked" | diff - "$tmp/there" >"$tmp/bad"
result "every folder has a line here, and each line a folder" "$tmp/bad"
[ "$(cut -d / -f 1 "$tmp/there" | sort -u | wc -l)" -le 12 ]
result "there are twelve rooms" "$tmp/there"

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
# what is read is opened by base/inside.h; the rest writes, or is what it wrote
grep -nE '(^|[^A-Za-z0-9_>])(f?open|opendir|scandir)\(' src/*/*.c src/*/*/*.c |
	grep -vE 'O_RDWR|^src/(base/|cmd/cmd\.c.*path, O_RDONLY|cmd/cmd_capture\.c|cmd/cmd_view\.c.*"rbe")' \
		>"$tmp/bad"
[ ! -s "$tmp/bad" ]
result "what is read is opened where --inside is held" "$tmp/bad"

# how a microsecond is written is said in base/num.c; what is read has both
grep -nE "µ|xc2.xb5|\" ?us\"|' ?us'" src/*.c src/*/*.[ch] src/*/*/*.[ch] reports/*.* reports/app/* |
	grep -vE '^src/base/num\.[ch]:.*"us"|"us", PF_NS' |
	grep -vE "^reports/(shared\.js:.*' us'|app/numbers\.js:.*'us')" >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "microseconds are written in one way" "$tmp/bad"
else
	ok "microseconds are written in one way"
fi
tap_done
