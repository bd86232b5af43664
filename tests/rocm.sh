# SPDX-License-Identifier: MIT
# Captures of AMD's profilers: small ones made here, damaged and hostile ones,
# and real ones where they are at hand, against their records.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "no Python"
rocm() {
	PROFAN=$profan "$PYTHON" -S "$top_srcdir/tests/rocm.py" "$@"
}
made=$tmp/made
mkdir "$made"
rocm make "$made" || not_ok "the captures are made"

# ---- what is stored is what the records say ----
set --
for file in twin.db plain.db bare.db copied.db runs.db nodes.db twin.rpd \
	plain.rpd copied.rpd v3.json v3_kernel_trace.csv v3_hip_api_trace.csv \
	v3_memory_copy_trace.csv v3_marker_api_trace.csv; do
	"$profan" ingest -q "$made/$file" -o "$tmp/$file.o" 2>"$tmp/err" ||
		not_ok "$file is read" "$tmp/err"
	set -- "$@" "$made/$file" "$tmp/$file.o"
done
run 0 rocm agree "$@" || not_ok "what is stored is what the records say" "$tmp/err"
relay "$tmp/out"
for file in hostile.db hostile.rpd odd.json odd.csv; do
	"$profan" ingest -q "$made/$file" -o "$tmp/$file.o" >"$tmp/err" 2>&1 &&
		[ "$("$SQLITE3" "$tmp/$file.o" "SELECT event_count
			- stored_count - metadata_count - paired_count
			- skipped_count FROM trace")" = 0 ]
	result "$file: every row is accounted for"
done
query() { # FILE SQL WANT NAME
	"$profan" query "$tmp/$1.o" "$2" --format csv 2>&1 | sed 1d |
		tr -d '\r' >"$tmp/got"
	printf '%s\n' "$3" >"$tmp/want"
	same "$4" "$tmp/want" "$tmp/got"
}
query plain.db "SELECT format FROM trace" rocpd "the format is named"
query v3.json "SELECT format FROM trace" rocprofv3 "and JSON"
query odd.json "SELECT DISTINCT t.pid FROM event AS e JOIN track AS t
	ON t.id = e.track_id WHERE kind = 4 ORDER BY 1" '0
15
16' "several tools are several processes"
query odd.json "SELECT count(*) FROM event WHERE kind = 1 AND
	name GLOB 'r\\\"ä*'" 6 "a range's text without its escapes, if known"
query v3_kernel_trace.csv "SELECT DISTINCT grid_x, grid_y, block_x,
	registers_per_thread, shared_memory_bytes, device, stream FROM kernels" \
	'80,2,128,36,1024,2,3
80,2,128,37,1024,2,3' "CSV: grids in blocks"
query v3_memory_copy_trace.csv "SELECT name, device, count(*) FROM copies
	GROUP BY 1, 2 ORDER BY 1" 'Memcpy DtoH (Device -> Host),2,5
Memcpy HtoD (Host -> Device),2,5' "CSV: copies are of the GPU"
query v3_marker_api_trace.csv "SELECT kind, category, count(*) FROM event
	GROUP BY 1, 2" '1,cpu_op,20
1,nvtx,5
2,user_annotation,5' "CSV: ranges"
query odd.csv "SELECT name, start_ns, dur_ns FROM event ORDER BY start_ns, name" \
	'a,1,1
"b ""c"" 
d",3,1
b,5,1
b,9,0' "CSV: only whole rows with whole numbers"
printf '%s\n' '"Kind","Operation","Agent_Id","Allocation_Size","Address","Correlation_Id","Start_Timestamp","End_Timestamp"' \
	'"MEMORY_ALLOCATION","MEMORY_ALLOCATION_ALLOCATE","Agent 1",4096,"0xfffffe0000000000",1,100,200' \
	>"$tmp/high.csv"
"$profan" ingest -q "$tmp/high.csv" -o "$tmp/high.csv.o" 2>"$tmp/err"
query high.csv "SELECT args LIKE '%\"ptr\":18446741874686296064%' FROM event" 1 \
	"an address of 64 bits is the number that it is"
