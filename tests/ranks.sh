# SPDX-License-Identifier: MIT
# Ranks on clocks of their own: 'profan ranks' against jobs whose stragglers,
# clocks and costs mktrace planted, laws that its sums keep, and, where they
# are at hand, figures that were computed without profan.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
helper=$top_srcdir/tests/ranks.py

ranks() { # ARGUMENT...: $tmp/ranks.json
	run 0 "$profan" ranks "$@" --format json || return 1
	cp "$tmp/out" "$tmp/ranks.json"
}

kept=0
planted() { # NAME OPTION...: $tmp/job and $tmp/job.db
	name=$1
	shift
	rm -rf "$tmp/job" "$tmp/job.db"
	"$mktrace" "$@" --out "$tmp/job" || exit 99
	if run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
		ranks "$tmp/job.db"; then
		kept=$((kept + 1))
		mkdir "$tmp/kept$kept"
		cp "$tmp/ranks.json" "$tmp"/job/truth.csv* "$tmp/kept$kept"
		to_judge "$name" ranks.py truth "$tmp/kept$kept/ranks.json" \
			"$tmp/kept$kept/truth.csv"
	else
		not_ok "$name" "$tmp/err"
	fi
}

skewed='--clock-skew 2000000 --drift 20'
# shellcheck disable=SC2086
planted 'even ranks of two machines' --ranks 8 --hosts 2 $skewed --steps 4
# shellcheck disable=SC2086
planted 'garbage collection' --ranks 16 --hosts 4 $skewed --straggler 6 \
	--late garbage --steps 4
for late in $(amount some some "more some"); do
	planted "a slow rank: $late kernels" --ranks 8 --straggler 5 \
		--late $late --steps 4
done
[ -z "${EVERY-}" ] || {
	planted 'even ranks' --ranks 8 --steps 4
	# shellcheck disable=SC2086
	planted 'data loading' --ranks 16 --hosts 4 $skewed --straggler 9 \
		--late loader --steps 4
}
# shellcheck disable=SC2086
planted 'a slow rank' --ranks 16 --hosts 4 $skewed --straggler 9 --steps 3
run 0 "$profan" ranks "$tmp/job.db"
grep -q '^Rank 9 computes longer than others (the same kernels take 1.25 times' \
	"$tmp/out"
result 'the sentence' "$tmp/out"
run 0 "$profan" ranks "$tmp/job.db" --clock as-is
grep -q '^Ranks are not compared: .* end on one rank' "$tmp/out"
result 'as they are: withheld' "$tmp/out"
if run 0 "$profan" ranks "$tmp/job.db" --fail-on 'straggler>30%' &&
	run 1 "$profan" ranks "$tmp/job.db" --fail-on 'straggler>2%' &&
	run 1 "$profan" ranks "$tmp/job.db" --fail-on 'waste>2%' &&
	run 1 "$profan" ranks "$tmp/job.db" --clock as-is \
		--fail-on 'straggler>90%' &&
	run 2 "$profan" ranks "$tmp/job.db" --fail-on 'straggler>x' &&
	run 2 "$profan" ranks "$tmp/job.db" --fail-on 'slow>2%'; then
	ok 'checks'
else
	not_ok 'checks' "$tmp/out" "$tmp/err"
fi

# a database a rank, in any order: the same but for numbers of traces
ranks "$tmp/job.db"
sed 's/, "trace_id": [0-9]*//' "$tmp/ranks.json" >"$tmp/one.json"
set --
for f in "$tmp"/job/rank-*.json; do
	"$profan" ingest -q "$f" -o "$f.db" || exit 99
	set -- "$f.db" "$@"
done
ranks "$@"
sed 's/, "trace_id": [0-9]*//' "$tmp/ranks.json" >"$tmp/other.json"
same 'databases of a rank each' "$tmp/one.json" "$tmp/other.json"

