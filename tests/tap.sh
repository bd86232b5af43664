# SPDX-License-Identifier: MIT
# TAP for shell tests; source it.  make check sets the variables; by hand run
# a test in the build folder as: top_srcdir=/path/to/profan sh tests/x.sh
#
#   ok NAME / not_ok NAME [FILE...]   one result; files are shown as comments
#   result NAME [FILE...]             ok if the command before it succeeded, else
#                                     not_ok with the files or those of
#                                     $tap_shown; no $(...) in NAME
#   skip NAME WHY                     counted, with the reason
#   skip_all WHY                      the whole script
#   ingested NAME FILE                into $tmp/t.db; false and not_ok if it fails
#   real_traces COMMAND...            runs it with NAME and FILE for each trace
#                                     of ../shared; skipped where it is not, and
#                                     those of 10 KB and more without LONG=1
#   is_quick FILE                     is it small, or does LONG=1 take all? (but
#                                     those of $TRACE_BYTES_MAX and more)
#   amount QUICK LONG EVERY           prints the one that this run is: make check,
#                                     check-long (LONG=1), check-every (EVERY=1)
#   sampled FILE...                   prints a third of them; with LONG=1, all
#   relay FILE                        results that another program printed
#   to_judge NAME CHECKER ARGUMENT... tests/CHECKER, in Python, has to end with 0:
#   judge_all                         a result each, of all since then in one start
#   figures DB FOLDER COMMAND...      what each command says of a database, without
#                                     its name, into FOLDER/COMMAND
#   python_module                     the Python module of this build in $tmp/lib
#   tap_done                          last line of every script
#   $tmp                              a folder of its own, removed at the end

: "${top_builddir:=$PWD}"
: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}"
LC_ALL=C TZ=UTC COLUMNS=80 PYTHONDONTWRITEBYTECODE=1
export LC_ALL TZ COLUMNS PYTHONDONTWRITEBYTECODE top_srcdir top_builddir
unset PROFAN_DB PROFAN_CHUNK_BYTES PROFAN_THREADS PROFAN_SCANNER PYTHONUNBUFFERED
profan=$top_builddir/profan
mktrace=$top_builddir/tests/gen/mktrace
shared=$top_srcdir/../shared
PATH=$top_builddir:$top_builddir/tests/gen:$PATH
export PATH
# The interpreter itself: launchers that choose one cost ten times a start.
# Programs that import nothing from elsewhere run as "$PYTHON" -S: what a site
# loads by itself can cost more than the check.  json.dumps() takes a fifth of the
# time of json.dump().
: "${PYTHON:=$(command -v python3)}"
[ -z "$PYTHON" ] || [ "$(head -c 2 "$PYTHON")" != '#!' ] ||
	PYTHON=$("$PYTHON" -c 'import sys; print(sys.executable)')
: "${SQLITE3:=$(command -v sqlite3)}"

tap_count=0
tap_failed=0
tap_shown=err
tmp=$(mktemp -d "$top_builddir/tests/tmp-XXXXXX") || exit 99
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM

ok() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

not_ok() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	shift
	for tap_file; do
		[ -f "$tap_file" ] || { echo "# $tap_file"; continue; }
		head -40 "$tap_file" | sed 's/^/# /'
	done
}

