# SPDX-License-Identifier: MIT
# The Python module: made of help's JSON, and every method against the command.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
"$PYTHON" -S -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
	skip_all "python3 of 3.9 or newer is missing"
cd "$tmp" || exit 99

python_module
[ "$tap_failed" = 0 ] || tap_done
"$mktrace" --steps 3 --layers 1 >t.json
ingested "a database" t.json
mkdir files
PROFAN_PROGRAM=$(realpath "$profan") PYTHONPATH=$tmp/lib "$PYTHON" \
	"$top_srcdir/tests/python.py" "$(realpath "$profan")" "$tmp/t.db" \
	"$tmp/t.json" "$tmp/files" >said 2>err ||
	not_ok "tests/python.py" said err
relay said

if "$PYTHON" -m mypy --version >/dev/null 2>&1; then
	"$PYTHON" -m mypy --strict --python-version 3.10 --cache-dir=/dev/null \
		lib/profan >out 2>&1
	result "mypy --strict finds nothing" out
	# away from modules that are called as Python's own are
	mkdir user && cp "$top_srcdir/tests/python_user.py" user/
	MYPYPATH=lib "$PYTHON" -m mypy --strict --cache-dir=/dev/null \
		user/python_user.py >out 2>&1
	result "nor in a user's file" out
	sed 's/failed: bool/failed: str/' "$top_srcdir/tests/python_user.py" \
		>wrong.py
	MYPYPATH=lib "$PYTHON" -m mypy --strict --cache-dir=/dev/null wrong.py \
		>out 2>&1
	grep -q 'expression has type "bool"' out
	result "where it knows what functions return" out
else
	skip "types" "NOT TESTED: Python has no mypy"
fi
if "$PYTHON" -c 'import pyright' 2>/dev/null; then
	mkdir typed && cp "$top_srcdir/tests/python_user.py" typed/
	echo '{"extraPaths": ["../lib"], "typeCheckingMode": "strict"}' \
		>typed/pyrightconfig.json
	"$PYTHON" -m pyright -p typed >out 2>&1
	result "pyright finds nothing in a user's file" out
else
	skip "types, as pyright sees them" "NOT TESTED: Python has no pyright"
fi

# what is shown of Python runs
sh "$top_srcdir/docs/guide/files.sh" shown
(cd shown && cp "$top_srcdir/docs/guide/before.json.gz" trace.json.gz &&
	for side in before after; do
		"$profan" ingest -q "$top_srcdir/docs/guide/$side.json.gz" \
			-o $side.db
	done
	PROFAN_PROGRAM=$(realpath "$profan") PYTHONPATH=$tmp/lib "$PYTHON" \
		"$top_srcdir/tests/python_blocks.py" "$top_srcdir/README.md" \
		"$top_srcdir/python/README.md" "$top_srcdir"/docs/guide/*.md \
		"$top_srcdir"/python/profan/*.py) >said 2>err ||
	not_ok "tests/python_blocks.py" said err
relay said

# the handler without torch: what a profiler does is to write the trace
cat >handler.py <<'END'
import os, shutil, sys, time
import profan.torch

class Prof:
    def export_chrome_trace(self, path):
        shutil.copy(source, path)

source, options = sys.argv[1], eval(sys.argv[2])
handle = profan.torch.handler("runs", "worker", **options)
begin = time.perf_counter()
handle(Prof())
handle(Prof())
print("%.3f s" % (time.perf_counter() - begin))
END
# handled TRACE OPTIONS PROGRAM: by a new process
handled() {
	rm -rf runs
	PROFAN_PROGRAM=$3 PYTHONPATH=$tmp/lib "$PYTHON" -S handler.py "$1" "$2" \
		>out 2>err
}
count() { # HOW-MANY SUFFIX
	[ "$(find runs -name "worker.*.pt.trace.$2" | wc -l)" = "$1" ] &&
		ls -A runs >>out
}
# says_read SUFFIX: nothing but how many were read, and what to type
says_read() {
	[ "$(wc -l <err)" = 1 ] &&
		grep -qx "profan: traces read: 2; the last: profan runs/worker.*.$1" err &&
		run 0 "$profan" $(sed 's/.*profan //' err) && [ -s out ] && : >err
}
handled t.json 'dict(report=True, keep_trace=False)' "$(realpath "$profan")" &&
	says_read json.db && count 2 json.db && count 2 json.html && count 0 json &&
	[ "$(ls -A runs | wc -l)" = 4 ]
result "the handler leaves databases and pages" err out
handled t.json 'dict(use_gzip=True)' "$(realpath "$profan")" &&
	says_read json.gz && count 2 json.gz && count 2 json.gz.profan.db &&
	count 0 json &&
	[ "$(ls -A runs | wc -l)" = 4 ]
result "traces are compressed by the process that reads them" err out
for trace in runs/*.json.gz; do
	run 0 "$profan" info "$trace" && [ ! -s err ] &&
		"$profan" query "$trace" 'SELECT * FROM event' >one &&
		"$profan" query t.db 'SELECT * FROM event' | cmp - one 2>>err &&
		zcat "$trace" | cmp - t.json
	result "commands have the database of a trace, which is that of ingest" err
done

# a trace of which anything is lost stays, and so does one without a database
"$PYTHON" -S -c '
import json
t = json.load(open("t.json"))
t["traceEvents"].append({"ph": "?", "name": "odd", "pid": 1, "tid": 1, "ts": 1})
open("odd.json", "w").write(json.dumps(t))'
handled odd.json 'dict(keep_trace=False)' "$(realpath "$profan")"
count 2 json.db && count 2 json &&
	[ "$(grep -c "is kept: 1 of its events" err)" = 2 ]
result "a trace is kept if the database lacks an event" err out
head -c 900 t.json >cut.json
handled cut.json 'dict(keep_trace=False)' "$(realpath "$profan")"
count 2 json && count 0 db && [ "$(wc -l <err)" = 2 ] &&
	[ "$(grep -c "torch did not write 'runs/.*json' whole" err)" = 2 ]
result "what torch failed to write is said to be that" err out
cat >slow <<END
#!/bin/sh
echo "begin \$(nice) \$1" >>log
case \$* in *--check*) kill -9 \$\$ ;; esac
sleep 0.4
"$(realpath "$profan")" "\$@"
echo end >>log
END
chmod +x slow
rm -f log
handled t.json 'dict(keep_trace=False)' "$tmp/slow"
count 2 json.db && count 2 json &&
	[ "$(grep -c "is kept: its database could not" err)" = 2 ]
result "a trace is kept if its database cannot be read back" err out
awk -v nice="$(($(nice) + 10))" '
	/^begin/ { if (is_open) exit 1; if ($2 != (nice > 19 ? 19 : nice)) exit 1
		is_open = $3 == "ingest"; n += is_open }
	/^end/ { is_open = 0 }
	END { exit n != 2 }' log
result "they are read one after the other, niced" log
[ "$(sed 's/\..*//' out | head -1)" = 0 ]
result "training does not wait for it" out
handled t.json 'dict(wait=0)' "$tmp/slow" &&
	[ "$(grep -c "is still being read by process [0-9]" err)" = 2 ]
result "the end of the process says what is still read" err
handled t.json 'dict(report=True)' "$tmp/slow" # waits for the lock of its own
count 2 json.profan.db && count 2 json.html && count 2 json
result "and waits otherwise" err
tap_done
