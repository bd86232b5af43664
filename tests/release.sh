# SPDX-License-Identifier: MIT
# The version in every place that says it; with EVERY=1 what "make release" makes:
# debs without a complaint of lintian, which work unpacked, the archive, the
# wheel, digests and the list of what is in them.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
tap_shown=out
version=$("$profan" --version | awk '{ print $2; exit }')
sed -n 's/^## //p' "$top_srcdir/NEWS.md" | head -1 >"$tmp/out"
grep -qE "^$version( |\$)" "$tmp/out"
result "NEWS.md begins with this version"
head -1 "$top_srcdir/debian/changelog" >"$tmp/out"
grep -qF "profan ($version-" "$tmp/out"
result "debian/changelog begins with this version"
date -u -d "$(sed -n 's/^ -- .*>  //p' "$top_srcdir/debian/changelog" | head -1)" \
	+%Y-%m-%d >"$tmp/out"
grep -qxF "$(sed -n 's/.*RELEASE_DATE., .\([0-9-]*\).*/\1/p' \
	"$top_srcdir/configure.ac")" "$tmp/out"
result "configure.ac has its date"
said() { # NAME: as the makefile has it from configure.ac
	sed -n "s/^$1 = //p" "$top_builddir/Makefile"
}
who="$(said MAINTAINER) <$(said PACKAGE_BUGREPORT)>" url=$(said PACKAGE_URL)
cat >"$tmp/want" <<END
Maintainer: $who
Homepage: $url
Upstream-Contact: $who
Source: $url
Copyright: 2026 $(said MAINTAINER)
 -- $who
Copyright (c) 2026 $(said MAINTAINER)
END
(
	cd "$top_srcdir" && grep -hE '^(Maintainer|Homepage):' debian/control &&
		grep -hE '^(Upstream-Contact|Source|Copyright):' debian/copyright &&
		sed -n '/^ -- /{s/>  .*/>/p;q}' debian/changelog && grep ^Copyright LICENSE
) >"$tmp/got"
same "who maintains it is said alike everywhere" "$tmp/want" "$tmp/got"
# A tree of two files, in which "make release" finds nothing else to begin with.
mkdir -p "$tmp/tree/debian"
released() { # NEWS MAINTAINER HOMEPAGE: what is said of it
	echo "## $version$1" >"$tmp/tree/NEWS.md"
	printf 'Maintainer: %s\nHomepage: %s\n' "$2" "$3" >"$tmp/tree/debian/control"
	(cd "$tmp" && ! sh "$top_srcdir/contrib/packaging/release.sh" tree \
		"$version" "$3" >out 2>&1 && [ ! -e release ])
}
released ' (not released)' 'A <a@b.org>' https://b.org/ &&
	grep -q "NEWS.md says '$version (not released)'" "$tmp/out"
result "what is not released is no release"
for who in 'A <a@example.org> https://b.org/' 'A <a@b.org> https://a.example.org/'; do
	released '' "${who% *}" "${who##* }" &&
		grep -q 'configure.ac does not name who maintains it' "$tmp/out"
	result "nor what has a placeholder for who maintains it where"
done
released '' 'A <a@b.org>' https://b.org/ && ! grep -q '^release: ' "$tmp/out"
result "nothing else is refused"
if [ -z "${EVERY-}" ]; then
	skip "make release" "NOT TESTED: make check-every does"
	tap_done
fi
for tool in dpkg-buildpackage dh dh_python3 lintian; do
	command -v $tool >/dev/null || {
		skip "make release" "NOT TESTED: $tool is missing"
		tap_done
	}
done
if ldd "$profan" | grep -q 'lib[atu]*san'; then
	skip "make release" "not built with sanitizers"
	tap_done
fi
unset MAKEFLAGS MAKELEVEL MFLAGS TESTS_ENVIRONMENT PROFAN_AGENT PROFAN_PROGRAM \
	PYTHONPATH CC LONG EVERY
cd "$tmp" || exit 99
mkdir build
(cd build && "$top_srcdir/configure" -q) >out 2>&1
result "configure"
# not optimized: a third of the time, and the same files
(cd build && SNAPSHOT=1 DEB_BUILD_OPTIONS=noopt make -s release) >out 2>&1
result "make release"
[ -f build/release/SHA256SUMS ] || tap_done
cd build/release || exit 99
sha256sum -c SHA256SUMS >"$tmp/out" 2>&1 &&
	[ "$(wc -l <SHA256SUMS)" = "$(($(ls | wc -l) - 1))" ]
result "digests of every file"
ls "profan-$version.tar.xz" profan-"$version"-py3-none-manylinux_2_*.whl \
	profan_"$version"-*.deb profan-agent_"$version"-*.deb \
	python3-profan_"$version"-*_all.deb "profan-$version.spdx.json" \
	recipe.yaml package.py profan.rb default.nix \
	>"$tmp/out" 2>&1
result "archive, wheel, three packages, list, recipes"
"$PYTHON" - "profan-$version.spdx.json" >"$tmp/out" 2>&1 <<'END'
import hashlib, json, sys
doc = json.load(open(sys.argv[1]))
assert doc["spdxVersion"] == "SPDX-2.3" and doc["dataLicense"] == "CC0-1.0"
ids = {p["SPDXID"] for p in doc["packages"]} | {doc["SPDXID"]}
assert len(ids) == len(doc["packages"]) + 1
for r in doc["relationships"]:
    assert r["spdxElementId"] in ids and r["relatedSpdxElement"] in ids, r
names = {p["name"] for p in doc["packages"]}
assert {"libsqlite3-dev", "libzstd-dev", "libc6"} <= names, names
for p in doc["packages"]:
    for key in ("name", "versionInfo", "downloadLocation", "licenseDeclared",
                "licenseConcluded", "copyrightText"):
        assert p[key], (p, key)
    for check in p.get("checksums", []):
        data = open(p["packageFileName"], "rb").read()
        assert check["checksumValue"] == hashlib.sha256(data).hexdigest()
END
result "the list names what is in it"
lintian --fail-on warning,error --allow-root ../release-work/*.changes \
	>"$tmp/out" 2>&1 && ! grep -v '^N:' "$tmp/out"
result "lintian says nothing"
mkdir "$tmp/root"
for deb in *.deb; do
	dpkg-deb -x "$deb" "$tmp/root"
done
if command -v emcc >/dev/null; then
	cmp profan.html "$tmp/root/usr/share/profan/profan.html" >"$tmp/out" 2>&1
	result "the page is in the package"
else
	skip "the page is in the package" "NOT TESTED: emcc is missing"
fi
(cd "$top_srcdir" && PATH=$tmp/root/usr/bin:$PATH LIB=$tmp/root/usr/lib \
	PYTHONPATH=$tmp/root/usr/lib/python3/dist-packages \
	AUTOPKGTEST_TMP='' PROFAN_PROGRAM=$tmp/root/usr/bin/profan \
	sh debian/tests/quickstart) >"$tmp/out" 2>&1
result "what autopkgtest runs"
tap_done
