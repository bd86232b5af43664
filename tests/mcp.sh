# SPDX-License-Identifier: MIT
# python -m profan.mcp: what its tools answer and refuse; by the protocol's own
# client where Python has it.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
"$PYTHON" -S -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
	skip_all "python3 of 3.9 or newer is missing"
cd "$tmp" || exit 99
python_module
mkdir inside outside inside/linked
"$mktrace" --steps 3 --layers 1 >inside/t.json
"$mktrace" --ranks 2 --steps 4 --layers 2 --straggler 1 --late slow \
	--out inside/job
"$mktrace" --steps 5 --layers 1 >outside/t.json
cp inside/t.json inside/linked/t.json
ln -s "$tmp/outside/t.json" inside/link.json
ln -s "$tmp/outside/t.json" inside/linked/other.json
calls=200
[ -z "${LONG-}" ] || calls=2000
PROFAN_PROGRAM=$(realpath "$profan") PYTHONPATH=$tmp/lib "$PYTHON" \
	"$top_srcdir/tests/mcp_server.py" "$tmp/inside" "$tmp/outside" \
	"$calls" >said 2>err ||
	not_ok "tests/mcp_server.py" said err
relay said
tap_done
