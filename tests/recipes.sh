# SPDX-License-Identifier: MIT
# Recipes for other packagers: they name what configure.ac asks for, and the tools
# that read them take them, where they are installed.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
said() { # NAME: as the makefile has it from configure.ac
	sed -n "s/^$1 = //p" "$top_builddir/Makefile"
}
version=$(said VERSION) url=$(said PACKAGE_URL)
digest=$(echo archive | sha256sum | cut -d ' ' -f 1)
cd "$tmp" || exit 99
mkdir recipes
run 0 sh "$top_srcdir/contrib/packaging/recipes.sh" "$top_srcdir" "$version" \
	"$url" "$digest" recipes
result "they are filled in"

# what configure.ac looks for, and as what recipes may know it
sed -nE 's/.*PKG_CHECK_MODULES\(\[[A-Z]*\], \[([a-z0-9]+).*/\1/p
	s/.*AC_CHECK_HEADER\(\[([^].]+).*/\1/p' "$top_srcdir/configure.ac" |
	sort -u >asked
cat >known <<'END'
cmocka -
csv libcsv
libcsv libcsv
libiberty/demangle libiberty|binutils
libisal isa-l|without-isal
libzstd zstd
sqlite3 sqlite|libsqlite
xxhash xxhash
zlib zlib
END
while read -r library names; do
	grep -qxF "$library" asked || continue
	[ "$names" != - ] || names=profan # unit tests are not run there
	for recipe in recipes/*; do
		grep -v '^ *#' "$recipe" | grep -qiE "(^|[^a-z])($names)" ||
			echo "$recipe has no $library"
	done
done <known >missing
cut -d ' ' -f 1 known | comm -13 - asked | sed 's/$/ is not known here/' >>missing
same "each library that configure.ac looks for" /dev/null missing
oldest=$(sed -nE 's/.*sqlite3 >= ([0-9.]+).*/\1/p' "$top_srcdir/configure.ac")
for recipe in recipes/*; do
	name=${recipe##*/}
	grep -qF "$version" "$recipe" && grep -qF "$url" "$recipe" &&
		grep -qF "$digest" "$recipe" && grep -qiE "licenses?[^a-z].*\bmit\b" "$recipe" &&
		grep -qE "sqlite.*\b$oldest\b" "$recipe" && ! grep -n '@[A-Z]' "$recipe" >out
	result "$name: version, address, digest, licence, the oldest SQLite" "$recipe"
done

takes() { # NAME WHY_NOT HAVE COMMAND...
	name=$1 why=$2 have=$3
	shift 3
	if ! eval "$have" >err 2>&1; then
		skip "$name" "NOT TESTED: $why"
		return
	fi
	run 0 "$@"
	result "$name"
}
takes "Homebrew's is Ruby" "ruby is missing" "command -v ruby" ruby -c recipes/profan.rb
takes "nix takes its" "nix-instantiate is missing (Debian: nix-bin)" \
	"command -v nix-instantiate" \
	nix-instantiate --parse recipes/default.nix
takes "Spack's is Python" "python3 is missing" '[ "$PYTHON" ]' \
	"$PYTHON" -S -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
	recipes/package.py
cat >conda.py <<'END'
import sys
import rattler_build
recipe = rattler_build.Stage0Recipe.from_yaml(open(sys.argv[1]).read())
compiler = rattler_build.VariantConfig({"c_stdlib": ["sysroot"]})
built, = recipe.render(compiler)
print(built.recipe.package.name, built.recipe.package.version)
END
takes "conda-forge's is a recipe" "rattler_build is missing (PyPI: py-rattler-build)" \
	'"$PYTHON" -c "import rattler_build"' "$PYTHON" conda.py recipes/recipe.yaml

# the recipe that makes wheels for macOS and tests them: the mark goes last
cat >macos.py <<'END'
import subprocess
import sys
import yaml
jobs = yaml.safe_load(open(sys.argv[1]))["jobs"]
for name, job in jobs.items():
    for step in job["steps"]:
        assert set(step) <= {"uses", "run", "with"}, step
        if "run" in step:
            subprocess.run(["sh", "-n"], input=step["run"], text=True, check=True)
assert jobs["mac"]["needs"] == "wheels"
runs = [step.get("run", step.get("uses")) for step in jobs["mac"]["steps"]]
at = [next(i for i, run in enumerate(runs) if word in run)
      for word in ("make check", "cmp ", "--tested", "upload")]
assert at == sorted(at), at
END
takes "macos.yml takes the mark away after the tests" \
	"yaml is missing (PyPI: pyyaml)" '"$PYTHON" -c "import yaml"' \
	"$PYTHON" macos.py "$top_srcdir/contrib/ci/macos.yml"
tap_done
