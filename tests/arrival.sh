# SPDX-License-Identifier: MIT
# Ranks that come late to collectives: 'profan overlap' against what the
# traces say (tests/arrival.py), the verdict just below and just above its
# thresholds, and every reason why ranks are not compared.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
helper=$top_srcdir/tests/arrival.py

job() { # KEY=VALUE...: $tmp/job, $tmp/job.db
	rm -rf "$tmp/job"
	"$PYTHON" -S "$helper" make "$tmp/job" "$@" || exit 99
	run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" || cat "$tmp/err"
}

set -- late=1 late=1234 'late=1234 ranks=3 jitter=777' 'jitter=5000 ranks=4' \
	'late=3000 jitter=9000 ranks=3' 'late=2000 ranks=5 groups=3' \
	'late=2000 per=3' 'late=2000 groups=0' 'late=2000 groups=0 plain=1' \
	'late=2000 base=1' 'late=2000 host=none' late=0
"$PYTHON" -S "$helper" jobs "$tmp/jobs" "$@" || exit 99
n=0
for keys; do
	n=$((n + 1))
	run 0 "$profan" ingest -q "$tmp/jobs/$n" -o "$tmp/job.db" &&
		run 0 "$profan" overlap "$tmp/job.db" --format json &&
		mv "$tmp/out" "$tmp/jobs/$n.overlap" &&
		run 0 "$profan" ranks "$tmp/job.db" --format json &&
		mv "$tmp/out" "$tmp/jobs/$n.ranks" || not_ok "$keys" "$tmp/err"
done
run 0 "$PYTHON" -S "$helper" check "$tmp/jobs" "$@" ||
	not_ok "arrival.py" "$tmp/err"
relay "$tmp/out"

says() { # NAME TEXT KEY=VALUE...: the row of V6 has the text
	said=$1 text=$2
	shift 2
	job "$@"
	run 0 "$profan" table verdicts "$tmp/job.db" --format csv
	grep '^V6,' "$tmp/out" >"$tmp/row"
	if grep -qF -- "$text" "$tmp/row"; then
		ok "$said"
	else
		not_ok "$said" "$tmp/row" "$tmp/err"
	fi
}

# others wait long in these jobs, and nothing is later because of it
says 'a rank that costs nothing is no straggler' 'V6,stragglers,fine,,0,' \
	late=37501
says 'nor one of three' 'V6,stragglers,fine,,0,' late=20000 ranks=3
run 0 "$profan" ranks "$tmp/job.db" && grep -q '^3 ranks are even' "$tmp/out"
result "as 'profan ranks' says" "$tmp/out"
says 'nobody is late' 'V6,stragglers,fine,,0,' late=0


# ---- one straggler: 'ranks', 'overlap' and V6 name the same or none ----
agrees() { # NAME OPTION...
	said=$1
	shift
	rm -rf "$tmp/job"
	"$mktrace" --steps 3 --layers 2 "$@" --out "$tmp/job" &&
		run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
		run 0 "$profan" table verdicts "$tmp/job.db" --format csv &&
		cp "$tmp/out" "$tmp/row" &&
		run 0 "$profan" overlap "$tmp/job.db" --format json &&
		cp "$tmp/out" "$tmp/overlap.json" &&
		run 0 "$profan" ranks "$tmp/job.db" --format json &&
		"$PYTHON" -S - "$tmp/row" "$tmp/overlap.json" "$tmp/out" \
			>"$tmp/err" 2>&1 <<'EOP'
import csv, json, re, sys
verdicts = list(csv.DictReader(open(sys.argv[1])))
v = next(v for v in verdicts if next(iter(v.values())) == "V6")
overlap, ranks = (json.load(open(p)) for p in sys.argv[2:])
o, r = overlap["scalars"], ranks["scalars"]
named = re.match(r"Rank (\d+) ", r["finding"])
if not named:
    assert o.get("straggler_rank") is None, o["straggler_rank"]
    assert v["state"] == "fine" and float(v["measured"]) == 0, v
    sys.exit()
rank = int(named[1])
row = next(x for x in ranks["tables"]["ranks"] if x["rank"] == rank)
share = row["saved_ns"] / r["total_ns"]
assert o["straggler_rank"] == rank, (o["straggler_rank"], rank)
assert o["straggler_saved_ns"] == row["saved_ns"] > 0
assert abs(float(v["measured"]) - share) < 1e-6, (v, share)
want = "severe" if share > .15 else "warning" if share > .05 else ""
assert v["severity"] == want, (v, share)
if want:
    assert int(v["recoverable_ns"]) == row["saved_ns"], v
    text = next(x for x in v.values() if "straggler:" in x)
    assert text.startswith(f"Rank {rank} is the straggler: like the"), text
EOP
	result "$said" "$tmp/row" "$tmp/err"
}
agrees 'even ranks' --ranks 4
agrees 'a slow rank' --ranks 4 --straggler 2
agrees 'a slow rank of several machines' --ranks 8 --hosts 4 --straggler 5 \
	--clock-skew 2000000 --drift 20
