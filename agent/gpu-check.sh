#!/bin/sh
# SPDX-License-Identifier: MIT
# The checklist for a machine with a GPU: what of the capture agent cannot be
# tested without one.
#
#   agent/gpu-check.sh [-o FOLDER] [--fast] [ID...]
#
# Prints a line `PASS|FAIL|SKIP ID text numbers` for each row, and at the end
# `N passed, N failed, N skipped`.  Exit status: 0, 1 if anything failed, 77
# if there is no GPU here.  All files stay in FOLDER (gpu-check-out).
# --fast leaves out what takes minutes (G19).
#
# NVCC, PYTHON: the programs to use.  PROFAN_AGENT: the agent; else the one of
# the build folder this is run in, or the one `profan capture` would take.
# With PyTorch in PYTHON the rows with T run too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=gpu-check-out
fast=
while [ $# -gt 0 ]; do
	case $1 in
	-o)
		[ $# -ge 2 ] || { echo "gpu-check: -o needs a folder" >&2; exit 2; }
		out=$2
		shift 2
		;;
	--fast)
		fast=--fast
		shift
		;;
	-h | --help)
		sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	-*)
		echo "gpu-check: no option '$1'" >&2
		exit 2
		;;
	*) break ;;
	esac
done

none() {
	echo "gpu-check: $*: nothing can be checked here"
	exit 77
}

: "${PYTHON:=$(command -v python3)}"
[ "$PYTHON" ] || none "python3 is missing"
for nvcc in "${NVCC:-nvcc}" /usr/local/cuda/bin/nvcc; do
	nvcc=$(command -v "$nvcc") && break
done
if [ -z "${GPU_CHECK_PROGRAM-}" ]; then
	[ "$nvcc" ] || none "no nvcc"
	if ! nvidia-smi -L >/dev/null 2>&1 && ! [ -e /dev/nvidiactl ]; then
		none "no GPU"
	fi
fi
agent=${PROFAN_AGENT-}
for file in "$agent" "$PWD/.libs/libprofan_agent.so" \
	"$here/../.libs/libprofan_agent.so" \
	"$(command -v profan | sed 's|bin/profan$|lib/profan/libprofan_agent.so|')"; do
	if [ -f "$file" ]; then
		agent=$file
		break
	fi
done
[ -f "$agent" ] || { echo "gpu-check: no agent (PROFAN_AGENT)" >&2; exit 2; }

mkdir -p "$out" || exit 2
program=${GPU_CHECK_PROGRAM:-$out/gpu-check}
if [ -z "${GPU_CHECK_PROGRAM-}" ]; then
	"$nvcc" -O2 -o "$program" "$here/gpu-check.cu" >"$out/nvcc.log" 2>&1 || {
		cat "$out/nvcc.log"
		echo "FAIL G00 the test program cannot be compiled"
		echo "0 passed, 1 failed, 0 skipped"
		exit 1
	}
fi
devices=$("$program" info 2>/dev/null | sed -n 's/^devices=//p')
[ "${devices:-0}" -gt 0 ] || none "CUDA finds no device"

exec "$PYTHON" "$here/gpu-check.py" $fast --agent "$agent" --out "$out" \
	--program "$program" --reader "$here/../tests/agent" "$@"
