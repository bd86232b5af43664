# SPDX-License-Identifier: MIT
# contrib/profan-parquet and DuckDB: what they read of a fleet and of a rank is
# what profan says.  Their packages come from PyPI: PROFAN_PYTHON names a Python
# that has them; with LONG=1 they are fetched.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
grep -aq __asan_init "$profan" &&
	skip_all "NOT TESTED: Python is not built with sanitizers"
cd "$tmp" || exit 99
python=${PROFAN_PYTHON:-$PYTHON}
has() {
	"$python" -c 'import adbc_driver_sqlite.dbapi, pyarrow.parquet' 2>/dev/null
}
if ! has && [ -n "${LONG-}" ]; then
	"$PYTHON" -m venv venv >log 2>&1 &&
		timeout 120 venv/bin/pip install -q adbc-driver-sqlite \
			adbc-driver-manager pyarrow 'duckdb==1.5.5' \
			duckdb-extensions==1.5.5 \
			duckdb-extension-sqlite-scanner==1.5.5 >>log 2>&1 &&
		python=$tmp/venv/bin/python
fi
has || skip_all "NOT TESTED: adbc-driver-sqlite and pyarrow are not there (PyPI)"

mkdir in keep
for i in 1 2 3; do
	"$mktrace" --steps 2 --layers 1 --seed $i >in/rank$i.json
done
run 0 "$profan" merge -q in -o fleet.db --keep keep --label host=n1 &&
	run 0 "$python" "$top_srcdir/contrib/profan-parquet" fleet.db fleet
result "a fleet becomes Parquet"
rank=$(ls keep/rank2*)
PROFAN_EXTENSION=$top_builddir/.libs/profan_sqlite \
	run 0 "$python" "$top_srcdir/contrib/profan-parquet" "$rank" rank
result "a database of a rank becomes Parquet"

ask() { # DB SQL
	"$profan" query -q -f csv "$1" "$2" | sed 1d | tr -d '"\r'
}
{
	ask fleet.db "SELECT s.text, sum(total_ns), sum(calls) FROM kernel k
		JOIN string s ON s.id = k.name_id GROUP BY 1 ORDER BY 2 DESC, 1"
	ask fleet.db "SELECT count(*), sum(dur_ns), sum(other_ns) FROM step"
	ask fleet.db "SELECT count(*), sum(self_cpu_ns), sum(flops) FROM op"
	ask fleet.db "SELECT count(*), sum(ns) FROM idle_site"
	ask "$rank" "SELECT count(*), sum(dur_ns), max(start_ns) FROM event"
	ask "$rank" "SELECT count(*), sum(dur_ns) FROM gpu_event"
} >want
"$python" - >got 2>err <<'END'
import collections
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

def table(name):
    return ds.dataset("fleet/" + name, partitioning="hive").to_table()

sums = collections.defaultdict(lambda: [0, 0])
for row in table("kernel").to_pylist():
    sums[row["name"]][0] += row["total_ns"]
    sums[row["name"]][1] += row["calls"]
for name, (ns, calls) in sorted(sums.items(), key=lambda x: (-x[1][0], x[0])):
    print("%s,%d,%d" % (name.replace('"', ""), ns, calls))
def say(t, *columns, last=pc.sum):
    rest = [pc.sum(t[c]).as_py() for c in columns[:-1]]
    print(",".join(map(str, [t.num_rows] + rest + [last(t[columns[-1]]).as_py()])))
say(table("step"), "dur_ns", "other_ns")
say(table("op"), "self_cpu_ns", "flops")
say(table("idle_site"), "ns")
say(pq.read_table("rank/event.parquet"), "dur_ns", "start_ns", last=pc.max)
say(pq.read_table("rank/gpu.parquet"), "dur_ns")
assert set(table("step")["capture"].to_pylist()) == {"in"}
END
[ -s err ] && cat err >>got
same "figures are profan's own" want got

if "$python" -c 'import duckdb' 2>/dev/null; then
	"$python" - >got 2>err <<'END'
import duckdb
for sql in ("SELECT sum(total_ns), sum(calls) FROM 'fleet/kernel/*/*.parquet'",
            "SELECT sum(dur_ns), count(*) FROM 'rank/event.parquet'"):
    print(",".join(map(str, duckdb.sql(sql).fetchall()[0])))
END
	{
		ask fleet.db "SELECT sum(total_ns), sum(calls) FROM kernel"
		ask "$rank" "SELECT sum(dur_ns), count(*) FROM event"
	} >want
	same "DuckDB's are, too" want got
	"$python" - >got 2>err <<'END'
import duckdb
c = duckdb.connect()
try: # from PyPI, too
    from duckdb_extensions import import_extension
    import_extension("sqlite_scanner")
except ImportError:
    pass
c.sql("LOAD sqlite_scanner")
c.sql("ATTACH 'fleet.db' AS f (TYPE sqlite, READ_ONLY)")
for t in ("rank", "step", "kernel", "op", "idle", "device", "finding"):
    print(c.sql("SELECT count(*) FROM f." + t).fetchall()[0][0])
END
	if grep -q 'LOAD\|INSTALL\|not found\|Extension' err; then
		skip "DuckDB reads the file" \
			"NOT TESTED: its extension 'sqlite' is not installed"
	else
		for t in rank step kernel op idle device finding; do
			ask fleet.db "SELECT count(*) FROM $t"
		done >want
		same "DuckDB reads the file" want got
	fi
else
	skip "DuckDB" "NOT TESTED: it is not there (PyPI)"
fi
tap_done