"$profan" ranges -q "$tmp/plain.db.o" -f json >"$tmp/got" &&
	grep -q '"range": "over threads", "count": 1, "total_ns": 98300' "$tmp/got"
result "ranges of processes are in the list of those of no thread" "$tmp/got"
# the last line without its end: a row if it has all of its cells, else counted
for file in v3_kernel_trace.csv v3_marker_api_trace.csv; do
	sed '$d' "$made/$file" | wc -c >"$tmp/size"
	printf '%s' "$(cat "$made/$file")" >"$tmp/endless_$file"
	cat >"$tmp/cuts.py" <<-'END'
		import csv, os, subprocess, sys
		profan, path, first, tmp = sys.argv[1:]
		data = open(path, "rb").read()
		def counts(n):
		    cut, db = tmp + "/cut_" + os.path.basename(path), tmp + "/cut.o"
		    open(cut, "wb").write(data[:n])
		    r = subprocess.run([profan, "ingest", cut, "-o", db],
		                       capture_output=True, text=True)
		    assert r.returncode in (0, 1), (n, r)
		    out = subprocess.run([profan, "query", "-f", "csv", db,
		        "SELECT event_count, stored_count + metadata_count"
		        " + paired_count AS kept, skipped_count FROM trace"],
		        capture_output=True, text=True, check=True).stdout
		    return list(map(int, out.splitlines()[1].split(","))), r.stderr
		whole, said = counts(len(data))
		assert not said and not whole[2], (whole, said)
		header, row = data.splitlines()[0].decode(), data[int(first):].decode()
		cells = next(csv.reader([header]))
		end = len(data)
		for n in range(int(first) + 1, end, 1 if os.environ.get("LONG") else 7):
		    (events, kept, skipped), said = counts(n)
		    assert events == kept + skipped == whole[0], (n, events)
		    text = data[int(first):n].decode()
		    short = len(next(csv.reader([text]))) < len(cells) or text[-1] == ","
		    assert not short or skipped == 1, (n, text)
		    assert bool(said) == (skipped == 1), (n, said)
	END
	run 0 "$PYTHON" -S "$tmp/cuts.py" "$profan" "$tmp/endless_$file" \
		"$(cat "$tmp/size")" "$tmp"
	result "$file: a last row that is cut is stored whole or counted" "$tmp/err"
done
query plain.rpd "SELECT format FROM trace" rpd "that of RPD, too"
query plain.db "SELECT DISTINCT grid_x, grid_y, block_x, registers_per_thread,
	shared_memory_bytes, blocks_per_sm, stream FROM kernels WHERE name =
	'void gemm<0>(int)' ORDER BY stream" '80,2,128,36,1024,1.6,1
80,2,128,36,1024,1.6,3' "grids are in blocks, streams are streams or queues"
query plain.db "SELECT kind, category, count(*) FROM event WHERE name IN
	('hsa_queue_create', 'ncclAllReduce', '__hipRegisterFunction', 'a mark',
	'over threads', 'ALLOC', 'FREE') GROUP BY 1, 2 ORDER BY 1, 2" \
	'0,memory_allocation,2
0,rccl_api,1
4,cuda_runtime,1
5,cuda_driver,1
16,nvtx,1
19,nvtx,1' "calls by their domain, marks and ranges of processes"
query plain.db "SELECT count(*) FROM event WHERE name = 'quoted \"text\" ä \\'" \
	1 "a range's text without its escapes"
query plain.db "SELECT args ->> '\$.\"Input Dims\"', count(*) FROM event
	WHERE name = 'aten::mm' GROUP BY 1" '"[[2,3],[]]",20' \
	"names of emit_nvtx are split"
query plain.db "SELECT step, count(*) FROM gpu_event WHERE kind = 7 GROUP BY 1" \
	',1
0,4
1,4
2,4
3,4
4,4' "ProfilerStep#N are steps"
query plain.db "SELECT name FROM track WHERE name IS NOT NULL" "main thread" \
	"only threads with events are named"
