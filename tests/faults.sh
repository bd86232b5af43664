# SPDX-License-Identifier: MIT
# What the world can do to us: each fault ends with exit code 3, exactly one
# sentence, and nothing of the user's is lost.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
db=$tmp/t.db
good=$tmp/good.json
"$mktrace" --steps 1 --layers 1 >"$good"

refused() { # NAME TEXT COMMAND...
	name=$1 text=$2
	shift 2
	if ! run 3 "$@"; then
		not_ok "$name" "$tmp/err"
	elif [ "$(wc -l <"$tmp/err")" -ne 1 ]; then
		not_ok "$name: one sentence" "$tmp/err"
	elif ! grep -q "^profan: .*$text" "$tmp/err"; then
		not_ok "$name: names '$text'" "$tmp/err"
	elif grep -q '\.$' "$tmp/err"; then
		not_ok "$name: no full stop" "$tmp/err"
	elif [ -s "$tmp/out" ] && [ "${allow_out:-}" != 1 ]; then
		not_ok "$name: nothing on stdout" "$tmp/out"
	else
		ok "$name"
	fi
}

nothing_left() { # NAME
	if ls "$db"* >"$tmp/left" 2>/dev/null; then
		not_ok "$1 leaves nothing" "$tmp/left"
	else
		ok "$1 leaves nothing"
	fi
}

# ---- inputs ----
refused "missing file" "no-such.json" "$profan" ingest "$tmp/no-such.json" \
	-o "$db"
mkdir "$tmp/folder"
refused "folder without traces" "folder" "$profan" ingest "$tmp/folder" \
	-o "$db"
: >"$tmp/empty.json"
refused "empty file" "empty.json" "$profan" ingest "$tmp/empty.json" -o "$db"
echo "hello" >"$tmp/text.json"
refused "no JSON" "text.json" "$profan" ingest "$tmp/text.json" -o "$db"
refused "empty standard input" "" "$profan" ingest - -o "$db"
if [ "$(id -u)" != 0 ]; then
	cp "$good" "$tmp/secret.json"
	chmod 0 "$tmp/secret.json"
	refused "unreadable file" "secret.json" "$profan" ingest \
		"$tmp/secret.json" -o "$db"
else
	refused "unreadable file (as root: a memory of another process)" \
		"mem" "$profan" ingest /proc/self/mem -o "$db"
fi
gzip -c "$good" >"$tmp/whole.gz"
head -c 12 "$tmp/whole.gz" >"$tmp/stub.gz"
refused "gzip cut in its header" "stub.gz" "$profan" ingest "$tmp/stub.gz" \
	-o "$db"
nothing_left "a refused input"

# ---- names in messages are masked ----
esc=$(printf '\033')
refused "control bytes in a name" "" "$profan" ingest \
	"$tmp/$esc[31mred.json" -o "$db"
if grep -q "$esc" "$tmp/err"; then
	not_ok "control bytes are masked" "$tmp/err"
else
	ok "control bytes are masked"
fi

# ---- outputs ----
refused "output in a missing folder" "no-folder" "$profan" ingest "$good" \
	-o "$tmp/no-folder/t.db"
mkdir -p "$tmp/each/$(basename "$(dirname "$good")").db"
refused "a run's database is a directory" "is a folder" "$profan" ingest "$good" \
	-o "$tmp/each"
echo "precious" >"$tmp/notes.txt"
refused "output is some other file" "notes.txt" "$profan" ingest "$good" \
	-o "$tmp/notes.txt"
echo "precious" >"$tmp/want"
same "the other file is untouched" "$tmp/want" "$tmp/notes.txt"
if [ -n "$SQLITE3" ]; then
	"$SQLITE3" "$tmp/other.db" 'CREATE TABLE mine (x); INSERT INTO mine
		VALUES (7)'
	refused "output is another's database" "other.db" "$profan" ingest \
		"$good" -o "$tmp/other.db"
	"$SQLITE3" "$tmp/other.db" 'SELECT x FROM mine' >"$tmp/got"
	echo 7 >"$tmp/want"
	same "the other database is untouched" "$tmp/want" "$tmp/got"
	refused "table of another's database" "other.db" "$profan" table \
		"$tmp/other.db"
