# SPDX-License-Identifier: MIT
# Advice on programs with causes planted (tests/advise.py): it comes first with
# exactly what was planted, or bounds of what the program without it saves; it
# is not given where the cause is missing, or hidden.  Every rule is given, fine
# or not judged, once, also of the real traces.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
tap_shown='out err'

advised() { # FOLDER NAME TRACE: what is advised, into FOLDER
	ingested "$2" "$3" || return
	run 0 "$profan" advise "$tmp/t.db" -f json || {
		not_ok "$2: advise" "$tmp/err"
		return
	}
	mv "$tmp/out" "$tmp/$1/$2.json"
}
judged() { # FOLDER: a result or two for each
	run 0 "$PYTHON" -S "$top_srcdir/tests/advise.py" "--$1" "$tmp/$1" ||
		not_ok "$1: advise.py" "$tmp/err"
	relay "$tmp/out"
}

mkdir "$tmp/made" "$tmp/planted" "$tmp/real"
"$PYTHON" -S "$top_srcdir/tests/advise.py" --make "$tmp/made" "$(amount 3 1 1)" \
	A1 A1-not A2-paged A12 A18-tensors= A21 A21-less A21-parts A22-op \
	A22-unmarked >"$tmp/names"
for name in A1 A1-not $(cat "$tmp/names"); do
	advised planted "$name" "$tmp/made/$name.json"
	case $name in
	*=) advised planted "$name+" "$tmp/made/$name+.json" ;; # what it saves
	A1) cp "$tmp/t.db" "$tmp/before.db" ;;
	A1-not) cp "$tmp/t.db" "$tmp/after.db" ;;
	esac
done
judged planted
run 0 "$profan" diff "$tmp/before.db" "$tmp/after.db" --advice -f json &&
	cp "$tmp/out" "$tmp/diff.json" && grep -q 'done: A1' "$tmp/out" &&
	run 0 "$PYTHON" -S "$top_srcdir/tests/advise.py" --diff \
		"$tmp/planted/A1.json" "$tmp/planted/A1-not.json" \
		"$tmp/diff.json" &&
	run 0 "$profan" diff "$tmp/after.db" "$tmp/before.db" --advice &&
	grep -q 'new: A1' "$tmp/out" &&
	run 0 "$profan" diff "$tmp/before.db" "$tmp/after.db" --advice --path \
		-f html -o - && grep -q '<table id=path-parts' "$tmp/out" &&
	grep -q '^<tbody><tr><th scope=row>done<td>A1<' "$tmp/out" &&
	run 2 "$profan" diff --advice "$tmp/before.db" -- "$tmp/after.db" "$tmp/t.db"
result 'diff says what is done'
run 0 "$profan" advise "$tmp/before.db" --whole-capture &&
	! grep -q 'where a step begins' "$tmp/out"
result 'who asks about all of a capture is not told that it has no steps' \
	"$tmp/out"
# what steps before the capture launched is said of what is saved
for calls in 3 4; do
	"$PYTHON" -S -c 'import json, sys
def event(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": 1, "ts": ts, "dur": dur,
            "pid": 0 if cat == "kernel" else 1, "args": args}
calls = [event("cuda_runtime", "cudaLaunchKernel", 10 + 9 * i, 5,
               correlation=i + 1)
         for i in range(4)]
json.dump([event("cpu_op", "aten::mm", 1, 90)] + calls[4 - int(sys.argv[1]):] +
          [event("kernel", "ncclDevKernel_AllReduce", 19 + 400 * i, 400,
                 correlation=i + 1, device=0, stream=7) for i in range(4)],
          sys.stdout)' "$calls" >"$tmp/before.json"
	run 0 "$profan" ingest -q "$tmp/before.json" -o "$tmp/t.db" &&
		run 0 "$profan" advise "$tmp/t.db" &&
		tr -s ' \n' ' ' <"$tmp/out" >"$tmp/before$calls"
done
says='A13 .*400.000 us of what it holds is GPU work launched before the capture'
grep -q "$says" "$tmp/before3" && ! grep -q "$says" "$tmp/before4"
result 'of what is saved, what was launched before the capture' "$tmp/before3"
# of GPU work alone nothing is known of what the host did between
"$PYTHON" -S -c 'import json, sys
doc = json.load(sys.stdin)
doc["traceEvents"] = [e for e in doc["traceEvents"]
                      if e.get("cat") == "kernel" or e["ph"] == "M"]
