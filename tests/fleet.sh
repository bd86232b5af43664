# SPDX-License-Identifier: MIT
# Commands that read a fleet: their sums are those of each rank's database, a
# page of text however many ranks there are, and the way to the database of a
# rank.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
cd "$tmp" || exit 99
mkdir in keep
for i in 1 2 3 4 5; do
	"$mktrace" --steps $((i % 3 + 2)) --layers 1 --seed $i >in/rank$i.json
done
: >in/rank6.json
run 1 "$profan" merge -q in -o fleet.db --keep keep
result "a fleet of five ranks and one that failed"

"$PYTHON" -S - "$profan" keep >bad 2>&1 <<'END'
import glob, json, subprocess, sys
profan, keep = sys.argv[1:]

def ask(command, path):
    out = subprocess.run([profan, command, path, "-f", "json", "-q",
                          "--limit", "-1"], capture_output=True, text=True)
    return json.loads(out.stdout)["tables"]

def check(what, got, want):
    if got != want:
        print("%s: the fleet says %s, its ranks %s" % (what, got, want))

ranks = glob.glob(keep + "/*.db")
def all_of(command, name):
    return [row for path in ranks for row in ask(command, path)[name]]

# sums over ranks by name
def by(rows, key, column):
    sums = {}
    for r in rows:
        sums[key(r)] = sums.get(key(r), 0) + (r[column] or 0)
    return sums

fleet = ask("kernels", "fleet.db")["kernels"]
own = all_of("kernels", "kernels")
name = lambda r: r["name"]
for c in ("calls", "total_ns"):
    check("kernels " + c, by(fleet, name, c), by(own, name, c))
check("max", max(r["max_ns"] for r in fleet), max(r["max_ns"] for r in own))
if abs(sum(r["share"] for r in fleet) - 1) > 1e-9:
    print("shares of kernels are no whole")

fleet = ask("table", "fleet.db")["table"]
own = [r for p in ranks for r in list(ask("table", p).values())[0]]
name = lambda r: (r["name"], r["device_type"])
for c in ("count", "self_cpu_ns", "cpu_total_ns", "self_device_ns",
          "device_total_ns", "flops"):
    check("table " + c, by(fleet, name, c), by(own, name, c))

spread = {r["figure"]: r for r in ask("steps", "fleet.db")["spread"]}
own = [r for r in all_of("steps", "steps") if not r.get("is_partial")]
for figure, c in (("Step", "dur_ns"), ("Kernel", "kernel_ns"),
                  ("Comm", "comm_ns"), ("Other", "other_ns")):
    check("steps " + c, spread[figure]["sum_ns"], sum(r[c] for r in own))
parts = sum(r["sum_ns"] for f, r in spread.items() if f not in ("Step", "Busy"))
check("parts of steps", parts, spread["Step"]["sum_ns"])

spread = {r["figure"]: r for r in ask("overlap", "fleet.db")["spread"]}
own = all_of("overlap", "devices")
for figure, c in (("Window", "total_ns"), ("Idle", "idle_ns"),
                  ("Computation", "computation_ns"), ("Comm", "comm_ns")):
    check("overlap " + c, spread[figure]["sum_ns"], sum(r[c] for r in own))
    check("overlap max " + c, spread[figure]["max_ns"], max(r[c] for r in own))
check("devices", len(ask("overlap", "fleet.db")["devices"]), len(own))

idle = {r["cause"]: r["ns"] for r in ask("gaps", "fleet.db")["idle"]}
own = all_of("gaps", "causes")
check("idle", idle, {k: v for k, v in by(own, lambda r: r["cause"],
                                         "ns").items()})
check("idle of overlap", sum(idle.values()), spread["Idle"]["sum_ns"])
events = sum(r["event_count"] for r in ask("info", "fleet.db")["captures"])
import sqlite3
check("events", events, sum(sqlite3.connect(p).execute(
    "SELECT sum(event_count) FROM trace").fetchone()[0] for p in ranks))
END
[ ! -s bad ]
result "sums of a fleet are those of its ranks" bad

