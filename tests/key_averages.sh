# SPDX-License-Identifier: MIT
# Tables against those that torch's own code made of the same traces: text
# byte for byte for every sort, csv value by value, under the release that
# the expectation names and, for text, under the one that is recognised.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
want=$shared/golden/key_averages

[ -d "$want" ] || skip_all "no ../shared/golden: key_averages() NOT CHECKED"

# Both csv forms as lines of the same fields, tab-separated, times in ns.
plain_csv() { # FILE KIND
	awk -v kind="$2" '
	function split_csv(line, f,    n, c, i, quoted) {
		n = 1; f[1] = ""; quoted = 0
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") {
				f[n] = f[n] c; i++
			} else if (c == "\"") quoted = !quoted
			else if (c == "," && !quoted) f[++n] = ""
			else f[n] = f[n] c
		}
		return n
	}
	function ns(us) { us = sprintf("%.0f", us * 1000); return us == "-0" ? 0 : us }
	{ sub(/\r$/, ""); n = split_csv($0, f) }
	NR == 1 { for (i = 1; i <= n; i++) at[f[i]] = i; next }
	kind == "torch" {
		print f[at["key"]] "\t" f[at["input_shapes"]] "\t" \
			f[at["device_type"]] "\t" f[at["is_user_annotation"]] "\t" \
			f[at["count"]] "\t" ns(f[at["self_cpu_us"]]) "\t" \
			ns(f[at["cpu_total_us"]]) "\t" ns(f[at["self_device_us"]]) "\t" \
			ns(f[at["device_total_us"]]) "\t" f[at["self_cpu_mem"]] "\t" \
			f[at["cpu_mem"]] "\t" f[at["self_device_mem"]] "\t" \
			f[at["device_mem"]] "\t" f[at["flops"]]
	}
	kind == "profan" {
		print f[at["name"]] "\t" f[at["input_shapes"]] "\t" \
			f[at["device_type"]] "\t" f[at["is_user_annotation"]] "\t" \
			f[at["count"]] "\t" f[at["self_cpu_ns"]] "\t" \
			f[at["cpu_total_ns"]] "\t" f[at["self_device_ns"]] "\t" \
			f[at["device_total_ns"]] "\t" f[at["self_cpu_mem_bytes"]] "\t" \
			f[at["cpu_mem_bytes"]] "\t" f[at["self_device_mem_bytes"]] "\t" \
			f[at["device_mem_bytes"]] "\t" f[at["flops"]]
	}' "$1"
}

# The rules an expectation was made under: "2.6/3.12".
rules_of() {
	sed -n '2s/.*torch code: v\([0-9]*\.[0-9]*\).*python sum: 3\([0-9]*\) .*/\1\/3.\2/p' "$1"
}

# One table of an expectation, without the line that names it.
section() { # FILE SORT
	awk -v want="### sort_by=$2 " '
	/^### sort_by=/ { on = index($0, want) == 1; next }
	on' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

# The runtime under which the expectations were made cannot read bfloat16_t in
# names ("DF16b"), later ones can, as profan does: such rows have its name.
renamed() { # WANT GOT
	awk '
	NR == FNR { got[FNR] = $0; next }
	/^-+ / && !width { width = index($0, " ") - 1 }
	/^ *_Z/ && ($0 ~ /DF16b/ || !index($0, "\t")) && got[FNR] !~ /^ *_Z/ { # text is cut
		end = index($0, "\t") ? index($0, "\t") : width + 1
		own = index($0, "\t") ? index(got[FNR], "\t") : width + 1
		$0 = substr(got[FNR], 1, own - 1) substr($0, end)
	}
	{ print }' "$2" "$1" >"$1.renamed"
	mv "$1.renamed" "$1"
}

# NAME GROUP SORT RULES: under those; and those recognised, which no sort
# decides, so that without LONG one of them will do
recognised=
check_sort() {
	section "$want/$1.$2.txt" "$3" >"$tmp/want"
	limit=$(sed -n "s/^### sort_by=$3 row_limit=\([0-9]*\) .*/\1/p" \
		"$want/$1.$2.txt")
	by=
	[ "$2" = shape ] && by=--group-by-input-shape
	for rules in "--torch $4" ''; do
		case $rules$recognised${LONG-} in
		"$1 $2") continue ;;
		esac
		run 0 "$profan" table "$tmp/t.db" --sort "$3" --limit "$limit" \
			$by $rules
		renamed "$tmp/want" "$tmp/out"
		same "$1 $2 $3 $rules" "$tmp/want" "$tmp/out"
	done
	recognised="$1 $2"
}

check_csv() { # NAME GROUP RULES
	by=
	[ "$2" = shape ] && by=--group-by-input-shape
	run 0 "$profan" table "$tmp/t.db" --format csv --torch "$3" $by
	plain_csv "$want/$1.$2.csv" torch >"$tmp/want"
	plain_csv "$tmp/out" profan >"$tmp/got"
	renamed "$tmp/want" "$tmp/got"
	same "$1 $2 csv" "$tmp/want" "$tmp/got"
}

for file in "$want"/*.none.txt; do
	name=$(basename "$file" .none.txt)
	trace=$shared/traces/$name.json.gz
	if [ ! -f "$trace" ]; then
		skip "$name" "no such trace"
		continue
	fi
	if ! run 0 "$profan" -q ingest -o "$tmp/t.db" "$trace" &&
		! run 0 "$profan" ingest -q -o "$tmp/t.db" "$trace"; then
		not_ok "$name: ingest" "$tmp/err"
		continue
	fi
	for group in none shape; do
		release=$(rules_of "$want/$name.$group.txt")
		for sort in $(sed -n 's/^### sort_by=\([^ ]*\) .*/\1/p' \
			"$want/$name.$group.txt"); do
			check_sort "$name" "$group" "$sort" "$release"
		done
		check_csv "$name" "$group" "$release"
	done
done
# devices that are not CUDA's have their names over their columns
headed() { # NAME CATEGORY RUNTIME OPTION...
	name=$1
	cat >"$tmp/device.json" <<EOF
[
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 0, "dur": 100, "args": {"External id": 1}},
{"ph": "X", "cat": "$3", "name": "run", "pid": 1, "tid": 1, "ts": 10,
 "dur": 10, "args": {"External id": 1, "correlation": 2}},
{"ph": "X", "cat": "$2", "name": "k", "pid": 0, "tid": 7, "ts": 30,
 "dur": 40, "args": {"External id": 1, "correlation": 2, "device": 0,
 "stream": 7}}
]
EOF
	shift 3
	run 0 "$profan" ingest -q "$tmp/device.json" -o "$tmp/device.db" &&
		run 0 "$profan" table "$tmp/device.db" "$@" &&
		grep -q " Self $name   *Self $name %" "$tmp/out" &&
		grep -q "^Self $name time total" "$tmp/out"
	result "a table of $name" "$tmp/out" "$tmp/err"
}
headed MTIA mtia_ccp_events mtia_runtime --torch 2.5
headed XPU kernel xpu_runtime --torch 2.5
headed HPU hpu_op cpu_op --torch 2.5
headed CUDA kernel cuda_runtime --torch 2.5
headed CUDA mtia_ccp_events mtia_runtime --torch 2.3

tap_done
