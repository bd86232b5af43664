# SPDX-License-Identifier: MIT
# Every fuzz target over its corpus (and the small traces), with damage done
# to each; libFuzzer builds run the files as they are.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -x "$top_builddir/tests/fuzz/fuzz_scanner" ] || skip_all "NOT TESTED: fuzz targets were not built"

replay() { # TARGET FILE...
	target=$1
	shift
	if run 0 "$top_builddir/tests/fuzz/$target" "$@" &&
		! grep -q '^not ok' "$tmp/out"; then
		ok "$target: $# files"
	else
		tail -30 "$tmp/err" >"$tmp/last"
		tail -2 "$tmp/out" >>"$tmp/last"
		not_ok "$target" "$tmp/last"
	fi
}

traces=$top_srcdir/tests/traces
corpus=$top_srcdir/tests/fuzz/corpus
replay fuzz_scanner "$traces"/*.json "$corpus"/scanner/*
replay fuzz_ingest "$traces"/good-*.json "$traces"/odd-*.json \
	"$corpus"/ingest/* "$corpus"/csv/* "$corpus"/stacks/* \
	"$corpus"/pfr/*.pfr \
	"$corpus"/xspace/*
replay fuzz_pfr "$corpus"/pfr/*
replay fuzz_memsnap "$corpus"/memsnap/*
replay fuzz_merge "$corpus"/merge/*
replay fuzz_block "$corpus"/block/*
replay fuzz_xspace "$corpus"/xspace/*
for file in "$corpus"/tables/*; do
	run 0 "$profan" ingest -q "$file" -o "$tmp/t.db"
	result "${file##*/} is read"
done
replay fuzz_tables "$corpus"/tables/*
replay fuzz_words "$corpus"/words/*
tap_done