json.dump(doc, sys.stdout)' <"$tmp/made/A21.json" >"$tmp/alone.json"
run 0 "$profan" ingest -q "$tmp/alone.json" -o "$tmp/alone.db" &&
	run 0 "$profan" advise "$tmp/alone.db" &&
	! grep -q 'it would save' "$tmp/out" &&
	grep -q 'A21 .*no record explains' "$tmp/out"
result 'kernels alone are no reason to say that nothing would be saved' \
	"$tmp/out"
# and of calls whose GPU work is missing nothing is known at all
"$PYTHON" -S -c 'import json, sys
doc = json.load(sys.stdin)
doc["traceEvents"] = [e for e in doc["traceEvents"]
                      if e.get("cat") in ("cpu_op", "cuda_runtime")]
json.dump(doc, sys.stdout)' <"$tmp/made/A22-unmarked.json" >"$tmp/lost.json"
run 0 "$profan" ingest -q "$tmp/lost.json" -o "$tmp/lost.db" &&
	run 0 "$profan" advise "$tmp/lost.db" &&
	grep -q '^Nothing can be judged: there is no GPU work' "$tmp/out" &&
	! grep -q '^A22 .*nothing' "$tmp/out"
result 'calls alone are judged by nothing' "$tmp/out"
# nor does GPU work that no call launched bound what the host would save
"$PYTHON" -S -c 'import json, sys
doc = json.load(sys.stdin)
doc["traceEvents"] = [e for e in doc["traceEvents"]
                      if e.get("cat") != "cuda_runtime"]
json.dump(doc, sys.stdout)' <"$tmp/made/A21.json" >"$tmp/alone.json"
run 0 "$profan" ingest -q "$tmp/alone.json" -o "$tmp/alone.db" &&
	run 0 "$profan" path "$tmp/alone.db" &&
	tr '\n' ' ' <"$tmp/out" | grep -q 'Note: .*more may be saved' &&
	! grep -q 'would be saved' "$tmp/out" &&
	run 0 "$profan" advise "$tmp/alone.db" -f json &&
	"$PYTHON" -S -c 'import json, sys
row = json.load(sys.stdin)["tables"]["advice"][0]
assert row["id"] == "A21" and row["at_most_ns"] == row["on_path_ns"] > 0' \
		<"$tmp/out"
result 'GPU work without calls bounds nothing' "$tmp/out"
"$mktrace" --steps 3 --layers 2 >"$tmp/m.json"
advised real mktrace "$tmp/m.json"
"$mktrace" --steps 3 --layers 1 --no-stacks --no-steps >"$tmp/m.json"
advised real 'mktrace without steps' "$tmp/m.json"
for file in "$top_srcdir"/tests/traces/good-*.json; do
	[ -n "${LONG-}" ] || case $file in
	*good-kineto* | *good-memory* | *good-no-events*) ;;
	*) continue ;;
	esac
	is_quick "$file" || continue
	name=${file##*/}
	advised real "${name%.json}" "$file"
done
real_traces advised real
judged real
# where nothing leads to the end of steps, what is behind it is no finding
"$PYTHON" -S -c 'import json, sys
def event(cat, name, tid, ts, dur):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
            "ts": ts, "dur": dur}
json.dump([e for t in (1000, 2000, 3000) for e in (
    event("user_annotation", f"ProfilerStep#{t // 1000}", 1, t, 1000),
    event("user_annotation", "load_batch", 1, t, 600),
    event("cuda_runtime", "cudaMemsetAsync", 1, t + 605, 10),
    event("cpu_op", "aten::mm", 2, t + 620, 300))], sys.stdout)' >"$tmp/behind.json"
run 0 "$profan" ingest -q "$tmp/behind.json" -o "$tmp/t.db" &&
	run 0 "$profan" advise "$tmp/t.db" &&
	grep -q '^Loading data takes 60.00 %' "$tmp/out"
result 'advice comes first where there is no path' "$tmp/out"
# what nothing in steps explains is one thing, however they are numbered
"$PYTHON" -S -c 'import json, sys
def event(cat, name, ts, dur):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1,
            "ts": ts, "dur": dur}
