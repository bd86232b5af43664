# SPDX-License-Identifier: MIT
# One file that was made of the traces of several ranks says what the folder of
# their files says (tests/merged.py), however it was made and whatever their
# ids have in common; what is one process stays one.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
helper=$top_srcdir/tests/merged.py

documents() { # DATABASE FOLDER
	mkdir "$2"
	for command in steps overlap gaps syncs launches kernels ranks doctor \
		path calls ranges advise memory trend; do
		"$profan" $command "$1" --format json >"$2/$command.json" \
			2>"$tmp/err" || echo "{}" >"$2/$command.json"
	done
	# advice has commands, with the name of the database
	sed "s|$1|DB|g" "$2/advise.json" >"$2/advise" &&
		mv "$2/advise" "$2/advise.json"
	for rank in 0 1; do
		"$profan" table "$1" --rank $rank --format json \
			>"$2/table$rank.json" 2>"$tmp/err" || return 1
	done
}

merged() { # RANKS HOW IDS
	rm -rf "$tmp/job" "$tmp"/[fm] "$tmp"/*.db
	# shellcheck disable=SC2086  # several words are meant
	"$mktrace" --ranks "$1" --steps 3 --layers 1 --straggler 1 $machines \
		--out "$tmp/job" || exit 99
	rm -f "$tmp/job"/truth*
	if run 0 "$PYTHON" -S "$helper" merge "$2" "$3" "$tmp/job" \
		"$tmp/merged.json" &&
		run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/f.db" &&
		run 0 "$profan" ingest -q "$tmp/merged.json" -o "$tmp/m.db" &&
		documents "$tmp/f.db" "$tmp/f" && documents "$tmp/m.db" "$tmp/m" &&
		run 0 "$PYTHON" -S "$helper" same "$1 ranks, $2, ids $3" \
			"$tmp/f" "$tmp/m"; then
		relay "$tmp/out"
	else
		not_ok "$1 ranks, $2, ids $3" "$tmp/out" "$tmp/err"
	fi
}

n=0
for how in sglang sorted jq marked named fused pids; do
	n=$((n + 1))
	set -- '2 equal' '3 shifted' '8 wrapped'
	# one of them for each way, unless all are asked for
	[ "$(amount quick all all)" = all ] || {
		shift $((n % 3))
		set -- "$1"
	}
	for job; do
		merged "${job% *}" $how "${job#* }"
	done
done

machines='--hosts 2 --clock-skew 2000000 --drift 20'
merged 4 sglang equal
machines=

# the last of them once more, as a fleet
rm -rf "$tmp"/[fm]
run 0 "$profan" merge "$tmp/job" -o "$tmp/ff.db" &&
	run 0 "$profan" merge "$tmp/merged.json" -o "$tmp/fm.db" &&
	mkdir "$tmp/f" "$tmp/m" &&
	for command in steps kernels ranks gaps overlap; do
		"$profan" $command "$tmp/ff.db" -f json >"$tmp/f/$command.json"
		"$profan" $command "$tmp/fm.db" -f json >"$tmp/m/$command.json"
	done
run 0 "$PYTHON" -S "$helper" same 'a fleet of ranks in one file' \
	"$tmp/f" "$tmp/m" && relay "$tmp/out" || not_ok fleet "$tmp/err"

query() { # SQL WANTED
	run 0 "$profan" query "$tmp/c.db" "$1" --format csv &&
		[ "$(tail -n 1 "$tmp/out")" = "$2" ]
}

# ---- small ones: what is whose, however the file is cut ----
small() { # HOW RANKS:EVENTS:METADATA NS_OF_THE_SECOND
	rm -f "$tmp/c.db"
	run 0 "$PYTHON" -S "$helper" small "$1" "$tmp/small.json" &&
		run 0 "$profan" ingest --strict "$tmp/small.json" -o "$tmp/c.db" &&
		query "SELECT group_concat(printf('%d:%d:%d', rank, event_count,
			metadata_count)) FROM trace" "$2" &&
		query "SELECT group_concat(DISTINCT dur_ns) FROM gpu_event
			WHERE trace_id = 2" "$3" &&
		query "SELECT count(*) FROM gpu_event AS g JOIN track AS k
			ON k.id = g.launch_id >> 32
			WHERE k.trace_id <> g.trace_id" 0 &&
		query "SELECT count(DISTINCT trace_id || labels) FROM process
			WHERE labels IS NOT NULL" 4
	result "small, $1" "$tmp/out"
	for how in 1:1 1:3 61:1 61:3 1000:3; do
		PROFAN_CHUNK_BYTES=${how%:*} PROFAN_THREADS=${how#*:} run 0 \
			"$profan" ingest --strict "$tmp/small.json" \
			-o "$tmp/d.db" && cmp "$tmp/c.db" "$tmp/d.db" >"$tmp/out"
		result "small, $1, chunks and threads $how" "$tmp/out"
	done
}
small labels '"0:21:4,1:21:4"' 51000
small silent '"0:21:4,1:18:4"' 51000
small lists '"0:42:8,1:21:4"' 51000

# ---- one process whose ids are given twice ----
"$mktrace" --steps 3 --layers 1 --out "$tmp/one.json"
run 0 "$PYTHON" -S "$helper" cycles "$tmp/one.json" "$tmp/cycles.json"
run 0 "$profan" ingest -q "$tmp/cycles.json" -o "$tmp/c.db" &&
	query 'SELECT count(*) FROM trace' 1
result 'one process stays one trace' "$tmp/out"
query "SELECT count(*) FROM gpu_work AS g LEFT JOIN event AS c
	ON c.id = g.launch_id WHERE c.start_ns > g.start_ns
	OR g.start_ns - c.start_ns > 500000000" 0
result 'each call has its own work' "$tmp/out"
query "SELECT count(*) = 0 FROM gpu_work WHERE launch_id IN (SELECT launch_id
	FROM gpu_work GROUP BY 1 HAVING count(*) > 1)" 1
result 'none has that of two' "$tmp/out"
run 0 "$profan" gaps "$tmp/c.db"
! grep -q graph "$tmp/out"
result 'no graphs where there are none' "$tmp/out"
run 0 "$profan" doctor "$tmp/c.db"
grep -q '^ids of several calls  .* warn$' "$tmp/out"
result 'doctor says that ids are given twice' "$tmp/out"

run 0 "$PYTHON" -S "$helper" crowd "$tmp/one.json" "$tmp/crowd.json"
run 0 "$profan" ingest -q "$tmp/crowd.json" -o "$tmp/w.db" &&
	run 0 "$profan" doctor "$tmp/w.db" --all
grep -q '^ids of several works  *3 ' "$tmp/out"
result 'doctor counts work of one id' "$tmp/out"
run 0 "$profan" gaps "$tmp/w.db"
! grep -q graph "$tmp/out"
result 'which makes no graph' "$tmp/out"

tap_done
