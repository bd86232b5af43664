# SPDX-License-Identifier: MIT
# 'profan trend' of a fleet of nights: since when what is another, by planted
# changes; nothing in nights that only vary; the check on the last change; one
# flat table that other programs read; nights that were traces, with and without
# a fleet.  With LONG=1 more seeds, with EVERY=1 more nights.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
helper=$top_srcdir/tests/nights.py
cd "$tmp" || exit 99
"$mktrace" --steps 3 --layers 1 --no-stacks >base.json &&
	"$profan" merge -q base.json -o base.db || exit 99

nights() { # SEED NIGHTS AT PART: nights.db
	"$PYTHON" -S "$helper" plant base.db nights.db "$@" || exit 99
}
judged() { # NAME
	name=$1
	if run 0 "$profan" trend nights.db -f json && cp out trend.json &&
		run 0 "$PYTHON" -S "$helper" check trend.json nights.db.json; then
		ok "$name"
	else
		not_ok "$name" out err
	fi
}

for seed in $(seq "$(amount 2 4 20)"); do
	nights "$seed" 60 -1 0
	judged "60 nights without a change, seed $seed"
	nights "$seed" 60 40 0.02
	judged "60 nights, +2 % from the 40th on, seed $seed"
done

# ---- the check ----
run 1 "$profan" trend nights.db --fail-on 'kernel>1%' -f json &&
	grep -q 'failed: kernel>1%: kernel was .* since 2026-10-11 (night 40' out
result "the last change is more than 1 %" out err
run 1 "$profan" trend nights.db --fail-on 'step_time>10us'
result "and of the step, in its unit"
run 0 "$profan" trend nights.db --fail-on 'kernel>3%' --fail-on 'comm>0%' \
	--fail-on 'launches>0'
result "not more than 3 %, and what did not change"
run 2 "$profan" trend nights.db --fail-on 'kernal>3%' &&
	grep -q "did you mean 'kernel'" err
result "a figure that is none"
run 2 "$profan" trend base.json --fail-on 'kernal>3%'
result "nor of captures of no fleet"
nights 1 12 6 0.5
run 0 "$profan" trend nights.db --fail-on 'kernel>1%' &&
	grep -q 'are too few' out && grep -q 'not failed: kernel>1%' out
result "too few nights say so" out

# ---- a page, and a flat table ----
nights 4 90 70 0.02
run 0 "$profan" trend nights.db
awk 'length($0) > 80 { bad = 1 } END { exit bad || NR > 60 }' out &&
	grep -q '80 earlier captures' out && grep -q 'night 89' out
result "90 nights are a page, the last ones" out
run 0 "$profan" trend nights.db --table trend -f csv
"$PYTHON" -S -c '
import csv, json, sys
rows = list(csv.DictReader(open("out")))
want = json.load(open("nights.db.json"))["nights"]
assert next(iter(rows[0])) == "taken", rows[0]
assert [r["taken"] for r in rows] == sorted(r["taken"] for r in rows)
assert [(r["taken"], r["commit"], int(r["step_ns"])) for r in rows] == [
    (w["taken"], w["commit"], w["step_ns"]) for w in want]
parts = ("kernel", "copy", "memset", "comm", "runtime", "data", "cpu", "other")
assert all(sum(int(r[p + "_ns"]) for p in parts) == int(r["step_ns"])
           for r in rows)
assert json.loads(rows[0]["labels"]) == {"commit": "c0000", "n": "0"}
' >bad 2>&1
result "a flat table: the time first, a row each, parts that add up" bad

# ---- kernels that come and go; captures without steps ----
"$PYTHON" -S - >bad 2>&1 <<'END'
import sqlite3
db = sqlite3.connect("nights.db")
night = {n: i for i, n in db.execute("SELECT id, name FROM capture")}
new, gone = (db.execute("SELECT id FROM string WHERE text LIKE ?",
                        ("void k%d<%%" % k,)).fetchone()[0] for k in (70, 71))
for n in range(90):
    i = night["night %d" % n]
    if n < 80:
        db.execute("DELETE FROM kernel WHERE rank_id = ? AND name_id = ?",
                   (i, new))
    if n >= 85:
        db.execute("DELETE FROM kernel WHERE rank_id = ? AND name_id = ?",
                   (i, gone))
db.execute("DELETE FROM step WHERE rank_id = ?", (night["night 3"],))
db.commit()
END
run 0 "$profan" trend nights.db -f json && "$PYTHON" -S -c '
import json
doc = json.load(open("out"))
rows = [c for c in doc["tables"]["changes"] if c["change"] is None]
assert [(c["capture"], c["name"][:8], c["before"] is None) for c in rows] == [
    ("night 85", "void k71", False), ("night 80", "void k70", True)], rows
