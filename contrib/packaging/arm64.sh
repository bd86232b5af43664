#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: arm64.sh SOURCE [SUITE...]; run by "make check-arm64" in a build folder.
# Builds for arm64 with Debian's cross compiler, makes the wheel, and runs unit
# tests and suites under qemu-user (SUITES=all: those of "make check", but for
# some that are named with the reason).  Needs apt and the packages
#	gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
# The folder arm64 stays: libraries of Debian in root/, the program in build/.
# Nothing says how fast arm64 is: qemu is not.
set -eu
source=$1
shift
folder=$PWD/arm64
build=$folder/build root=$folder/root
host=aarch64-linux-gnu
emulator="qemu-aarch64 -L $root"
for tool in $host-gcc $host-g++ qemu-aarch64 apt-get; do
	command -v "$tool" >/dev/null || {
		echo "check-arm64: NOT TESTED: $tool is missing" >&2
		exit 77
	}
done
cc=$host-gcc
! command -v ccache >/dev/null || cc="ccache $cc"
[ -d "$root/usr/lib/$host" ] ||
	sh "$source/contrib/packaging/sysroot.sh" arm64 "$root"
mkdir -p "$build"
cd "$build"
[ -f config.status ] || PKG_CONFIG_LIBDIR=$root/usr/lib/$host/pkgconfig \
	PKG_CONFIG_SYSROOT_DIR=$root "$source/configure" -q --host=$host \
	--enable-werror CC="$cc" EMULATOR="$emulator" \
	CPPFLAGS="-idirafter $root/usr/include" \
	LDFLAGS="-L$root/usr/lib/$host -Wl,-rpath-link,$root/usr/lib/$host"
make -s -j"$(nproc)"
make -s -j"$(nproc)" check TESTS=
make -s wheel

# what the extractor and checksums are made of
uses() { # INSTRUCTION FILE
	$host-objdump -d "$2" | grep -q "$1" || {
		echo "check-arm64: $2 has no $1" >&2
		exit 1
	}
}
uses 'cmeq.*16b' src/formats/json/extract_simd.o
uses 'crc32cx' src/formats/pfr/frame.o

# The wheel's own program, unpacked, makes the bytes that this machine's makes.
trace=$source/tests/truth/2.10.0/training/trace.json.gz
rm -rf unpacked
"${PYTHON:-python3}" -m zipfile -e dist/profan-*_aarch64.whl unpacked
chmod +x unpacked/profan-*.data/scripts/profan
# shellcheck disable=SC2086  # a command with its arguments
$emulator unpacked/profan-*.data/scripts/profan ingest -q "$trace" \
	-o unpacked/arm64.db
if [ -x "$folder/../profan" ]; then
	"$folder/../profan" ingest -q "$trace" -o unpacked/here.db
	cmp unpacked/arm64.db unpacked/here.db
else
	echo "check-arm64: NOT COMPARED: no profan of this machine is built" >&2
fi

# Suites start programs by their names: here are scripts that have them.
run=$folder/run
rm -rf "$run"
mkdir -p "$run/src" "$run/tests/agent"
ln -s "$build/.libs" "$run/.libs"
ln -s "$build/tests/agent/.libs" "$run/tests/agent/.libs"
ln -s "$build"/src/*.1 "$run/src/"
for program in profan tests/gen/* tests/fuzz/fuzz_* tests/profan_keys \
	tests/agent/drive; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	mkdir -p "$run/$(dirname "$program")"
	printf '#!/bin/sh\nexec %s -0 %s %s "$@"\n' "$emulator" \
		"$run/$program" "$build/$program" >"$run/$program"
	chmod +x "$run/$program"
done
cp config.h "$run/"

# Why a suite of "make check" cannot run on an emulated program, or need not.
why_not() { # SUITE
	case $1 in
	layers | limits) echo "it reads sources, not the program" ;;
	release | wheel) echo "it packs for this machine" ;;
	torch | engines)
		echo "Python and its libraries are this machine's" ;;
	extension | faults_preload)
		echo "programs of this machine cannot load it" ;;
	capture) echo "what an emulated program starts is not emulated" ;;
	agent/gpu_check | agent/nvtx)
		echo "it builds programs and starts them without an emulator" ;;
	agent/life) echo "qemu-user ends when a program with threads forks" ;;
	esac
}
[ $# -gt 0 ] || set -- golden traces chunks keys fuzz
suites=
for suite; do
	why=$(why_not "$suite")
	if [ "$why" ]; then
		echo "check-arm64: NOT TESTED: $suite: $why" >&2
	else
		suites="$suites tests/$suite.sh"
	fi
done
make -s -j"$(nproc)" check TESTS="\$(UNIT_TESTS) tests/agent/test_parts $suites" VERBOSE=1 \
	TESTS_ENVIRONMENT="top_builddir=$run; export top_builddir;"
