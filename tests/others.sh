# SPDX-License-Identifier: MIT
# Small captures by profilers other than torch's (tests/others/capture.py):
# their JSON goes through the Chrome reader and no event is lost.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

# events with a duration, by name
wanted() { # TRACE
	"$PYTHON" -S - "$1" <<'END'
import collections, csv, gzip, json, sys
events = json.load(gzip.open(sys.argv[1]))["traceEvents"]
count = collections.Counter(e["name"] for e in events if e.get("ph") == "X")
csv.writer(sys.stdout, lineterminator="\n").writerows(sorted(count.items()))
END
}

plain() {
	"$PYTHON" -S -c 'import csv, sys
rows = list(csv.reader(sys.stdin))[1:]
csv.writer(sys.stdout, lineterminator="\n").writerows(sorted(rows))'
}

for folder in "$top_srcdir"/tests/others/*/; do
	name=$(basename "$folder")
	trace=$folder/trace.json.gz
	[ -f "$trace" ] || continue
	rm -f "$tmp/t.db"
	if ! run 0 "$profan" ingest -q -o "$tmp/t.db" "$trace"; then
		not_ok "$name: ingest" "$tmp/err"
		continue
	fi
	wanted "$trace" >"$tmp/want"
	[ -s "$tmp/want" ] || not_ok "$name: has no events"
	run 0 "$profan" query --format csv "$tmp/t.db" \
		"SELECT name, count(*) AS n FROM event WHERE ph = 'X' GROUP BY 1" ||
		cat "$tmp/err"
	plain <"$tmp/out" >"$tmp/got"
	same "$name: events by name" "$tmp/want" "$tmp/got"
done

calls=$("$PYTHON" -S -c 'import json, sys
print(json.load(open(sys.argv[1]))["fibonacci"])' \
	"$top_srcdir/tests/others/viztracer/truth.json")
rm -f "$tmp/t.db"
run 0 "$profan" ingest -q -o "$tmp/t.db" \
	"$top_srcdir/tests/others/viztracer/trace.json.gz"
run 0 "$profan" query --format csv "$tmp/t.db" \
	"SELECT count(*) AS n FROM event WHERE name GLOB 'fibonacci (*'"
printf 'n\n%s\n' "$calls" >"$tmp/want"
tr -d '\r' <"$tmp/out" >"$tmp/got"
same "viztracer: each call of a function once" "$tmp/want" "$tmp/got"

# where nothing else divides the time, ranges do: the sentence of 'ranges', and
# who has no figures of them names that
run 0 "$profan" ranges "$tmp/t.db"
sed '/^$/,$d' "$tmp/out" | tr -s ' \n' ' ' >"$tmp/ranges"
grep -q ' itself takes ' "$tmp/ranges"
result "viztracer: a sentence of ranges" "$tmp/out"
for command in steps summary path; do
	says="$(cat "$tmp/ranges")Nothing but ranges divides the 332.068 us of"
	[ $command != path ] || says="'profan ranges' says what ranges hold."
	run 0 "$profan" $command "$tmp/t.db"
	tr -s ' \n' ' ' <"$tmp/out" | grep -qF "$says"
	result "viztracer, $command: what ranges hold" "$tmp/out"
done

# JAX on an H100: XLA names the calls that launch work after the work
for file in trace.json.gz xplane.pb; do
	rm -f "$tmp/t.db"
	run 0 "$profan" ingest -q -o "$tmp/t.db" \
		"$top_srcdir/tests/others/jax_h100/$file"
	run 0 "$profan" query --format csv "$tmp/t.db" \
		"SELECT count(*) AS work, count(launch_id) AS launched,
			count(DISTINCT launch_id) AS calls
		FROM gpu_event WHERE kind IN (7, 8, 9)"
	printf '12,12,12\n' >"$tmp/want"
	sed 1d "$tmp/out" | tr -d '\r' >"$tmp/got"
	same "jax_h100, $file: all work has its call" "$tmp/want" "$tmp/got"
done
run 0 "$profan" info "$tmp/t.db" && grep -q 'NVIDIA H100 80GB HBM3' "$tmp/out"
result "jax_h100, xplane.pb: the GPU by its name" "$tmp/out"
tap_done
