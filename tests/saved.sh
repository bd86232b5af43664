# SPDX-License-Identifier: MIT
# What advice promises beside what the change saved in truth, on a GPU and
# without a profiler (tests/saved/README.md).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

held() { # JSON ADVICE FIRST BEFORE_MS AFTER_MS
	"$PYTHON" -S -c '
import json, sys
doc = json.load(open(sys.argv[1]))
rule, first, before, after = sys.argv[2], *map(float, sys.argv[3:])
given = doc["tables"]["advice"]
most = {r["id"]: r["at_most_ns"] for r in given}.get(rule, 0) / 4 / 1e6  # steps
print("given", [r["id"] for r in given], "at most", most, "saved", before - after)
sys.exit(not given or first and given[0]["id"] != rule or
	most < 0.9 * (before - after))' "$@"
}

while IFS=, read -r name advice first before after; do
	[ "$name" = name ] && continue
	run 0 "$profan" ingest -q "$top_srcdir/tests/saved/$name.json.gz" \
		-o "$tmp/$name.db" &&
		run 0 "$profan" advise -q "$tmp/$name.db" --format json &&
		cp "$tmp/out" "$tmp/json" &&
		held "$tmp/json" "$advice" "$first" "$before" "$after" >"$tmp/said"
	result "$name" "$tmp/said" "$tmp/err"
done <"$top_srcdir/tests/saved/programs.csv"
tap_done
