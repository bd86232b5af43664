# SPDX-License-Identifier: MIT
# What commands write destroys nothing: no input, no file that is not ours, no
# device, nothing through a planted link, no other writer's work; what is
# unfinished goes with the program.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99
trace=$tmp/trace.json
"$mktrace" --steps 2 --layers 1 >"$trace"
cp "$trace" t.json
echo precious >notes.txt
run 0 "$profan" ingest -q t.json -o t.db || { cat "$tmp/err"; exit 99; }
cp t.db same.db
ln t.db hard.db
ln -s t.db soft.db

writers='report -o@report --force -o@diff --format html t.db -o@stacks -o
stacks --weight cpu --force -o@slice --from 0 -o@slice --from 0 --force -o
export --rows -o@export --rows --force -o'

each() { # FILE TEXT: every writer refuses FILE with TEXT
	printf '%s\n' "$writers" | tr '@' '\n' | while read -r words; do
		cp "$1" before 2>/dev/null || :
		# shellcheck disable=SC2086
		run 3 "$profan" $words "$1" t.db && grep -q "$2" "$tmp/err" &&
			{ [ ! -f before ] || cmp -s "$1" before; } ||
			echo "$words $1: $(cat "$tmp/err")"
		rm -f before
	done >bad
	if [ -s bad ]; then
		not_ok "every writer refuses $1: $2" bad
	else
		ok "every writer refuses $1: $2"
	fi
}
each t.db 'is an input, which is never overwritten'
each hard.db 'is an input, which is never overwritten'
each soft.db 'is an input, which is never overwritten'
cmp -s t.db same.db
result "the database is what it was"

# a folder for an output is refused, a link to nothing, too
mkdir folder
ln -s nowhere loose
each folder 'is a folder'
each loose 'is a link to nothing'

# refuses_foreign NAME OPTION COMMAND...: notes.txt stays, OPTION is named
refuses_foreign() {
	name=$1
	option=$2
	shift 2
	run 3 "$profan" "$@" notes.txt t.db && grep -q -e "$option" "$tmp/err" &&
		[ "$(cat notes.txt)" = precious ]
	result "$name leaves a foreign file, and names $option"
}
refuses_foreign report --force report -o
refuses_foreign 'report --format md' --force report --format md -o
refuses_foreign diff --overwrite diff --format html t.db -o
refuses_foreign stacks --force stacks --weight cpu -o
refuses_foreign slice --force slice --from 0 -o
refuses_foreign export --force export --rows -o
run 3 "$profan" ingest -q t.json -o notes.txt && [ "$(cat notes.txt)" = precious ]
result "ingest leaves a foreign file"
run 3 "$profan" ingest -q t.json -o t.json && cmp -s t.json "$trace"
result "ingest leaves its trace"
run 3 "$profan" report -q -o t.json t.db && cmp -s t.json "$trace"
result "report leaves a trace"

# with leave it is replaced; pages of ours need none
run 0 "$profan" report -q --force -o notes.txt t.db &&
	head -c 15 notes.txt | grep -q DOCTYPE &&
	run 0 "$profan" report -q -o notes.txt t.db &&
	run 0 "$profan" diff -q t.db same.db --format html -o notes.txt &&
	run 0 "$profan" report -q --format md -o notes.md t.db &&
	run 0 "$profan" report -q --format md -o notes.md t.db
result "a page or a summary of ours is replaced"
echo other >other.txt
run 0 "$profan" diff -q t.db same.db --format html --overwrite -o other.txt &&
	grep -q DOCTYPE other.txt
result "diff replaces what --overwrite says"

# nothing is written through a planted link
echo precious >notes.txt
ln -s notes.txt r.html.partial
run 3 "$profan" report -q -o r.html t.db && grep -q 'in the way' "$tmp/err" &&
	[ "$(cat notes.txt)" = precious ] && [ ! -e r.html ]
result "a planted link is not followed"
ln -s notes.txt new.db.partial
run 3 "$profan" ingest -q t.json -o new.db &&
	[ "$(cat notes.txt)" = precious ] && [ ! -e new.db ]
result "nor by ingest"

# a link to a page of ours: the page is replaced, the link stays
run 0 "$profan" report -q -o page.html t.db
ln -s page.html link.html
run 0 "$profan" report -q -o link.html t.db && [ -L link.html ] &&
	[ -f page.html ] && [ ! -e page.html.partial ]
result "a link to an earlier page leads to the new one"

# devices and pipes
run 0 "$profan" report -q -o /dev/null t.db && [ -c /dev/null ]
result "a device is written as it is"
mkfifo pipe
cat pipe >piped &
run 0 "$profan" report -q -o pipe t.db && wait $! && [ -p pipe ] &&
	run 0 "$profan" report -q -o plain.html t.db && cmp -s piped plain.html
result "so is a pipe"
"$profan" report -q -o /dev/stdout t.db >redirected 2>"$tmp/err" &&
	cmp -s redirected plain.html
result "so is /dev/stdout"
run 3 "$profan" ingest -q t.json -o pipe && [ -p pipe ]
result "a database is no pipe"

# stale journals
for tail in wal journal shm; do
	echo stale >"new2.db-$tail"
	run 3 "$profan" ingest -q t.json -o new2.db &&
		grep -q "new2.db-$tail" "$tmp/err" && [ ! -e new2.db ] &&
		run 3 "$profan" export --rows -o new2.db t.db && [ ! -e new2.db ]
	result "a -$tail of another database is refused"
	rm "new2.db-$tail"
done

# two writers: the second is refused, and takes nothing away
mkfifo slow
"$profan" ingest -q slow -o two.db 2>first.err &
first=$!
exec 8>slow
head -c 1000 t.json >&8
until [ -e two.db.partial ]; do sleep 0.05; done
run 3 "$profan" ingest -q t.json -o two.db &&
	grep -q 'another profan is writing' "$tmp/err" && [ -e two.db.partial ]
result "a second ingest into one output is refused"
tail -c +1001 t.json >&8
exec 8>&-
wait $first && run 0 "$profan" query two.db 'SELECT count(*) FROM trace'
result "and the first one ends well" first.err

# stopped: what is unfinished goes; killed: the next one takes it away
for signal in INT TERM HUP; do
	cp two.db old.db
	# in the background of a script INT is ignored, under nohup HUP
	"$PYTHON" -S -c 'import os, signal, sys
for s in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$profan" ingest -q slow -o two.db 2>stop.err &
	stopped=$!
	exec 8>slow
	head -c 1000 t.json >&8
	until [ -e two.db.partial ]; do sleep 0.05; done
	kill -$signal $stopped
	exec 8>&-
	wait $stopped
	[ ! -e two.db.partial ] && cmp -s two.db old.db
	result "SIG$signal: nothing unfinished is left, the old database is" stop.err
done
"$profan" ingest -q slow -o two.db 2>stop.err &
stopped=$!
exec 8>slow
head -c 1000 t.json >&8
until [ -e two.db.partial ]; do sleep 0.05; done
kill -KILL $stopped
exec 8>&-
wait $stopped 2>/dev/null
cmp -s two.db old.db && [ -e two.db.partial ] &&
	run 0 "$profan" ingest -q t.json -o two.db && [ ! -e two.db.partial ]
result "SIGKILL: the next ingest removes what was left"
tap_done
