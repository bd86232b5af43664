# SPDX-License-Identifier: MIT
# The path adds up to the window, tile behind tile, and the unchanged graph
# ends when the window did: on generated traces and on the real ones of
# ../shared/traces; where they are at hand it is equal to figures that were
# worked out without profan (tests/path.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
insight=$shared/golden/insight
tap_shown='out err'

follows() { # NAME FILE OPTIONS...
	name=$1
	ingested "$name" "$2" || return
	shift 2
	run 0 "$profan" path "$tmp/t.db" --list --limit -1 -f json "$@" &&
		cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$PYTHON" "$top_srcdir/tests/path.py" "$tmp/path.json" \
			"$name" "$insight"
	result "$name $*: $(cat "$tmp/out")"
}

grouped() { # NAME FILE
	ingested "$1" "$2" || return
	for group in op kernel module line step category; do
		run 0 "$profan" path "$tmp/t.db" --group $group --limit -1 \
			-f json && cp "$tmp/out" "$tmp/path.json" &&
			run 0 "$PYTHON" "$top_srcdir/tests/path.py" \
				"$tmp/path.json"
		result "$1: --group $group adds up"
	done
}

answers() { # NAME FILE: of a program whose changed run is known
	ingested "$1" "$2" || return
	asked=$("$PYTHON" "$top_srcdir/tests/path.py" --planted "$1")
	run 0 "$profan" path "$tmp/t.db" --what-if "$asked" --limit -1 -f json &&
		cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$PYTHON" "$top_srcdir/tests/path.py" --planted "$1" \
			"$tmp/path.json" "$insight/path_planted.csv"
	result "$1 $asked: $(cat "$tmp/out")"
}

"$mktrace" --steps 4 --layers 2 >"$tmp/plain.json"
follows plain "$tmp/plain.json"
follows plain "$tmp/plain.json" --step 1..2
follows plain "$tmp/plain.json" --from 1ms --to 3ms
follows plain "$tmp/plain.json" --whole-capture
grouped plain "$tmp/plain.json"
for options in '--amd' '--no-stacks --no-steps' '--gpus 2 --inference'; do
	# shellcheck disable=SC2086
	"$mktrace" --steps 3 --layers 2 $options >"$tmp/other.json"
	follows "mktrace $options" "$tmp/other.json"
done
for file in "$top_srcdir"/tests/traces/good-*.json; do
	name=${file##*/}
	follows "${name%.json}" "$file"
done
real_traces follows
if [ -d "$insight/path_planted" ]; then
	for file in "$insight"/path_planted/*.json.gz; do
		name=${file##*/}
		answers "${name%.json.gz}" "$file"
	done
else
	skip 'planted programs' 'not at hand'
fi

for scale in 9e14 4.6e15; do
	"$PYTHON" "$top_srcdir/tests/extremes.py" $scale >"$tmp/far.json"
	run 0 "$profan" ingest -q "$tmp/far.json" -o "$tmp/far-$scale.db"
done
run 0 "$profan" path "$tmp/far-9e14.db"
result 'times far apart'
run 3 "$profan" path "$tmp/far-4.6e15.db" && grep -q 'too far apart' "$tmp/err"
result 'times whose sums do not fit are refused'
run 0 "$profan" path "$tmp/t.db" --from 9000000000s
result 'a window behind the end'

# a DataLoader without workers says what one with four takes
pair() { # WITHOUT WITH
	run 0 "$profan" ingest -q "$shared/traces/$1.json.gz" -o "$tmp/w0.db" &&
		run 0 "$profan" ingest -q "$shared/traces/$2.json.gz" \
			-o "$tmp/w4.db" &&
		run 0 "$profan" path "$tmp/w0.db" --what-if data=0 -f json &&
		cp "$tmp/out" "$tmp/path.json" &&
		run 0 "$profan" steps "$tmp/w4.db" -f json --limit -1 &&
		cp "$tmp/out" "$tmp/steps.json" &&
		run 0 "$PYTHON" "$top_srcdir/tests/path.py" --pair \
			"$tmp/path.json" "$tmp/steps.json"
	result "$1: $(cat "$tmp/out")"
}
if [ -n "${LONG-}" ] && [ -f "$shared/traces/v100_resnet50_workers4.json.gz" ]; then
	pair v100_resnet50_workers0 v100_resnet50_workers4
	pair v100_resnet50_workers0_second v100_resnet50_workers4_second
else
	skip 'pairs of DataLoaders' 'LONG=1 and the traces are needed'
fi

# two ranks: one has to be chosen
"$mktrace" --steps 2 --layers 1 --seed 1 >"$tmp/a.json"
"$mktrace" --steps 2 --layers 1 --seed 2 >"$tmp/b.json"
run 0 "$profan" ingest -q "$tmp/a.json" "$tmp/b.json" -o "$tmp/two.db" &&
	run 2 "$profan" path "$tmp/two.db" && grep -q -- --trace "$tmp/err"
result 'several traces: one is chosen'
run 0 "$profan" path "$tmp/two.db" --trace 2
result 'the second of two traces'
tap_done
