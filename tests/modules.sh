# SPDX-License-Identifier: MIT
# Modules: every figure against tests/modules.py, which has its own reader.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

check() { # NAME FILE
	ingested "$1" "$2" || return
	for depth in 8 2; do
		"$profan" modules -q "$tmp/t.db" --depth $depth -f json -n -1 \
			>"$tmp/answer$depth" 2>&1
	done
	"$PYTHON" -S "$top_srcdir/tests/modules.py" "$2" 8 "$tmp/answer8" \
		2 "$tmp/answer2" >"$tmp/why" 2>&1
	result "$1: every figure, 8 and 2 deep" "$tmp/why"
}

figure() { # KEY OPTION...
	key=$1
	shift
	"$profan" modules -q "$tmp/t.db" -f csv "$@" | sed -n "s/^$key,//p"
}

# what a stream of a MTIA waits for is no work
cat >"$tmp/mtia.json" <<'END'
[
{"ph": "X", "cat": "mtia_runtime", "name": "executeModel", "pid": 1, "tid": 1,
 "ts": 0, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "mtia_ccp_events", "name": "job", "pid": 0, "tid": 3,
 "ts": 10, "dur": 20, "args": {"correlation": 1, "device": 0, "stream": 3}},
{"ph": "X", "cat": "mtia_ccp_events", "name": "event_wait", "pid": 0, "tid": 4,
 "ts": 10, "dur": 30, "args": {"device": 0, "stream": 4, "wait_on_stream": 3}}
]
END
check mtia "$tmp/mtia.json"

"$mktrace" --steps 3 >"$tmp/training.json"
check training "$tmp/training.json"
"$profan" modules "$tmp/t.db" | grep -q '^GPT  *3 ' && ok "there are modules" ||
	not_ok "there are modules"

"$profan" modules -q "$tmp/t.db" -f csv |
	grep -q '^finding,.* in modules\. Modules of class [A-Za-z]* have most of it: '
result "what most of it is in is named"

# ranges beside the whole: little of it, one of them, of several threads
"$PYTHON" -S - "$tmp" <<'END'
import json, sys
def write(name, ranges, *others):
    events = [dict(ph="X", cat="cpu_op", name="aten::mm", pid=1, tid=1, ts=ts, dur=1)
              for ts in (0, 999)]
    events += [dict(ph="X", cat="user_annotation", name=name, pid=1, tid=tid, ts=ts, dur=dur)
               for name, tid, ts, dur in ranges]
    events += others
    json.dump({"traceEvents": events}, open("%s/ranges_%s.json" % (sys.argv[1], name), "w"))
write("little", [("load", 1, 100, 20), ("save", 1, 200, 10)])
write("one", [("load", 1, 100, 20)])
write("threads", [("load", 1, 0, 900), ("load", 2, 0, 800)])
span = [dict(ph=ph, cat="net", id=1, name="request", pid=1, tid=1, ts=ts)
        for ph, ts in (("b", 10), ("e", 700))]
write("span", [("load", 1, 100, 20)], *span)
write("spans", [("load", 1, 100, 20), ("save", 1, 200, 0)], *span)
write("steps", [("ProfilerStep#1", 1, 0, 900), ("load", 2, 0, 100)])
END
for want in little one threads span spans steps; do
	run 0 "$profan" ingest -q "$tmp/ranges_$want.json" -o "$tmp/$want.db"
	"$profan" ranges -q "$tmp/$want.db" -f csv | sed -n 's/^finding,"*//p' |
		tr -d '"'
done >"$tmp/got"
cat >"$tmp/want" <<'END'
load itself takes 20.000 us (66.67 %) of 30.000 us in ranges. On their thread they cover 3.00 % of 1.000 ms in the capture
The only range is load: 20.000 us. On its thread it covers 2.00 % of 1.000 ms in the capture
All ranges with time are load: 1.700 ms, summed over 2 threads. On the thread with most of them ranges cover 90.00 % of 1.000 ms in the capture
The only range of a thread is load: 20.000 us. On its thread it covers 2.00 % of 1.000 ms in the capture
All ranges of threads with time are load: 20.000 us. On their thread they cover 2.00 % of 1.000 ms in the capture
90.00 % of the time in steps and ranges in the capture is in no range but a step (900.000 us of 1.000 ms, summed over 2 threads). Of ranges load itself takes most: 100.000 us (10.00 %)
END
same "ranges say how much of the whole they are" "$tmp/want" "$tmp/got"
run 0 "$profan" steps "$tmp/little.db" --width 200 &&
	grep -q '^Without profiler steps, in 1.000 ms most of the time, 96.80 %, is ' \
		"$tmp/out"
result "of a host without steps: one sentence" "$tmp/out"

# parts add up to the whole
for key in gpu_ns gpu_in_modules_ns gpu_outside_ns host_ns host_in_modules_ns; do
	figure $key >"$tmp/want"
	echo $(($(figure $key --to 3ms) + $(figure $key --from 3ms))) >"$tmp/got"
	same "$key: two windows are the whole" "$tmp/want" "$tmp/got"
done

