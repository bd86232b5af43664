#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: sysroot.sh ARCHITECTURE FOLDER
# Libraries and headers of another architecture that profan is built with, as
# Debian has them, unpacked in FOLDER: nothing is installed.
set -eu
architecture=$1 folder=$2
. /etc/os-release
packages='libc6 libgcc-s1 libcmocka0 libcmocka-dev libcsv3 libcsv-dev libisal2
	libisal-dev libiberty-dev libsqlite3-0 libsqlite3-dev libxxhash-dev libzstd1
	libzstd-dev zlib1g zlib1g-dev'
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" \
	"$folder/apt/parts" "$folder/debs"
folder=$(cd "$folder" && pwd)
{
	echo "deb http://deb.debian.org/debian $VERSION_CODENAME main"
	echo "deb http://deb.debian.org/debian-security $VERSION_CODENAME-security main"
} >"$folder/apt/sources"
: >"$folder/apt/status"
get() {
	apt-get -q -oAPT::Architecture="$architecture" \
		-oAPT::Architectures="$architecture" \
		-oAPT::Sandbox::User=root \
		-oDir::State::Lists="$folder/apt/lists" \
		-oDir::State::status="$folder/apt/status" \
		-oDir::Cache="$folder/apt/cache" \
		-oDir::Etc::SourceList="$folder/apt/sources" \
		-oDir::Etc::SourceParts="$folder/apt/parts" "$@"
}
get update >"$folder/log"
# shellcheck disable=SC2086  # several words are meant
(cd "$folder/debs" && get download $packages) >>"$folder/log"
for deb in "$folder"/debs/*.deb; do
	dpkg-deb -x "$deb" "$folder"
done
# programs look for the loader where it is since /lib is /usr/lib
if [ -d "$folder/lib" ] && [ ! -L "$folder/lib" ]; then
	cp -a "$folder/lib/." "$folder/usr/lib/"
	rm -r "$folder/lib"
	ln -s usr/lib "$folder/lib"
fi
rm -r "$folder/apt" "$folder/debs"