# a fleet has what is compared: the same again
run 0 "$profan" merge -q "$@" -o "$tmp/fleet.db" && ranks "$tmp/fleet.db"
sed 's/, "trace_id": [0-9]*//' "$tmp/ranks.json" >"$tmp/fleet.json"
same 'a fleet of them' "$tmp/one.json" "$tmp/fleet.json"
run 0 "$profan" summary "$tmp/fleet.db" -f json && "$PYTHON" -S -c 'import json, sys
late, ranks = (json.load(open(f))["scalars"] for f in sys.argv[1:])
sys.exit(late["late"] != ranks["finding"])' "$tmp/out" "$tmp/fleet.json"
result 'and its summary says who is late' "$tmp/out"
awk 'BEGIN { print "rank,rack"
	for (i = 0; i < 16; i++) print i ",r" int(i / 8) }' >"$tmp/racks.csv"
"$profan" merge -q "$tmp/fleet.db" --labels "$tmp/racks.csv" \
	-o "$tmp/racks.db" && ranks "$tmp/racks.db" --by rack &&
	"$PYTHON" -S - "$tmp/ranks.json" >"$tmp/err" 2>&1 <<'EOP'
import json, sys
tables = json.load(open(sys.argv[1]))["tables"]
for by in tables["by"]:
    own = [r for r in tables["ranks"] if r["rank"] // 8 == int(by["value"][1])]
    assert by["rank_count"] == len(own) == 8
    for key in ("root_ns", "last_count"):
        assert by[key] == sum(r[key] for r in own), key
    for key in ("computation_ns", "exposed_wait_ns", "idle_ns"):
        assert abs(by[key] - sum(r[key] for r in own) / 8) <= .5, key
    most = max(own, key=lambda r: r["saved_ns"])
    assert (by["saved_ns"], by["worst_rank"]) in (
        (most["saved_ns"], most["rank"]), (most["saved_ns"], None))
assert [b["value"] for b in tables["by"]] == ["r0", "r1"]
EOP
result 'by a label of a fleet' "$tmp/err"
run 0 "$profan" ranks "$tmp/job.db" --by host --table by -f csv &&
	[ "$(wc -l <"$tmp/out")" = 5 ] && grep -q '^node2,4,' "$tmp/out" &&
	run 2 "$profan" ranks "$tmp/job.db" --by rack &&
	run 2 "$profan" ranks "$tmp/fleet.db" --by rack
result 'by machine, and by what no rank says' "$tmp/out" "$tmp/err"
"$profan" merge -q "$1" --capture other -o "$tmp/part.db" &&
	"$profan" merge -q "$tmp/part.db" "$tmp/fleet.db" -o "$tmp/pair.db"
run 2 "$profan" ranks "$tmp/pair.db" && grep -q 'has 2 captures' "$tmp/err" &&
	run 2 "$profan" ranks "$tmp/pair.db" --capture none &&
	run 2 "$profan" ranks "$tmp/job.db" --capture other &&
	run 2 "$profan" ranks "$tmp/fleet.db" --step 1 &&
	run 2 "$profan" ranks "$tmp/fleet.db" --rank x &&
	run 3 "$profan" ranks "$tmp/fleet.db" --rank 99 &&
	run 0 "$profan" ranks "$tmp/pair.db" --capture other &&
	grep -q 'There is one rank' "$tmp/out"
result 'one capture of a fleet' "$tmp/out" "$tmp/err"
[ -z "$SQLITE3" ] || {
	: >"$tmp/bad"
	for data in "x''" "x'00'" "zeroblob(100)" "substr(data, 1, 40)" \
		"x'28b52ffde0ffffffffffffff7f010000'" \
		"CAST(substr(data, 1, 60) || zeroblob(30) || data AS BLOB)"; do
		cp "$tmp/fleet.db" "$tmp/hurt.db"
		"$SQLITE3" "$tmp/hurt.db" "UPDATE digest SET data = $data"
		run 0 "$profan" summary "$tmp/hurt.db" -f json &&
			grep -q '"late": .*digest' "$tmp/out" &&
			run 3 "$profan" ranks "$tmp/hurt.db" &&
			[ "$(wc -l <"$tmp/err")" = 1 ] &&
			grep -q 'hurt.db.*digest' "$tmp/err" ||
			cat "$tmp/err" >>"$tmp/bad"
	done
	[ ! -s "$tmp/bad" ]
	result 'damaged digests' "$tmp/bad"
}
run 0 "$profan" ranks "$1" && grep -q 'There is one rank' "$tmp/out"
result 'one rank' "$tmp/out"
run 0 "$profan" ranks "$@" "$1" &&
	grep -q '^Rank 9 computes longer' "$tmp/out" &&
	! grep -q 'Left out' "$tmp/out"
result 'a trace twice is one' "$tmp/out"
rm -rf "$tmp/job"

# the advice of a fleet names the rank and what holds it, as it does alone
"$mktrace" --ranks 4 --straggler 2 --late loader --steps 4 --out "$tmp/job"
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
	run 0 "$profan" advise "$tmp/job.db" --rank 2 && tr -s ' \n' ' ' <"$tmp/out" |
	grep -o 'Without loading data at most [^W]* would be saved' |
	head -1 >"$tmp/alone" && [ -s "$tmp/alone" ] &&
	run 0 "$profan" advise "$tmp/job.db" && cp "$tmp/out" "$tmp/said" &&
	run 0 "$profan" summary "$tmp/job.db" &&
	cat "$tmp/out" "$tmp/said" | tr -s ' \n' ' ' >"$tmp/both" &&
	[ "$(grep -o 'Rank 2 is late: its GPU waits for data loading; were it like the others, ' \
		"$tmp/both" | wc -l)" = 3 ] &&
	[ "$(grep -oF "Rank 2 alone: $(cat "$tmp/alone")" "$tmp/both" | wc -l)" = 3 ]
result 'advice of a fleet names the rank and its cause' "$tmp/out" "$tmp/alone"
rm -rf "$tmp/job"

# hosts that communicate themselves: who is late to which collective of a kind,
# on clocks that are one, and on such that are not
cat >"$tmp/hosts.py" <<'EOP'
import json, sys
folder, skew = sys.argv[1], int(sys.argv[2]) * 1000000
times = int(sys.argv[3])
ranks, events, free = 3, [[], [], []], [1000000] * 3
def event(rank, name, start, end, tid, cat="cpu_op"):
    at = start + skew * rank
    events[rank].append('{"ph": "X", "cat": "%s", "name": "%s", "pid": 1, '
                        '"tid": %d, "ts": %d.%03d, "dur": %d.%03d}' % (
                            cat, name, tid, *divmod(at, 1000),
                            *divmod(end - start, 1000)))
def meet(rank_after, name, tid, takes):
    end = max(rank_after) + takes * times
    for r in range(ranks):
        event(r, name, rank_after[r], end + 700 * r, tid, "user_annotation")
    return [end + 700 * r + 5000 for r in range(ranks)]
for n in range(8):
    begin = list(free)
    for r in range(ranks):
        event(r, "aten::mm", free[r] + 1000, free[r] + 900000, 1)
    free = [f + 1000000 + 2000000 * (r == 1) for r, f in enumerate(free)]
    free = meet(free, "gloo:all_to_all", 2, 200000)
    for r in range(ranks):
        event(r, "aten::add", free[r] + 1000,
              free[r] + 900000 + 3000000 * (r == 2), 1)
    free = [f + 1000000 + 3000000 * (r == 2) for r, f in enumerate(free)]
    free = meet(free, "gloo:all_reduce", 3, 300000)
    for r in range(ranks):
        event(r, "ProfilerStep#%d" % n, begin[r], free[r] - 1000, 1,
              "user_annotation")
for r in range(ranks):
    with open("%s/rank%d.json" % (folder, r), "w") as f:
        f.write('{"distributedInfo": {"backend": "gloo", "rank": %d, '
                '"world_size": 3}, "traceEvents": [%s]}' % (
                    r, ",\n".join(events[r])))
EOP
for skew in 0 40; do
	rm -rf "$tmp/job"
	mkdir "$tmp/job"
	"$PYTHON" -S "$tmp/hosts.py" "$tmp/job" "$skew" 1
	run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
		ranks "$tmp/job.db" && "$PYTHON" -S - "$tmp/ranks.json" "$skew" \
		>"$tmp/err" 2>&1 <<'EOP'
import json, sys
answer, skew = json.load(open(sys.argv[1])), int(sys.argv[2]) * 1000000
t, s = answer["tables"], answer["scalars"]
assert s["met_count"] == 16 and not s["left_count"], s
assert len(t["meetings"]) == 16, t["meetings"]
for m in t["meetings"]:
    late, ns = {"all_to_all": (1, 2000000), "all_reduce": (2, 3000000)}[m["kind"]]
    # ends differ by 700 ns from rank to rank
    assert m["last_rank"] == late and abs(m["spread_ns"] - ns) < 3000, m
    assert m["cause"] in ("unknown", "host" if late == 1 else "computation"), m
for r in t["ranks"]:
    assert abs(r["root_ns"] - 8 * (0, 2000000, 3000000)[r["rank"]]) < 24000, r
    assert r["saved_ns"] is None, r
for c in t["clocks"]:
    assert abs(c["offset_ns"] - c["rank"] * skew) < 2000, c
assert "total_ns" not in s, s
assert s["finding"].startswith("Rank 2 runs operators for longer than others"), s
assert "it began 24." in s["finding"] or "it began 23." in s["finding"], s
EOP
	result "collectives of hosts, clocks $skew ms apart" "$tmp/err" "$tmp/ranks.json"
done
run 0 "$profan" summary "$tmp/job.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q 'Rank 2 runs operators .* of waits. Rank 2 alone: Operators.* is in aten::add'
result 'what the late rank does' "$tmp/out"
# who begins hardly any of it is not why they communicate so long
"$PYTHON" -S "$tmp/hosts.py" "$tmp/job" 0 100
run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
	run 0 "$profan" ranks "$tmp/job.db" && grep -q '^Rank 2 runs' "$tmp/out" &&
	run 0 "$profan" summary "$tmp/job.db" &&
	grep -q 'Without communication' "$tmp/out" &&
	! grep -q 'of waits\|one rank is late' "$tmp/out"
result 'ranks that are hardly late are no cause' "$tmp/out"

# pipelines: what each stage waits for
pipeline() { # NAME MICROBATCHES SLOWER OPTION...: $tmp/job and $tmp/job.db
	name=$1 microbatches=$2 slower=$3
	shift 3
	rm -rf "$tmp/job" "$tmp/job.db"
	"$mktrace" --microbatches "$microbatches" "$@" --out "$tmp/job" ||
		exit 99
	if run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
		ranks "$tmp/job.db" &&
		run 0 "$PYTHON" -S "$helper" pipeline "$tmp/ranks.json" \
			"$tmp/job/truth.csv.pipeline" "$microbatches" \
			"$slower"; then
		ok "$name"
	else
		not_ok "$name" "$tmp/out" "$tmp/err"
	fi
}
! grep -qi 'bubble\|receive' "$tmp/one.json" &&
	run 0 "$profan" ranks "$tmp/fleet.db" &&
	! grep -qi 'bubble\|receive' "$tmp/out"
result 'without messages nothing is said of bubbles' "$tmp/out"
pipeline 'a pipeline, messages without kernels of their own' 4 - --ranks 4 \
	--stages 4 --steps 4 --batched
# shellcheck disable=SC2086
pipeline 'a slow stage' 8 2 --ranks 8 --hosts 2 $skewed --stages 4 --steps 3 \
	--straggler 2
sed 's/, "trace_id": [0-9]*//' "$tmp/ranks.json" >"$tmp/one.json"
run 0 "$profan" ranks "$tmp/job.db"
tr '\n' ' ' <"$tmp/out" | grep -q '^3[0-9.]* % of the steps are bubbles of 4 st'"\
ages (1F1B of even stages: 27.27 %); stage 2 computes longest, 1.[45][0-9] time"
result 'its sentence' "$tmp/out"
run 0 "$profan" merge -q "$tmp/job" -o "$tmp/fleet.db" && ranks "$tmp/fleet.db"
sed 's/, "trace_id": [0-9]*//' "$tmp/ranks.json" >"$tmp/fleet.json"
same 'a fleet of a pipeline' "$tmp/one.json" "$tmp/fleet.json"
rm "$tmp/job/rank-3.json" && "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
	ranks "$tmp/job.db" && "$PYTHON" -S - "$tmp/ranks.json" >"$tmp/err" \
	2>&1 <<'EOP'
import json, sys
tables = json.load(open(sys.argv[1]))["tables"]
for r in tables["receives"]:
    # 1 and 5 send to or receive from 3, which nobody traced
    assert (r["bubble_ns"] is None) == (r["rank"] in (1, 5)), r
    assert (r["left_count"] > 0) == (r["rank"] in (1, 5)), r
    assert (r["receive_wait_ns"] is None) == (r["rank"] == 1), r
    # nor how many stages there are of them
    assert (r["stage"] is None) == (r["rank"] in (1, 5, 7)), r
EOP
result 'what met nothing is not known' "$tmp/err"
sed -i 's/ProfilerStep#/Part /' "$tmp"/job/rank-*.json &&
	"$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
	ranks "$tmp/job.db" && "$PYTHON" -S - "$tmp/ranks.json" >"$tmp/err" \
	2>&1 <<'EOP'
import json, sys
tables = json.load(open(sys.argv[1]))["tables"]
for r in tables["receives"] + tables["stages"]:
    for key in ("bubble_ns", "bubble", "step_ns", "computation_ns"):
        assert r[key] is None, (key, r)
assert any(r["receive_wait_ns"] for r in tables["receives"])
EOP
result 'without steps bubbles are not known' "$tmp/err"
rm -rf "$tmp/job"

# pipelines of few collectives or of none: waits in receives need one clock
"$mktrace" --ranks 4 --stages 4 --steps 4 --out "$tmp/job"
cat >"$tmp/fewer.py" <<'EOP'
import glob, sys
folder, most, host = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "host"
for path in glob.glob(folder + "/rank-*.json"):
    kept, n = [], 0  # an event a line, as it is
    for line in open(path):
        is_one = '"cat": "kernel"' in line and "AllReduce" in line
        n += is_one
        if not is_one or n <= most:
            kept.append(line if host else line.replace("host_name", "other"))
    open(path, "w").writelines(kept)
EOP
waits() { # ARGUMENT...: waits in receives, by rank
	run 0 "$profan" ranks "$tmp/job.db" "$@" --table receives -f json &&
		"$PYTHON" -S -c 'import json, sys
for r in json.load(sys.stdin)["tables"]["receives"]:
    print(r["rank"], r["receive_count"], r["receive_wait_ns"], r["input_ns"])' \
			<"$tmp/out"
}
"$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
waits --clock as-is >"$tmp/want"
for most in 3 0; do
	"$PYTHON" -S "$tmp/fewer.py" "$tmp/job" $most host
	"$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
	waits --clock as-is >"$tmp/got"
	same "waits in receives of $most collectives" "$tmp/want" "$tmp/got"
done
waits >"$tmp/got"
same 'and so of one machine' "$tmp/want" "$tmp/got"
run 0 "$profan" ranks "$tmp/job.db" &&
	tr '\n' ' ' <"$tmp/out" |
	grep -q 'no collective was found on several ranks: clocks are taken' &&
	run 0 "$profan" table verdicts "$tmp/job.db" -f csv &&
	grep -q '^V6,stragglers,withheld' "$tmp/out"
result 'which is said, and of collectives nothing' "$tmp/out"
"$PYTHON" -S "$tmp/fewer.py" "$tmp/job" 0 none
"$profan" ingest -q "$tmp/job" -o "$tmp/job.db"
run 0 "$profan" ranks "$tmp/job.db" && tr '\n' ' ' <"$tmp/out" |
	grep -q 'not compared: no collective .* if they are one, --clock as-is'
result 'without a machine they may not be one' "$tmp/out"
waits --clock as-is >"$tmp/got"
same 'unless that is said' "$tmp/want" "$tmp/got"
rm -rf "$tmp/job"

# a capture that began later: matched from its end
"$mktrace" --ranks 4 --hosts 2 --clock-skew 2000000 --steps 4 --layers 2 \
	--out "$tmp/job"
"$PYTHON" -S - "$tmp/job/rank-1.json" <<'EOP'
import json, sys
d = json.load(open(sys.argv[1]))
steps = [e for e in d["traceEvents"] if e["name"] == "ProfilerStep#1"]
d["traceEvents"] = [e for e in d["traceEvents"]
                    if e["ts"] >= steps[0]["ts"] or e["ph"] == "M"]
open(sys.argv[1], "w").write(json.dumps(d))
EOP
if run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
	ranks "$tmp/job.db" &&
	run 0 "$PYTHON" -S "$helper" laws "$tmp/ranks.json" &&
	grep -q '"left_count": 6,' "$tmp/ranks.json" &&
	! grep -q '"kernel_ns": [0-9]' "$tmp/ranks.json" &&
	grep -q 'ranks are even' "$tmp/ranks.json"; then
	ok 'a capture that began later'
else
	not_ok 'a capture that began later' "$tmp/ranks.json"
fi

# late at the first collective, before which nothing is compared: its kernels
# say why, also where a rank is left out; ranks that are in no trace are said
says() { # NAME SENTENCE LATE WORLD [LACKS [LONGER]]
	rm -rf "$tmp/job" "$tmp/job.db"
	mkdir "$tmp/job"
	"$PYTHON" -S - "$tmp/job" "$3" "$4" "${5:--1}" "${6:-0}" <<'EOP'
import json, sys
folder, late, world, lacks, longer = sys.argv[1], *map(int, sys.argv[2:])
def event(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": 1, "ts": ts, "dur": dur,
            "pid": 0 if cat == "kernel" else 1, "args": args}
for rank in range(4):
    events, at, corr = [], 1000, 0
    def launch(name, dur, stream, **args):
        global corr
        corr += 1
        events.extend((
            event("cuda_runtime", "cudaLaunchKernel", 100 + 10 * corr, 5,
                  correlation=corr),
            event("kernel", name, at, dur, correlation=corr, device=0,
                  stream=stream, **args)))
    for n in range(8):
        for k in range(5):
            dur = 1000 + 20000 * (n == 0 and k == 4 and rank == late)
            launch(f"gemm{k}", dur, 7)
            at += dur + 1
        end = 21000 + (5100 + longer) * (n + 1)
        if (rank, n) != (lacks, 3):
            launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", end - at, 20, **{
                "Collective name": "allreduce", "In msg nelems": 1 << 20,
                "Out msg nelems": 1 << 20, "Group size": world,
                "dtype": "Float", "Process Group Name": "0"})
        at = end + 1
    with open(f"{folder}/rank{rank}.json", "w") as f:
        json.dump({"traceEvents": events, "distributedInfo": {
            "backend": "nccl", "rank": rank, "world_size": world}}, f)