json.dump([e for t in (1000, 2000, 3000) for e in (
    event("user_annotation", f"ProfilerStep#{t // 1000}", t, 1000),
    event("cpu_op", "aten::mm", t + 950, 40))], sys.stdout)' >"$tmp/own.json"
run 0 "$profan" ingest -q "$tmp/own.json" -o "$tmp/t.db" &&
	run 0 "$profan" advise "$tmp/t.db" &&
	grep -q '^96.00 % of the critical path is in steps' "$tmp/out"
result 'time of steps alone' "$tmp/out"
# a step of short functions: what Python takes of it, as path says
"$profan" ingest -q "$tmp/made/A21-parts.json" -o "$tmp/t.db"
run 0 "$profan" path "$tmp/t.db" &&
	share=$(sed -n 's/^python  *[0-9.]* ms  *\([0-9.]* %\).*/\1/p' "$tmp/out") &&
	[ -n "$share" ] && run 0 "$profan" summary "$tmp/t.db" &&
	tr -s ' \n' ' ' <"$tmp/out" | grep -q "Python functions themselves \
hold $share of the critical path"
result 'line 1 of the summary has the share of Python' "$tmp/out"
# ... and so are a cold start, and a wait for what nobody recorded
"$PYTHON" -S -c 'import json, sys
def event(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": 1, "ts": ts, "dur": dur,
            "pid": 0 if cat == "kernel" else 1, "args": args}
json.dump([e for i, start in enumerate((9000, 9010, 9020)) for e in (
    event("cuda_runtime", "cudaLaunchKernel", 100 + 20 * i, 5, correlation=i + 1),
    event("kernel", "a_kernel", start, 9, correlation=i + 1, device=0,
          stream=7))], sys.stdout)' >"$tmp/queued.json"
for name in made/A22-unmarked made/A12 queued; do
	case $name in
	*A12*) says='Calls of the allocator hold [0-9.]* % of the critical path' ;;
	queued) says='Work from before the capture holds up 9[0-9.]* % of the' ;;
	*) says='First uses hold [0-9.]* % of the critical path of [0-9.]* ms: this' ;;
	esac
	"$profan" ingest -q "$tmp/$name.json" -o "$tmp/t.db"
	run 0 "$profan" summary "$tmp/t.db" && tr -s ' \n' ' ' <"$tmp/out" |
		grep -q "$says"
	result "line 1 of the summary: $says" "$tmp/out"
done
# what holds next to nothing beside that wait is not worth a sentence
"$PYTHON" -S -c 'import json, sys
events = json.load(sys.stdin)
for e in events:
    if e["cat"] == "kernel":
        e["ts"], e["dur"] = 1e6 + 100 * (e["ts"] - 9000), 990
json.dump(events, sys.stdout)' <"$tmp/queued.json" >"$tmp/little.json"
"$profan" ingest -q "$tmp/little.json" -o "$tmp/t.db"
run 0 "$profan" summary "$tmp/t.db" && grep -q 'holds up 99' "$tmp/out" &&
	! grep -q 'a_kernel holds' "$tmp/out"
result 'summary: no sentence of what holds next to nothing' "$tmp/out"
# a kernel that holds more than any advice would save is named before it, and
# the command is that of what can be changed
"$profan" ingest -q "$tmp/made/A21-less.json" -o "$tmp/t.db"
run 0 "$profan" summary "$tmp/t.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q ' note one_slow_kernel holds .* in kernels. severe Long ' &&
	grep -q '^  *profan path' "$tmp/out" &&
	run 0 "$profan" report "$tmp/t.db" -f json &&
	tr -d ' \t\n' <"$tmp/out" | grep -q '"verdicts":\[{[^}]*"id":"V15"'
result 'what holds most is the first verdict' "$tmp/out"
# who copies a question from a table copies all of it, wherever it would be broken
"$profan" ingest -q "$tmp/made/A18-tensors=.json" -o "$tmp/t.db"
for width in 80 82 84 86 88 90 92 94 96 98; do
	"$profan" advise "$tmp/t.db" --width "$width" >"$tmp/out" &&
		grep -q " 'sync=off;copy=async;op:.*=0'$" "$tmp/out" ||
		cp "$tmp/out" "$tmp/broken"
