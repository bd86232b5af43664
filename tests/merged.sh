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
	for rank in 0 1; do
		"$profan" table "$1" --rank $rank --format json \
			>"$2/table$rank.json" 2>"$tmp/err" || return 1
	done
}

merged() { # RANKS HOW IDS
	rm -rf "$tmp/job" "$tmp"/[fm] "$tmp"/*.db
	"$mktrace" --ranks "$1" --steps 3 --layers 1 --straggler 1 \
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

for how in sglang sorted jq marked named fused pids; do
	merged 2 $how equal
	merged 3 $how shifted
	merged 8 $how wrapped
done
tap_done
