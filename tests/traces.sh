# SPDX-License-Identifier: MIT
# Every file of tests/traces by its prefix (see the README there).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
traces=$top_srcdir/tests/traces
db=$tmp/t.db

fits() { # FILE: the database is whole and its counts add up
	[ -n "$SQLITE3" ] || return 0
	"$SQLITE3" "$db" "PRAGMA integrity_check;
		SELECT 'counts do not add up', * FROM trace WHERE
		event_count <> stored_count + metadata_count + paired_count
			+ skipped_count;
		SELECT 'tracks hold', sum(event_count) AS n
		FROM track HAVING n <> (SELECT sum(stored_count) FROM trace)" \
		>"$tmp/check" 2>&1
	[ "$(cat "$tmp/check")" = ok ]
}

one_sentence() {
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^profan: ' "$tmp/err"
}

for file in "$traces"/*.json; do
	name=${file##*/}
	name=${name%.json}
	rm -f "$db" "$db".*
	case $name in
	good-*)
		if ! run 0 "$profan" ingest --strict "$file" -o "$db"; then
			not_ok "$name" "$tmp/err"
		elif [ -s "$tmp/err" ]; then
			not_ok "$name is silent" "$tmp/err"
		elif ! fits; then
			not_ok "$name" "$tmp/check"
		else
			ok "$name"
		fi
		;;
	odd-*)
		if ! run 0 "$profan" ingest "$file" -o "$db"; then
			not_ok "$name" "$tmp/err"
		elif ! fits; then
			not_ok "$name" "$tmp/check"
		elif run 3 "$profan" ingest --strict "$file" -o "$db"; then
			one_sentence && ok "$name" ||
				not_ok "$name --strict" "$tmp/err"
		elif [ "$tap_code" = 0 ]; then
			ok "$name"
		else
			not_ok "$name --strict" "$tmp/err"
		fi
		;;
	bad-*)
		if ! run 3 "$profan" ingest "$file" -o "$db"; then
			not_ok "$name" "$tmp/err"
		elif ! one_sentence; then
			not_ok "$name says one sentence" "$tmp/err"
		elif [ -e "$db" ]; then
			not_ok "$name leaves no database" "$db is there"
		else
			ok "$name"
		fi
		;;
	*)
		not_ok "$name" "the prefix must be good-, odd- or bad-"
		;;
	esac
done

# the README names every file, and no other
(cd "$traces" && ls *.json) >"$tmp/have"
sed -n 's/^| `\([^`]*\.json\)` .*/\1/p' "$traces/README.md" | sort >"$tmp/said"
same "README.md lists the traces" "$tmp/have" "$tmp/said"

# what these hold is not lost
while IFS='|' read -r name sql want; do
	run 0 "$profan" ingest -q "$traces/$name.json" -o "$db" &&
		run 0 "$profan" query -f csv "$db" "$sql" &&
		[ "$(tail -1 "$tmp/out")" = "$want" ]
	result "$name: $want" "$tmp/out"
done <<'END'
good-fractional-stream|SELECT count(*) AS n, count(stream) AS s FROM kernels, (SELECT count(*) FROM event)|1,0
odd-metadata-in-args|SELECT count(*) AS n, sum(category = 'cpu_op') AS o FROM event|1,1
good-metadata-again|SELECT (SELECT count(*) * 10 + sum(count) FROM metadata_event) AS n, name FROM process|23,MTIA 9
good-devices|SELECT group_concat(x) AS kinds FROM (SELECT g.kind * 1000 + count(*) AS x FROM gpu_event AS g GROUP BY kind)|"7002,8002,9001,10002,21001"
good-devices|SELECT group_concat(pid + 0) AS pids FROM (SELECT DISTINCT pid FROM process ORDER BY pid)|"0,1,701,0"
good-metadata-again|SELECT group_concat(bytes) AS bytes FROM gpu_event|"480,481,482"
good-states|SELECT sum(count) AS n, (SELECT skipped_count FROM trace) AS s FROM repair WHERE kind = 'state'|9,9
good-own-ranges|SELECT group_concat(s.text, ' ') AS names FROM comm_event AS c JOIN gpu_event AS g USING (event_id) JOIN string AS s ON s.id = g.name_id|two_shot cat
odd-quote-in-name|SELECT group_concat(name, ';') AS n FROM event|"say ""hi"" now;b"
odd-quote-in-stack|SELECT json_extract(args, '$.Call stack') AS s FROM event WHERE category = 'cpu_op'|"run ""final""/train.py(3): step;a'b""c.py(1): f"
odd-quote-in-stack|SELECT group_concat(name, ';') AS n FROM event WHERE category = 'python_function'|"run ""final""/train.py(3): step"
odd-quote-in-stack|SELECT group_concat(kind) AS k FROM repair|bare_quote
odd-duplicate-nested|SELECT json_extract(args, '$.a.b[1].c') AS c FROM event|2
END

