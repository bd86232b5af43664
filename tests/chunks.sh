# SPDX-License-Identifier: MIT
# However the input is cut, by however many readers, with whichever scanner:
# the database is the same, byte for byte.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
traces=$top_srcdir/tests/traces

ingest() { # OUT CHUNK THREADS SCANNER FILE
	PROFAN_CHUNK_BYTES=$2 PROFAN_THREADS=$3 PROFAN_SCANNER=$4 \
		"$profan" ingest "$5" -o "$1" >"$tmp/said" 2>&1
}

compare() { # NAME FILE CHUNK...
	name=$1 file=$2
	shift 2
	ingest "$tmp/whole.db" 1073741824 1 sse2 "$file" || {
		not_ok "$name" "$tmp/said"
		return
	}
	cp "$tmp/said" "$tmp/said.whole"
	: >"$tmp/bad"
	for chunk; do
		for threads in 1 3; do
			for scanner in plain sse2; do
				case $threads$scanner${LONG-} in
				1sse2 | 3plain) continue ;; # with LONG=1
				esac
				how="chunk $chunk, threads $threads, $scanner"
				rm -f "$tmp/part.db"
				ingest "$tmp/part.db" $chunk $threads \
					$scanner "$file" || cat "$tmp/said" \
					>>"$tmp/bad"
				cmp "$tmp/whole.db" "$tmp/part.db" >"$tmp/cmp" \
					2>&1 || { echo "$how"; cat "$tmp/cmp"; } \
					>>"$tmp/bad"
				cmp -s "$tmp/said" "$tmp/said.whole" ||
					{ echo "$how says"; cat "$tmp/said"; } \
					>>"$tmp/bad"
			done
		done
	done
	if [ -s "$tmp/bad" ]; then
		not_ok "$name" "$tmp/bad"
	else
		ok "$name"
	fi
}

for file in $(sampled "$traces"/good-*.json "$traces"/odd-*.json); do
	compare "${file##*/}" "$file" 1 61
done
"$mktrace" --steps 1 --layers 2 >"$tmp/a.json"
compare "a step of training" "$tmp/a.json" 4096 65536
"$mktrace" --steps 1 --old --style compact >"$tmp/b.json"
compare "a step, torch 1.x" "$tmp/b.json" 10007
"$mktrace" --steps 40 --chrome >"$tmp/c.json"
compare "Chrome phases" "$tmp/c.json" 257 4096
# annotations and blocks enough for two threads to write at a time
"$mktrace" --bytes 30M --no-stacks >"$tmp/d.json"
compare "rows and blocks of 30 MB" "$tmp/d.json" 1000000
# a worker guesses wrong behind another document, and parses its chunk again
cat "$tmp/a.json" "$tmp/b.json" "$tmp/a.json" "$tmp/b.json" >"$tmp/row.json"
compare "several documents in a row" "$tmp/row.json" 4096 20011 40009
gzip -c "$tmp/a.json" >"$tmp/a.json.gz"
compare "a step, gzip" "$tmp/a.json.gz" 5003

# ---- what is measured on the way changes nothing ----
ingest "$tmp/plain.db" 65536 2 sse2 "$tmp/a.json"
"$profan" ingest --timings "$tmp/a.json" -o "$tmp/timed.db" >"$tmp/timings" \
	2>"$tmp/said"
awk '{ print $1 }' "$tmp/timings" >"$tmp/got"
printf '%s\n' phase reading linking averages writing all >"$tmp/want"
same "--timings: the phases" "$tmp/want" "$tmp/got"
awk 'NR > 1 && $4 > $3 + 0.2 || NR == 6 && $3 <= 0' "$tmp/timings" >"$tmp/bad"
if [ -s "$tmp/bad" ]; then
	not_ok "--timings: a thread takes no more than all" "$tmp/bad"
elif cmp "$tmp/plain.db" "$tmp/timed.db" >"$tmp/cmp" 2>&1; then
	ok "--timings: the database is the same"
else
	not_ok "--timings: the database is the same" "$tmp/cmp"
fi

# what is said while it is read ends with what there was
"$PYTHON" -S - "$tmp/a.json" >"$tmp/want" <<'END'
import collections, decimal, json, sys
events = [e for e in json.load(open(sys.argv[1]), parse_float=decimal.Decimal)[
    "traceEvents"] if e["ph"] != "M"]
kinds = collections.Counter(e.get("cat") for e in events)
work = {}
for e in events:
    if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
        row = work.setdefault(e["name"], [0, len(work), 0])
        row[0] -= int(e["dur"] * 1000)
        row[2] += 1
print(json.dumps({"events": sum(kinds.values()),
    "gpu_events": sum(n for _, _, n in work.values()),
    "operators": kinds["cpu_op"], "calls": kinds["cuda_runtime"] +
    kinds["cuda_driver"], "python_functions": kinds["python_function"],
    "gpu_work": [{"name": name, "calls": n, "total_ns": -ns} for
        (ns, _, n), name in sorted((v, k) for k, v in work.items())[:8]]}))
END
for n in 4096 1000000; do
	PROFAN_CHUNK_BYTES=$n "$profan" ingest --counts "$tmp/a.json" \
		-o "$tmp/counted.db" 2>"$tmp/said" && tail -n 1 "$tmp/said"
done >"$tmp/got"
cat "$tmp/want" >>"$tmp/want.2" && cat "$tmp/want" >>"$tmp/want.2"
same "--counts: the last line has all" "$tmp/want.2" "$tmp/got"
if cmp "$tmp/plain.db" "$tmp/counted.db" >"$tmp/cmp" 2>&1; then
	ok "--counts: the database is the same"
else
	not_ok "--counts: the database is the same" "$tmp/cmp"
fi

# ---- the digest is that of the file as it is stored ----
digest() { # FILE: what the database says, also by a pipe
	for from in "$1" -; do
		rm -f "$tmp/d.db"
		cat "$1" | PROFAN_CHUNK_BYTES=4099 "$profan" ingest -q "$from" \
			-o "$tmp/d.db" >"$tmp/said" 2>&1
		"$profan" info "$tmp/d.db" --format json |
			sed -n 's/.*"xxh128": *"\([0-9a-f]*\)".*/\1/p'
	done
}
if command -v xxh128sum >/dev/null; then
	"$top_builddir/tests/gen/mkpfr" >"$tmp/e.pfr"
	zstd -qc "$tmp/a.json" >"$tmp/f.json.zst" 2>/dev/null
	{
		cat "$tmp/a.json.gz"
		head -c 700000 /dev/zero # more than is read at once
		echo junk
	} >"$tmp/g.json.gz"
	head -c 3000 "$tmp/a.json.gz" >"$tmp/h.json.gz"
	for file in a.json a.json.gz e.pfr f.json.zst g.json.gz h.json.gz; do
		[ -s "$tmp/$file" ] || continue
		digest "$tmp/$file" >"$tmp/got"
		sum=$(xxh128sum <"$tmp/$file")
		printf '%s\n%s\n' "${sum%% *}" "${sum%% *}" >"$tmp/want"
		same "digest: $file" "$tmp/want" "$tmp/got"
	done
else
	skip "digests" "xxh128sum is missing"
fi
tap_done
