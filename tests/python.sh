# SPDX-License-Identifier: MIT
# The Python module: made of help's JSON, and every method against the command.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
	skip_all "python3 of 3.9 or newer is missing"
cd "$tmp" || exit 99

PYTHON=$PYTHON sh "$top_srcdir/python/assemble.sh" "$profan" \
	"$top_srcdir/python" lib >out 2>err
result "the module is made"
[ "$tap_failed" = 0 ] || tap_done
"$mktrace" --steps 3 --layers 1 >t.json
ingested "a database" t.json
mkdir files
PROFAN_PROGRAM=$(realpath "$profan") PYTHONPATH=$tmp/lib "$PYTHON" \
	"$top_srcdir/tests/python.py" "$(realpath "$profan")" "$tmp/t.db" \
	"$tmp/t.json" "$tmp/files" >said 2>err ||
	not_ok "tests/python.py" said err
while IFS= read -r line; do
	case $line in
	"not ok"*) not_ok "${line#not ok - }" ;;
	ok*) ok "${line#ok - }" ;;
	"# "*) echo "$line" ;;
	esac
done <said

if "$PYTHON" -m mypy --version >/dev/null 2>&1; then
	"$PYTHON" -m mypy --strict --python-version 3.10 --cache-dir=/dev/null \
		lib/profan >out 2>&1
	result "mypy --strict finds nothing" out
else
	skip "types" "Python has no mypy"
fi

# the handler without torch: what a profiler does is to write the trace
cat >handler.py <<'END'
import glob, shutil, sys
import profan.torch

class Prof:
    def export_chrome_trace(self, path):
        shutil.copy("t.json", path)

handle = profan.torch.handler("runs", "worker", report=True, keep_trace=False)
handle(Prof())
handle(Prof())
END
PROFAN_PROGRAM=$(realpath "$profan") PYTHONPATH=$tmp/lib "$PYTHON" \
	handler.py >out 2>err && [ ! -s err ] &&
	[ "$(ls runs/worker.*.pt.trace.json.db | wc -l)" = 2 ] &&
	[ "$(ls runs/worker.*.pt.trace.json.html | wc -l)" = 2 ] &&
	! ls runs/worker.*.pt.trace.json 2>/dev/null
result "the handler leaves databases and pages" err
tap_done