done
[ ! -e "$tmp/broken" ]
result 'a question is on one line' "$tmp/broken"
# pages that go back to the host are one cause, and the first use of an operator
for name in A2-paged A22-op; do
	case $name in
	A2-*) says='in copies that block the host.*Memcpy DtoH (unified memory)' ;;
	*) says='in first uses, which load code or start the driver.*aten::abs' ;;
	esac
	"$profan" ingest -q "$tmp/made/$name.json" -o "$tmp/t.db"
	for command in path gaps; do
		run 0 "$profan" "$command" "$tmp/t.db" &&
			tr -s ' \n' ' ' <"$tmp/out" | grep -q "$says"
		result "$command: the cause of $name is the advice's" "$tmp/out"
	done
done
# names of many ranges do not hide the first use of a call; of more streams than
# whose order is followed nobody knows what it costs at least
"$PYTHON" -S -c 'import json, sys
def event(cat, name, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": tid, "ts": ts, "dur": dur,
            "pid": 0 if cat == "kernel" else 1, "args": args}
many = [event("cpu_op", f"range {i}", 1, 2 * i, 1) for i in range(1100)]
for i in range(300):
    at, dur = 3000 + 12 * i + 4000 * (i > 1), 4000 * (i == 1)
    many += [event("cuda_runtime", "cudaLaunchKernel", 1, at, dur + 5,
                   correlation=i + 1),
             event("kernel", "a_kernel", i, at + dur + 6, 3, correlation=i + 1,
                   device=0, stream=i)]
json.dump(many, sys.stdout)' >"$tmp/many.json"
run 0 "$profan" ingest -q "$tmp/many.json" -o "$tmp/many.db" &&
	run 0 "$profan" gaps "$tmp/many.db" -f csv --table causes &&
	grep -q '^first use,4005000,' "$tmp/out" &&
	run 0 "$profan" advise "$tmp/many.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q 'A22 First uses.* leaves that out, and what else a first pass takes'
result 'a first use among many names and streams' "$tmp/out"
# what more workers brought is no more than A1 said
pair=$shared/traces/v100_resnet50_workers
if [ -n "${LONG-}" ] && [ -f "${pair}0.json.gz" ]; then
	"$profan" ingest -q "${pair}0.json.gz" -o "$tmp/w0.db"
	"$profan" ingest -q "${pair}4.json.gz" -o "$tmp/w4.db"
	run 0 "$profan" diff "$tmp/w0.db" "$tmp/w4.db" --advice -f json &&
		grep -q 'advice: done: A1[,;]' "$tmp/out" &&
		"$PYTHON" -S -c 'import json, sys
row, = (r for r in json.load(sys.stdin)["tables"]["advice"] if r["id"] == "A1")
sys.exit(row["change"] != "done" or row["a_at_most_ns"] < 58076000)' <"$tmp/out"
	result 'workers: A1 is done, and said enough'
else
	skip 'workers: A1 is done' 'NOT TESTED: make check-long does, with ../shared'
fi
"$mktrace" --steps 2 --layers 1 --seed 1 >"$tmp/a.json"
"$mktrace" --steps 2 --layers 1 --seed 2 >"$tmp/b.json"
run 0 "$profan" ingest -q "$tmp/a.json" "$tmp/b.json" -o "$tmp/two.db" &&
	run 0 "$profan" advise -f csv "$tmp/two.db" &&
	grep -q '^A7,.*--rank N' "$tmp/out" &&
	grep -q '^A1,,0.0[0-9]*,,[0-9]*,hint,' "$tmp/out" &&
	grep -q 'of each trace alone .*: --rank N$' "$tmp/out"
result 'several traces: nothing bounds, and what needs a path is not judged'
# of what is exposed no more is saved than the host waits for GPUs, each wait
# counted once
for waits in 0 300 copy; do
	for rank in 0 1; do
		"$PYTHON" -S -c 'import json, sys
rank, is_copy = int(sys.argv[1]), sys.argv[2] == "copy"
waits = 300 if is_copy else int(sys.argv[2])
def event(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": 1, "ts": ts,
            "dur": dur, "pid": 0 if cat in ("kernel", "gpu_memcpy") else 1,
            "args": args}
