# SPDX-License-Identifier: MIT
# Runs a target of the table "targets" with libFuzzer, from where it was built;
# what it finds and keeps lies in FOUND/TARGET.  Without a target prints them.
# usage: run.sh [TARGET FOUND OPTION...]
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || exec sed -n 's/^\([a-z]\{1,\}\) .*/\1/p' "$here/targets"
target=$1 found=$2
shift 2
row=$(grep "^$target " "$here/targets") || exit 2
set -- "$@" $row # OPTION... TARGET PROGRAM LONGEST [FOLDER]
options=
while [ "$1" != "$target" ]; do
	options="$options $1"
	shift
done
mkdir -p "$found/$target"
# inputs are small: what is freed need not be kept for long; where it was made is
# asked of one input, not of each; marks of a large piece of memory are cleared, as
# pages of the system's would cost more; a list of rare features is gone through for
# each that an input has, so it is short; the limit is of time on the wall, and a
# machine that others use stands still for a minute
ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=1:clear_shadow_mmap_threshold=1073741824 \
	exec "tests/fuzz/$2" $options -entropic_feature_frequency_threshold=30 \
	-max_len="$3" -timeout=300 -rss_limit_mb=4096 -print_final_stats=1 \
	-artifact_prefix="$found/" "$found/$target" "$here/corpus/$target" \
	${4:+"$here/$4"}