# inside of itself, names that mean to harm, ranges that cross, an empty name
cat >"$tmp/hostile.json" <<'END'
{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"python_function","name":"nn.Module: A_0","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"python_function","name":"nn.Module: A_0","pid":1,"tid":1,"ts":10,"dur":80},
{"ph":"X","cat":"cpu_op","name":"nn.Module: B_0","pid":1,"tid":1,"ts":20,"dur":10},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":22,"dur":4},
{"ph":"X","cat":"python_function","name":"nn.Module: </script><script>|`\u001b[31m\u202e_1","pid":1,"tid":1,"ts":40,"dur":90},
{"ph":"X","cat":"python_function","name":"nn.Module: ","pid":1,"tid":1,"ts":50,"dur":5},
{"ph":"X","cat":"python_function","name":"nn.Module","pid":1,"tid":1,"ts":60,"dur":5},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":70,"dur":2,"args":{"correlation":7}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":75,"dur":9,"args":{"device":0,"stream":7,"correlation":7}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":90,"dur":3,"args":{"device":0,"stream":7,"correlation":8}}
]}
END
rm -f "$tmp/t.db"
run 0 "$profan" ingest -q "$tmp/hostile.json" -o "$tmp/t.db" ||
	not_ok "hostile: ingest" "$tmp/err"
"$profan" modules -q "$tmp/t.db" -f csv >"$tmp/out"
figure gpu_in_modules_ns >"$tmp/got"
figure gpu_no_launch_ns >>"$tmp/got"
figure host_ns >>"$tmp/got"
grep -c 'A_0/A_0' "$tmp/out" >>"$tmp/got"
printf '9000\n3000\n130000\n2\n' >"$tmp/want"
same "hostile: figures" "$tmp/want" "$tmp/got"
run 0 "$profan" modules -q "$tmp/t.db" &&
	! LC_ALL=C grep -q "$(printf '\033')" "$tmp/out"
result "hostile: nothing steers a terminal" "$tmp/out"
run 0 "$profan" report -q "$tmp/t.db" -o "$tmp/page.html" &&
	grep -q 'id=module-tree' "$tmp/page.html" &&
	grep -q '&lt;/script&gt;&lt;script&gt;' "$tmp/page.html"
result "hostile: text on a page"
# a host alone
"$PYTHON" -S -c 'import json
print(json.dumps({"traceEvents": [
    dict(ph="X", cat=cat, name=name, pid=1, tid=1, ts=ts, dur=dur)
    for cat, name, ts, dur in (("python_function", "nn.Module: Net_0", 0, 90),
                               ("cpu_op", "aten::mm", 10, 50))]}))' \
	>"$tmp/host.json"
rm -f "$tmp/t.db"
run 0 "$profan" ingest -q "$tmp/host.json" -o "$tmp/t.db" &&
	run 0 "$profan" modules -q "$tmp/t.db" -f json &&
	grep -q '"share": null' "$tmp/out" && ! grep -q '"share": 0' "$tmp/out"
result "without GPU work a share of it is not known" "$tmp/out"
# a generator's frame that begins within a module and whose end was lost
"$PYTHON" -S - >"$tmp/leaked.json" <<'END'
import json
events, number = [], 0
def event(name, cat, start, end, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=1, tid=1, ts=start, dur=end - start, args=args))
def launch(at):
    global number
    number += 1
    event("cudaLaunchKernel", "cuda_runtime", at, at + 2, correlation=number)
    events.append(dict(ph="X", cat="kernel", name="k", pid=0, tid=7, ts=at + 5, dur=4,
                       args={"correlation": number, "stream": 7, "device": 0}))
def python(name, start, end, number, parent):
    event(name, "python_function", start, end, **{"Python id": number, "Python parent id": parent})
python("train.py(1): main", 10, 900, 1, 0)
python("nn.Module: Model_0", 20, 500, 2, 1)
python("<built-in function next>", 50, 700, 3, 2)
python("nn.Module: Model_1", 650, 750, 12, 1)
for i in range(8):
    at = 100 + 40 * i
    python(f"nn.Module: Layer_{i}", at, at + 30, 4 + i, 2)
    event("aten::mm", "cpu_op", at + 5, at + 20)
    launch(at + 8)
for at in (480, 600, 660, 720, 800):
    launch(at)
json.dump({"traceEvents": events}, __import__("sys").stdout)
END
check leaked "$tmp/leaked.json"
figure gpu_in_modules_ns >"$tmp/got"
echo 44000 >"$tmp/want"
same "leaked: eleven of thirteen launches are in modules" "$tmp/want" "$tmp/got"
"$profan" query -q -f csv "$tmp/t.db" "SELECT count(*) FROM event e
 JOIN event p ON p.id = e.parent_id WHERE e.name LIKE 'nn.Module: Layer%'
 AND p.name = 'nn.Module: Model_0'" | tail -n 1 >"$tmp/got"
echo 8 >"$tmp/want"
same "leaked: parents are the modules that called" "$tmp/want" "$tmp/got"
"$profan" stacks -q --weight gpu "$tmp/t.db" |
	grep -c 'Model_0;.*Layer\|Model_.;cuda' >"$tmp/got"
echo 10 >"$tmp/want"
same "leaked: stacks too" "$tmp/want" "$tmp/got"
# names that are alike as far as they are shown
long=$(printf '%0250d' 0)
cat >"$tmp/long.json" <<END
[{"ph":"X","cat":"python_function","name":"nn.Module: L${long}_0","pid":1,"tid":1,"ts":0,"dur":10},
{"ph":"X","cat":"python_function","name":"nn.Module: L${long}_1","pid":1,"tid":1,"ts":20,"dur":30},
{"ph":"X","cat":"python_function","name":"nn.Module: L${long}_0","pid":1,"tid":1,"ts":60,"dur":5}]
END
ingested long "$tmp/long.json"
"$profan" modules -q "$tmp/t.db" -f csv --table modules >"$tmp/out"
grep -c '^L000' "$tmp/out" >"$tmp/got"
echo 2 >"$tmp/want"
same "long names that end otherwise are two modules" "$tmp/want" "$tmp/got"
run 2 "$profan" modules "$tmp/t.db" --depth 0
result "no depth 0"

real_traces check
tap_done
