#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: zig.sh SOURCE [TARGET...]; run by "make check-macos" in a build folder.
# Compiles and links the program for other systems with "zig cc" (PyPI: ziglang;
# or ZIG='COMMAND'), and its libraries from the sources of Debian: every file
# compiles, no symbol is missing.  It is not run: that needs such a machine.
# The folder zig stays: libraries in third/, TARGET/lib, the program in
# TARGET/build.
set -eu
source=$1
shift
[ $# -gt 0 ] || set -- aarch64-macos x86_64-macos
folder=$PWD/zig
skip() { echo "check-macos: NOT TESTED: $*" >&2; exit 77; }
zig=${ZIG-}
[ -n "$zig" ] || ! command -v zig >/dev/null || zig=zig
[ -n "$zig" ] || ! "${PYTHON:-python3}" -c 'import ziglang' 2>/dev/null ||
	zig="${PYTHON:-python3} -m ziglang"
[ -n "$zig" ] || skip "zig is missing (pip install ziglang)"
command -v dpkg-source >/dev/null || skip "dpkg-source is missing"
mkdir -p "$folder"
[ -e "$folder/third/include" ] || {
	rm -rf "$folder/third"
	sh "$source/contrib/wasm/sources.sh" "$folder/third" ||
		skip "the libraries' sources could not be fetched"
}
jobs=$(nproc)
ccache=
! command -v ccache >/dev/null || ccache=ccache

tool() { # NAME COMMAND...: a program of one word, which configure wants
	name=$1
	shift
	printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$root/$name"
	chmod +x "$root/$name"
}

for target; do
	root=$folder/$target
	mkdir -p "$root/build"
	tool cc "$zig" cc -target "$target"
	tool ar "$zig" ar --format=darwin
	tool ranlib "$zig" ranlib
	make -s -j"$jobs" -C "$root" -f "$source/contrib/packaging/zig.mk" \
		top="$source" third="$folder/third" CC="$ccache $root/cc" \
		AR="$root/ar"
	cd "$root/build"
	[ -f config.status ] || SQLITE_CFLAGS=' ' SQLITE_LIBS=-lsqlite3 \
		ZLIB_CFLAGS=' ' ZLIB_LIBS=-lz ZSTD_CFLAGS=' ' ZSTD_LIBS=-lzstd \
		"$source/configure" -q --host="${target%-*}-apple-darwin" \
		--without-isal CC="$ccache $root/cc" AR="$root/ar" \
		RANLIB="$root/ranlib" CFLAGS="${CFLAGS--O1}" \
		CPPFLAGS="-I$root/include" LDFLAGS="-L$root/lib" \
		EMULATOR=false >configure.log 2>&1 ||
		{ tail -20 configure.log; exit 1; }
	rm -f profan # what a linker left that failed
	make -s -j"$jobs" profan >make.log 2>&1 || { tail -40 make.log; exit 1; }
	cd "$folder"
	echo "check-macos: $target: $(wc -c <"$root/build/profan") bytes, not run"
done
