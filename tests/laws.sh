# SPDX-License-Identifier: MIT
# No event is lost silently: rows + counted skips = events of the file, which
# Python's own reader counts.  On generated traces, and on the real ones of
# ../shared/traces where that folder is there.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
[ -n "$SQLITE3" ] || skip_all "sqlite3 is missing"
db=$tmp/t.db

count_events() { # FILE
	"$PYTHON" -S - "$1" <<'END'
import gzip, json, sys
path = sys.argv[1]
opener = gzip.open if path.endswith(".gz") else open
with opener(path, "rb") as f:
    text = f.read().decode("utf-8", "replace")
try:
    d = json.loads(text, strict=False)
except ValueError:
    sys.exit("no JSON for Python")
print(len(d["traceEvents"] if isinstance(d, dict) else d))
END
}

check() { # NAME FILE
	rm -f "$db"
	if ! run 0 "$profan" ingest "$2" -o "$db"; then
		not_ok "$1" "$tmp/err"
		return
	fi
	count_events "$2" >"$tmp/want" 2>"$tmp/why" || {
		skip "$1" "$(cat "$tmp/why")"
		return
	}
	"$SQLITE3" "$db" "SELECT stored_count + metadata_count + paired_count
		+ skipped_count FROM trace" >"$tmp/got"
	same "$1: every event is stored, paired or counted" "$tmp/want" \
		"$tmp/got"
	"$SQLITE3" "$db" "SELECT coalesce(sum(count), 0) FROM metadata_event" \
		>"$tmp/got"
	"$SQLITE3" "$db" "SELECT metadata_count FROM trace" >"$tmp/want"
	same "$1: metadata events have rows, equal ones one" "$tmp/want" \
		"$tmp/got"
	"$SQLITE3" "$db" "SELECT sum(event_count) FROM track" >"$tmp/got"
	"$SQLITE3" "$db" "SELECT stored_count FROM trace" >"$tmp/want"
	same "$1: tracks hold what is stored" "$tmp/want" "$tmp/got"
	"$SQLITE3" "$db" "SELECT coalesce(sum(count), 0) FROM repair
		WHERE is_skip" >"$tmp/got"
	"$SQLITE3" "$db" "SELECT skipped_count FROM trace" >"$tmp/want"
	same "$1: each skip has its reason" "$tmp/want" "$tmp/got"
}

"$mktrace" >"$tmp/training.json"
check training "$tmp/training.json"
"$mktrace" --chrome --steps 100 >"$tmp/chrome.json"
check chrome "$tmp/chrome.json"
real_traces check
tap_done
