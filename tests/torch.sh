# SPDX-License-Identifier: MIT
# profan.torch with torch itself, where Python has it:
#	PYTHON=env/bin/python make check TESTS=tests/torch.sh VERBOSE=1
# Once a version with the oldest and the newest torch that PyPI has.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
"$PYTHON" -c 'import torch' 2>/dev/null ||
	skip_all "NOT TESTED: $PYTHON has no torch"
cd "$tmp" || exit 99
python_module
PROFAN_PROGRAM=$(realpath "$profan") PYTHONPATH=$tmp/lib OMP_NUM_THREADS=1 \
	"$PYTHON" "$top_srcdir/tests/torch_handler.py" "$profan" >said 2>err ||
	not_ok "tests/torch_handler.py" said err
relay said
tap_done