# ---- what is of the job, not of a rank ----
"$mktrace" --ranks 6 --steps 2 --layers 1 --out job
rm job/rank-3.json job/rank-5.json
"$profan" merge -q job -o job.db
run 0 "$profan" doctor job.db -f csv
[ "$(grep -c 'ranks missing' out)" = 1 ] &&
	grep -q '^ranks missing,note,,2,$' out
result "ranks that are missing are counted once" out

# ---- a page ----
"$PYTHON" -S - fleet.db "$profan" >bad 2>&1 <<'END'
import os, shutil, sqlite3, subprocess, sys
base, profan = sys.argv[1:]
os.mkdir("many")
for i in range(60):
    path = "many/p%02d.db" % i
    shutil.copy(base, path)
    db = sqlite3.connect(path)
    db.execute("UPDATE rank SET rank = rank + ?, xxh128 = xxh128 || ?",
               (i * 8, str(i)))
    db.execute("UPDATE capture SET name = ?", ("night %d" % (i // 4),))
    db.commit()
    db.close()
subprocess.run([profan, "merge", "-q", "many", "-o", "many.db"])
for c in ("summary", "info", "steps", "kernels", "table", "overlap", "gaps",
          "doctor", "trend"):
    out = subprocess.run([profan, c, "many.db"], capture_output=True, text=True)
    lines = out.stdout.split("\n")
    if out.returncode or len(lines) > 61 or max(map(len, lines)) > 80:
        print(c, out.returncode, len(lines), "lines of", max(map(len, lines)),
              out.stderr)
    for f in ("csv", "json", "md"):
        if subprocess.run([profan, c, "many.db", "-f", f],
                          stdout=subprocess.DEVNULL).returncode:
            print(c, f)
END
[ ! -s bad ]
result "300 ranks are a page of text" bad
"$profan" summary many.db >want && "$profan" many.db >got
same "a fleet by itself is its summary" want got

# ---- to the database of a rank ----
: >bad
for c in gaps syncs "memory --points 0" launches steps overlap kernels table; do
	"$profan" $c -q fleet.db --rank 3 -f csv >got 2>>bad
	"$profan" $c -q keep/rank3.json-*.db --rank 3 -f csv >want 2>>bad
	cmp want got >>bad 2>&1
done
[ ! -s bad ]
result "--rank reads the database of the rank" bad
mkdir moved && cp -r fleet.db keep moved && mv keep away
run 0 "$profan" gaps moved/fleet.db --rank 3
result "a fleet and its databases move together"
run 3 "$profan" gaps fleet.db --rank 3 && grep -q 'No such file' err
result "a database that is gone is named"
mv away keep
cp keep/rank4.json-*.db "$(ls keep/rank3.json-*.db)"
run 3 "$profan" gaps fleet.db --rank 3 && grep -q 'its trace is another' err
result "the database of another trace is refused"
run 3 "$profan" gaps fleet.db --rank 6 && grep -q "is empty" err
result "a rank that failed says why"
run 2 "$profan" gaps fleet.db --rank 7 && grep -q "no rank 7" err
result "a rank that is not there"
"$profan" merge -q in/rank1.json -o bare.db
run 3 "$profan" gaps bare.db --rank 1 && grep -q "was not kept" err
result "a rank whose database was not kept"
run 2 "$profan" gaps many.db --rank 500
result "a rank of no capture"

# ---- what cannot be said of a fleet ----
: >bad
for c in syncs launches memory modules ranges counters report slice stacks; do
	run 2 "$profan" $c fleet.db || cat err >>bad
	[ "$(wc -l <err)" = 1 ] && grep -q 'fleet database' err || cat err >>bad
done
for c in "diff fleet.db fleet.db" "trend fleet.db fleet.db" \
	"steps fleet.db --step 3" "kernels fleet.db --group op" \
	"table fleet.db --sort count" "trend fleet.db --skip-first 1"; do
	run 2 "$profan" $c || cat err >>bad
	[ "$(wc -l <err)" = 1 ] || cat err >>bad
done
[ ! -s bad ]
result "others say so in one sentence" bad
run 0 "$profan" query fleet.db "SELECT count(*) FROM rank" -f csv
result "SQL reads a fleet"
run 2 "$profan" query fleet.db "DELETE FROM rank"
result "and does not change it"
tap_done
