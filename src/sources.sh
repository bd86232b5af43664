#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists the sources and the tests for automake: ./bootstrap runs it, so that
# a new file is listed nowhere by hand.  Writes src/sources.mk, if it changes.
set -e
export LC_ALL=C
cd "$(dirname "$0")/.."

# list NAME FILE...
list() {
	printf '%s =' "$1"
	shift
	[ $# = 0 ] || printf ' \\\n\t%s' "$@"
	printf '\n'
}

# src/ROOM/* that are the library's: all but the commands and the extension
library() {
	for f in src/*/*.[ch] src/*/*/*.[ch]; do
		case $f in
		src/cmd/* | src/base/assets.c | src/base/words.c | src/store/extension.c) ;;
		*) echo "$f" ;;
		esac
	done
}

# scripts that check something; the others are tools of theirs
shell_tests() {
	for f in tests/*.sh tests/agent/*.sh; do
		case ${f##*/} in
		agent.sh | attack.sh | bench.sh | cost.sh | quickstart.sh | tap.sh) ;;
		*) echo "$f" ;;
		esac
	done
}

{
	echo "# Made by src/sources.sh."
	list libprofan_a_SOURCES $(library)
	list profan_SOURCES src/main.c src/cmd/*.[ch]
	list libprofan_agent_la_SOURCES agent/*.[ch]
	list UNIT_TESTS $(ls tests/unit/test_*.c | sed 's/\.c$//')
	list SHELL_TESTS $(shell_tests)
} >src/sources.mk.tmp
if cmp -s src/sources.mk.tmp src/sources.mk; then
	rm src/sources.mk.tmp
else
	mv src/sources.mk.tmp src/sources.mk
fi