EOP
	run 0 "$profan" ingest -q "$tmp/job" -o "$tmp/job.db" &&
		run 0 "$profan" ranks "$tmp/job.db" &&
		tr -s '\n' ' ' <"$tmp/out" | grep -q "^$2"
	result "$1" "$tmp/out" "$tmp/err"
}
why='Rank 2 computes longer than others (some of its kernels are slower); '
says 'late at the first collective' "${why}were it like the others, 20.000 ms of" 2 4
grep -q '^ *2 .* 20.000 ms  computation ' "$tmp/out"
result 'late at the first collective: the table' "$tmp/out"
says 'what it costs is not known' "${why}it began 20.000 ms of waits. 3 ranks \
are compared, and the rest left out; what their differences cost is not known" \
	2 4 3
says 'even ranks, and ranks in no trace' "4 of the job's 8 ranks are even" -1 8
says 'even ranks' '4 ranks are even' -1 4
# and who is even waits for nobody that is compared
waits() { # NAME SENTENCE
	run 0 "$profan" advise "$tmp/job.db" &&
		tr -s '\n ' ' ' <"$tmp/out" | grep -q "A13 .*$2"
	result "$1" "$tmp/out"
}
says 'even ranks of slow links' '4 ranks are even' -1 4 -1 20000
waits 'even ranks wait for nobody' 'the transfer itself is slow: ranks are even'
says 'even ranks, half of them traced' "4 of the job's 8" -1 8 -1 20000
waits 'even ranks wait for others' 'ranks in no trace: the 4 that are traced'

