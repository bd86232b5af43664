# SPDX-License-Identifier: MIT
# The page that is the program (reports/app/), in a real browser: 'make wasm'
# makes it.  What it needs of Python, and the browser: tests/report/browser.sh.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
page=${PAGE:-$top_builddir/profan.html}
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
[ -f "$page" ] || skip_all "NOT TESTED: there is no profan.html (make wasm)"
[ -n "$CHROMIUM" ] || skip_all "NOT TESTED: chromium is missing"
"$PYTHON" -c 'import playwright' 2>/dev/null ||
	skip_all "NOT TESTED: playwright is missing in $PYTHON"

cp "$page" "$tmp/profan.html"
cp "$profan" "$tmp/profan" # it takes the page beside it
mkdir "$tmp/traces" "$tmp/all" # all: with LONG=1, opened only
cd "$tmp" || exit 99
"$mktrace" --steps 5 --layers 2 >train.json
"$mktrace" --steps 5 --layers 2 --plant loader >idle.json
"$PYTHON" "$top_srcdir/tests/report/hostile.py" >hostile.json
"$mktrace" --ranks 2 --steps 3 --layers 1 --out job >/dev/null
# two of four ranks begin to record 2 ms later, on clocks of their own
"$mktrace" --ranks 4 --hosts 2 --steps 4 --layers 1 --clock-skew 2000000 \
	--out skewed >/dev/null
"$PYTHON" -S - skewed/rank-[23].json <<'END'
import json, sys
for path in sys.argv[1:]:
    with open(path) as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    begin = min(float(e["ts"]) for e in events if e["ph"] == "X") + 2000
    trace["traceEvents"] = [e for e in events if e["ph"] == "M" or
                            float(e["ts"]) >= begin]
    with open(path, "w") as file:
        json.dump(trace, file)
END
rm skewed/truth.csv*
head -c 60000 train.json >cut.json
head -c 5000 /dev/urandom >junk.bin
: >empty.json
"$mktrace" --bytes 200M >large.json
cp large.json changed.json
"$mktrace" --bytes 20M >slices.json # of more than are held at once
ln -s ../train.json traces/train.json
if [ -d "$shared/traces" ]; then
	for trace in h100_nsfw_vit two_ranks_rank-0 ${LONG:+h100_owlv2 \
		mi300_qwen v100_resnet50_workers0}; do
		ln -s "$shared/traces/$trace.json.gz" traces
	done
	[ -z "${LONG-}" ] || ln -s "$shared/traces/"*.json.gz all
else
	skip "real traces" "NOT TESTED: ../shared/traces is not there"
fi
made() { # FILE..., as it is dropped
	for trace; do
		"$profan" ingest -q "$trace" -o "$tmp/${trace%%.*}.db" ||
			not_ok "$trace: no database"
	done
}
made train.json idle.json job skewed slices.json
mkdir again
cp idle.json again/train.json
made again/train.json
cd traces && made *.gz
"$PYTHON" "$top_srcdir/tests/report/page.py" "$tmp" "$CHROMIUM" "$tap_count" \
	"$profan" && [ "$tap_failed" = 0 ]
