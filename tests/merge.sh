# SPDX-License-Identifier: MIT
# Fleets: merging is closed, associative and idempotent to the byte; figures of
# a fleet are those that the commands print of each rank; what cannot be read
# costs itself only; kills, shards, labels, what may be replaced.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
[ -n "$SQLITE3" ] || skip_all "sqlite3 is missing"
cd "$tmp" || exit 99
mkdir in keep tmpdir
TMPDIR=$tmp/tmpdir
export TMPDIR
n=0
for how in "--steps 3 --layers 2" "--steps 2 --layers 1 --no-stacks" \
	"--steps 1 --layers 1" "--steps 4 --layers 1 --amd" \
	"--steps 2 --inference" "--steps 3 --layers 2 --style compact"; do
	n=$((n + 1))
	"$mktrace" $how --seed $n >in/rank$n.json
done

merge() { "$profan" merge -q "$@"; }
sql() { "$SQLITE3" -readonly "$@"; }
alike() { # NAME FILE FILE...
	name=$1 first=$2
	shift 2
	: >bad
	for file; do
		cmp "$first" "$file" >>bad 2>&1
	done
	[ ! -s bad ]
	result "$name" bad
}

# ---- one result, however it is put together ----
run 0 merge in -o all.db --keep keep
result "a folder of traces is merged"
for i in 1 2 3; do
	merge in/rank$i.json in/rank$((i + 3)).json -o p$i.db --keep keep
done 2>err
merge p1.db p2.db -o ab.db && merge ab.db p3.db -o abc1.db &&
	merge p3.db p2.db p1.db -o abc2.db && merge p2.db p3.db -o bc.db &&
	merge bc.db p1.db -o abc3.db && merge ab.db bc.db abc1.db p2.db -o abc4.db
result "fleets are merged"
alike "merge is associative, commutative and idempotent" \
	all.db abc1.db abc2.db abc3.db abc4.db
mkdir away again
merge p1.db p2.db -o away/ab.db && merge away/ab.db p3.db -o again/abc.db &&
	merge again/abc.db -o back.db
alike "paths are as seen from the fleet, wherever it was" all.db back.db
merge keep --capture in -o kept.db
alike "databases of ranks give what their traces give" all.db kept.db
for j in 1 2 3 8; do
	merge -j $j in --keep keep -o j$j.db
done
alike "the same with any number of threads" all.db j1.db j2.db j3.db j8.db
for s in "0/2 1/2" "0/3 1/3 2/3" "0/9 1/9 2/9 3/9 4/9 5/9 6/9 7/9 8/9"; do
	rm -f s.*.db
	for i in $s; do
		merge --shard "$i" in --keep keep -o "s.${i%/*}.db"
	done
	merge s.*.db -o "of${s##*/}.db"
done
alike "shards are the whole" all.db of2.db of3.db of9.db
sql all.db "PRAGMA integrity_check" >got
echo ok >want
same "the file is sound" want got
sql all.db "SELECT count(*), count(DISTINCT rank), count(error) FROM rank" >got
echo "6|6|0" >want
same "each rank is there once" want got
ls tmpdir >got
: >want
same "nothing is left in the temporary folder" want got

# ---- one home for each number ----
"$PYTHON" -S - "$profan" all.db keep >bad 2>&1 <<'END'
import json, sqlite3, subprocess, sys
profan, fleet, keep = sys.argv[1:]
db = sqlite3.connect("file:%s?mode=ro" % fleet, uri=True)
db.row_factory = sqlite3.Row

def ask(command, path):
    out = subprocess.run([profan, command, path, "-f", "json", "-q"] +
                         ([] if command == "table" else ["--limit", "-1"]) +
                         (["--limit", "-1"] if command == "table" else []),
                         capture_output=True, text=True)
    return json.loads(out.stdout)["tables"]

def check(what, got, want):
    if got != want:
        print("%s: the fleet has %s, the rank %s" % (what, got, want))

