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
"$PYTHON" -S - >counters.json <<'END'
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
# tracks of which something is kept: ranges that nest and some that cross, work
# of a stream that overlaps, and what has no length
"$PYTHON" -S - >long.json <<'END'
import random
rng = random.Random(3)
events, at = [], 0
def add(cat, name, ts, dur, pid=1, tid=1, args=""):
    events.append('{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,'
                  '"ts":%d.%03d,"dur":%d.%03d%s}' % (
                      cat, name, pid, tid, *divmod(ts, 1000),
                      *divmod(dur, 1000), args))
def nest(low, high, depth):
    add("python_function" if depth % 2 else "cpu_op", f"d{depth}", low,
        high - low + (rng.random() < 0.01) * rng.randrange(900000))
    while depth < 6 and high - low > 200 and rng.random() < 0.9:
        mid = rng.randrange(low + 1, high + 1)
        nest(low + rng.randrange(mid - low), mid, depth + 1)
        low = mid
while len(events) < 90000:
    length = rng.choice((10, 1000, 100000, 3000000))
    nest(at, at + length, 0)
    if rng.random() < 0.3:
        events.append(
            '{"ph":"i","s":"t","cat":"cpu_instant_event","pid":1,"name":'
            '"[memory]","tid":1,"ts":%d.%03d,"args":{"Device Type":0,'
            '"Device Id":-1,"Addr":1,"Bytes":64,"Total Allocated":64}}' %
            divmod(at, 1000))
    at += length + rng.choice((0, 1, 50, 20000))
for i in range(80000):
    ts = rng.randrange(at) if i % 8 else i * at // 80000
    add("kernel", f"k{i % 9}", ts, rng.choice((0, 100, 9000)), 0, 7,
        ',"args":{"device":0,"stream":7}')
print("[%s]" % ",\n".join(events))
END
for input in train.json job odd.json counters.json long.json; do
	"$profan" ingest -q "$input" -o "${input%.json}.db" || not_ok "$input"
done
"$PYTHON" -S "$top_srcdir/tests/timeline.py" "$profan" train.db job.db odd.db \
	counters.db \
	>results || not_ok "timeline.py ends"
relay results
"$PYTHON" -S "$top_srcdir/tests/timeline.py" "$profan" --kept long.db \
	>results || not_ok "timeline.py --kept ends"
relay results
tap_done
