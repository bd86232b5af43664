#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: sources.sh FOLDER
# Sources of the libraries that profan.wasm is linked with, of the Debian that
# this is, unpacked in FOLDER: sqlite3 zlib libzstd libcsv xxhash libiberty.
set -eu
folder=$1
. /etc/os-release
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" \
	"$folder/apt/parts"
folder=$(cd "$folder" && pwd)
{
	echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main"
	echo "deb-src http://deb.debian.org/debian-security $VERSION_CODENAME-security main"
} >"$folder/apt/sources"
get() {
	apt-get -q -oAPT::Sandbox::User=root \
		-oDir::State::Lists="$folder/apt/lists" \
		-oDir::Cache="$folder/apt/cache" \
		-oDir::Etc::SourceList="$folder/apt/sources" \
		-oDir::Etc::SourceParts="$folder/apt/parts" "$@"
}
cd "$folder"
get update >log
# A security update can be listed before its sources are there: then those of the
# release itself.
for name in sqlite3 zlib libzstd libcsv xxhash libiberty; do
	get source "$name" >>log 2>&1 ||
		get source "$name/$VERSION_CODENAME" >>log 2>&1 || {
		tail -n 20 log >&2
		exit 1
	}
	mv "$name"-*/ "$name"
done
rm -r apt
# SQLite in one file, as its own makefile makes it
mkdir sqlite3/one
(cd sqlite3/one && ../configure --disable-tcl && make sqlite3.c sqlite3.h) \
	>>log 2>&1
ln -s sqlite3/one/sqlite3.h sqlite3/one/sqlite3.c .
mkdir include
ln -s ../libiberty/include include/libiberty