# table of the fleet, command, its table, columns, what both are limited to
LAWS = [
    ("step", "steps", "steps", ["dur_ns", "kernel_ns", "copy_ns", "comm_ns",
     "memset_ns", "runtime_ns", "data_ns", "cpu_ns", "other_ns"]),
    ("kernel", "kernels", "kernels", ["calls", "total_ns", "min_ns", "max_ns"]),
    ("idle", "gaps", "causes", ["ns", "longest_ns"]),
    ("device", "overlap", "devices", ["total_ns", "busy_ns", "idle_ns",
     "computation_ns", "exposed_comm_ns", "comm_ns", "overlap_ns"]),
    ("op", "table", "table", ["self_cpu_ns", "cpu_total_ns", "self_device_ns",
     "device_total_ns", "self_cpu_mem_bytes", "flops"]),
]
checked = 0
for rank in db.execute("SELECT * FROM rank").fetchall():
    path = rank["db"]
    for table, command, name, columns in LAWS:
        tables = ask(command, path)
        rows = tables.get(name) or list(tables.values())[0]
        if table == "op":
            rows = rows if isinstance(rows, list) else []
        got = db.execute("SELECT count(*) FROM %s WHERE rank_id = ?" % table,
                         (rank["id"],)).fetchone()[0]
        check("%s: rows of %s" % (path, table), got, len(rows))
        for c in columns:
            have = [r for r in rows if c in r]
            if not have:
                print("%s: %s has no column %s: %s" % (path, command, c,
                      sorted(rows[0]) if rows else ""))
                continue
            got = db.execute("SELECT sum(%s) FROM %s WHERE rank_id = ?" %
                             (c, table), (rank["id"],)).fetchone()[0]
            check("%s: %s.%s" % (path, table, c), got,
                  sum(r[c] or 0 for r in have))
            checked += 1
    checks = {r["check"]: r["verdict"] for r in ask("doctor", path)["checks"]
              if r["verdict"] != "ok"}
    check(path + ": findings", {r[0]: r[1] for r in db.execute(
        "SELECT c.text, v.text FROM finding JOIN string c ON c.id = check_id"
        " JOIN string v ON v.id = verdict_id WHERE rank_id = ?",
        (rank["id"],))}, checks)
if checked < 100:
    print("only %d figures were compared" % checked)
END
[ ! -s bad ]
result "figures of a fleet are those of its ranks" bad

# ---- what cannot be read ----
: >in/rank7.json
echo '{"traceEvents": [' >in/rank8.json
echo '{"optimizer": "adam"}' >in/config.json
run 1 "$profan" merge in -o bad.db --keep keep
result "two bad traces of eight: exit 1"
sql bad.db "SELECT rank, error IS NULL FROM rank ORDER BY rank" >got
printf '%s|1\n' 1 2 3 4 5 6 >want
printf '%s|0\n' 7 8 >>want
same "they are ranks with an error" want got
grep -q "rank7.json': is empty" err && grep -q "1 file in folders is no" err
result "both are named, and other files are passed over"
merge all.db bad.db -o good.db 2>/dev/null
alike "failures stay when merged again" bad.db good.db
run 0 merge bad.db all.db -o good.db
result "old failures are no failure of this merge"
for part in all bad; do
	head -c 20000 $part.db >cut.db
	run 1 merge cut.db p1.db -o got.db || run 3 merge cut.db p1.db -o got.db
	result "a fleet that was cut costs itself only, or ends the merge"
done
cp in/rank1.json in/rank7.json
run 1 merge in -o mended.db --keep keep
sql mended.db "SELECT count(*), count(error) FROM rank" >got
echo "8|1" >want
same "a trace that was mended is a rank" want got
rm in/rank7.json in/rank8.json

# ---- killed and run again is run once ----
: >bad
delays="0.02 0.1"
[ -z "${LONG-}" ] || delays="0.01 0.03 0.06 0.1 0.2"
for delay in $delays; do
	for signal in KILL TERM; do
		rm -rf keep2 killed.db killed.db.partial
		mkdir keep2
		"$profan" merge -q -j 2 in -o killed.db --keep keep2 2>/dev/null &
		pid=$!
		sleep $delay
		kill -$signal $pid 2>/dev/null
		wait $pid
		merge -j 2 in -o killed.db --keep keep2 2>>bad
		ls keep2 | grep partial >>bad
		sql killed.db "UPDATE nothing" 2>/dev/null
		merge killed.db -o one.db 2>>bad
		sql one.db "SELECT rank, xxh128, event_count FROM rank" >got
		sql all.db "SELECT rank, xxh128, event_count FROM rank" >want
		cmp want got >>bad 2>&1
		merge keep2 --capture in -o one.db
		cmp killed.db one.db >>bad 2>&1
	done
