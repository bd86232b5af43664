#!/bin/sh
# SPDX-License-Identifier: MIT
# Pages of 'profan report' in a real browser; run in a build folder.
#	PYTHON=/path/to/venv/bin/python sh tests/report/browser.sh
# The interpreter needs playwright and axe-playwright-python from PyPI; the
# browser is $CHROMIUM or the system's chromium.
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/tap.sh"
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
[ -n "$CHROMIUM" ] || skip_all "chromium is missing"
"$PYTHON" -c 'import playwright' 2>/dev/null ||
	skip_all "playwright is missing in $PYTHON"
mkdir "$tmp/pages"
make_page() { # NAME FILE
	"$profan" ingest -q "$2" -o "$tmp/$1.db" &&
		"$profan" report -q "$tmp/$1.db" -o "$tmp/pages/$1.html" ||
		echo "not ok 0 - $1: no page"
}
"$mktrace" --steps 5 --layers 2 >"$tmp/train.json"
make_page train "$tmp/train.json"
"$PYTHON" "$top_srcdir/tests/report/hostile.py" >"$tmp/hostile.json"
make_page hostile "$tmp/hostile.json"
"$mktrace" --steps 5 --layers 2 --plant loader >"$tmp/idle.json"
for rank in 0 1; do
	from=train
	[ $rank = 0 ] || from=idle
	"$PYTHON" -c '
import json, sys
t = json.load(open(sys.argv[1]))
t["distributedInfo"] = {"rank": int(sys.argv[2]), "world_size": 2}
json.dump(t, sys.stdout)' "$tmp/$from.json" $rank >"$tmp/rank$rank.json"
done
"$profan" ingest -q "$tmp/rank0.json" "$tmp/rank1.json" -o "$tmp/ranks.db" &&
	"$profan" report -q "$tmp/ranks.db" -o "$tmp/pages/ranks.html" ||
	echo "not ok 0 - ranks: no page"
echo '{"traceEvents": []}' >"$tmp/empty.json"
make_page empty "$tmp/empty.json"
"$mktrace" --bytes 90M >"$tmp/large.json"
make_page large "$tmp/large.json"
rm -f "$tmp/large.json"
"$profan" diff -q "$tmp/train.db" "$tmp/hostile.db" --format html \
	-o "$tmp/pages/diff.html" || echo "not ok 0 - diff: no page"
[ ! -f "$shared/traces/h100_owlv2.json.gz" ] ||
	make_page h100_owlv2 "$shared/traces/h100_owlv2.json.gz"
"$PYTHON" "$top_srcdir/tests/report/browser.py" "$tmp/pages" "$CHROMIUM"