result() {
	tap_status=$?
	tap_name=$1
	shift
	[ $# -gt 0 ] || for tap_file in $tap_shown; do
		set -- "$@" "$tmp/$tap_file"
	done
	if [ "$tap_status" = 0 ]; then
		ok "$tap_name"
	else
		not_ok "$tap_name" "$@"
	fi
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# same NAME EXPECTED ACTUAL: two files must be equal
same() {
	if diff -u "$2" "$3" >"$tmp/tap.diff" 2>&1; then
		ok "$1"
	else
		not_ok "$1" "$tmp/tap.diff"
	fi
}

# run CODE COMMAND...: stdout and stderr in $tmp/out, $tmp/err; true if the
# exit code is CODE (a crash never is: those are above 127)
run() {
	tap_want=$1
	shift
	tap_code=0
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null || tap_code=$?
	[ "$tap_code" = "$tap_want" ] && return 0
	echo "exit code $tap_code, not $tap_want: $*" >>"$tmp/err"
	return 1
}

ingested() {
	rm -f "$tmp/t.db"
	run 0 "$profan" ingest -q "$2" -o "$tmp/t.db" && return
	not_ok "$1" "$tmp/err"
	return 1
}

tap_most=${TRACE_BYTES_MAX-}
[ -n "${LONG-}" ] || tap_most=10000
is_quick() {
	[ -z "$tap_most" ] || [ "$(wc -c <"$1")" -lt "$tap_most" ]
}

amount() {
	if [ -n "${EVERY-}" ]; then
		echo "$3"
	elif [ -n "${LONG-}" ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

relay() {
	while IFS= read -r tap_line; do
		case $tap_line in
		"not ok"*) not_ok "${tap_line#not ok - }" ;;
		ok*) ok "${tap_line#ok - }" ;;
		"# "*) echo "$tap_line" ;;
		esac
	done <"$1"
}

to_judge() {
	tap_name=$1 tap_checker=$top_srcdir/tests/$2
	shift 2
	{
		printf '%s\t%s' "$tap_name" "$tap_checker"
		[ $# = 0 ] || printf '\t%s' "$@"
		echo
	} >>"$tmp/tap.to_judge"
}

judge_all() {
	[ -f "$tmp/tap.to_judge" ] || return 0
	"$PYTHON" -S "$top_srcdir/tests/results.py" "$tmp/tap.to_judge" \
		>"$tmp/tap.judged" 2>"$tmp/err" || not_ok "all are judged" "$tmp/err"
	[ "$(grep -c '^\(not \)\{0,1\}ok ' "$tmp/tap.judged")" = \
		"$(wc -l <"$tmp/tap.to_judge")" ] || not_ok "each is judged" "$tmp/tap.to_judge"
	relay "$tmp/tap.judged"
	rm "$tmp/tap.to_judge"
}

figures() {
	tap_db=$1 tap_folder=$2
	mkdir "$2"
	shift 2
	for tap_command; do
		# shellcheck disable=SC2086  # several words are meant
		"$profan" $tap_command "$tap_db" --format json 2>"$tmp/err" |
			sed "s,$tap_db,X," >"$tap_folder/$tap_command"
	done
	"$PYTHON" -S - "$tap_folder" <<'EOF' || not_ok "figures of $tap_db"
import json, os, sys
for name in os.listdir(sys.argv[1]):
    with open(os.path.join(sys.argv[1], name), "r+") as f:
        d = json.load(f)
        f.seek(0)
        f.truncate()
        json.dump([d["scalars"], d["tables"]], f, indent=1)
EOF
}

python_module() {
	PYTHON=$PYTHON sh "$top_srcdir/python/assemble.sh" "$profan" \
		"$top_srcdir/python" "$tmp/lib" >"$tmp/out" 2>"$tmp/err"
	result "the Python module is made"
}

sampled() {
	tap_turn=0 tap_each=$(amount 3 1 1)
	for tap_file; do
		tap_turn=$((tap_turn + 1))
		[ $((tap_turn % tap_each)) != 0 ] || echo "$tap_file"
	done
}

real_traces() {
	if [ ! -d "$shared/traces" ]; then
		skip "real traces" "NOT TESTED: ../shared/traces is not there"
		return
	fi
	# shellcheck disable=SC2086  # -size and its word, or nothing
	find "$shared/traces" -name '*.json.gz' \
		${tap_most:+-size -${tap_most}c} | sort >"$tmp/tap.traces"
	while IFS= read -r tap_trace <&3; do
		tap_name=${tap_trace##*/}
		"$@" "${tap_name%.json.gz}" "$tap_trace"
	done 3<"$tmp/tap.traces"
	{ [ -n "${LONG-}" ] && [ -z "${TRACE_BYTES_MAX-}" ]; } ||
		skip "larger real traces" "NOT TESTED: make check-long does"
}

tap_done() {
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ] || exit 1
	exit 0
}
