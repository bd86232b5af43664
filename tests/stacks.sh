# SPDX-License-Identifier: MIT
# Stacks: every line against tests/stacks.py, which has its own reader; idle
# time against what profan gaps says.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

total() { # FILE
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"
}

check() { # NAME FILE
	ingested "$1" "$2" || return
	for weight in cpu gpu; do
		run 0 "$profan" stacks --weight $weight "$tmp/t.db" || {
			not_ok "$1: $weight" "$tmp/err"
			continue
		}
		mv "$tmp/out" "$tmp/lines"
		if [ ! -s "$tmp/lines" ]; then
			grep -q 'there is no GPU work; .*record' "$tmp/err"
			result "$1: $weight: none, and says so" "$tmp/err"
			continue
		fi
		"$PYTHON" -S "$top_srcdir/tests/stacks.py" "$2" $weight \
			"$tmp/lines" >"$tmp/why" 2>&1
		result "$1: $weight: every line" "$tmp/why"
	done
	"$profan" gaps -q -f csv "$tmp/t.db" | sed -n 's/^idle_ns,//p' |
		grep -v '^0$' >"$tmp/want" || return 0
	"$profan" stacks -q --weight idle "$tmp/t.db" >"$tmp/lines"
	total "$tmp/lines" >"$tmp/got"
	same "$1: idle: as profan gaps" "$tmp/want" "$tmp/got"
	"$profan" stacks -q --weight idle --threads "$tmp/t.db" >"$tmp/lines"
	total "$tmp/lines" >"$tmp/got"
	same "$1: idle by GPU: the same" "$tmp/want" "$tmp/got"
}

"$mktrace" --steps 3 >"$tmp/training.json"
check training "$tmp/training.json"

# parts add up to the whole
for weight in cpu gpu; do
	"$profan" stacks -q --weight $weight --threads "$tmp/t.db" >"$tmp/lines"
	total "$tmp/lines" >"$tmp/want"
	for part in '--to 3ms' '--from 3ms'; do
		# shellcheck disable=SC2086  # two words are meant
		"$profan" stacks -q --weight $weight $part "$tmp/t.db"
	done >"$tmp/lines"
	total "$tmp/lines" >"$tmp/got"
	same "training: $weight: two windows are the whole" "$tmp/want" \
		"$tmp/got"
done

# each line has all that it is in: ranges below 4,096 others are part of those
awk 'BEGIN {
	print "["
	for (i = 0; i < 5000; i++)
		printf "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"x\"," \
			"\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": %d},\n",
			i, 10000 - 2 * i
	print "{}]"
}' >"$tmp/deep.json"
run 0 "$profan" stacks --weight cpu "$tmp/deep.json" &&
	[ "$(awk '{ n = gsub(/;/, ";") + 1; if (n > most) most = n; sum += $NF }
		END { print most, sum }' "$tmp/out")" = "4096 10000000" ] &&
	grep -q '904 ranges lie in more than 4096 others' "$tmp/err"
result "stacks are 4,096 deep, and what is deeper is counted there" "$tmp/err"

real_traces check
tap_done