agrees 'one collection of garbage' --ranks 8 --straggler 3 --late garbage \
	--steps 40
agrees 'one wait for data' --ranks 4 --straggler 1 --late loader

# ---- withheld ----
says 'one trace' 'needs traces of several ranks' ranks=1
says 'the process group has other collectives' \
	"the process group '0' has different collectives on its ranks" \
	late=20000 odd=kind
says 'other collectives, without a name' \
	'process groups, and stream 20 has different collectives on its' \
	late=20000 odd=kind groups=0
says 'a clock far ahead, on one machine' \
	'ranks 0 and 1 ran on one machine, and yet their collectives end 121.00' \
	skew=121000

# clocks of machines that differ, or are not known, are aligned
says 'machines differ' 'V6,stragglers,fine,,0,' \
	late=20000 host=several skew=121000
says 'no machine, clocks that agree well enough' 'V6,stragglers,fine' \
	host=none skew=5000
says 'no machine, clocks that do not' 'V6,stragglers,fine' host=none skew=5010

# of unlike numbers, those from the end on that agree
says 'counts differ' 'V6,stragglers,fine,,0,' late=20000 odd=count
says 'counts differ, without a name' 'V6,stragglers,withheld' \
	late=20000 odd=count plain=1 groups=0
says 'one machine: no such limit' 'V6,stragglers,fine' skew=5010

# what says why is a note for people, too
run 0 "$profan" overlap "$tmp/job.db" --format text --rank 0 &&
	! grep -q 'Straggler\|not compared' "$tmp/out" &&
	ok '--rank: one trace is not compared' ||
	not_ok '--rank: one trace is not compared' "$tmp/out"
job late=20000 skew=121000
run 0 "$profan" overlap "$tmp/job.db" --format text &&
	grep -q 'Ranks are not compared *ranks 0 and 1 ran' "$tmp/out" &&
	ok 'overlap says why' || not_ok 'overlap says why' "$tmp/out"

run 0 "$profan" report "$tmp/job.db" --redact --format json &&
	grep -q "\"reason\": \"ranks cannot be compared, as 'profan overlap'" \
		"$tmp/out" &&
	ok '--redact: a reason' || not_ok '--redact: a reason' "$tmp/out"

# two captures of one rank, and a trace without a rank
job late=20000
run 0 "$profan" ingest -q "$tmp/job/rank-0.json" "$tmp/job/rank-0.json" \
	-o "$tmp/job.db"
run 0 "$profan" overlap "$tmp/job.db" --format json &&
	grep -q 'two traces are of rank 0' "$tmp/out" &&
	ok 'a rank twice' || not_ok 'a rank twice' "$tmp/out"
sed 's/"distributedInfo"/"other"/' "$tmp/job/rank-1.json" >"$tmp/other.json"
run 0 "$profan" ingest -q "$tmp/job/rank-0.json" "$tmp/other.json" \
	-o "$tmp/job.db"
run 0 "$profan" overlap "$tmp/job.db" --format json &&
	grep -q 'not every trace says which rank' "$tmp/out" &&
	ok 'no rank' || not_ok 'no rank' "$tmp/out"
