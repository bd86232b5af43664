#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: entries.sh MACRO FILE...
# Of each line "MACRO(NUMBER, NAME)..." in the files: PF_ENTRY(NAME), in the
# order of the numbers.  What is one of many says so in its own file.
set -eu
export LC_ALL=C
macro=$1
shift
cat "$@" | sed -n "s/^$macro(\([0-9]*\), \([a-z0-9_]*\)).*/\1 \2/p" |
	sort -n | sed 's/^[0-9]* \(.*\)/PF_ENTRY(\1)/'