# one damaged rank costs itself only
run 0 "$PYTHON" -S "$helper" damage "$profan" "$mktrace" "$tmp"
result 'a damaged rank is left out' "$tmp/out" "$tmp/err"
# shellcheck disable=SC2086
run 0 "$PYTHON" -S "$helper" damage "$profan" "$mktrace" "$tmp" --hosts 4 $skewed
result 'a damaged rank of several machines' "$tmp/out" "$tmp/err"

# 256 ranks on 8 machines; text stays short
# shellcheck disable=SC2086
[ -z "${EVERY-}" ] || {
	planted '256 ranks' --ranks 256 --hosts 8 $skewed --straggler 77 \
		--steps 4
	run 0 "$profan" ranks "$tmp/job.db" --clock as-is
	grep -q '^Ranks are not compared: .* end on one rank' "$tmp/out"
	result '256 ranks, most groups of one machine: withheld' "$tmp/out"
	for c in info gaps steps launches overlap; do
		"$profan" "$c" "$tmp/job.db" 2>"$tmp/err" | wc -l
	done >"$tmp/out"
	awk '$1 < 10 || $1 > 60 { bad = 1 } END { exit bad || NR != 5 }' \
		"$tmp/out"
	result '256 ranks: at most 60 lines' "$tmp/out" "$tmp/err"
	"$mktrace" --ranks 1024 --hosts 32 --clock-skew 2000000 --straggler 77 \
		--steps 4 --out "$tmp/job" && run 0 "$profan" ingest -q \
		"$tmp/job" -o "$tmp/job4.db" && run 0 "$profan" ranks \
		"$tmp/job4.db" && grep -q '^Rank 77 ' "$tmp/out" &&
		[ "$(wc -l <"$tmp/out")" -le 60 ]
	result '1,024 ranks: the late one is named, in a page' "$tmp/out"
	rm -f "$tmp/job4.db"
	planted 'clocks that drift' --ranks 8 --hosts 4 $skewed --drift 50 \
		--straggler 2 --steps 200 --layers 2
}
"$mktrace" --ranks 64 --hosts 8 --clock-skew 2000000 --straggler 33 --steps 2 \
	--layers 2 --out "$tmp/many"