fi
refused "table of a missing database" "no-such.db" "$profan" table \
	"$tmp/no-such.db"
refused "table of a text" "notes.txt" "$profan" table "$tmp/notes.txt"

# ---- the disk is full ----
"$mktrace" --steps 3 >"$tmp/larger.json"
rm -f "$db" "$db".*
refused "disk full while ingesting (file size limit)" "" sh -c \
	"trap '' XFSZ; ulimit -f 100; exec '$profan' ingest \
	'$tmp/larger.json' -o '$db'"
nothing_left "a full disk"

# ---- an old database stays until the new one is whole ----
run 0 "$profan" ingest "$good" -o "$db" || not_ok "ingest" "$tmp/err"
cp "$db" "$tmp/before.db"
refused "ingest of no trace over a database" "text.json" "$profan" ingest \
	"$tmp/text.json" -o "$db"
same "the old database is untouched" "$tmp/before.db" "$db"
refused "disk full over a database" "" sh -c "trap '' XFSZ; ulimit -f 100; \
	exec '$profan' ingest '$tmp/larger.json' -o '$db'"
same "the old database is still untouched" "$tmp/before.db" "$db"

# ---- output that does not arrive ----
if [ -w /dev/full ]; then
	for command in "table $db" "info $db" "query $db SELECT(1)" help; do
		refused "$command on a full disk" "" sh -c \
			"exec '$profan' $(echo "$command" |
				sed "s/SELECT(1)/'SELECT 1'/") >/dev/full"
	done
else
	skip "output on a full disk" "no /dev/full"
fi

# ---- killed ----
mkfifo "$tmp/pipe"
head -c 100000 "$tmp/larger.json" >"$tmp/part.json"
"$profan" ingest "$tmp/pipe" -o "$db" >/dev/null 2>&1 &
pid=$!
exec 9>"$tmp/pipe"
cat "$tmp/part.json" >&9
kill -KILL "$pid"
wait "$pid" 2>/dev/null
exec 9>&-
same "the database after SIGKILL" "$tmp/before.db" "$db"
run 0 "$profan" ingest "$tmp/larger.json" -o "$db"
result "ingest after SIGKILL"
ls "$db".* >"$tmp/left" 2>/dev/null
if [ -s "$tmp/left" ]; then
	not_ok "nothing is left behind" "$tmp/left"
else
	ok "nothing is left behind"
fi

# ---- damaged databases never crash ----
size=$(wc -c <"$db")
: >"$tmp/bad"
for at in 20 30 100 4096 5000 20000 40000 60000 90000; do
	[ "$at" -lt "$size" ] || continue
	cp "$db" "$tmp/broken.db"
	head -c 64 /dev/zero | tr '\0' '\377' |
		dd of="$tmp/broken.db" bs=1 seek="$at" conv=notrunc 2>/dev/null
	for command in table info; do
		run 0 "$profan" "$command" "$tmp/broken.db" ||
			[ "$tap_code" = 3 ] ||
			echo "$command, byte $at: $tap_code" >>"$tmp/bad"
	done
	head -c "$at" "$db" >"$tmp/broken.db"
	run 3 "$profan" table "$tmp/broken.db" || [ "$tap_code" = 0 ] ||
		echo "table, cut at $at: $tap_code" >>"$tmp/bad"
done
if [ -s "$tmp/bad" ]; then
	not_ok "damaged databases are refused" "$tmp/bad"
else
	ok "damaged databases are refused"
fi

# ---- what is removed for a database was read back from it ----
run 0 "$profan" info --check "$db" --table figures -f csv &&
	tr -d '\r' <"$tmp/out" | sed -n 's/^checked_count,//p' >"$tmp/got"
"$profan" query "$db" 'SELECT count(*) AS n FROM event' -f csv |
	sed -n 2p | tr -d '\r' >"$tmp/want"
