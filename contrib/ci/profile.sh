#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: profile.sh TRACE [BASELINE]
# For CI: TRACE (or a folder of traces) becomes profile.db, to be kept as an
# artifact; profile.md says where the time goes and, with the BASELINE that an
# earlier run kept, what changed.  $PROFAN_CHECKS are checks of 'profan diff',
# a space between them: the exit code is 1 if one of them fails.
set -eu
trace=$1
baseline=${2-}
profan ingest -q "$trace" -o profile.db
profan report profile.db --format md >profile.md
rc=0
if [ -n "$baseline" ] && [ -f "$baseline" ]; then
	set --
	for check in ${PROFAN_CHECKS-}; do
		set -- "$@" --fail-on "$check"
	done
	echo >>profile.md
	profan diff "$baseline" profile.db --format md --limit 5 "$@" \
		>>profile.md || rc=$?
fi
[ -z "${GITHUB_STEP_SUMMARY-}" ] || cat profile.md >>"$GITHUB_STEP_SUMMARY"
exit "$rc"
