# SPDX-License-Identifier: MIT
# contrib/ci: ten days of a repository, as the runners of GitHub and GitLab play them
# (tests/ci_steps.py): what is compared, what is kept, what is said, what is posted.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
cd "$tmp" || exit 99
fast=$top_srcdir/docs/guide/after.json.gz
slow=$top_srcdir/docs/guide/before.json.gz
marker='<!-- profan:ci -->'

# what a runner has: pip, a training script (whose captures of one program are files
# that differ), programs that post
mkdir bin
printf '#!/bin/sh\necho "$@" >pip.log\n' >bin/pip
cat >bin/python <<'END'
#!/bin/sh
[ "$TRACE" != none ] && [ "$4" = --trace ] || exit 1
echo >>"$COUNT"
{ cat "$COUNT"; gzip -dc "$TRACE"; } | gzip >"$5"
END
for name in gh curl; do
	printf '#!/bin/sh\nexec "%s" -S "%s" %s "$@"\n' "$PYTHON" \
		"$top_srcdir/tests/ci_server.py" "$name" >bin/$name
done
chmod +x bin/*
CACHE=$tmp/cache COMMENTS=$tmp/comments.json COUNT=$tmp/count
export CACHE COMMENTS COUNT

job() { # main|change|fork|push TRACE: one run, in a fresh checkout
	rm -rf checkout && mkdir -p checkout cache &&
		cp "$top_srcdir"/contrib/ci/*.sh checkout/ &&
		(cd checkout && PATH=$tmp/bin:$PATH TRACE=$2 sh "../$file.$1")
}
says() { # VERDICT: first in the summary
	[ "$(sed -n '1p;2p' checkout/profile.md)" = "$marker
**$1**" ]
}
counts() { # ATTRIBUTE...: of the test report, which is XML
	"$PYTHON" -S - checkout/profile.xml "$@" <<'END'
import sys
import xml.etree.ElementTree as tree
suite = next(tree.parse(sys.argv[1]).iter("testsuite"))
cases = suite.findall("testcase")
said = {"tests": len(cases), "failures": len(suite.findall("*/failure")),
        "skipped": len(suite.findall("*/skipped"))}
for word in sys.argv[2:]:
    key, value = word.split("=")
    assert said[key] == int(value), said
    assert suite.get(key, "0") == value, suite.attrib
END
}
posted() { # COUNT: our comments; the last is what was made now, others are as before
	"$PYTHON" -S - "$COMMENTS" "$1" checkout/profile.md others.json <<'END'
import json
import sys
path, count, made, others = sys.argv[1:]
comments = json.load(open(path))
assert comments[:2] == json.load(open(others))
assert len(comments) == 2 + int(count), len(comments)
assert count == "0" or comments[-1]["body"] == open(made).read(), "another text"
END
}
no_baseline='Not compared: there are no captures of the main branch; 2 checks skipped.'

for file in $(amount github "github gitlab" "github gitlab"); do
	rm -rf cache
	for who in main change fork push; do
		"$PYTHON" -S "$top_srcdir/tests/ci_steps.py" \
			"$top_srcdir/contrib/ci/$file.yml" $who >$file.$who ||
			not_ok "$file.yml: $who"
	done
	cat >others.json <<'END'
[{"id": 1, "user": {"type": "User"}, "body": "what is <!-- profan:ci -->?"},
{"id": 2, "user": {"type": "Bot"}, "body": "built"}]
END
	[ $file = gitlab ] || sed -i 's/"what is /"/' others.json
	cp others.json comments.json
	run 0 job main "$fast" && says "$no_baseline" && counts tests=2 skipped=2 &&
		grep -q whl checkout/pip.log && [ -s cache/main/4.db ]
	result "$file, day 1: main has nothing to compare with, and says so" err out
	run 0 job change "$fast" && says 'Passed: 2 checks.' &&
		counts tests=2 skipped=0 failures=0 && posted 1 &&
		grep -q 'Steps of A' checkout/profile.md
	result "$file, day 2: a change without a change of time" err out
	cp -r cache kept
	run 1 job change "$slow" && says 'Failed: 1 of 2 checks.' && counts tests=2 failures=1 &&
		posted 1 && grep -q '^Slower' checkout/profile.md &&
		diff -r cache kept
	result "$file, day 3: a slower change fails, four captures a side are sure" \
		err out
	rm -r kept
	run 0 job push "$slow" && [ ! -e checkout/profile.md ]
	result "$file, day 3: its push is not profiled again" err out
	run 1 job main "$slow" && says 'Failed: 1 of 2 checks.' && cmp cache/main/1.db \
		checkout/profile/1.db
	result "$file, day 4: it is merged all the same; main is red once" err out
	run 0 job main "$slow" && says 'Passed: 2 checks.' &&
		run 0 job change "$slow" && says 'Passed: 2 checks.'
	result "$file, day 5: what was accepted is what others begin with" err out
	rm -r cache
	run 0 job change "$slow" && says "$no_baseline" && counts skipped=2 &&
		posted 1
	result "$file, day 6: the cache is lost, and nothing is green in silence" \
		err out
	run 0 job main "$slow" && says "$no_baseline" && [ -s cache/main/4.db ]
	result "$file, day 7: main leaves another" err out
	cp comments.json before.json
	run 0 job fork "$slow" && says 'Passed: 2 checks.' &&
		cmp before.json comments.json
	result "$file, day 8: a fork has no token" err out
	cp -r cache kept
	run 1 job main none && diff -r cache kept
	result "$file, day 8: training that fails leaves all as it is" err out
	rm -r kept
	run 0 job main "$fast" && says 'Passed: 2 checks.' &&
		cmp cache/main/1.db checkout/profile/1.db
	result "$file, day 9: main is as fast as it was" err out
	run 1 job change "$slow" && says 'Failed: 1 of 2 checks.' && posted 1
	result "$file, day 9: what was fine yesterday is slower again" err out
	for db in cache/main/*.db; do
		"$SQLITE3" "$db" 'PRAGMA user_version = 1'
	done
	run 0 job main "$fast" && grep -q 'Not compared: .*main/1.db' \
		checkout/profile.md && counts skipped=2 &&
		run 0 job change "$fast" && says 'Passed: 2 checks.'
	result "$file, day 10: profan is another, and its databases are" err out
done

# without a runner: one trace, no checks
rm -rf alone && mkdir alone && cd alone || exit 99
run 0 sh "$top_srcdir/contrib/ci/profile.sh" main "$fast" && [ ! -e main ] &&
	run 0 env PROFAN_KEEP=true sh "$top_srcdir/contrib/ci/profile.sh" main "$fast" &&
	run 0 sh "$top_srcdir/contrib/ci/profile.sh" main "$slow"
result "one trace and no check" err
run 2 env PROFAN_CHECKS='stop_time>5%' sh "$top_srcdir/contrib/ci/profile.sh" main "$fast"
result "a check that is none" "$tmp/err"
tap_done