events = []
for i in range(3):
    t = 1000 + 1000 * i
    events += [event("user_annotation", f"ProfilerStep#{i}", t, 1000),
               event("cuda_runtime", "cudaLaunchKernel", t, 5, correlation=i + 1),
               event("kernel", "ncclDevKernel_AllReduce", t + 505, 400,
                     correlation=i + 1, device=rank, stream=7),
               event("cpu_op", "aten::nonzero", t + 10, 900 - waits)]
    if is_copy:
        events.append(event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)",
                            t + 905, 1, correlation=i + 9, device=rank,
                            stream=7, bytes=4))
    if waits:
        events.append(event("cuda_runtime", "cudaMemcpyAsync" if is_copy else
                            "cudaDeviceSynchronize", t + 910 - waits, waits,
                            correlation=i + 9))
json.dump({"distributedInfo": {"backend": "nccl", "rank": rank,
                               "world_size": 2}, "traceEvents": events},
          sys.stdout)' "$rank" "$waits" >"$tmp/rank$rank.json"
	done
	run 0 "$profan" ingest -q "$tmp/rank0.json" "$tmp/rank1.json" \
		-o "$tmp/two.db" && cp "$tmp/two.db" "$tmp/two$waits.db"
done
run 0 "$profan" advise "$tmp/two0.db" &&
	grep -q '^A13 .*40.00 % of the time it is exposed' "$tmp/out" &&
	run 0 "$profan" summary "$tmp/two0.db" &&
	! grep -q 'Communication' "$tmp/out" &&
	run 0 "$profan" advise "$tmp/two300.db" &&
	grep -q '^Communication is exposed for' "$tmp/out" &&
	grep -q '^A13 .*At most 1.800 ms .30.00 %. would be saved' "$tmp/out" &&
	run 0 "$profan" advise "$tmp/twocopy.db" &&
	grep -q '^A13 .*At most 1.800 ms .30.00 %. would be saved' "$tmp/out"
result 'several traces: hiding saves no more than the host waits' "$tmp/out"
# without a GPU each is judged alone, and never by what a GPU waits for
for rank in 0 1; do
	cat >"$tmp/cpu$rank.json" <<EOF
{"distributedInfo": {"backend": "gloo", "rank": $rank, "world_size": 2},
 "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
 "tid": 1, "ts": 1000, "dur": 100},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1000, "dur": 40,
 "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 1040, "dur": 60}]}
EOF
done
run 0 "$profan" ingest -q "$tmp/cpu0.json" "$tmp/cpu1.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" advise "$tmp/cpu.db" &&
	tr -s ' \n' ' ' <"$tmp/out" >"$tmp/said" &&
	grep -q 'CPU hold 60.00 % of 2 steps (120.000 us of 200.000 us) on the critical paths. Of rank 0 that is 60.000 us. Most of it is in aten::mm' \
		"$tmp/said" && grep -q 'Without loading data each trace alone would save at most 40.00 % of 2 steps (80.000 us of 200.000' \
		"$tmp/said" && grep -q 'see: profan path .* --rank 0' "$tmp/said" &&
	grep -q 'A16 The trace has no Python functions' "$tmp/said" &&
	run 0 "$profan" summary "$tmp/cpu.db" &&
	grep -q 'severe  Operators, .* hold 60.00 % of 2 steps' "$tmp/out"
result 'several traces without GPU work' "$tmp/out"
# who hardly waits is waited for
sed 's/"aten::mm"/"gloo:all_reduce"/' "$tmp/cpu0.json" >"$tmp/early.json"
sed 's/"dur": 60}/"dur": 56}, {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1,\
"ts": 1096, "dur": 4, "name": "gloo:all_reduce"}/' "$tmp/cpu1.json" \
	>"$tmp/late.json"
run 0 "$profan" ingest -q "$tmp/early.json" "$tmp/late.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" summary "$tmp/cpu.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q 'Without communication each trace alone would save at most 32.00 %.* Rank 1 has least of it, 4.000 us.* Rank 1 alone: Operators, .* hold 56.00 %.* is in aten::mm. try one rank is late'
result 'several traces without GPU work: a rank that is late' "$tmp/out"
# communication beside operators is none that is waited for: a fleet holds what
# its ranks hold, of one rank or of several
for rank in 0 1 2; do
	"$PYTHON" -S -c 'import json, sys
rank = int(sys.argv[1])
def event(cat, name, tid, ts, dur):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid,
            "ts": ts, "dur": dur}