same "info --check reads every event" "$tmp/want" "$tmp/got"
# damaged TEXT SQL: the statement damages a copy, the check says so
damaged() {
	cp "$db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "$2" 2>"$tmp/err"
	refused "info --check: $2" "damaged: .*$1" "$profan" info --check \
		"$tmp/broken.db"
}
if [ -n "$SQLITE3" ]; then
	damaged "holds .* of .* events" \
		"DELETE FROM block WHERE id = (SELECT min(id) FROM block)"
	damaged "trace 1 holds" "DELETE FROM track WHERE id = 1"
	damaged "trace 1 holds" "UPDATE trace SET stored_count = stored_count + 1"
	cp "$db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "UPDATE step SET start_ns = -1 << 63
		WHERE start_ns = (SELECT max(start_ns) FROM step)"
	refused "a step that is not within its trace" "damaged: step" \
		"$profan" steps "$tmp/broken.db"
	# a row of the schema that is innocent, of a table that another makes
	computed="CREATE TABLE meta (key TEXT PRIMARY KEY, value AS (1))
		WITHOUT ROWID"
	for made in "'view', 0, 'CREATE VIEW META AS SELECT 1 AS key, 2 AS value'" \
		"type, rootpage, replace('$computed', 'meta', 'META')"; do
		cp "$db" "$tmp/broken.db"
		"$SQLITE3" "$tmp/broken.db" "PRAGMA writable_schema = 1;
			INSERT INTO sqlite_schema SELECT type, name, tbl_name, rootpage,
			'CREATE TABLE IF NOT EXISTS meta (key)' FROM sqlite_schema
			WHERE name = 'meta';
			UPDATE sqlite_schema SET name = 'META', tbl_name = 'META',
			(type, rootpage, sql) = ($made)
			WHERE name = 'meta' AND sql NOT GLOB '* EXISTS *'"
		refused "a table that another row makes: ${made%%,*}" \
			"damaged: table meta" "$profan" steps "$tmp/broken.db"
	done
	# and a table that stands for what is asked
	cp "$db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "PRAGMA writable_schema = 1;
		UPDATE sqlite_schema SET sql = '$computed' WHERE name = 'meta'"
	"$SQLITE3" "$tmp/broken.db" 2>"$tmp/err" \
		'CREATE VIRTUAL TABLE pragma_table_xinfo USING fts5(hidden)'
	refused "a table that stands for a pragma" "damaged: table meta" \
		"$profan" steps "$tmp/broken.db"
	# tables that take any value, and those that took one
	loosen="PRAGMA writable_schema = 1; CREATE TABLE was AS
		SELECT name AS of, sql AS text FROM sqlite_schema; UPDATE sqlite_schema SET
		sql = replace(replace(replace(sql, ') STRICT, ', ') '), ') STRICT', ')'),
		' NOT NULL', '')"
	tighten="PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = text
		FROM was WHERE of = name; DROP TABLE was"
	for table in step gpu_event mem_history; do
		cp "$db" "$tmp/broken.db"
		"$SQLITE3" "$tmp/broken.db" "$loosen WHERE name = '$table'"
		refused "a table without types: $table" "damaged: table $table" \
			"$profan" info "$tmp/broken.db"
	done
	run 0 "$profan" merge -q "$db" -o "$tmp/one.db"
	cp "$tmp/one.db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "$loosen WHERE name = 'kernel'"
	refused "a fleet's table without types" "damaged: table kernel" \
		"$profan" info "$tmp/broken.db"
	cp "$tmp/one.db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "$loosen"
	"$SQLITE3" "$tmp/broken.db" "UPDATE capture SET name = NULL; $tighten"
	run 0 "$profan" overlap "$tmp/broken.db"
	result "a capture of a fleet without a name" "$tmp/err"
	while read -r what values; do
		cp "$db" "$tmp/broken.db"
		"$SQLITE3" "$tmp/broken.db" "$loosen"
		"$SQLITE3" "$tmp/broken.db" "$values; $tighten"
		refused "not a number: $values" "damaged: $what" \
			"$profan" steps "$tmp/broken.db"
	done <<-'EOF'
		time UPDATE trace SET last_ns = 'x'; UPDATE track SET last_ns = 'x'
		step UPDATE step SET start_ns = 'x'
		step UPDATE step SET dur_ns = x'00'
	EOF
	# each of several is asked for by its number, and -1 asks for all
	"$profan" ingest -q "$good" "$good" -o "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "UPDATE trace SET id = -1 WHERE id = 1;
		UPDATE track SET trace_id = -1 WHERE trace_id = 1;
		UPDATE step SET trace_id = -1 WHERE trace_id = 1"
	refused "a trace with a number below 1" "damaged: number of trace -1" \
		"$profan" advise "$tmp/broken.db"
	# counts that do not fit together
	cp "$db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "DELETE FROM repair; INSERT INTO repair(
		trace_id, kind, is_skip, count) VALUES (1, 'bad_utf8', 0, 1 << 62),
		(1, 'bad_number', 0, 1 << 62)"
	run 0 "$profan" doctor "$tmp/broken.db" -f csv &&
		grep -q '^repairs,9223372036854775807,' "$tmp/out"
	result "counts past 2^63 are held there" "$tmp/out"
	"$profan" ingest -q "$good" "$tmp/larger.json" -o "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "INSERT OR REPLACE INTO trace_fact
		SELECT id, 'averages_too_deep', ~(1 << 63) FROM trace"
	run 0 "$profan" doctor "$tmp/broken.db" -f csv &&
		grep -q ',9223372036854775807,' "$tmp/out"
	result "and those of several traces" "$tmp/out"
	cp "$db" "$tmp/broken.db"
	"$SQLITE3" "$tmp/broken.db" "UPDATE block_column SET
		data = CAST(substr(data, 1, length(data) - 1) || x'5a' AS BLOB)
		WHERE column_id = 2" 2>"$tmp/err"
	refused "info --check: a block that was changed" "checksum" "$profan" \
		info --check "$tmp/broken.db"
