#!/bin/bash
# SPDX-License-Identifier: MIT
# From a fresh checkout to a printed table: installs what is missing (Debian,
# Ubuntu), builds in ./build, ingests a trace that torch 2.10 wrote, prints.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

packages=(autoconf automake libtool make gcc pkg-config libsqlite3-dev
	zlib1g-dev libzstd-dev libcsv-dev libxxhash-dev libiberty-dev
	libisal-dev)
[ "${1:-}" = check ] && packages+=(libcmocka-dev sqlite3 python3 xxhash)
missing=()
for p in "${packages[@]}"; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q 'ok installed' || missing+=("$p")
done
if [ ${#missing[@]} != 0 ]; then
	echo "installing: ${missing[*]}"
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -q >/dev/null
	$sudo apt-get install -q -y --no-install-recommends \
		"${missing[@]}" >/dev/null
fi

[ -x configure ] || ./bootstrap >/dev/null 2>&1
mkdir -p build
cd build
echo "building in $PWD: a minute or two"
if [ "${1:-}" = check ]; then
	# shellcheck disable=SC2086  # several words are meant
	[ -f Makefile ] || ../configure -q ${CONFIGURE_ARGUMENTS:-}
	make -s -j"$(nproc)" >/dev/null
	# some tests wait for programs: others run meanwhile
	exec make -s -j$(($(nproc) + 1)) check
fi
# the program alone, and soon: -O2 compiles for a third longer and saves a tenth
# of what analyses take, nothing of what reading takes
[ -f Makefile ] || ../configure -q CFLAGS='-O1 -finline-small-functions'
make -s -j"$(nproc)" profan >/dev/null
./profan ingest ../tests/truth/2.10.0/training/trace.json.gz -o trace.db
./profan trace.db
./profan table trace.db --sort self_cpu_time_total --limit 12
./profan report trace.db -o report.html
echo
echo "where the time goes: build/profan build/trace.db (or a trace, or a folder)"
echo "the table again: build/profan table build/trace.db"
echo "the report, for a browser: build/report.html"
echo "the agent of 'profan capture' and the rest: make -C build"
