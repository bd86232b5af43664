# SPDX-License-Identifier: MIT
# profan_sqlite.so gives sqlite3 and Python the same tables as profan query.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
module=$top_builddir/.libs/profan_sqlite.so
[ -f "$module" ] || skip_all "the extension was not built"
if ldd "$module" | grep -q 'lib[atu]*san'; then
	skip_all "sqlite3 itself is not built with sanitizers"
fi
db=$tmp/t.db
"$mktrace" --steps 2 --layers 1 >"$tmp/t.json"
run 0 "$profan" ingest "$tmp/t.json" -o "$db" || not_ok ingest "$tmp/err"
sql="SELECT category, name, count(*) AS n, sum(dur_ns) AS total_ns FROM event
	GROUP BY category, name ORDER BY category, name"
run 0 "$profan" query "$db" "$sql" --format json || not_ok query "$tmp/err"
sed -n 's/^[^{]*{"category": \(.*\)}.*/\1/p' "$tmp/out" |
	sed 's/"[a-z_]*": //g; s/, /|/g; s/"//g' | wc -l >"$tmp/want"
if [ -n "$SQLITE3" ]; then
	"$SQLITE3" -cmd ".load $module" "$db" "$sql" >"$tmp/got" 2>&1
	wc -l <"$tmp/got" >"$tmp/lines"
	same "sqlite3: as many rows" "$tmp/want" "$tmp/lines"
	run 0 "$profan" query "$db" "SELECT sum(dur_ns), sum(start_ns),
		count(DISTINCT args), sum(length(args)) FROM event" \
		--format csv
	tail -1 "$tmp/out" | tr , '|' >"$tmp/want"
	"$SQLITE3" -cmd ".load $module" "$db" "SELECT sum(dur_ns),
		sum(start_ns), count(DISTINCT args), sum(length(args))
		FROM event" >"$tmp/got" 2>&1
	same "sqlite3: the same sums" "$tmp/want" "$tmp/got"
else
	skip sqlite3 "sqlite3 is missing"
fi
if "$PYTHON" -S -c 'import sqlite3; sqlite3.connect(":memory:"
	).enable_load_extension(True)' 2>/dev/null; then
	"$PYTHON" -S - "$module" "$db" >"$tmp/got" 2>&1 <<'END'
import sqlite3, sys
c = sqlite3.connect(sys.argv[2])
c.enable_load_extension(True)
c.load_extension(sys.argv[1])
print("|".join(str(x) for x in c.execute("SELECT sum(dur_ns), sum(start_ns),"
      " count(DISTINCT args), sum(length(args)) FROM event").fetchone()))
END
	same "python: the same sums" "$tmp/want" "$tmp/got"
else
	skip python "Python's sqlite3 loads no extensions here"
fi
tap_done
