# SPDX-License-Identifier: MIT
# What mktrace says it wrote is what the database holds: counts by phase and
# exact sums of durations by category and name, asked in SQL.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
db=$tmp/t.db

query() { # FILE SQL
	"$profan" query --format csv "$db" "$2" >"$1" 2>"$tmp/err"
}

wanted() { # WHAT FILE: rows of the truth without the first column
	"$PYTHON" -S - "$1" "$tmp/truth.csv" >"$2" <<'END'
import csv, sys
rows = [r[1:] for r in csv.reader(open(sys.argv[2])) if r[0] == sys.argv[1]]
csv.writer(sys.stdout, lineterminator="\n").writerows(sorted(rows))
END
}

plain() { # FILE: sorted, without the header, one way of quoting
	"$PYTHON" -S - "$1" >"$1.plain" <<'END'
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))[1:]
csv.writer(sys.stdout, lineterminator="\n").writerows(sorted(rows))
END
}

[ -n "$PYTHON" ] || skip_all "python3 is missing"

check() { # NAME OPTIONS...
	name=$1
	shift
	"$mktrace" --truth "$tmp/truth.csv" "$@" >"$tmp/t.json" || {
		not_ok "$name" "mktrace failed"
		return
	}
	rm -f "$db"
	if ! run 0 "$profan" ingest --strict "$tmp/t.json" -o "$db"; then
		not_ok "$name" "$tmp/err"
		return
	fi
	wanted name "$tmp/want"
	query "$tmp/got" "SELECT category, CASE WHEN name GLOB 'ProfilerStep#*'
			THEN 'ProfilerStep#*' ELSE name END AS event,
			count(*) AS count, sum(dur_ns) AS total_ns
		FROM event WHERE ph IN ('X', 'B') AND category <> 'Trace'
		GROUP BY 1, 2" || cat "$tmp/err" >>"$tmp/got"
	plain "$tmp/got"
	same "$name: times by name" "$tmp/want" "$tmp/got.plain"
}

launches() { # NAME
	wanted launches "$tmp/want"
	query "$tmp/got" "SELECT '' AS a, '' AS b, count(*) AS count, 0 AS t
		FROM gpu_event WHERE kind IN (7, 8, 9)
			AND launch_id IS NOT NULL" || cat "$tmp/err" >>"$tmp/got"
	plain "$tmp/got"
	same "$1: GPU work and its launch calls" "$tmp/want" "$tmp/got.plain"
}

check training
launches training
check inference --inference --steps 2
launches inference
check compact --style compact --seed 7 --no-stacks
check "torch 1.x" --old
launches "torch 1.x"
check "Chrome pairs" --chrome --steps 200
tap_done
