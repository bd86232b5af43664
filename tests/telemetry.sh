# SPDX-License-Identifier: MIT
# Logs of nvidia-smi and dcgmi: their rows as counters, what they do not say,
# other files that look like them, damage; means by step of a trace beside them.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
cd "$tmp" || exit 99

rows() { # DB: instants, GPUs and arguments
	"$profan" query "$1" "SELECT e.start_ns, t.pid, e.args FROM event AS e
		JOIN track AS t ON t.id = e.track_id ORDER BY e.file_order" \
		-f csv | tail -n +2
}
base() { # DB
	"$profan" query "$1" 'SELECT base_ns FROM trace' -f csv | tail -n +2
}

# ---- nvidia-smi --query-gpu ----
cat >smi.csv <<'EOF'
timestamp, index, name, power.draw [W], clocks.sm [MHz], pstate, memory.used [MiB]
2026/02/28 23:59:59.750, 0, NVIDIA H100, 99.50 W, 1980 MHz, P0, 11 MiB
2026/02/28 23:59:59.751, 1, NVIDIA H100, 98.25 W, 1980 MHz, P0, 12 MiB
timestamp, index, name, power.draw [W], clocks.sm [MHz], pstate, memory.used [MiB]
2026/03/01 00:00:00.250, 0, NVIDIA H100, [N/A], [Not Supported], P2, 13 MiB

2026/03/01 00:00:00.251, 1, NVIDIA H100, 100 W, 345 MHz, P8, N/A
EOF
run 0 "$profan" ingest smi.csv -o smi.db && [ ! -s err ] && rows smi.db >got
cat >want <<'EOF'
0,GPU 0,"{""name"":""NVIDIA H100"",""power.draw [W]"":99.50,""clocks.sm [MHz]"":1980,""pstate"":""P0"",""memory.used [MiB]"":11}"
1000000,GPU 1,"{""name"":""NVIDIA H100"",""power.draw [W]"":98.25,""clocks.sm [MHz]"":1980,""pstate"":""P0"",""memory.used [MiB]"":12}"
500000000,GPU 0,"{""name"":""NVIDIA H100"",""pstate"":""P2"",""memory.used [MiB]"":13}"
501000000,GPU 1,"{""name"":""NVIDIA H100"",""power.draw [W]"":100,""clocks.sm [MHz]"":345,""pstate"":""P8""}"
EOF
same "rows, over midnight; what is not known is not there" want got
base smi.db >got && grep -qx '' got
result "without a zone there is no time of day of the world" got
for zone in Z=1772323199750000000 +05:30=1772303399750000000 \
	-0700=1772348399750000000; do
	run 0 "$profan" ingest smi.csv --tz="${zone%%=*}" -o zone.db &&
		base zone.db | grep -qx "${zone#*=}"
	result "zone ${zone%%=*}"
done
for zone in CET 25:00 +15:00 +01:60 +1 ''; do
	run 2 "$profan" ingest smi.csv --tz="$zone" -o no.db && [ ! -e no.db ]
	result "'$zone' is no zone"
done
sed 's/,/, /; s/$/\r/' smi.csv >crlf.csv
run 0 "$profan" ingest crlf.csv -o crlf.db && rows crlf.db >got &&
	rows smi.db >want
same "lines end with CR LF, too" want got
sed 's/2026.02.28 23:59:59/2026-03-01T07:29:59/
	s/2026.03.01 00:00:00/2026-03-01T07:30:00/
	s/\(2026-[^,]*\)/\1+07:30/' smi.csv >iso.csv
run 0 "$profan" ingest iso.csv -o iso.db && base iso.db >got &&
	rows iso.db | cut -d, -f1 >>got
printf '%s\n' 1772323199750000000 0 1000000 500000000 501000000 >want
same "stamps with their zone" want got

# ---- which GPU ----
sed 's/ index,/ uuid,/; s/, \([01]\), NV/, GPU-aa0\1-1, NV/' smi.csv >uuid.csv
run 0 "$profan" ingest uuid.csv -o uuid.db && rows uuid.db | cut -d, -f2 >got
printf '%s\n' GPU-aa00-1 GPU-aa01-1 GPU-aa00-1 GPU-aa01-1 >want
same "by uuid" want got
"$PYTHON" -S - <<'END'
with open("turns.csv", "w") as f:
    f.write("timestamp, power.draw [W]\n")
    for i in range(50):
        for gpu in range(4):
            f.write("2026/01/01 00:00:%02d.%03d, %d W\n" % (i, gpu, gpu))
