# SPDX-License-Identifier: MIT
# The agent's numbers against CUDA's own headers and library, where there are
# any: PROFAN_CUDA_INCLUDES is a list of folders (with ':'), each with a
# cupti.h; else /usr/local/cuda/include is looked at.
. "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/tap.sh"
here=$top_srcdir/tests/agent
: "${CC:=cc}"
found=

newest() { # HEADERS-FOLDER STEM...: the newest structure of that name
	folder=$1
	shift
	for stem; do
		cat "$folder"/cupti_activity*.h |
			grep -oE "^} CUpti_Activity$stem[0-9]*;" |
			grep -oE 'CUpti_[A-Za-z]+[0-9]*' | sort -V | tail -1
	done
}

IFS=:
for folder in ${PROFAN_CUDA_INCLUDES-/usr/local/cuda/include}; do
	unset IFS
	[ -f "$folder/cupti_activity.h" ] || continue
	found=yes
	version=$(sed -n 's/^#define CUPTI_API_VERSION *//p' \
		"$folder/cupti_version.h")
	set --
	for pair in KERNEL=Kernel MEMCPY=Memcpy PEER=MemcpyPtoP \
		MEMSET=Memset API=API SYNC=Synchronization EVENT=CudaEvent \
		OVERHEAD=Overhead MEMORY=Memory GRAPH=GraphTrace JIT=Jit \
		DEVICE=Device CONTEXT=Context STREAM=Stream \
		EXTERNAL=ExternalCorrelation UVM=UnifiedMemoryCounter \
		ENVIRONMENT=Environment; do
		set -- "$@" "-D${pair%%=*}=$(newest "$folder" "${pair#*=}")"
	done
	if run 0 $CC -std=gnu11 -fsyntax-only -iquote "$top_srcdir/agent" \
		-isystem "$folder" -isystem /usr/local/cuda/include "$@" \
		"$here/abi_check.c"; then
		ok "offsets and numbers of CUPTI $version"
	else
		not_ok "offsets and numbers of CUPTI $version" "$tmp/err"
	fi
done
unset IFS
[ "$found" ] || skip "offsets and numbers of CUPTI" \
	"NOT RUN: no cupti.h (set PROFAN_CUDA_INCLUDES)"
tap_done