fi
cp "$db" "$tmp/broken.db"
head -c 64 /dev/zero | tr '\0' '\377' | dd of="$tmp/broken.db" bs=1 \
	seek=$((size - 100)) conv=notrunc 2>/dev/null
run 3 "$profan" info --check "$tmp/broken.db"
result "info --check: a page that was changed" "$tmp/err"

# ---- a file system without room ----
mkdir "$tmp/small" "$tmp/ranks"
"$mktrace" --ranks 2 --steps 4 --layers 4 --out "$tmp/ranks"
in_small() { # COMMAND...: "$tmp/small" has 20 KB free, and goes when it ends
	unshare -m sh -c 'mount -t tmpfs -o size=100k tmpfs "$0" &&
		head -c 81920 /dev/zero >"$0/full" || exit 99
		"$@"; rc=$?; rm "$0/full"; ls -A "$0" >"$0.left"; exit $rc' \
		"$tmp/small" "$@"
}
if in_small true 2>/dev/null; then
	text="the file system '$tmp/small' has [0-9]* of 102400 bytes free"
	"$profan" ingest -q "$tmp/ranks" -o "$db"
	"$profan" merge -q "$tmp/ranks" -o "$tmp/fleet.db"
	cp "$tmp/fleet.db" "$tmp/want"
	for words in "ingest $tmp/ranks" "merge $tmp/ranks" "export --rows $db" \
		"slice --rank 0 $db" "report $db"; do
		# shellcheck disable=SC2086  # words
		refused "${words%% *} to where there is no room" "$text" \
			in_small "$profan" $words -q -o "$tmp/small/out"
		[ ! -s "$tmp/small.left" ]
		result "${words%% *} leaves nothing there" "$tmp/small.left"
	done
	TMPDIR=$tmp/small
	export TMPDIR
	refused "merge without room for what is temporary" "$text" \
		in_small "$profan" merge -q "$tmp/ranks" -o "$tmp/fleet.db"
	cmp "$tmp/fleet.db" "$tmp/want" >"$tmp/bad" 2>&1
	result "the fleet that was there stays" "$tmp/bad"
	unset TMPDIR
else
	skip "no room" "not root, or no mounts here"
fi
tap_done
