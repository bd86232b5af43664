# SPDX-License-Identifier: MIT
# csv that programs read: --table and --output-dir write tables that have one
# header and rows of its width (tests/csv_read.py; also by pandas, if it is
# there), the same as json has.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
cd "$tmp" || exit 99
"$mktrace" --steps 3 --layers 2 >t.json
run 0 "$profan" ingest -q t.json -o t.db || { cat "$tmp/err"; exit 99; }
tap_shown='out err'
for command in steps gaps path syncs overlap kernels launches memory modules roofline graphs trend; do
	"$profan" $command t.db --limit -1 --format json >all.json 2>/dev/null
	run 0 "$profan" $command t.db --limit -1 --output-dir "$command" &&
		run 0 "$PYTHON" -S "$top_srcdir/tests/csv_read.py" all.json "$command"
	result "$command: every table is read back"
done
run 0 "$profan" kernels t.db --limit -1 --table kernels --format csv &&
	cmp -s out kernels/kernels.csv
result "--table prints what --output-dir writes"
run 0 "$profan" kernels t.db --limit 1 --table classes --format json &&
	"$PYTHON" -S -c 'import json; d = json.load(open("out"))
assert list(d["tables"]) == ["classes"] and not d["scalars"] and not d["notes"]'
result "--table of json"
run 2 "$profan" kernels t.db --table kernel &&
	grep -q "there is no table 'kernel'; there are: figures, kernels, classes" err
result "a table that is not there: those that are"
run 3 "$profan" kernels t.db --output-dir kernels && grep -q "exists; it is left" err
result "what is there is not overwritten"
run 3 "$profan" kernels t.db --output-dir t.db/x
result "no folder can be made there"
tap_done
