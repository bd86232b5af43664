#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: zig.sh SOURCE RULE [TARGET...]; run by "make check-macos" and "make wheels"
# in a build folder where profan is built.
# Compiles and links for other systems with "zig cc" (PyPI: ziglang; or
# ZIG='COMMAND'), RULE of the makefile, and the libraries from the sources of
# Debian: every file compiles, no symbol is missing.  It is not run: that needs such
# a machine.
# The folder zig stays: libraries in TARGET/lib, the program in TARGET/build;
# wheels go to wheels/.  The libraries' sources are those of "make wasm".
set -eu
source=$1 rule=$2
shift 2
# 2.28: glibc of RHEL 8, 2018; 11: the first macOS of arm64
[ $# -gt 0 ] || set -- x86_64-linux-gnu.2.28 aarch64-linux-gnu.2.28 \
	aarch64-macos.11.0 x86_64-macos.11.0
here=$PWD folder=$PWD/zig third=$PWD/wasm/third
skip() { echo "zig: NOT TESTED: $*" >&2; exit 77; }
zig=${ZIG-}
[ -n "$zig" ] || ! command -v zig >/dev/null || zig=zig
[ -n "$zig" ] || ! "${PYTHON:-python3}" -c 'import ziglang' 2>/dev/null ||
	zig="${PYTHON:-python3} -m ziglang"
[ -n "$zig" ] || skip "zig is missing (pip install ziglang)"
command -v dpkg-source >/dev/null || skip "dpkg-source is missing"
[ -e "$third/include" ] || {
	rm -rf "$third"
	sh "$source/contrib/wasm/sources.sh" "$third" ||
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
	case $target in
	*-macos*)
		host=${target%%-*}-apple-darwin
		format='--format=darwin'
		flags="--untested" # see python/wheel.py
		;;
	*)
		host=${target%.2.*}
		format='' flags=''
		;;
	esac
	tool ar "$zig" ar "$format"
	tool ranlib "$zig" ranlib
	make -s -j"$jobs" -C "$root" -f "$source/contrib/packaging/zig.mk" \
		top="$source" third="$third" CC="$ccache $root/cc" \
		AR="$root/ar" CFLAGS="${CFLAGS--O2}"
	cd "$root/build"
	[ -f config.status ] || SQLITE_CFLAGS=' ' SQLITE_LIBS=-lsqlite3 \
		ZLIB_CFLAGS=' ' ZLIB_LIBS=-lz ZSTD_CFLAGS=' ' ZSTD_LIBS=-lzstd \
		"$source/configure" -q --host="$host" \
		--without-isal CC="$ccache $root/cc" AR="$root/ar" \
		RANLIB="$root/ranlib" STRIP=true CFLAGS="${CFLAGS--O3}" \
		CPPFLAGS="-I$root/include" LDFLAGS="-L$root/lib -s" \
		HELP_PROFAN="$here/profan" >configure.log 2>&1 ||
		{ tail -20 configure.log; exit 1; }
	rm -rf profan dist # what a linker left that failed; what had another name
	[ ! -f "$here/profan.html" ] || cp "$here/profan.html" .
	# the folder of libraries has nothing else
	make -s -j"$jobs" "$rule" STATIC=-l% WHEEL_FLAGS="$flags" \
		>make.log 2>&1 || { tail -40 make.log; exit 1; }
	cd "$here"
	[ ! -d "$root/build/dist" ] || {
		mkdir -p wheels
		cp "$root"/build/dist/*.whl wheels/
	}
	echo "zig: $target: $(wc -c <"$root/build/profan") bytes, not run"
done
