# SPDX-License-Identifier: MIT
# What several commands print under one meaning is equal (tests/agree.py): for
# every readable trace of tests/traces and every real one of ../shared.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
mkdir "$tmp/said"

agrees() { # NAME FILE
	ingested "$1" "$2" || return
	said=$tmp/said/$1
	mkdir "$said"
	for command in steps overlap gaps trend doctor launches kernels syncs \
		report advise path; do
		"$profan" $command "$tmp/t.db" --format json \
			>"$said/$command.json" 2>"$tmp/err" || :
	done
	# what advice says to ask of the path, of one window
	sed -n 's/.*"text": "see: profan path [^ ]* \(--what-if .*\)"}.*/\1/p' \
		"$said/advise.json" >"$tmp/asked"
	eval "set -- $(sed "s/\(--what-if '[^']*'\).*/\1/
		s/\(--what-if [^' ][^ ]*\).*/\1/" "$tmp/asked" | tr '\n' ' ')" \
		"$(sed "1!d;s/--what-if '[^']*'//;s/--what-if [^' ]*//" "$tmp/asked")"
	[ $# = 0 ] || "$profan" path "$tmp/t.db" "$@" --format json \
		>"$said/asked.json" 2>"$tmp/err" || :
	"$profan" diff "$tmp/t.db" "$tmp/t.db" --format json \
		>"$said/diff.json" 2>"$tmp/err" || :
}

for file in $(sampled "$top_srcdir"/tests/traces/good-*.json); do
	name=${file##*/}
	agrees "${name%.json}" "$file"
done
real_traces agrees
run 0 "$PYTHON" -S "$top_srcdir/tests/agree.py" "$tmp/said" ||
	not_ok "agree.py" "$tmp/err"
relay "$tmp/out"
tap_done
