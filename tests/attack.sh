# SPDX-License-Identifier: MIT
# COUNT changed databases and COUNT changed files, from SEED on (attack.py), for
# a build with the sanitizers; not a part of check: make check-attack.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
: "${COUNT:=10000}" "${SEED:=0}"
traces=$top_srcdir/tests/traces
corpus=$top_srcdir/tests/fuzz/corpus
mkdir "$tmp/files" "$tmp/dbs" "$tmp/db" "$tmp/file"
"$mktrace" --steps 2 --layers 1 >"$tmp/files/full.json"
gzip -c "$tmp/files/full.json" >"$tmp/files/t.json.gz"
for from in ingest csv stacks memsnap pfr tables xspace; do
	cp "$corpus/$from"/* "$tmp/files"
done
cp "$traces"/good-*.json "$traces"/odd-*.json "$tmp/files"
find "$tmp/files" -size +300k -delete

read_in() { # NAME FILE...
	to=$1
	shift
	"$profan" ingest -q "$@" -o "$tmp/dbs/$to.db" || exit 99
}
read_in one "$tmp/files/full.json"
read_in two "$tmp/files/full.json" "$traces"/good-communication*.json
read_in snapshot "$corpus/memsnap/small.pickle"
read_in nsys "$corpus/tables/nsys"
read_in rocpd "$corpus/tables/rocpd"
read_in xspace "$corpus/xspace/whole.xplane.pb"
read_in capture "$corpus/pfr/run.pfr"
"$profan" merge -q "$tmp/dbs/one.db" "$tmp/dbs/two.db" \
	-o "$tmp/dbs/fleet.db"
[ -s "$tmp/dbs/fleet.db" ] || exit 99 # one rank may not fit
for what in db file; do
	cp "$tmp/dbs/one.db" "$tmp/$what/good.db"
	$PYTHON "$top_srcdir/tests/attack.py" "$profan" "$tmp/$what" $what \
		"$SEED" "$COUNT" "$tmp/${what}s"/* >"$tmp/out"
	result "$COUNT changed: $what" "$tmp/out"
	grep '^# ' "$tmp/out"
done
tap_done