query runs.db "SELECT device, count(*) FROM gpu_work GROUP BY 1" '0,6
1,6' "two runs of one machine: its GPUs"
query nodes.db "SELECT device, count(*) FROM gpu_work GROUP BY 1" '0,6
2,6' "runs of two machines: a GPU is one of them"
query nodes.db "SELECT DISTINCT t.pid FROM event AS e JOIN track AS t
	ON t.id = e.track_id WHERE kind = 4 ORDER BY 1" '15
15 (process 2)' "one number of two processes is two"
query runs.db "SELECT count(*) FROM gpu_event AS g JOIN event AS l
	ON l.id = g.launch_id JOIN event AS w ON w.id = g.event_id
	JOIN track AS t ON t.id = l.track_id JOIN track AS u ON u.id = w.track_id
	WHERE u.pid <> t.pid - 15" 0 "a call and its work are of one process"
query plain.rpd "SELECT name, grid_x, grid_y, block_x FROM kernels
	WHERE name = 'void items()'" 'void items(),4,2,256' \
	"hipExtModuleLaunchKernel has a grid of work-items"
query plain.rpd "SELECT name, size_bytes, count(*) FROM copies GROUP BY 1, 2
	ORDER BY 1, 2" 'Memcpy DtoD (Device -> Device),,2
Memcpy DtoH (Device -> Host),4096,5
Memcpy HtoD (Host -> Device),65536,5
Memset (Device),,1' "bytes of a call are those of its one operation"
query plain.rpd "SELECT name, args ->> '\$.value' FROM event WHERE kind = 17" \
	sclk,1700 "counters"
query plain.rpd "SELECT name FROM event WHERE kind = 6" OpTable::writeRows \
	"what the profiler does is overhead"
"$profan" doctor "$tmp/plain.db.o" | tr '\n' ' ' >"$tmp/got"
grep -q 'tables not read: rocpd_pmc_event 1; ' "$tmp/got"
result "doctor: what is not read" "$tmp/got"

# ---- the same program as Kineto writes it ----
for like in db rpd; do
	rocm kineto $like >"$tmp/twin.json"
	"$profan" ingest -q "$tmp/twin.json" -o "$tmp/json.$like.o" ||
		not_ok "ingest twin.json"
done
for file in json.db json.rpd twin.db twin.rpd v3.json; do
	figures "$tmp/$file.o" "$tmp/$file.o.d" kernels launches overlap gaps \
		calls ranges steps syncs "steps --steps ^forward" trend
done
for file in twin.db twin.rpd v3.json; do
	like=json.db
	[ $file = twin.rpd ] && like=json.rpd
	for want in "$tmp/$like.o.d"/*; do
		same "$file, ${want##*/}: as from Kineto's JSON" "$want" \
			"$tmp/$file.o.d/${want##*/}"
	done
done

# ---- every command ----
for file in plain.db plain.rpd nodes.db hostile.db hostile.rpd v3.json odd.json \
	odd.csv v3_kernel_trace.csv; do
	for command in info table kernels launches overlap gaps syncs steps \
		calls memory modules ranges doctor stacks summary trend; do
		"$profan" $command "$tmp/$file.o" >"$tmp/out" 2>"$tmp/err" ||
			{ not_ok "$command of $file" "$tmp/err"; continue; }
		[ -s "$tmp/out" ] || grep -q 'no operators of torch' "$tmp/err"
		result "$command of $file says something" "$tmp/err"
	done
	"$profan" report "$tmp/$file.o" -o "$tmp/$file.html" \
		>"$tmp/err" 2>&1 &&
		"$profan" slice "$tmp/$file.o" --from 0 -o "$tmp/$file.json" \
			>"$tmp/err" 2>&1 &&
		"$profan" ingest -q "$tmp/$file.json" -o "$tmp/again.o" \
			>"$tmp/err" 2>&1
	result "report and slice of $file"
done
"$profan" diff "$tmp/twin.db.o" "$tmp/plain.db.o" --format json |
	grep -q '"comparable": "yes"'