with open("alone.csv", "w") as f:
    f.write("timestamp, power.draw [W]\n")
    for i in range(500):
        f.write("2026/01/01 00:%02d:%02d.5, %d W\n" % (i // 60, i % 60, i))
END
run 3 "$profan" ingest turns.csv -o no.db && [ ! -e no.db ] &&
	grep -q -e '--gpus' err
result "rows of several GPUs that none names are not guessed at"
run 0 "$profan" ingest turns.csv --gpus 4 -o turns.db &&
	"$profan" counters turns.db -f json >out && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]["counters"]
assert [(r["track"], r["sample_count"], r["mean"]) for r in t] == [
    ("GPU %d" % i, 50, i) for i in range(4)], t'
result "they take turns" out
run 0 "$profan" counters --device 2 turns.db &&
	grep -q '^1 series.*50 samples' out
result "those of one GPU" out
run 0 "$profan" ingest alone.csv -o alone.db &&
	[ "$(rows alone.db | cut -d, -f2 | sort -u)" = GPU ]
result "one GPU needs no name"

# ---- what is no such log, or lacks something ----
refused() { # NAME WORDS TEXT
	printf "$3" >bad.csv
	run 3 "$profan" ingest bad.csv -o bad.db && [ ! -e bad.db ] &&
		[ "$(wc -l <err)" = 1 ] && grep -q -e "$2" err
	result "$1"
}
refused "no first line" '--columns' '2026/01/01 00:00:00.000, 0, 5 W\n'
run 0 "$profan" ingest bad.csv --columns 'timestamp, index, power.draw' \
	-o cols.db && rows cols.db >got
echo '0,GPU 0,"{""power.draw [W]"":5}"' >want
same "--columns says what they are; units are the rows'" want got
refused "columns of another program" "'gpu_util'" 'timestamp, gpu_util\n1,2\n'
refused "elapsed seconds" "elapsed_sec" 'elapsed_sec,power\n0.1,5\n'
refused "a column twice" "two columns" \
	'timestamp, power.draw [W], power.draw [W]\n'
refused "a name that nobody writes" "no name" 'timestamp, "a\033[31mb"\n'
cat >odd.csv <<'EOF'
timestamp, index, power.draw [W]
Failed to initialize NVML: Driver/library version mismatch
2026/02/29 00:00:00.000, 0, 5 W
2026/02/28 24:00:00.000, 0, 5 W
2026/02/28 23:00:00.000, 0, 5 W, 6
2026/02/28 23:00:00.000, 0, 7 mW
2026/02/28 22:00:00.000, 0, "5 W"
2026/02/28 23:00:00.000, 0, "5
1970/01/01 00:00:00.000, 0, 1e999999999999 W
EOF
run 0 "$profan" ingest odd.csv -o odd.db
"$profan" query odd.db 'SELECT event_count, stored_count, skipped_count,
	(SELECT group_concat(kind || count || "@" || first_offset, " ")
		FROM repair) FROM trace' -f csv | tail -1 >got
echo '8,3,5,malformed_event3@33 no_time2@92' >want
same "what cannot be read is counted, with the place of the first" want got
rows odd.db >got
cat >want <<'EOF'
0,GPU 0,"{""power.draw [W]"":""7 mW""}"
-3600000000000,GPU 0,"{""power.draw [W]"":5}"
-1772319600000000000,GPU 0,"{""power.draw [W]"":""1e999999999999 W""}"
EOF
same "another unit is no number; times may go back" want got
run 3 "$profan" ingest --strict odd.csv -o no.db && [ ! -e no.db ]
result "--strict refuses it"

run 0 "$profan" advise odd.db && grep -q '^Nothing can be judged: ' "$tmp/out" &&
	! grep -q '^A1 .* nothing' "$tmp/out"
result "what a log does not say is no verdict" "$tmp/out"

# ---- dmon ----
cat >dmon.txt <<'EOF'
# gpu    pwr  gtemp  mtemp     sm    mem
# Idx      W      C      C      %      %
    0     55     40      -     10      5
    1     56     41      -     11      6
# gpu    pwr  gtemp  mtemp     sm    mem
# Idx      W      C      C      %      %
    0     57     42      -     12      7
    1     58     43      -     13      8
EOF
run 3 "$profan" ingest dmon.txt -o no.db && grep -q -e '--interval' err ||
	run 2 "$profan" ingest dmon.txt -o no.db
result "dmon has no times: --interval is asked for"
run 0 "$profan" ingest dmon.txt --interval 500ms -o dmon.db && rows dmon.db >got
cat >want <<'EOF'
0,GPU 0,"{""pwr [W]"":55,""gtemp [C]"":40,""sm [%]"":10,""mem [%]"":5}"
0,GPU 1,"{""pwr [W]"":56,""gtemp [C]"":41,""sm [%]"":11,""mem [%]"":6}"
500000000,GPU 0,"{""pwr [W]"":57,""gtemp [C]"":42,""sm [%]"":12,""mem [%]"":7}"
500000000,GPU 1,"{""pwr [W]"":58,""gtemp [C]"":43,""sm [%]"":13,""mem [%]"":8}"
EOF
same "a row for each GPU, a tick after the other" want got
cat >date.txt <<'EOF'
#Date       Time        gpu    pwr
#YYYYMMDD   HH:MM:SS    Idx      W
 20260228   23:59:59      0     55
 20260301   00:00:00      0     56
EOF
run 0 "$profan" ingest date.txt --tz Z -o date.db && base date.db >got &&
	rows date.db >>got
cat >want <<'EOF'
1772323199000000000
0,GPU 0,"{""pwr [W]"":55}"
1000000000,GPU 0,"{""pwr [W]"":56}"
EOF
same "dmon -o DT has dates" want got
cat >dcgmi.txt <<'EOF'
#Entity   GRACT        SMACT        POWER
ID
GPU 0     N/A          N/A          71.500
GPU 1     0.100        0.500        72.500
GPU 0     0.200        0.512        73.500
EOF
run 0 "$profan" ingest dcgmi.txt --interval 1s -o dcgmi.db && rows dcgmi.db >got
cat >want <<'EOF'
0,GPU 0,"{""POWER"":71.500}"
0,GPU 1,"{""GRACT"":0.100,""SMACT"":0.500,""POWER"":72.500}"
1000000000,GPU 0,"{""GRACT"":0.200,""SMACT"":0.512,""POWER"":73.500}"
EOF
same "dcgmi dmon" want got
run 0 "$profan" ingest dcgmi.txt --interval 1s \
	--start 2026-11-23T12:00:00+01:00 -o start.db && base start.db >got &&
	rows start.db >>got && sed -i 1i1795431600000000000 want
same "dcgmi dmon from --start on" want got
run 2 "$profan" ingest dcgmi.txt --interval 1s --start noon -o no.db &&
	grep -q "'noon' is no instant" err
result "--start that is no instant" err

# ---- one result however it is cut ----
for chunk in 1 7 100; do
	PROFAN_CHUNK_BYTES=$chunk "$profan" ingest -q turns.csv --gpus 4 \
		-o cut.db && cmp -s cut.db turns.db
	result "batches of $chunk give the same bytes"
done
gzip -nc turns.csv >turns.csv.gz
run 0 "$profan" ingest -q --gpus 4 turns.csv.gz -o gz.db && rows gz.db >got &&
	rows turns.db | cmp -s - got
result "packed"
run 0 sh -c "'$profan' ingest -q --gpus 4 - -o pipe.db <turns.csv" &&
	rows pipe.db | cmp -s - got
result "from a pipe"
size=$(wc -c <smi.csv)
for n in $(seq 0 "$(amount 41 5 1)" "$size"); do
	head -c "$n" smi.csv >part.csv
	"$profan" ingest -q part.csv -o part.db >out 2>err
	rc=$?
	if [ $rc = 0 ]; then
		[ "$("$profan" query part.db 'SELECT event_count - stored_count
			- skipped_count FROM trace' -f csv | tail -1)" = 0 ]
	else
		[ $rc = 3 ] && [ "$(wc -l <err)" = 1 ]
	fi || echo "$n: $rc"
	rm -f part.db
done >got
[ ! -s got ]
result "cut anywhere: an answer or one sentence" got

# ---- beside a trace ----
"$mktrace" --steps 3 --layers 1 --seed 1 >one.json
run 0 "$profan" ingest one.json -o one.db
"$PYTHON" -S - "$SQLITE3" <<'END'
import datetime, json, sqlite3
c = sqlite3.connect("one.db")
base, first, last = c.execute("SELECT base_ns, first_ns, last_ns FROM trace"
                              ).fetchone()
steps = c.execute("SELECT step, start_ns + base_ns, start_ns + dur_ns + base_ns"
                  " FROM step, trace ORDER BY 2").fetchall()
sums, levels = {}, []
with open("beside.csv", "w") as f:
    f.write("timestamp, index, power.draw [W]\n")
    for i in range(-20, 40):
        ms = (base + first) // 1000000 + i
        t = datetime.datetime(1970, 1, 1) + datetime.timedelta(
            milliseconds=ms + 3600000)
        f.write(t.strftime("%Y/%m/%d %H:%M:%S.") + "%03d, 0, %d W\n" %
                (ms % 1000, 100 + i * i))
        at = ms * 1000000 - base - first
        levels = ([] if at < 0 else levels) + [[max(at, 0), 100 + i * i]]
        for step, start, end in steps:
            if start <= ms * 1000000 < end:
                sums.setdefault(step, []).append(100 + i * i)
json.dump([[s, len(v), sum(v) / len(v)] for s, v in sums.items()],
          open("sums", "w"))
json.dump([v for v in levels if v[0] <= last - first], open("levels", "w"))
END
run 0 "$profan" ingest one.json beside.csv --tz=+01:00 -o both.db &&
	[ ! -s err ] && "$profan" counters both.db -f json >out && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]["steps"]
want = json.load(open("sums"))
assert want and [[r["step"], r["sample_count"], r["mean"]] for r in t] == want'
result "means by step" out
"$profan" timeline both.db --tracks counters --pixels 100000 -f json >out &&
	"$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]
power = [k["track"] for k in t["tracks"] if "power" in k["label"]]
want = json.load(open("levels"))
assert want and [[s["start_ns"], s["last"]] for s in t["samples"]
                 if [s["track"]] == power] == want'
result "on the clock of the trace" out
for command in steps gaps overlap launches kernels; do
	run 0 "$profan" $command one.db && mv out want &&
		run 0 "$profan" $command both.db && cmp -s want out
	result "$command is that of the trace alone" want out
done
# clocks below 90 % of the most that the log has, while the GPU has work
"$PYTHON" -S - <<'END'
import datetime, json, sqlite3
c = sqlite3.connect("one.db")
base, first = c.execute("SELECT base_ns, first_ns FROM trace").fetchone()
work = c.execute("SELECT start_ns + base_ns, start_ns + dur_ns + base_ns FROM"
                 " gpu_event, trace WHERE kind IN (7, 8, 9)").fetchall()
busy = low = 0
with open("clocks.csv", "w") as f:
    f.write("timestamp, index, clocks.sm [MHz]\n")
    for i in range(-20, 40):
        ms = (base + first) // 1000000 + i
        t = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)
        mhz = 2000 if i % 4 == 0 else 1800 if i % 4 == 1 else 1700 - abs(i)
        f.write(t.strftime("%Y/%m/%d %H:%M:%S.") + "%03d, 0, %d MHz\n" %
                (ms % 1000, mhz))
        if any(s <= ms * 1000000 < e for s, e in work):
            busy += 1
            low += mhz < 1800
