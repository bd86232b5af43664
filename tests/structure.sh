# SPDX-License-Identifier: MIT
# A folder's inside stays inside: external functions that only their own folder
# calls, and headers that only it includes, may not become more.  A new one
# belongs into the file that uses it; `python3 tests/structure.py src functions`
# lists what there is.  Whoever has made them fewer lowers the numbers.  And no
# comment names a file that is gone.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
cat >"$tmp/most" <<'EOF'
functions 250
headers 21
gone 0
EOF

"$PYTHON" -S "$top_srcdir/tests/structure.py" "$top_srcdir/src" >"$tmp/counts"
paste -d ' ' "$tmp/most" "$tmp/counts" >"$tmp/both"
while read -r kind most same count; do
	[ "$kind" = "$same" ] && [ "$count" -le "$most" ]
	result "$kind: no more than $most" "$tmp/counts"
done <"$tmp/both"

# and the counting finds one that is added
cp -R "$top_srcdir/src" "$tmp/src"
chmod -R u+w "$tmp/src"
cat >"$tmp/src/base/lone.c" <<'EOF'
int pf_lone(int x)
{
	return x;
}
EOF
cat >"$tmp/src/base/lone.h" <<'EOF'
/* See base/nowhere.c. */
int pf_lone(int x);
EOF
"$PYTHON" -S "$top_srcdir/tests/structure.py" "$tmp/src" >"$tmp/more"
paste -d ' ' "$tmp/counts" "$tmp/more" |
	awk '$4 != $2 + 1 { print }' >"$tmp/bad"
[ ! -s "$tmp/bad" ]
result "one more of each is one more" "$tmp/bad"

# what has to be made first is said of objects that there are
sed -n 's/^\(src[^ ]*\)\.o:.*/\1.c/p' "$top_srcdir"/src/*.mk >"$tmp/needs"
while read -r file; do
	[ -f "$top_srcdir/$file" ] || echo "$file"
done <"$tmp/needs" >"$tmp/bad"
[ -s "$tmp/needs" ] && [ ! -s "$tmp/bad" ]
result "objects with rules of their own have sources" "$tmp/bad"

# "result" takes the exit code before it, which a substitution in its name
# would have replaced
! grep -nE 'result "[^"]*(`|\$\([^(])' "$top_srcdir"/tests/*.sh \
	"$top_srcdir"/tests/*/*.sh >"$tmp/bad"
result "no check takes the exit code of its own name" "$tmp/bad"
tap_done
