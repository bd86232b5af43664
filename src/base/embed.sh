#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: embed.sh SRCDIR FILE...
# Writes C source on standard output that holds each FILE as bytes, named by
# its path below SRCDIR, sorted by name.  A NUL that is not counted follows
# each, so that text can be used as a string.
set -eu
LC_ALL=C
export LC_ALL
AWK=${AWK:-awk}
srcdir=${1%/}
shift

echo '/* Made by src/base/embed.sh; do not edit. */'
echo '#include "config.h"'
echo '#include "base/asset.h"'
echo '#include "base/asset_table.h"'
i=0
table=
for name in $(for f; do echo "${f#"$srcdir"/}"; done | sort -u); do
	size=$(($(wc -c < "$srcdir/$name")))
	printf '\nstatic const unsigned char asset_%d[] = {\n' "$i"
	od -An -v -tu1 "$srcdir/$name" |
		"$AWK" '{ gsub(/[0-9]+/, "&,"); print }'
	echo '0 };'
	table="$table	{ \"$name\", (const char *)asset_$i, $size },
"
	i=$((i + 1))
done
printf '\nconst struct pf_asset_entry pf_asset_table[] = {\n%s' "$table"
printf '	{ 0, 0, 0 }\n};\nconst size_t pf_asset_count = %d;\n' "$i"