assert 0 < low < busy < 60, (low, busy)
json.dump([low, low / busy], open("low", "w"))
END
run 0 "$profan" ingest -q one.json clocks.csv --tz=Z -o slow.db &&
	run 0 "$profan" doctor slow.db -f json && "$PYTHON" -S -c '
import json
rows = json.load(open("out"))["tables"]["checks"]
got = [[r["count"], r["share"]] for r in rows if r["check"] == "slow clocks"]
assert got == [json.load(open("low"))], got'
result "doctor: slow clocks while the GPU works" out
run 0 "$profan" ingest -q one.json clocks.csv -o slow.db &&
	run 0 "$profan" doctor slow.db && ! grep -q 'slow clocks' out
result "and none where the log has no zone" out
run 0 "$profan" doctor both.db && ! grep -q 'ranks missing *[1-9]' out
result "doctor misses no rank of a log" out
run 0 "$profan" ingest -q one.json beside.csv -o both.db &&
	run 0 "$profan" counters both.db && grep -q -e '--tz' out err &&
	! grep -q '^Means' out
result "without a zone, no step has samples" out
run 0 "$profan" counters one.db && grep -q '^There are no .*nvidia-smi' out
result "a trace without counters says what would have some" out
run 0 "$profan" trend smi.db && grep -q 'no complete steps' out &&
	run 0 "$profan" trend one.db smi.db && [ "$(grep -c "so it has no row" out)" = 1 ] &&
	run 3 "$profan" trend smi.db --fail-on 'step_time>1%'