json.dump({"distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 3},
           "traceEvents": [e for t in (1000, 1100) for e in (
    event("user_annotation", f"ProfilerStep#{t}", 1, t, 100),
    event("cpu_op", "aten::mm", 1, t, 50 + 10 * rank),
    event("user_annotation", "gloo:all_reduce", 2, t + 10, 70),
    event("cpu_op", "aten::add_", 1, t + 81, 19))]}, sys.stdout)' "$rank" \
		>"$tmp/beside$rank.json"
done
run 0 "$profan" ingest -q "$tmp/beside0.json" "$tmp/beside1.json" \
	"$tmp/beside2.json" -o "$tmp/cpu.db"
for which in '' '--trace 1' '--trace 2' '--trace 3'; do
	# shellcheck disable=SC2086
	run 0 "$profan" advise "$tmp/cpu.db" $which -f json &&
		cp "$tmp/out" "$tmp/said${which#--trace }.json"
done
"$PYTHON" -S - "$tmp" >"$tmp/err" 2>&1 <<'EOP'
import json, sys
def held(which):
    tables = json.load(open(f"{sys.argv[1]}/said{which}.json"))["tables"]
    return {r["id"]: r["on_path_ns"] if r["at_most_ns"] is None else
            r["at_most_ns"] for r in tables["advice"]}
all, ones = held(""), [held(n) for n in (1, 2, 3)]
for id in ("A13", "A21"):
    assert all[id] == sum(o.get(id, 0) for o in ones), (id, all, ones)
# what add_ waits for, to where it begins
assert all["A13"] == 126000, all
EOP
result 'several traces without GPU work: the sum of what each says' "$tmp/err"
# ... but not where it recorded none, or fewer steps
run 0 "$profan" ingest -q "$tmp/early.json" "$tmp/cpu1.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" summary "$tmp/cpu.db" && ! grep -q 'has least' "$tmp/out"
result 'several traces without GPU work: a rank without communication' "$tmp/out"
sed 's/"traceEvents": \[/&{"ph": "X", "cat": "user_annotation", "pid": 1,\
"tid": 1, "name": "ProfilerStep#0", "ts": 800, "dur": 100}, {"ph": "X", "cat": \
"cpu_op", "pid": 1, "tid": 1, "ts": 820, "dur": 60, "name": "gloo:all_reduce"},/' \
	"$tmp/early.json" >"$tmp/more.json"
run 0 "$profan" ingest -q "$tmp/more.json" "$tmp/late.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" summary "$tmp/cpu.db" && ! grep -q 'has least' "$tmp/out"
result 'several traces without GPU work: a rank with fewer steps' "$tmp/out"
# ... nor where one step of two makes it
sed 's/"ts": 820, "dur": 60/"ts": 820, "dur": 6/' "$tmp/more.json" \
	>"$tmp/odd0.json"
sed 's/"rank": 0/"rank": 1/; s/"ts": 1040, "dur": 60/"ts": 1040, "dur": 10/' \
	"$tmp/odd0.json" >"$tmp/odd1.json"
run 0 "$profan" ingest -q "$tmp/odd0.json" "$tmp/odd1.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" summary "$tmp/cpu.db" && ! grep -q 'has least' "$tmp/out"
result 'several traces without GPU work: one step is not all' "$tmp/out"
# ... also if it waits for less than half of what the others do
for rank in 0 1 2; do
	sed "s/\"rank\": 0, \"world_size\": 2/\"rank\": $rank, \"world_size\": 3/" \
		"$tmp/early.json" >"$tmp/gloo$rank.json"
done
sed 's/"dur": 60/"dur": 28/' "$tmp/gloo2.json" >"$tmp/least.json"
run 0 "$profan" ingest -q "$tmp/gloo0.json" "$tmp/gloo1.json" "$tmp/least.json" \
	-o "$tmp/cpu.db" &&
	run 0 "$profan" summary "$tmp/cpu.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q ' Rank 2 has least of it, 28.000 us: the others seem to wait'
result 'several traces without GPU work: a rank that is somewhat late' "$tmp/out"
# ... and of one alone nobody knows
run 0 "$profan" ingest -q "$tmp/early.json" -o "$tmp/cpu.db" &&
	run 0 "$profan" advise "$tmp/cpu.db" && tr -s ' \n' ' ' <"$tmp/out" |
	grep -q 'A13 .*on the host waits for other ranks, too: only the traces'