assert doc["tables"]["trend"][3]["step_ns"] is None
assert "1 capture has no whole step" in doc["notes"]
' >>bad 2>&1
result "new and gone kernels, and a night without steps" bad

# ---- numbers that no merge wrote ----
[ -z "$SQLITE3" ] || {
	"$SQLITE3" nights.db "UPDATE kernel SET calls = 1 << 62,
		total_ns = 9223372036854775807 WHERE id % 3 = 0;
		UPDATE kernel SET total_ns = -total_ns * 1000000000
		WHERE id % 7 = 0 AND id % 3;
		UPDATE step SET dur_ns = 9223372036854775807,
		kernel_ns = -9223372036854775807, sync_count = 1 << 62
		WHERE rank_id % 2"
	run 0 "$profan" trend nights.db && run 0 "$profan" trend nights.db -f json
	result "numbers that cannot be are not known" out err
}

# ---- nights that were traces, in a fleet and in none ----
traces() { # NIGHTS AT: nights/*.json, 2 % more from one on
	rm -rf nights
	mkdir nights
	"$PYTHON" -S - base.json "$@" >bad 2>&1 <<'END'
import json, random, sys
base = json.load(open(sys.argv[1]))
nights, at = map(int, sys.argv[2:])
for n in range(nights):
    rnd = random.Random(n)
    doc = json.loads(json.dumps(base))
    factor = (1 + rnd.gauss(0, 0.002)) * (1.02 if n >= at else 1)
    for e in doc["traceEvents"]:
        if e.get("cat") == "kernel":
            e["dur"] = round(e["dur"] * 0.9 * factor, 3)
    doc["baseTimeNanoseconds"] = (1790000000 + 86400 * n) * 10**9
    open("nights/n%02d.json" % n, "w").write(json.dumps(doc))
END
	for n in nights/*.json; do
		n=${n#nights/}
		"$profan" merge -q "nights/$n" --capture "${n%.json}" \
			--label "commit=${n%.json}" -o "nights/$n.db" ||
			cat err >>bad
	done
	"$profan" merge -q nights/*.db -o all.db
}
nights=$(amount 24 24 40) at=$(amount 12 12 25)
traces $nights $at
run 0 "$profan" trend all.db -f json
mv out fleet.json
"$PYTHON" -S -c '
import json, sys
doc, at = json.load(open("fleet.json")), "n" + sys.argv[1]
kernel = [c for c in doc["tables"]["changes"] if c["of"] == "kernel"]
assert kernel and all(c["capture"] == at for c in kernel), kernel
assert all(abs(c["change"] - .02) < .01 for c in kernel), kernel
assert "commit " + at in doc["scalars"]["finding"]
' $at >>bad 2>&1
result "nights of traces, +2 % from the ${at}th on" bad
run 0 "$profan" trend nights/n??.json -f json
mv out plain.json
"$PYTHON" -S -c '
import json
plain, fleet = (json.load(open(f)) for f in ("plain.json", "fleet.json"))
def of(doc):
    out = {}
    for c in doc["tables"]["changes"]:
        if c["of"] == "step":
            name = c["capture"].split("/")[-1].split(".")[0]
            out[name, c["name"]] = [c[k] for k in (
                "before", "after", "shift", "shift_low", "shift_high", "p",
                "before_count", "after_count")]
    return out
p, f = of(plain), of(fleet)
# means of parts are rounded so that they add up, in a fleet each by itself
assert p.keys() == f.keys() != set(), (p, f)
assert all(abs(x - y) <= 1 for k in p for x, y in zip(p[k], f[k])), (p, f)
a, b = ({c["name"] for c in d["tables"]["changes"] if c["of"] == "kernel"}
        for d in (plain, fleet))
assert a == b != set(), (a, b)
assert "; since nights/n" in plain["scalars"]["finding"], plain["scalars"]
' >bad 2>&1
result "the same figures and kernels of the traces themselves" bad
run 1 "$profan" trend nights/n??.json --fail-on 'kernel>1%' &&
	grep -q "failed: kernel>1%: kernel was .* since nights/n$at" err &&
	run 0 "$profan" trend nights/n??.json --fail-on 'kernel>3%'
result "and the check" out err
run 0 "$profan" trend nights/n0?.json -f json --fail-on 'kernel>1%' &&
	! grep -q '"changes"' out && grep -q 'not failed: kernel>1%' out
result "ten are too few, and say so if asked" out err
tap_done