run 0 "$profan" ingest -q "$tmp/many" -o "$tmp/many.db"
run 0 "$profan" ranks "$tmp/many.db"
awk 'length($0) > 80 { bad = 1 } END { exit bad || NR > 60 }' "$tmp/out" &&
	grep -q '^Rank 33 computes longer' "$tmp/out"
result '64 ranks on a page' "$tmp/out"
for c in info gaps steps launches overlap kernels; do
	run 0 "$profan" "$c" "$tmp/many.db"
	echo "$c $(wc -l <"$tmp/out") $(grep -c '^p50' "$tmp/out")"
done >"$tmp/lines"
awk '$2 < 10 || $2 > 60 { bad = 1 } END { exit bad || NR != 6 }' "$tmp/lines"
result 'and of each command' "$tmp/lines"
cp "$tmp/many.db" "$tmp/more.db"
run 0 "$profan" diff "$tmp/many.db" "$tmp/more.db" --limit -1 &&
	[ "$(wc -l <"$tmp/out")" -gt 60 ] &&
	run 0 "$profan" diff "$tmp/many.db" "$tmp/more.db" &&
	[ "$(wc -l <"$tmp/out")" -le 60 ]
result 'and of a comparison' "$tmp/out" "$tmp/err"
run 2 "$profan" path "$tmp/many.db" &&
	grep -q "a path is one trace's, and there are 64" "$tmp/err" &&
	run 0 "$profan" advise "$tmp/many.db" &&
	grep -q '^Communication is exposed for 30.22 % of 128 steps' "$tmp/out" &&
	grep -q 'how much of that would be saved' "$tmp/out" &&
	! grep -q 'behind the critical path' "$tmp/out"