result "diff of two"
"$profan" export --rows "$tmp/plain.db.o" -o "$tmp/plain.rows" \
	>"$tmp/err" 2>&1

# ---- nothing of the file but names that events refer to ----
if grep -l 4f0c-must "$tmp"/*.o "$tmp"/*.html "$tmp"/*.json "$tmp"/*.rows \
	>"$tmp/found"; then
	not_ok "no environment, command line, argument or foreign name" \
		"$tmp/found"
else
	ok "no environment, command line, argument or foreign name"
fi

# ---- a capture is taken where a trace is ----
cp "$made/plain.db" "$tmp/own.db"
"$profan" kernels "$tmp/own.db" --format csv >"$tmp/got" 2>"$tmp/err"
"$profan" kernels "$tmp/plain.db.o" --format csv >"$tmp/want"
same "a command reads it" "$tmp/want" "$tmp/got"
mkdir "$tmp/folder"
cp "$made/twin.db" "$made/twin.rpd" "$made/bad_view.db" "$tmp/folder"
cp "$tmp/json.db.o" "$tmp/folder/ours.db"
"$profan" ingest -q "$tmp/folder" -o "$tmp/folder.o" 2>"$tmp/err"
query folder "SELECT count(*) FROM trace" 2 "a folder with two, and others"
for file in plain.db plain.rpd runs.db odd.json v3_kernel_trace.csv; do
	for bytes in 1 7 100; do
		PROFAN_CHUNK_BYTES=$bytes "$profan" ingest -q "$made/$file" \
			-o "$tmp/small.o" 2>/dev/null
		cmp "$tmp/$file.o" "$tmp/small.o" >"$tmp/err" 2>&1
		result "$file: batches of $bytes events give the same bytes"
	done
done

# the line of a row that cannot be read is named, however the file was read
rows=$made/v3_kernel_trace.csv
sed '3s/,[0-9]\{4,\}/,x/g' "$rows" >"$tmp/odd_row.csv"
at=$(head -n 2 "$rows" | wc -c)
for bytes in 1 1000000; do
	PROFAN_CHUNK_BYTES=$bytes "$profan" ingest "$tmp/odd_row.csv" \
		-o "$tmp/small.o" 2>"$tmp/err"
	grep -q "malformed events skipped: 1, first at byte $((at))\$" "$tmp/err"
	result "a row that is odd has its place (batches of $bytes)" "$tmp/err"
done

# what nobody recorded is not 0
alone=$tmp/v3_kernel_trace.csv.o
{
	"$profan" path "$alone" -f json && "$profan" modules "$alone" -f json &&
		"$profan" gaps "$alone" -f json &&
		"$profan" steps "$alone" -f json &&
		"$profan" trend "$alone" -f json
} >"$tmp/got" 2>&1
"$PYTHON" -S - "$tmp/got" >"$tmp/err" 2>&1 <<'EOF'
import json, sys
text, docs, at = open(sys.argv[1]).read(), [], 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    doc, at = json.JSONDecoder().raw_decode(text, at)
    docs.append(doc)
path, modules, gaps, steps, trend = docs
assert path["scalars"]["host_ns"] is None, path["scalars"]
assert path["tables"]["what_if"][0]["saved_ns"] is None
assert modules["scalars"]["host_ns"] is None, modules["scalars"]
assert modules["scalars"]["gpu_outside_ns"] is None, modules["scalars"]
assert gaps["scalars"]["drained_count"] is None, gaps["scalars"]
step = steps["tables"]["steps"][0]
assert step["runtime_ns"] is step["cpu_ns"] is step["launch_count"] is None
assert step["kernel_ns"] > 0, step
assert "operators and calls" not in steps["scalars"]["finding"], steps
row = trend["tables"]["trend"][0]
assert row["syncs"] is row["ops"] is None and row["kernels"] > 0, row
EOF
result "of a host that nobody recorded nothing is said" "$tmp/err"
for answer in 'calls|rocprofv3 --hip-trace' 'ranges|--marker-trace' \
	'graphs|not known'; do
	"$profan" "${answer%%|*}" "$alone" 2>&1 | tr '\n' ' ' >"$tmp/got"
	grep -q -e "${answer#*|}" "$tmp/got"
	result "${answer%%|*}: why, and what records it" "$tmp/got"
done

# ---- the CSVs of a run are one trace ----
csvs="$made/v3_hip_api_trace.csv $made/v3_kernel_trace.csv
	$made/v3_memory_copy_trace.csv $made/v3_marker_api_trace.csv"
# shellcheck disable=SC2086
"$profan" ingest -q $csvs -o "$tmp/joined.o" 2>"$tmp/err"
query joined "SELECT count(*) AS a, sum(event_count = (SELECT count(*) FROM event)
	+ skipped_count + metadata_count) AS b,
	sum(file_bytes = $(cat $csvs | wc -c)) AS c
	FROM trace" '1,1,1' "CSVs of a run are one trace"
linked="SELECT kind, count(*), count(launch_id) FROM gpu_event GROUP BY 1"
query joined "$linked" "$("$SQLITE3" -separator , "$tmp/v3.json.o" "$linked")" \
	"CSVs of a run: work has its calls, as in its JSON"
mkdir -p "$tmp/csvs"
# shellcheck disable=SC2086
cp $csvs "$tmp/csvs"
cp "$made/v3_kernel_trace.csv" "$tmp/csvs/other_kernel_trace.csv"
printf '"Node_Id","Logical_Node_Id"\n0,0\n' >"$tmp/csvs/v3_agent_info.csv"
PROFAN_CHUNK_BYTES=7 "$profan" ingest -q "$tmp/csvs" -o "$tmp/csvs.o" 2>"$tmp/err"
query csvs "SELECT count(*), min(event_count) FROM trace" \
	"2,20" "a folder of CSVs: a trace for each run"
"$profan" ingest --dry-run "$tmp/csvs" -f json >"$tmp/got" 2>"$tmp/err"
grep -q '"trace_count": 2' "$tmp/got" && grep -q '2 traces of 1 run' "$tmp/got"
result "--dry-run counts them so" "$tmp/got"
echo '{"traceEvents":[]}' >"$tmp/csvs/v3_hip_api_trace.csv"
run 3 "$profan" ingest -q "$tmp/csvs/v3_hip_api_trace.csv" \
	"$tmp/csvs/v3_kernel_trace.csv" -o "$tmp/odd_join.o" &&
	grep -q 'is no CSV of rocprofv3' "$tmp/err" && [ ! -e "$tmp/odd_join.o" ]
result "one that is none of them is refused by name" "$tmp/err"

# ---- cut at every size step ----
cuts=$(amount 5 40 300)
for file in v3.json v3_hip_api_trace.csv; do
	size=$(wc -c <"$made/$file") i=1 bad=0
	while [ $i -lt $cuts ]; do
		head -c $((size * i / cuts)) "$made/$file" >"$tmp/cut"
		rm -f "$tmp/cut.o"
		"$profan" ingest -q "$tmp/cut" -o "$tmp/cut.o" >"$tmp/err" 2>&1
		case $? in
		0) [ "$("$SQLITE3" "$tmp/cut.o" "SELECT event_count
			- stored_count - metadata_count - paired_count
			- skipped_count FROM trace")" = 0 ] ||
			bad=$((bad + 1)) ;;
		3) grep -q 'has no complete event\|no JSON at byte' \
			"$tmp/err" &&
			[ ! -e "$tmp/cut.o" ] || bad=$((bad + 1)) ;;
		*) bad=$((bad + 1)) ;;
		esac
		i=$((i + 1))
	done
	[ $bad -eq 0 ]
	result "$file cut off: what came before is kept" "$tmp/err"
done
gzip -c "$made/v3.json" >"$tmp/v3.json.gz"
"$profan" ingest -q "$tmp/v3.json.gz" -o "$tmp/packed.o" 2>"$tmp/err"
query packed "SELECT event_count FROM trace" \
	"$("$SQLITE3" "$tmp/v3.json.o" "SELECT event_count FROM trace")" "packed"
"$profan" ingest -q - -o "$tmp/piped.o" <"$made/v3_kernel_trace.csv" 2>"$tmp/err"
query piped "SELECT event_count FROM trace" 20 "from a pipe"
"$profan" ingest -q "$made/none.json" -o "$tmp/none.o" 2>"$tmp/err"
query none "SELECT event_count FROM trace" 0 "without any record"

# ---- what is refused, by name ----
refuses() { # FILE WORDS
	rm -f "$tmp/refused.o"
	"$profan" ingest "$1" -o "$tmp/refused.o" >"$tmp/err" 2>&1
	if [ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		[ ! -e "$tmp/refused.o" ] && grep -q "$2" "$tmp/err"; then
		ok "${1##*/} is refused"
	else
		not_ok "${1##*/} is refused" "$tmp/err"
	fi
}
refuses "$made/bad_mixed.db" 'holds several runs in one set of tables'
refuses "$made/bad_text.json" 'is no JSON: no value at byte'
refuses "$made/bad_deep.json" 'is no JSON: too deep at byte'
refuses "$made/bad_long.json" 'has a string of more than 16 MB at byte'
refuses "$made/bad_long.csv" 'has a cell of more than 1 MB'
refuses "$made/bad_view.db" 'its tables: rocpd_metadata$'
refuses "$made/bad_cut_plain.db" 'SQLITE_CORRUPT'
refuses "$made/bad_cut_plain.rpd" 'SQLITE_CORRUPT'

