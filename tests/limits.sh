# SPDX-License-Identifier: MIT
# A function has at most 80 lines; a file is as long as its subject.  And checks
# can fail.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$top_srcdir" || exit 99

# "result" takes the exit code before it, which a substitution in its name
# would have replaced
! grep -nE 'result "[^"]*(`|\$\([^(])' tests/*.sh tests/*/*.sh >"$tmp/long"
result "no check takes the exit code of its own name" "$tmp/long"

if ! ctags --version 2>/dev/null | grep -q Universal; then
	skip "no function has more than 80 lines" "Universal Ctags is missing"
	tap_done
fi
ctags --languages=C --langmap=C:.c.h --kinds-C=f --fields=+ne -o - \
	src/*.c src/*/*.[ch] src/*/*/*.[ch] tests/*/*.c 2>/dev/null |
	awk -F '\t' '{
		line = end = 0
		for (i = 4; i <= NF; i++) {
			if ($i ~ /^line:/) line = substr($i, 6)
			if ($i ~ /^end:/) end = substr($i, 5)
		}
		if (end - line + 1 > 80)
			print $2 ": " $1 ": " end - line + 1 " lines"
	}' >"$tmp/long"
if [ -s "$tmp/long" ]; then
	not_ok "no function has more than 80 lines" "$tmp/long"
else
	ok "no function has more than 80 lines"
fi
tap_done