result 'several ranks have no path, and are judged by what GPUs wait for' "$tmp/out" "$tmp/err"
run 0 "$profan" gaps "$tmp/many.db"
grep -q '^Note: [0-9]* rows of tables left out, to be a page; --limit -1' \
	"$tmp/out" && run 0 "$profan" gaps "$tmp/many.db" --limit 10 &&
	! grep -q 'to be a page' "$tmp/out"
result 'what is left out is counted; --limit says more' "$tmp/out"

# ---- times that no digest holds: a rank without them, and the rest ----
for n in 0 1; do
	for r in 0 1; do
		kind='"cat": "cpu_op", "name": "aten::mm"'
		[ $n = 0 ] || kind='"cat": "kernel", "name": "gemm", "args": {
			"device": '$r', "stream": 7}'
		cat >"$tmp/far$r.json" <<EOF
{"distributedInfo": {"backend": "gloo", "rank": $r, "world_size": 2},
 "traceEvents": [
{"ph": "X", $kind, "pid": 1, "tid": 1, "ts": -4200000000000000, "dur": 9},
{"ph": "X", $kind, "pid": 1, "tid": 1, "ts": 4200000000000000, "dur": 9}]}
EOF
	done
	run 0 "$profan" ingest -q "$tmp/far0.json" "$tmp/far1.json" \
		-o "$tmp/far.db" && run 0 "$profan" summary "$tmp/far.db" &&
		run 0 "$profan" advise "$tmp/far.db" &&
		run 0 "$profan" ranks "$tmp/far.db" -f csv &&
		grep -q 'rank 1, whose times are too large' "$tmp/out"
	result "times that cannot be added up: $n" "$tmp/out" "$tmp/err"
