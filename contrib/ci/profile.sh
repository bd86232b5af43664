#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: profile.sh BASELINE TRACE...
# For CI: each TRACE (or a folder: one of many ranks), all captures of one program,
# becomes profile/N.db, and is compared with the captures in the folder BASELINE, which
# are those of the main branch: four a side are tested exactly.
# profile.md has the verdict first, then what changed and where the time goes;
# profile.xml is the test report.  $PROFAN_CHECKS are checks of 'profan diff', a space
# between them: the exit code is 1 if one of them fails.  Where there is nothing to
# compare with they are skipped, and all three say so.
# $PROFAN_KEEP=true, of the main branch: what was captured is the BASELINE from now on,
# also if a check failed, for it is what others begin with.
set -eu
baseline=$1
shift
rm -rf profile profile.*
mkdir profile
n=0
for trace; do
	n=$((n + 1))
	profan ingest -q "$trace" -o "profile/$n.db"
done
set --
for check in ${PROFAN_CHECKS-}; do
	set -- "$@" --fail-on "$check"
done
count=$(($# / 2))

compare() {
	profan diff -q "$@" "$baseline"/*.db -- profile/*.db
}

# of another version of profan, too
why='there are no captures of the main branch'
for db in "$baseline"/*.db; do
	[ ! -e "$db" ] || why=$(profan info "$db" 2>&1 >/dev/null) || break
done

skipped() { # as a test report
	echo '<?xml version="1.0" encoding="UTF-8"?>'
	echo "<testsuite name=\"profan diff\" tests=\"$count\" skipped=\"$count\">"
	for check in ${PROFAN_CHECKS-}; do
		name=$(echo "$check" | sed 's/</\&lt;/; s/>/\&gt;/')
		echo "<testcase classname=\"profan diff\" name=\"$name\"><skipped/></testcase>"
	done
	echo '</testsuite>'
}

rc=0
if [ -n "$why" ]; then
	verdict="Not compared: $why; $count checks skipped"
	[ "${GITHUB_ACTIONS-}" != true ] || echo "::warning title=profile::$verdict"
	skipped >profile.xml
else
	compare "$@" --format md --limit 5 --budget 30000 >profile.diff \
		2>profile.err || rc=$?
	cat profile.err >&2
	case $rc in
	0) verdict="Passed: $count checks" ;;
	1) verdict="Failed: $(grep -c ': failed: ' profile.err) of $count checks" ;;
	*) verdict="Failed: $(cat profile.err)" ;;
	esac
	if [ "$count" != 0 ] && [ "$rc" -le 1 ]; then
		compare "$@" --format junit >profile.xml 2>/dev/null || :
		[ "${GITHUB_ACTIONS-}" != true ] ||
			compare "$@" --format github 2>/dev/null || :
	fi
fi
{
	# comment.sh finds its comment by the first line
	printf '<!-- profan:ci -->\n**%s.**\n\n' "$verdict"
	[ -n "$why" ] || { cat profile.diff && echo; }
	profan report profile/1.db --format md
} >profile.md
echo "$verdict"
[ -z "${GITHUB_STEP_SUMMARY-}" ] || cat profile.md >>"$GITHUB_STEP_SUMMARY"
if [ "${PROFAN_KEEP-}" = true ]; then
	rm -rf "$baseline"
	cp -r profile "$baseline"
fi
exit "$rc"
