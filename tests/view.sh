# SPDX-License-Identifier: MIT
# profan view: the page with the database inside.  The page itself is tested in
# tests/page.sh; here it is any page with the place for the database.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
mkdir "$tmp/bin"
cp "$profan" "$tmp/bin/profan"
cd "$tmp" || exit 99
program='<script id="app">go()</script>'
"$mktrace" --steps 2 --layers 1 >t.json
run 0 "$profan" ingest -q t.json -o t.db

if [ -e /usr/share/profan/profan.html ] ||
	[ -e /usr/local/share/profan/profan.html ]; then
	skip "without the page it says so" "a page is installed"
else
	run 3 bin/profan view t.db
	grep -q "built without the page .*profan report" err && [ ! -e t.html ]
	result "without the page it says so" err
fi

printf '<!DOCTYPE html>\n<meta name="generator" content="profan 0">\n%s</body>\n' \
	"$program" >bin/profan.html
run 0 bin/profan view t.db && [ -f t.html ] &&
	grep -qF "$program" t.html &&
	sed -n 's|.*id="database" data-name="t.db">\(.*\)</script>|\1|p' t.html |
	base64 -d | gzip -dc | cmp - t.db
result "the database is in the page, whole" out err
cp t.html first.html
run 0 bin/profan view t.db && cmp t.html first.html
result "the same page again, in the place of the earlier one" err
echo mine >mine.html
run 3 bin/profan view t.db -o mine.html && [ "$(cat mine.html)" = mine ]
result "what is not ours is not overwritten" err
run 0 bin/profan view t.db -o mine.html --force && cmp mine.html t.html
result "but with leave" err
cp bin/profan.html page.html
run 3 bin/profan view t.db -o bin/profan.html --force &&
	cmp bin/profan.html page.html
result "the page that it is made of stays" err
run 0 bin/profan view t.db -o - && cmp out t.html
result "to standard output" err
cp t.db 'a"<b>&.db'
run 0 bin/profan view 'a"<b>&.db' -o odd.html &&
	grep -qF 'data-name="a&quot;&lt;b&gt;&amp;.db"' odd.html
result "a name is no HTML" err
run 0 bin/profan view t.json -o trace.html &&
	grep -q 'id="database" data-name="t.db"' trace.html
result "of a trace" err
printf '<!DOCTYPE html>\n<meta name="generator" content="profan %s">\n' \
	"$("$profan" --version | cut -d' ' -f2)" >bin/profan.html
printf '%s</body>\n' "$program" >>bin/profan.html
run 0 bin/profan view t.db -o first.html --force && run 0 \
	"$profan" summary t.db --format json && mv out summary.json &&
	run 0 "$profan" timeline t.db --tracks gpu --format json --limit -1 &&
	mv out timeline.json &&
	sed -n 's|.*id="answers" data-name="t.db">\(.*\)</script>|\1|p' first.html |
	base64 -d | gzip -dc >answers.json && "$PYTHON" -S - <<'END' 2>err
import json
summary, timeline = json.load(open("answers.json"))
assert summary["args"] == ["summary", "t.db", "--format", "json"]
assert summary["out"] == open("summary.json").read()
assert timeline["args"][:2] == ["timeline", "t.db"]
assert timeline["out"] == open("timeline.json").read()
page = open("first.html").read()
assert page.index('"answers"') < page.index("go()") < page.index('"database"')
END
result "before its script stands what the page asks first" err
! grep -q 'id="answers"' t.html
result "but not of a page of another version" err
tap_done
