# SPDX-License-Identifier: MIT
# The definitions of schema/query, in plain SQL, give what the commands print.
# A few traces; with LONG=1 every one of ../shared, with EVERY=1 of tests/traces.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "NOT TESTED: python3 is missing"

# every law is compared; the others say what they count in their first line
for file in "$top_srcdir"/schema/query/*.sql; do
	name=${file##*/}
	name=${name%.sql}
	case $name in events_by_category | ops_by_name) continue ;; esac
	grep -q "law(db, \"$name\")" "$top_srcdir/tests/laws_sql.py"
	result "$name is held against a command" "$file"
done

compare() { # NAME FILE
	ingested "$1" "$2" || return
	if "$PYTHON" -S "$top_srcdir/tests/laws_sql.py" "$profan" \
		"$top_srcdir/schema/query" "$tmp/t.db" >"$tmp/differ" \
		2>"$tmp/err" && [ ! -s "$tmp/differ" ]; then
		ok "$1"
	else
		not_ok "$1" "$tmp/differ" "$tmp/err"
	fi
}

made() { # OPTION...
	"$mktrace" --steps 4 --layers 2 "$@" >"$tmp/made.json" &&
		compare "made $*" "$tmp/made.json"
}

made
made --no-steps --amd
made --gpus 2 --plant collective
made --plant graph
# each call that waits, as words.csv names them; and what calls another
"$PYTHON" -S - "$top_srcdir/data/words.csv" >"$tmp/waits.json" <<'END'
import csv, json, sys
rows = [r for r in csv.reader(open(sys.argv[1])) if len(r) == 3]
vendors = [text for word, _, text in rows if word == "vendor"]
calls = [vendor + text for word, match, text in rows if word == "call_sync"
         for vendor in (vendors if match == "verb" else [""])]
assert len(calls) > 20, calls
calls += ["cudaStreamSynchronize_ptsz", "notStreamSynchronize"]
print(json.dumps([
    {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1,
     "ts": 10 * i, "dur": 5, "args": {"correlation": i + 1}}
    for i, name in enumerate(calls)] + [
    {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 2,
     "ts": 10 * at, "dur": dur, "args": {}}
    for name, at, dur in (("executor::run", 1, 9), ("synchronizeStream", 1, 7),
                          ("cudaDeviceSynchronize", 2, 9),
                          ("cuCtxSynchronize", 2, 8))]))
END
compare waits "$tmp/waits.json"
for name in devices metadata-again own-ranges; do
	compare "$name" "$top_srcdir/tests/traces/good-$name.json"
done
if [ -n "${LONG-}" ]; then
	made --chrome
	made --old
	made --inference
	for fault in sync loader pageable malloc launch garbage module; do
		made --plant "$fault"
	done
fi
if [ -n "${EVERY-}" ]; then
	for file in "$top_srcdir"/tests/traces/good-*.json \
		"$top_srcdir"/tests/traces/odd-*.json; do
		name=${file##*/}
		compare "${name%.json}" "$file"
	done
fi
compare good-kineto "$top_srcdir/tests/traces/good-kineto.json"
real_traces compare
tap_done