# what sound traces have, too, is no loss, whoever is asked
for name in good-empty-event good-states; do
	rm -f "$db"
	: >"$tmp/said"
	run 0 "$profan" ingest -q "$traces/$name.json" -o "$db"
	for command in table steps doctor; do
		run 0 "$profan" $command "$db" &&
			cat "$tmp/out" "$tmp/err" >>"$tmp/said"
	done
	grep -q 'Nothing makes the figures doubtful' "$tmp/said" &&
		! grep -q 'skipped\|could not be read' "$tmp/said"
	result "$name: nothing is lost" "$tmp/said"
done

# every cut of a small trace is read or refused, and never crashes
small=$traces/good-kineto.json
size=$(wc -c <"$small")
step=${PROFAN_TEST_CUT_STEP:-37}
cut=1
: >"$tmp/bad"
while [ "$cut" -lt "$size" ]; do
	head -c "$cut" "$small" >"$tmp/cut.json"
	rm -f "$db"
	if run 0 "$profan" ingest "$tmp/cut.json" -o "$db"; then
		fits || echo "cut at $cut: counts" >>"$tmp/bad"
	elif [ "$tap_code" != 3 ]; then
		echo "cut at $cut: code $tap_code" >>"$tmp/bad"
	fi
	cut=$((cut + step))
done
if [ -s "$tmp/bad" ]; then
	not_ok "a trace cut anywhere" "$tmp/bad"
else
	ok "a trace cut anywhere"
fi

# asynchronous events are ranges of no thread: by category, id and scope the last
# begin that is open ends first, wherever it began
cat >"$tmp/async.json" <<'END'
[{"ph":"X","name":"op","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"e","name":"lone","cat":"c","id":9,"pid":1,"tid":1,"ts":1},
{"ph":"b","name":"lone","cat":"c","id":9,"pid":1,"tid":1,"ts":2},
{"ph":"e","name":"lone","cat":"c","id":9,"pid":1,"tid":1,"ts":5},
{"ph":"b","name":"out","cat":"c","id":"0x1","pid":1,"tid":1,"ts":10},
{"ph":"b","name":"in","cat":"c","id":"0x1","pid":1,"tid":2,"ts":20},
{"ph":"n","name":"in","cat":"c","id":"0x1","pid":1,"tid":2,"ts":21},
{"ph":"e","name":"in","cat":"c","id":"0x1","pid":1,"tid":1,"ts":27},
{"ph":"b","name":"other","cat":"d","id":"0x1","pid":1,"tid":1,"ts":30},
{"ph":"e","name":"out","cat":"c","id":"0x1","pid":1,"tid":3,"ts":110},
{"ph":"e","name":"other","cat":"d","id":"0x1","pid":1,"tid":1,"ts":230},
{"ph":"b","name":"local","cat":"c","id2":{"local":"7"},"pid":1,"tid":1,"ts":300},
{"ph":"b","name":"local","cat":"c","id2":{"local":"7"},"pid":2,"tid":1,"ts":310},
{"ph":"e","name":"local","cat":"c","id2":{"local":"7"},"pid":1,"tid":1,"ts":320},
{"ph":"e","name":"local","cat":"c","id2":{"local":"7"},"pid":2,"tid":1,"ts":335},
{"ph":"S","name":"old","cat":"c","id":7,"pid":1,"tid":1,"ts":400},
{"ph":"S","name":"new","cat":"c","id":"7","pid":1,"tid":1,"ts":401},
{"ph":"F","name":"old","cat":"c","id":"7","pid":1,"tid":1,"ts":404},
{"ph":"F","name":"new","cat":"c","id":7,"pid":1,"tid":1,"ts":409},
{"ph":"b","name":"open","cat":"c","id":8,"pid":1,"tid":1,"ts":500}]
END
rm -f "$db"
run 0 "$profan" ingest -q "$tmp/async.json" -o "$db" &&
	run 0 "$profan" ranges -f json "$db" &&
	grep -o '"range": "[a-z]*", "count": [0-9]*, "total_ns": [0-9]*' \
		"$tmp/out" | tr -d '",' | cut -d ' ' -f 2,4,6 >"$tmp/got"
cat >"$tmp/want" <<'END'
other 1 200000
out 1 100000
local 2 45000
new 1 8000
in 1 7000
old 1 4000
lone 1 3000
END
same "asynchronous events: ranges of no thread" "$tmp/want" "$tmp/got"
grep -q '"2 asynchronous events begin or end a range' "$tmp/out"
result "asynchronous events without the other half are counted" "$tmp/out"
tap_done
