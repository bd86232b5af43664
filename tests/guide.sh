# SPDX-License-Identifier: MIT
# Every command of docs/guide prints what the page says.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
sh "$top_srcdir/docs/guide/files.sh" "$tmp/fresh"
for page in "$top_srcdir"/docs/guide/*.md; do
	name=${page##*/}
	rm -rf "$tmp/place"
	cp -R "$tmp/fresh" "$tmp/place"
	"$PYTHON" -S "$top_srcdir/tests/guide.py" "$page" "$tmp/place" \
		>"$tmp/made" 2>"$tmp/err" || { not_ok "$name" "$tmp/err"; continue; }
	# without the newline that print adds at the end
	printf '%s\n' "$(cat "$tmp/made")" >"$tmp/want"
	[ "${UPDATE-}" != 1 ] || cp "$tmp/want" "$page"
	same "$name" "$page" "$tmp/want"
done

# what the pictures show is what is printed now
place=$tmp/pictures
pictures() { # make|check
	"$PYTHON" -S "$top_srcdir/docs/guide/pictures.py" "$1" \
		"$top_srcdir/docs/guide/pictures" "$place" 2>"$tmp/err"
}
mv "$tmp/fresh" "$place"
if [ "${UPDATE-}" = 1 ] && ! pictures check; then
	command -v chromium >/dev/null && pictures make ||
		skip "pictures" "NOT MADE: chromium is missing"
fi
pictures check
result "pictures show what is printed" "$tmp/err"
tap_done
