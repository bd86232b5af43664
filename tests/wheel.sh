# SPDX-License-Identifier: MIT
# The wheel: the same bytes each time, nothing but libc and libm, and all of it
# works where pip puts it, without a network.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "${LONG-}" ] || skip_all "NOT TESTED: make check-long does"
"$PYTHON" -c 'import venv, ensurepip' 2>/dev/null ||
	skip_all "Python has no venv"
[ "$(uname -m)" = x86_64 ] || skip_all "another machine"
if ldd "$profan" | grep -q 'lib[atu]*san'; then
	skip_all "wheels are not built with sanitizers"
fi
for library in sqlite3 z zstd csv; do
	echo 'int main(void) { return 0; }' >"$tmp/main.c"
	${CC:-cc} -o "$tmp/main" "$tmp/main.c" "-l:lib$library.a" 2>"$tmp/err" ||
		skip_all "lib$library.a is missing"
done
unset PROFAN_AGENT PROFAN_PROGRAM PYTHONPATH MAKEFLAGS MAKELEVEL
make -s -C "$top_builddir" wheel >"$tmp/out" 2>&1
result "make wheel" "$tmp/out"
wheel=$(echo "$top_builddir"/dist/profan-*.whl)
[ -f "$wheel" ] || tap_done
cp "$wheel" "$tmp/first.whl"
rm "$wheel"
make -s -C "$top_builddir" wheel >"$tmp/out" 2>&1
cmp "$wheel" "$tmp/first.whl" 2>"$tmp/err"
result "the same bytes again" "$tmp/err"
[ "$(wc -c <"$wheel")" -le $((4 << 20)) ]
result "at most 4 MB" "$tmp/err"

"$PYTHON" -m venv "$tmp/venv" >"$tmp/out" 2>&1
result "an empty environment" "$tmp/out"
bin=$tmp/venv/bin
"$bin/python" -m pip install -q --no-index --disable-pip-version-check \
	"$wheel" >"$tmp/out" 2>&1
result "pip install --no-index" "$tmp/out"
cd "$tmp" || exit 99
ldd "$bin/profan" | grep -vE 'linux-vdso|libm\.so|libc\.so|ld-linux' >bad
[ ! -s bad ] && ldd venv/lib/profan/*.so |
	grep -vE ':$|linux-vdso|libm\.so|libc\.so|ld-linux' >bad
[ ! -s bad ]
result "nothing but libc and libm" bad
[ -f venv/share/man/man1/profan-gaps.1 ] &&
	[ -f venv/share/bash-completion/completions/profan ]
result "man pages and completions" err

"$mktrace" --steps 3 --layers 1 >t.json
gzip -k t.json
run 0 "$bin/profan" gaps t.json.gz && cp out got &&
	run 0 "$profan" gaps t.json.gz
same "the program prints what it prints elsewhere" out got
PATH=$bin:$PATH "$bin/python" - >out 2>err <<'END'
import importlib.metadata, os, profan
about = importlib.metadata.metadata("profan")
assert about["Keywords"] and about["Project-URL"] and about["Author-email"]
assert "Programming Language :: Python :: 3" in about.get_all("Classifier")
assert profan.program().startswith(os.path.realpath("venv")) or \
    "venv/bin" in profan.program(), profan.program()
cap = profan.open("t.json.gz")
assert cap.gaps().finding
cap.report("report.html")
assert os.path.exists(profan.extension()) and os.path.exists(profan.agent())
try:
    n, = profan.open("t.json.gz.profan.db").connect().execute(
        "SELECT count(*) FROM event").fetchone()
except profan.Error as error:
    print("# SKIP", error)
else:
    assert n == cap.sql("SELECT count(*) AS n FROM event")[0]["n"]
END
result "module, report and extension" err
if [ -n "$SQLITE3" ]; then
	"$SQLITE3" -cmd '.load venv/lib/profan/profan_sqlite' t.json.gz.profan.db \
		'SELECT count(*) > 0 FROM event' >out 2>err && grep -qx 1 out
	result "the extension in sqlite3" err
fi
capture() { # PROFAN
	rm -rf run.db ./*.pfr
	run 0 "$1" capture --ingest run.db -o run-%p.pfr -- \
		"$top_builddir/tests/gen/nvtxrun" --loops 3 &&
		run 0 "$1" ranges run.db --format csv && [ "$(wc -l <out)" -gt 1 ]
}
capture "$bin/profan"
result "capture finds the agent" err
mkdir moved && cp -r venv/bin venv/lib moved/ && rm -r venv
capture "$tmp/moved/bin/profan"
result "and where the folder was moved to" err
tap_done