done

# ---- figures of another program ----
golden=$shared/golden/insight
if [ -d "$golden/ranks_planted" ]; then
	for case in "$golden"/ranks_planted/*/; do
		case=${case%/} case=${case##*/}
		if run 0 "$profan" ingest -q "$golden/ranks_planted/$case" \
			-o "$tmp/$case.db" &&
			ranks "$tmp/$case.db" --clock drifting &&
			cp "$tmp/ranks.json" "$tmp/$case.drifting" &&
			ranks "$tmp/$case.db" &&
			cp "$tmp/ranks.json" "$tmp/$case.usual"; then
			to_judge "known figures: $case" ranks.py golden \
				"$tmp/$case.drifting" "$golden" "$case"
			to_judge "known figures, or better: $case" ranks.py \
				better "$tmp/$case.usual" "$golden" "$case"
		else
			not_ok "known figures: $case" "$tmp/err"
		fi
	done
else
	skip 'known figures' 'they are not here'
fi
judge_all
if [ -f "$shared/traces/two_ranks_rank-0.json.gz" ]; then
	run 0 "$profan" ingest -q "$shared"/traces/two_ranks_rank-[01].json.gz \
		-o "$tmp/two.db"
	run 0 "$profan" ranks "$tmp/two.db" &&
		grep -q '^Ranks are not compared: the traces do not name' \
			"$tmp/out"
	result 'two real ranks' "$tmp/out"
else
	skip 'two real ranks' 'they are not here'
fi
tap_done