done
rm -rf tmpdir/*
[ ! -s bad ]
result "killed and run again is run once" bad
"$profan" merge -q -j 2 in -o t.db &
pid=$!
sleep 0.05
kill -TERM $pid 2>/dev/null
wait $pid
{ ls tmpdir; ls t.db.partial; } >got 2>/dev/null
: >want
same "a signal leaves nothing behind" want got

# nor of what many threads were just making
: >bad
mkdir many
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$mktrace" --steps $i --layers 1 >many/rank$i.json
done
for delay in 005 010 015 020 025 030 035 040 045 050 055 060; do
	rm -rf keep3
	mkdir keep3
	"$profan" merge -q -j 12 many -o t.db --keep keep3 2>/dev/null &
	pid=$!
	sleep 0.$delay
	kill -TERM $pid 2>/dev/null
	wait $pid
	ls -A keep3 . tmpdir | grep partial >>bad
	rm -f t.db
done
[ ! -s bad ]
result "however many threads write" bad

# ---- labels ----
printf 'rank,host,rack\n1,n1,a\n2,"n,2",\n' >hosts.csv
merge all.db --labels hosts.csv --label 'commit="x' --label rack=z -o lab.db
sql lab.db "SELECT labels FROM rank WHERE rank < 4 ORDER BY rank" >got
cat >want <<'END'
{"commit":"\"x","host":"n1","rack":"z"}
{"commit":"\"x","host":"n,2","rack":"z"}
{"commit":"\"x","rack":"z"}
END
same "labels of a file and of the command line" want got
merge lab.db all.db -o lab2.db && merge all.db lab.db -o lab3.db
alike "labels stay, in any order" lab.db lab2.db lab3.db
printf 'host,rack\nn1,a\n' >no.csv
run 3 merge all.db --labels no.csv -o x.db && grep -q "no column 'rank'" err
result "labels without ranks are refused"
printf 'rank,host\n1,n1,a\n' >no.csv
run 3 merge all.db --labels no.csv -o x.db && grep -q "row 2 has 3 cells" err
result "a row that is too long is refused"
run 2 merge all.db --label commit -o x.db && grep -q "KEY=VALUE" err
result "a label without a value is refused"

# ---- what is replaced, and what is not ----
: >bad
echo mine >mine.txt
kept=$(ls keep/rank1*.db)
for out in mine.txt "$kept" all.db; do
	cp "$out" before
	run 3 merge all.db p1.db -o "$out" || cat err >>bad
	cmp before "$out" >>bad 2>&1
done
[ ! -s bad ]
result "neither others' files, nor databases of ranks, nor inputs" bad
run 0 merge p1.db -o one.db && run 0 merge p2.db -o one.db && cmp one.db p2.db
result "a fleet is replaced"
run 3 "$profan" ingest in/rank1.json -o one.db && cmp one.db p2.db
result "an ingest does not replace it"
run 2 "$profan" syncs one.db
result "a command that reads events does not take it for a database"
for bad in 1 3/3 -1/3 x/2 1/x 1/0; do
	run 2 merge --shard=$bad in -o x.db && [ ! -e x.db ]
	result "--shard $bad is refused"
done
run 2 merge in -o x.db --keep nowhere && run 2 merge in
result "a folder that is not there, no output"
merge p1.db -o old.db && "$SQLITE3" old.db "PRAGMA user_version = 99"
run 1 "$profan" merge old.db -o x.db && grep -q "newer profan" err
result "a fleet of another version is refused in one sentence"

# several traces are no rank
"$profan" ingest -q in/rank1.json in/rank2.json -o two.db
run 1 "$profan" merge two.db -o x.db && grep -q "holds 2 traces" err
result "a database of two traces is no rank"

# ---- flat ----
if grep -aq __asan_init "$profan"; then
	skip "memory" "NOT TESTED: a sanitizer keeps what was freed"
else
"$PYTHON" -S - all.db "$profan" >bad 2>&1 <<'END'
import os, resource, shutil, sqlite3, subprocess, sys
base, profan = sys.argv[1:]

def parts(count):
    shutil.rmtree("many", True)
    os.mkdir("many")
    for i in range(count):
        path = "many/p%04d.db" % i
        shutil.copy(base, path)
        db = sqlite3.connect(path)
        db.execute("UPDATE rank SET rank = rank + ?, xxh128 = xxh128 || ?",
                   (i * 8, str(i)))
        db.commit()
        db.close()

def peak(count):
    parts(count)
    pid = os.fork()
    if not pid:
        os.execv(profan, [profan, "merge", "-q", "many", "-o", "many.db"])
    _, status, use = os.wait4(pid, 0)
    if status:
        print("exit", status)
    return use.ru_maxrss

few, many = peak(24), peak(160)
if many > few + 9000:
    print("24 parts take %d KB, 160 parts %d KB" % (few, many))
rows = sqlite3.connect("many.db").execute(
    "SELECT count(*), count(DISTINCT rank) FROM rank").fetchone()
if rows != (960, 960):
    print(rows)
if os.path.getsize("many.db") > 80000 * 960:
    print("a rank takes", os.path.getsize("many.db") // 960)
END
[ ! -s bad ]
result "160 parts take no more memory than 24" bad
fi

# ---- real ones ----
if [ -d "$shared/traces" ]; then
	run 0 merge "$shared"/traces/two_ranks*.json.gz \
		"$shared"/traces/v100_resnet50_workers?.json.gz -o real.db
	result "real traces"
	[ "$(sql real.db 'SELECT count(*) FROM rank WHERE error IS NULL')" = 4 ]
	result "each is a rank"
else
	skip "real traces" "NOT TESTED: ../shared/traces is not there"
fi
tap_done
