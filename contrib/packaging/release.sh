#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: release.sh SOURCE VERSION URL; run by "make release" in a build folder.
# Leaves in release/ what a release consists of: the archive, wheels, debs, the
# page profan.html, recipes for other packagers, an SBOM (SPDX) and SHA256SUMS.
# All is built from the archive alone, and the same tree gives the same bytes.
# SNAPSHOT=1: also if NEWS.md says "not released".
# Wheels for other machines that are in wheels/ are taken along.
# DEB_BUILD_OPTIONS is added to what the packages are built with.
set -eu
source=$1 version=$2 url=$3
folder=$PWD/release work=$PWD/release-work
export LC_ALL=C TZ=UTC
umask 022

die() { echo "release: $*" >&2; exit 1; }
news=$(sed -n 's/^## //p' "$source/NEWS.md" | head -1)
case $news in
"$version") ;;
"$version "*) [ -n "${SNAPSHOT-}" ] ||
	die "NEWS.md says '$news'; SNAPSHOT=1 makes it all the same" ;;
*) die "NEWS.md begins with '$news', not with '$version'" ;;
esac
[ -n "${SNAPSHOT-}" ] ||
	! grep -qE '^(Maintainer|Homepage): .*[@.]example[.]' "$source/debian/control" ||
	die "configure.ac does not name who maintains it where; SNAPSHOT=1 makes it all the same"
debian=$(dpkg-parsechangelog -l "$source/debian/changelog" -S Version)
[ "${debian%-*}" = "$version" ] ||
	die "debian/changelog begins with '$debian', not with '$version-1'"
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$source/debian/changelog" \
	-S Timestamp)
export SOURCE_DATE_EPOCH

rm -rf "$folder" "$work"
mkdir "$folder" "$work"
# owners, times and order of files are not those of this machine
TAR_OPTIONS="--sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0
	--numeric-owner --mode=u=rwX,go=rX" make -s dist >"$work/log"
mv "profan-$version.tar.xz" "$folder/"

cd "$work"
cp "$folder/profan-$version.tar.xz" "profan_$version.orig.tar.xz"
tar -xf "profan_$version.orig.tar.xz"
jobs=$(nproc) page=
# the page that is the program
if command -v emcc >/dev/null; then
	page=pkg.profan.page
else
	echo "release: without profan.html: emcc is missing" >&2
fi
(
	cd "profan-$version"
	DEB_BUILD_OPTIONS="nocheck parallel=$jobs ${DEB_BUILD_OPTIONS-}" \
		DEB_BUILD_PROFILES="$page ${DEB_BUILD_PROFILES-}" \
		dpkg-buildpackage -us -uc >>../log 2>&1
) || { tail -20 log; die "the debs were not built"; }
[ -z "$page" ] || cp "profan-$version/profan.html" "$folder/"
# of the same objects, with the page
make -s -C "profan-$version" wheel PYTHON="${PYTHON:-python3}" >>log 2>&1 ||
	{ tail -20 log; die "the wheel was not built"; }
cp "profan-$version"/dist/*.whl "$folder/"
for wheel in ../wheels/*.whl; do
	[ ! -f "$wheel" ] || cp "$wheel" "$folder/"
done
for deb in *.deb; do
	case $deb in *-dbgsym_*) ;; *) cp "$deb" "$folder/" ;; esac
done

cd "$folder"
sh "$source/contrib/packaging/recipes.sh" "$source" "$version" "$url" \
	"$(sha256sum "profan-$version.tar.xz" | cut -d ' ' -f 1)" .
"${PYTHON:-python3}" "$source/contrib/packaging/sbom.py" "$source" "$version" . \
	>"profan-$version.spdx.json"
sha256sum -- *.* >SHA256SUMS.tmp
mv SHA256SUMS.tmp SHA256SUMS
cat SHA256SUMS