# ---- damage: an answer or one sentence, and nothing left behind ----
seeds=$(amount 6 64 400)
mkdir "$tmp/damaged"
"$PYTHON" -S "$top_srcdir/tests/damage.py" "$profan" "$tmp/damaged" $seeds "$made/plain.db" \
	"$made/runs.db" "$made/plain.rpd" "$made/v3.json" \
	"$made/v3_kernel_trace.csv" >"$tmp/why" 2>&1
result "$seeds damaged captures: read or refused" "$tmp/why"

# ---- real ones ----
if [ -d "$shared/inputs/rocm" ]; then
	for name in rocpd_mi300x_nov2025 rpd_matmul; do
		file=$shared/inputs/rocm/$name.db.gz
		gzip -dc "$file" >"$tmp/real.db"
		"$profan" ingest -q "$tmp/real.db" -o "$tmp/real.o" \
			>"$tmp/err" 2>&1 &&
			rocm golden "$tmp/real.o" "${file%.db.gz}.golden.json" \
				>>"$tmp/err" 2>&1 &&
			! grep -q PROFAN_CANARY "$tmp/real.o" &&
			"$profan" report "$tmp/real.o" --force \
				-o "$tmp/real.html" >>"$tmp/err" 2>&1 &&
			! grep -q PROFAN_CANARY "$tmp/real.html"
		result "real: $name"
	done
	gzip -dc "$shared/inputs/rocm/rocprofv3_908_results.json.gz" \
		>"$tmp/real.json"
	"$profan" ingest -q "$tmp/real.json" -o "$tmp/real.o" >"$tmp/err" 2>&1 &&
		rocm golden "$tmp/real.o" \
			"$shared/inputs/rocm/rocprofv3_908.golden.json" \
			>>"$tmp/err" 2>&1
	result "real: rocprofv3_908_results.json"
	for file in "$shared"/inputs/rocm/csv/*.csv; do
		# also those whose last line has no end
		rows=$(($(grep -c . "$file") - 1))
		"$profan" ingest -q "$file" -o "$tmp/real.o" >"$tmp/err" 2>&1 &&
			[ "$("$SQLITE3" "$tmp/real.o" "SELECT stored_count
				FROM trace")" = $rows ]
		result "real: ${file##*/}" "$tmp/err"
	done
else
	skip "real captures" "NOT TESTED: ../shared/inputs is not there"
fi
tap_done