result "trend says what has no steps, and does not pass a check of it" err
for weight in gpu cpu idle memory samples; do
	run 0 "$profan" stacks --weight $weight smi.db && [ ! -s out ] &&
		[ "$(wc -l <err)" = 1 ]
	result "stacks --weight $weight of a log: none, and a word" err
done
mkdir run && cp one.json beside.csv run/ && echo 'a,b' >run/table.csv
printf 'timestamp, loss\n1,2\n' >run/loss.csv
run 0 "$profan" ingest --dry-run run -f json && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]
assert [(r["path"], r["format"]) for r in t["files"]] == [
    ("run/beside.csv", "smi"), ("run/one.json", "chrome")]
assert [r["path"] for r in t["passed"]] == ["run/loss.csv", "run/table.csv"]'
result "logs in folders are read, other tables are not" out

# ---- states: which, how long, what the bits of a mask mean ----
"$PYTHON" -S - <<'END'
rows = [("0x0000000000000004", "P0"), ("0x0000000000000004", "P0"),
        ("0x0000000000000024", "P2"), ("[N/A]", "P2"),
        ("0x0000000000000001", "P2"), ("0x0000000000000000", "P8"),
        ("0x0000000100000080", "P8"), ("0x0000000000000001", "P8")]
with open("states.csv", "w") as f:
    f.write("timestamp, index, power.draw [W], "
            "clocks_throttle_reasons.active, pstate, "
            "clocks_throttle_reasons.sw_power_cap\n")
    for i, (mask, pstate) in enumerate(rows):
        for gpu in (0, 1):
            f.write("2026/01/01 00:00:%02d.00%d, %d, 5 W, %s, %s, %s\n" % (
                i * i, gpu, gpu, mask, "P0" if gpu else pstate,
                "Active" if i < 3 else "Not Active"))
