# SPDX-License-Identifier: MIT
# Times and sizes near the ends of 64 bits: no sum may leave them unseen.
# (What would is found by the build with sanitizers.)
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

for scale in 4.6e15 2e15 9e14; do
	cd "$tmp" || exit 99
	"$PYTHON" -S "$top_srcdir/tests/extremes.py" $scale >trace.json
	run 0 "$profan" ingest trace.json -o trace.db
	result "$scale: ingest"
	while read -r command; do
		rm -f page.html part.json
		# shellcheck disable=SC2086  # several words are meant
		run 0 "$profan" $command
		result "$scale: $command"
	done <<-END
		steps trace.db
		steps trace.db --from 1us
		gaps trace.db
		gaps trace.db --step 0
		gaps trace.db --hta --per-stream
		syncs trace.db
		overlap trace.db
		launches trace.db
		kernels trace.db
		kernels trace.db --group name,op
		doctor trace.db
		memory trace.db
		modules trace.db
		stacks trace.db
		stacks trace.db --weight cpu
		stacks trace.db --weight idle
		slice trace.db --step 1 -o part.json
		table trace.db
		table trace.db --group-by-input-shape
		info trace.db
		report trace.db -o page.html
	END
done
tap_done
