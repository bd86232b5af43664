# SPDX-License-Identifier: MIT
# Every command of docs/guide prints what the page says, and contrib/ci works.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
for page in "$top_srcdir"/docs/guide/*.md; do
	name=${page##*/}
	rm -rf "$tmp/place"
	sh "$top_srcdir/docs/guide/files.sh" "$tmp/place"
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
sh "$top_srcdir/docs/guide/files.sh" "$place"
if [ "${UPDATE-}" = 1 ] && ! pictures check; then
	command -v chromium >/dev/null && pictures make ||
		skip "pictures" "NOT MADE: chromium is missing"
fi
pictures check
result "pictures show what is printed" "$tmp/err"

# the recipe for CI, as its runners call it
cd "$tmp" || exit 99
recipe=$top_srcdir/contrib/ci/profile.sh
before=$top_srcdir/docs/guide/before.json.gz
after=$top_srcdir/docs/guide/after.json.gz
run 0 sh "$recipe" "$after" none.db && [ -s profile.md ]
result "CI: the first run has nothing to compare with" err
mv profile.db main.db
run 0 env PROFAN_CHECKS='step_time>5% syncs>0' GITHUB_STEP_SUMMARY=sum.md \
	sh "$recipe" "$after" main.db && grep -q 'No change' profile.md &&
	cmp -s sum.md profile.md
result "CI: no change" err profile.md
run 1 env PROFAN_CHECKS='step_time>5% syncs>0' \
	sh "$recipe" "$before" main.db && grep -q 'failed' profile.md
result "CI: slower than the main branch fails" err profile.md

# the shell commands of the files for runners, on the main branch and another;
# what they start is what a runner has: pip, and a training script
mkdir bin
printf '#!/bin/sh\necho "$@" >pip.log\n' >bin/pip
printf '#!/bin/sh\n[ "$4" = --trace ] && cp "$TRACE" "$5"\n' >bin/python
# gh has no comment to edit; each says what it posts
cat >bin/gh <<'END'
#!/bin/sh
[ "$6" != --edit-last ] && [ "$4" = --body-file ] && cp "$5" posted
END
cat >bin/curl <<'END'
#!/bin/sh
for file; do
	case $file in body@*) cp "${file#body@}" posted ;; esac
done
END
chmod +x bin/*
job() { # FILE BRANCH TRACE: one run of a pipeline, in the folder "checkout"
	"$PYTHON" -S "$top_srcdir/tests/ci_steps.py" \
		"$top_srcdir/contrib/ci/$1.yml" "$2" >"$tmp/script.sh" || return
	(cd checkout && rm -f profile.* posted && cp "$recipe" . &&
		PATH=$tmp/bin:$PATH TRACE=$3 sh "$tmp/script.sh")
}
for file in github gitlab; do
	rm -rf checkout
	mkdir checkout
	run 0 job $file main "$after" && [ -s checkout/main.db ] &&
		grep -q whl checkout/pip.log && [ ! -e checkout/posted ]
	result "$file.yml: the main branch leaves its database" err out
	cp checkout/main.db kept.db
	run 0 job $file work "$after" && grep -q 'No change' checkout/profile.md &&
		cmp checkout/posted checkout/profile.md
	result "$file.yml: another branch without a change" err out
	run 1 job $file work "$before" && grep -q failed checkout/profile.md &&
		cmp checkout/main.db kept.db && [ -s checkout/profile.db ] &&
		cmp checkout/posted checkout/profile.md
	result "$file.yml: a slower one fails, leaves its database, is posted" \
		err out
done
tap_done