result 'communication of a host alone' "$tmp/out"
# a GPU is not idle for as long as a profiler was on
"$PYTHON" -S -c 'import json, sys
def event(cat, name, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": tid, "ts": ts,
            "dur": dur, "pid": 0 if cat == "kernel" else 1, "args": args}
json.dump([event("user_annotation", "ProfilerStep#0", 1, 0, 90000),
           event("cpu_op", "aten::mm", 2, 500, 900),
           event("cuda_runtime", "cudaLaunchKernel", 2, 700, 5, correlation=1),
           event("kernel", "gemm", 7, 720, 30, correlation=1, device=0,
                 stream=7)], sys.stdout)' >"$tmp/on.json"
run 0 "$profan" ingest -q "$tmp/on.json" -o "$tmp/on.db" &&
	run 0 "$profan" summary "$tmp/on.db" &&
	grep -q 'The profiler was on for' "$tmp/out" &&
	! grep -q 'GPU idle' "$tmp/out"
result 'idle time where steps say how long the profiler was on' "$tmp/out"
# calls that return at once, as clocks say, are not when the longest one was
"$PYTHON" -S -c 'import json, sys
def event(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "tid": 1, "ts": ts, "dur": dur,
            "pid": 0 if cat == "kernel" else 1, "args": args}
json.dump([e for i, late in enumerate((500, 0, 0)) for e in (
    event("cuda_runtime", "cudaLaunchKernel", 2000 * i, 5, correlation=2 * i + 1),
    event("kernel", "a_kernel", 2000 * i + 10, 800, correlation=2 * i + 1,
          device=0, stream=7),
    event("cpu_op", "aten::nonzero", 2000 * i + 15, 1980),
    event("cuda_runtime", "cudaDeviceSynchronize", 2000 * i + 20, 790 + late,
          correlation=2 * i + 2))], sys.stdout)' >"$tmp/late.json"
run 0 "$profan" ingest -q "$tmp/late.json" -o "$tmp/t.db" &&
	run 0 "$profan" advise "$tmp/t.db" -f csv --table evidence &&
	grep -q '^A3,500000,3,sync return,.*,500000,810000,1310000' "$tmp/out"
result 'when the longest wait was' "$tmp/out"
# a line may be all of a program: the largest name is said beside it
for slow in 0 26; do
	"$PYTHON" -S -c 'import json, sys
slow = int(sys.argv[1])
def event(cat, name, ts, dur):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts,
            "dur": dur}
python = "python_function"
events = [event("user_annotation", "ProfilerStep#1", 0, 1000),
          event(python, "train.py(27): step", 0, 1000),
          event(python, "train.py(19): slow", 700, 10 * slow)]
events += [event("cpu_op", f"aten::op{i % 8}", 100 * i, 90)
           for i in range(7 if slow else 10)]
json.dump(events, sys.stdout)' "$slow" >"$tmp/line.json"
	run 0 "$profan" ingest -q "$tmp/line.json" -o "$tmp/line.db" &&
		run 0 "$profan" summary "$tmp/line.db" &&
		tr -s ' \n' ' ' <"$tmp/out" >"$tmp/line$slow"
done
grep -q 'Most of it is in train.py:27 step. The largest part there, .* %, is in aten::' \
	"$tmp/line0" &&
	grep -q 'Most of it is in train.py:27 step. Beside it the largest part, 26.00 %, is in train.py:19 slow' \
		"$tmp/line26"
result 'beside a line that is most of a program its largest part is said' \
	"$tmp/line0" "$tmp/line26"
# ids of a database that somebody changed are as large as they like
mkdir "$tmp/ids" && "$PYTHON" -S "$top_srcdir/tests/advise.py" --make "$tmp/ids" \
	1000000 A6-double-cpu >"$tmp/out"
run 0 "$profan" ingest -q "$tmp/ids/A6-double-cpu.json" -o "$tmp/ids.db"
for id in -5 1099511627776 9223372036854775807; do
	"$PYTHON" -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE argset SET id = ? WHERE id = (SELECT max(id) FROM argset "
           "WHERE instr(text, \"double\"))", [int(sys.argv[2])])
db.commit()' "$tmp/ids.db" $id && run 0 "$profan" advise "$tmp/ids.db" ||
		echo "$id"
done >"$tmp/got" 2>&1
[ ! -s "$tmp/got" ]
result 'types of inputs by ids that are out of place' "$tmp/got" "$tmp/err"
tap_done