"$mktrace" --steps 2 --layers 1 >"$tmp/a.json"
for rank in 0 1; do
	sed "1s/{/{\"distributedInfo\": {\"rank\": $rank},/" "$tmp/a.json" \
		>"$tmp/r$rank.json"
done
run 0 "$profan" ingest -q "$tmp/r0.json" "$tmp/r1.json" -o "$tmp/job.db"
run 0 "$profan" overlap "$tmp/job.db" --format json &&
	grep -q 'no collective was found on several ranks' "$tmp/out" &&
	ok 'no collectives' || not_ok 'no collectives' "$tmp/out"

rm -rf "$tmp/job" && mkdir "$tmp/job"
for rank in 0 1; do
	cat >"$tmp/job/rank-$rank.json" <<EOJ
{"distributedInfo": {"backend": "gloo", "rank": $rank, "world_size": 2},
"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1,
 "ts": 10, "dur": 20, "args": {"Collective name": "allreduce", "dtype": "Float",
 "In msg nelems": 8, "Out msg nelems": 8, "Group size": 2,
 "Process Group Name": "0"}},
{"ph": "X", "cat": "cpu_op", "name": "gloo:all_reduce", "pid": 1, "tid": 1,
 "ts": 12, "dur": 15}
]}
EOJ
done
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
run 0 "$profan" ranks "$tmp/job.db" && tr '\n' ' ' <"$tmp/out" |
	grep -q 'not compared: rank 1 has 1 collectives with others, too few'
result 'collectives of hosts' "$tmp/out"
for rank in 0 1; do
	sed 's/gloo:all_reduce/gloo:recv/' "$tmp/job/rank-$rank.json" \
		>"$tmp/job/r" && mv "$tmp/job/r" "$tmp/job/rank-$rank.json"
done
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
run 0 "$profan" ranks "$tmp/job.db" && tr '\n' ' ' <"$tmp/out" |
	grep -q 'not compared: no collective was found on several ranks\. '
result 'messages of hosts, which do not say whom they meet' "$tmp/out"
# of two groups of two the n-th of all four do not meet
rm -rf "$tmp/job" && mkdir "$tmp/job"
for rank in 0 1 2 3; do
	"$PYTHON" -S -c 'import json, sys
rank = int(sys.argv[1])
json.dump({"distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 4},
           "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "gloo:all_reduce",
                            "pid": 1, "tid": 1, "dur": 50 + 7 * (n % 3),
                            "ts": 1000 * n + 90 * (rank // 2) * (n % 3) + rank}
                           for n in range(8)]}, sys.stdout)' $rank \
		>"$tmp/job/rank-$rank.json"
done
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
run 0 "$profan" ranks "$tmp/job.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q 'not compared: .* as where there are several process groups'
result 'groups of hosts, which they do not name' "$tmp/out"

# ---- the page shows what the command does ----
rm -rf "$tmp/job"
"$mktrace" --ranks 4 --steps 3 --layers 2 --straggler 2 --out "$tmp/job"
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
run 0 "$profan" report -q "$tmp/job.db" -o "$tmp/job.html"
if run 0 "$PYTHON" -S "$top_srcdir/tests/report/check.py" "$profan" \
	"$tmp/job.db" "$tmp/job.html" && ! grep '^not ok' "$tmp/out" &&
	grep -q 'Rank 2 is the straggler' "$tmp/job.html"; then
	ok 'the page'
else
	not_ok 'the page' "$tmp/out" "$tmp/err"
fi

# ---- a real pair, where it is: of a release that did not name groups ----
if [ -f "$shared/traces/two_ranks_rank-0.json.gz" ]; then
	run 0 "$profan" ingest -q "$shared/traces/two_ranks_rank-0.json.gz" \
		"$shared/traces/two_ranks_rank-1.json.gz" -o "$tmp/job.db"
	run 0 "$profan" table verdicts "$tmp/job.db" --format csv
	grep '^V6,' "$tmp/out" >"$tmp/row"
	grep -q 'withheld.*the traces do not name process groups' "$tmp/row" && ok 'two_ranks' || not_ok 'two_ranks' "$tmp/row"
else
	skip 'two_ranks' 'it is not here'
fi
tap_done
