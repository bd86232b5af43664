# SPDX-License-Identifier: MIT
# The wheels that zig makes: their names say what their programs need, those for
# Linux run, those for macOS are marked as not tested.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "${LONG-}" ] || skip_all "NOT TESTED: make check-long does"
unset PROFAN_AGENT PROFAN_PROGRAM PYTHONPATH MAKEFLAGS MAKELEVEL CC
rm -rf "$top_builddir/wheels"
make -s -C "$top_builddir" wheels PYTHON="$PYTHON" >"$tmp/out" 2>&1
made=$?
! grep '^zig: NOT TESTED' "$tmp/out" >"$tmp/err" || skip_all "$(cat "$tmp/err")"
[ $made = 0 ]
result "make wheels" "$tmp/out"
version=$("$profan" --version | awk '{ print $2; exit }')
cd "$top_builddir/wheels" || exit 99
cat >"$tmp/want" <<END
profan-$version-0untested-py3-none-macosx_11_0_arm64.whl
profan-$version-0untested-py3-none-macosx_11_0_x86_64.whl
profan-$version-py3-none-manylinux_2_28_aarch64.whl
profan-$version-py3-none-manylinux_2_28_x86_64.whl
END
ls >"$tmp/got"
same "one for each machine" "$tmp/want" "$tmp/got"
cp ./*.whl "$tmp"
cd "$tmp" || exit 99
trace=$top_srcdir/tests/truth/2.10.0/training/trace.json.gz
prints() { # NAME COMMAND...: into out, of the database NAME.db
	name=$1
	shift
	run 0 "$@" ingest -q "$trace" -o "$name.db" && run 0 "$@" table "$name.db"
}
prints here "$profan" && cp out here
result "what this program prints"

if [ "$(uname -m)" = x86_64 ]; then
	"$PYTHON" -m venv venv && venv/bin/python -m pip install -q --no-index \
		--disable-pip-version-check ./*linux*_x86_64.whl >out 2>&1
	result "pip install, x86_64" out
	run 0 venv/bin/profan --version && prints x86_64 venv/bin/profan
	same "x86_64: the same table" here out
	cmp here.db x86_64.db 2>err
	result "x86_64: the same database"
	nm -D --defined-only venv/lib/profan/profan_sqlite.so >out &&
		[ "$(wc -l <out)" = 1 ]
	result "x86_64: the extension shows one name" out
else
	skip "x86_64" "NOT TESTED: another machine"
fi
for wheel in *linux*.whl; do
	machine=${wheel##*2_28_}
	if ! "$PYTHON" -c 'import auditwheel' 2>err; then
		skip "auditwheel, ${machine%.whl}" "NOT TESTED: auditwheel is missing"
		continue
	fi
	"$PYTHON" -m auditwheel show "$wheel" >out 2>&1 &&
		grep -q "\"manylinux_2_28_${machine%.whl}\"" out
	result "auditwheel says the same, ${machine%.whl}" out
done
root=/usr/aarch64-linux-gnu # libc6-arm64-cross
if command -v qemu-aarch64 >/dev/null && [ -d $root/lib ]; then
	"$PYTHON" -m zipfile -e ./*_aarch64.whl arm64
	chmod +x arm64/*/scripts/profan
	prints arm64 qemu-aarch64 -L $root arm64/*/scripts/profan
	same "aarch64: the same table" here out
	cmp here.db arm64.db 2>err
	result "aarch64: the same database"
else
	skip "aarch64" "NOT TESTED: qemu-aarch64 or libc6-arm64-cross is missing"
fi

cpu() { # FILE: what the header of a program for macOS says
	od -An -tx4 -N8 "$1" | tr -d ' '
}
for machine in arm64=feedfacf0100000c x86_64=feedfacf01000007; do
	name=macosx_11_0_${machine%%=*}
	"$PYTHON" -m pip install -q --no-index --disable-pip-version-check \
		 --target "$name" --platform "$name" \
		--only-binary=:all: ./*"$name.whl" >out 2>&1 &&
		[ "$(cpu "$name/bin/profan")" = "${machine#*=}" ] &&
		grep -q '^Tag: py3-none-'"$name\$" "$name"/*.dist-info/WHEEL &&
		grep -q '^\*\*Not tested:' "$name"/*.dist-info/METADATA
	result "$name: pip takes it, and it says that it was not tested" out
	run 0 "$PYTHON" "$top_srcdir/python/wheel.py" --tested ./*untested*"$name.whl" &&
		mkdir "$name.tested" && [ -f "profan-$version-py3-none-$name.whl" ] &&
		"$PYTHON" -m zipfile -e "profan-$version-py3-none-$name.whl" "$name.tested" &&
		! grep -r untested "$name.tested"/*.dist-info &&
		! grep -q 'Not tested' "$name.tested"/*.dist-info/METADATA &&
		cmp "$name/bin/profan" "$name.tested"/*.data/scripts/profan
	result "$name: until it is" err out
done
run 1 "$PYTHON" "$top_srcdir/python/wheel.py" --tested ./*"$name.whl"
result "what is not marked stays as it is"
tap_done
