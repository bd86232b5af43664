# SPDX-License-Identifier: MIT
# Figures of every real trace against those that other tools computed, and
# the sums that must hold on each (tests/peers.py).
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
peers=$shared/golden/peers

[ -d "$peers" ] && [ -d "$shared/traces" ] ||
	skip_all "no ../shared: figures of other tools NOT CHECKED"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

for file in "$shared"/traces/*.json.gz; do
	trace=${file##*/}
	trace=${trace%.json.gz}
	if ! run 0 "$profan" ingest -q "$file" -o "$tmp/t.db"; then
		not_ok "$trace: ingest" "$tmp/err"
		continue
	fi
	for command in overlap kernels launches steps; do
		if ! run 0 "$profan" $command "$tmp/t.db" --format json; then
			not_ok "$trace: $command" "$tmp/err"
			continue
		fi
		cp "$tmp/out" "$tmp/json"
		if run 0 "$PYTHON" "$top_srcdir/tests/peers.py" "$peers" \
			$command "$tmp/json" "$trace" &&
			! grep -q '^not ok' "$tmp/out"; then
			ok "$trace: $command: $(grep -c '^ok' "$tmp/out") figures"
		else
			not_ok "$trace: $command" "$tmp/out" "$tmp/err"
		fi
	done
done
tap_done
