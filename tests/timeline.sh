# SPDX-License-Identifier: MIT
# profan timeline: what is drawn of a window, against the events themselves.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99

"$mktrace" --steps 3 --layers 1 >train.json
"$mktrace" --ranks 2 --steps 2 --layers 1 --out job >/dev/null
cat >odd.json <<'JSON'
{"traceEvents": [
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":100,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":50,"dur":100,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"cpu_op","name":"nothing long","pid":1,"tid":1,"ts":10,"dur":0},
{"ph":"X","cat":"cpu_op","name":"last","pid":1,"tid":1,"ts":500,"dur":0},
{"ph":"b","cat":"x","name":"range","id":1,"pid":1,"tid":1,"ts":20},
{"ph":"e","cat":"x","name":"range","id":1,"pid":1,"tid":1,"ts":90},
{"ph":"i","cat":"x","name":"mark","pid":1,"tid":1,"ts":60,"s":"t"}
]}
JSON
"$PYTHON" - >counters.json <<'END'
import json, random
random.seed(1)
events = [{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7,
           "ts": 100, "dur": 3000, "args": {"device": 0, "stream": 7}}]
for ts in sorted(random.sample(range(100, 3000), 400)):
    args = {"use": random.random(), "in": random.choice("abc")}
    if random.random() < 0.3:
        args["bytes"] = random.randrange(-10, 10)
    events.append({"ph": "C", "name": random.choice(["GPU", "disk"]),
                   "pid": 1, "tid": 1, "ts": ts, "args": args})
print(json.dumps(events))
END
for input in train.json job odd.json counters.json; do
	"$profan" ingest -q "$input" -o "${input%.json}.db" || not_ok "$input"
done
"$PYTHON" "$top_srcdir/tests/timeline.py" "$profan" train.db job.db odd.db \
	counters.db \
	>results || not_ok "timeline.py ends"
relay results
tap_done