with open("many.csv", "w") as f:
    f.write("timestamp, index, gom.current\n")
    for i in range(3000):
        f.write("2026/01/01 00:%02d:%02d.000, 0, text %d\n" % (
            i // 60, i % 60, i))
END
run 0 "$profan" ingest -q states.csv -o states.db &&
	"$profan" counters states.db -f json >out && "$PYTHON" -S - >got 2>&1 <<'END'
import json
d = json.load(open("out"))
print(d["scalars"]["finding"])
for r in d["tables"]["states"]:
    if r["track"] == "GPU 0" or r["key"] == "pstate":
        print(r["track"], r["key"].split(".")[-1], r["value"], r["meaning"],
              r["sample_count"], r["time_ns"] // 10 ** 9)
keys = {(r["track"], r["key"]) for r in d["tables"]["states"]}
for k in keys:
    assert abs(sum(r["share"] for r in d["tables"]["states"]
                   if (r["track"], r["key"]) == k) - 1) < 1e-9, k
END
cat >want <<'END'
2 series of counters with 16 samples; clocks of GPU 0 are held down 45.95 % of the time, longest by power brake (hardware), bits 0x100000000, which are not known
GPU 0 active 0x0000000100000080 power brake (hardware), bits 0x100000000, which are not known 1 13
GPU 0 active 0x0000000000000000 nothing 1 11
GPU 0 active 0x0000000000000001 nothing runs 2 9
GPU 0 active 0x0000000000000004 power cap (software) 2 4
GPU 0 active 0x0000000000000024 power cap (software), temperature (software) 1 0
GPU 0 pstate P8 None 3 24
GPU 0 pstate P2 None 3 21
GPU 0 pstate P0 None 2 4
GPU 0 sw_power_cap Not Active None 5 40
GPU 0 sw_power_cap Active None 3 9
GPU 1 pstate P0 None 8 49
END
same "states: how long each, and what the bits of a mask mean" want got
run 0 "$profan" report -q --force -o states.html states.db &&
	grep -q 'power cap (software)' states.html &&
	run 0 "$profan" report -q --force --redact -o states.html states.db &&
	! grep -q 'power cap' states.html
result "the page has states, and none where it hides names"
run 0 "$profan" ingest -q many.csv -o many.db &&
	"$profan" counters many.db -f json >out && "$PYTHON" -S -c '
import json
t = json.load(open("out"))["tables"]["states"]
assert len(t) == 65 and sum(r["sample_count"] for r in t) == 3000, len(t)
assert {r["value"]: r["sample_count"] for r in t}["(other texts)"] == 2936'
result "states: texts without end are one state, and counted" out

# ---- a file that ends without the end of its line ----
printf '%s' "$(cat smi.csv)" >endless.csv
run 0 "$profan" ingest endless.csv -o endless.db && [ ! -s err ] &&
	rows endless.db >got && rows smi.db >want
same "the last row counts without an end of its line" want got
size=$(wc -c <endless.csv) at=$(sed '$d' smi.csv | wc -c)
: >why
while [ $((at += 1)) -lt "$size" ]; do
	head -c "$at" endless.csv >cut.csv
	rm -f cut.db
	"$profan" ingest -q cut.csv -o cut.db 2>err && [ "$("$profan" query cut.db \
		'SELECT event_count * 10 + stored_count + skipped_count FROM trace' \
		-f csv | tail -n 1)" = 44 ] || echo "cut at $at" >>why
done
[ ! -s why ]
result "a last row that is cut is stored or counted" why

# ---- what is said of a log alone ----
printf 'main;a 5\nmain;b 7\n' >alone.folded
printf 'timestamp, index, utilization.gpu [%%]\n%s\n%s\n' \
	'2026/03/01 00:00:00.250, 0, 97 %' '2026/03/01 00:00:01.250, 0, 99 %' \
	>alone.csv
for f in alone.folded alone.csv; do
	for command in summary report; do
		rm -f said.html
		set -- "$command" "$f"
		[ "$command" = summary ] || set -- "$@" -o said.html
		run 0 "$profan" "$@" && [ ! -e said.html ] || cat said.html >>out
		grep -q 'Nothing is above its threshold\.\|^  rows    1 series\|^  stacks  58\.33 % of what 2 stacks count ends in b\.$' out &&
			! grep -qF 'there is no GPU activity' out
		result "$f: $command says nothing of a GPU's activity" out err
	done
done

# ---- real ones ----
if [ -d "$shared/inputs/telemetry" ]; then
	for f in "$shared"/inputs/telemetry/nvidia_*.csv; do
		run 0 "$profan" ingest -q "$f" -o real.db &&
			"$profan" counters real.db -f json >out && "$PYTHON" -S - \
			"${f%.csv}.golden.json" <<'END'
import json, sys
want = {k: v for k, v in json.load(open(sys.argv[1]))["columns"].items()
        if v["numbers"]}
got = {r["key"]: r for r in json.load(open("out"))["tables"]["counters"]}
for key, w in want.items():
    g = got.pop(key)
    assert (g["sample_count"], g["min"], g["max"]) == (
        w["numbers"], w["min"], w["max"]), key
    assert abs(g["mean"] - w["mean"]) < 1e-9 * w["mean"], key
assert not got, got
END
		result "${f##*/}: samples, least, mean, most" out err
	done
	for f in "$shared"/inputs/telemetry/refuse_*.csv; do
		run 3 "$profan" ingest "$f" -o no.db && [ "$(wc -l <err)" = 1 ]
		result "${f##*/}"
	done
else
	skip "logs of real machines" "../shared is not here"
fi
# ---- what it says first ----
run 0 "$profan" summary smi.db && grep -q '^  rows    [0-9]* series of counters' out &&
	grep -q 'profan counters smi.db' out && ! grep -q 'threshold' out
result 'a log: summary says what its counters say' out
tap_done
