# SPDX-License-Identifier: MIT
# Exports of Nsight Systems: small ones made here in several versions, damaged
# and hostile ones, and real ones where they are at hand, against their rows.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "no Python"
nsys() {
	"$PYTHON" -S "$top_srcdir/tests/nsys.py" "$@"
}
made=$tmp/made
mkdir "$made"
nsys make "$made" || not_ok "the databases are made"

# ---- what is stored is what the rows say ----
set --
for name in plain old negative several twin graphs nodes unified copied wal; do
	"$profan" ingest -q "$made/$name.sqlite" -o "$tmp/$name.db" \
		2>"$tmp/err" || not_ok "$name is read" "$tmp/err"
	set -- "$@" "$made/$name.sqlite" "$tmp/$name.db"
done
run 0 nsys agree "$@" || not_ok "what is stored is what the rows say" "$tmp/err"
relay "$tmp/out"
for name in hostile nostrings columns two_gpus; do
	"$profan" ingest -q "$made/$name.sqlite" -o "$tmp/$name.db" \
		>"$tmp/err" 2>&1 &&
		[ "$("$SQLITE3" "$tmp/$name.db" "SELECT event_count
			- stored_count - metadata_count - paired_count
			- skipped_count FROM trace")" = 0 ]
	result "$name: every row is accounted for"
done
query() { # DB SQL WANT NAME
	"$profan" query "$tmp/$1.db" "$2" --format csv 2>&1 | sed 1d |
		tr -d '\r' >"$tmp/got"
	printf '%s\n' "$3" >"$tmp/want"
	same "$4" "$tmp/want" "$tmp/got"
}
cp "$made/plain.sqlite" "$tmp/calls.sqlite"
for table in KERNEL MEMCPY MEMSET; do
	"$SQLITE3" "$tmp/calls.sqlite" "DROP TABLE IF EXISTS
		CUPTI_ACTIVITY_KIND_$table"
done
run 0 "$profan" ingest -q "$tmp/calls.sqlite" -o "$tmp/calls.db" &&
	run 0 "$profan" path "$tmp/calls.db" -f json &&
	grep -q 'No GPU work was recorded' "$tmp/out" &&
	grep -q '"window_ns": null' "$tmp/out"
result "path: without GPU rows nobody knows what decides" "$tmp/out"
run 0 "$profan" roofline "$tmp/plain.db" &&
	grep -q '^GPU  *NVIDIA Test$' "$tmp/out" &&
	grep -q '^Memory, GB/s  *576.1$' "$tmp/out"
result "roofline: the GPU's name and its bandwidth are the file's" "$tmp/out"
query plain "SELECT s.text, count(*) FROM gpu_event JOIN string AS s
	ON s.id = name_id WHERE kind = 11 GROUP BY 1 ORDER BY 1" \
	"Context Sync,3
Event Sync,3
Stream Sync,3
Stream Wait Event,3" "waits are what their calls say, whatever syncType is"
query plain "SELECT name, count(*) FROM event WHERE kind = 1 AND
	name GLOB 'aten*' GROUP BY 1" "aten::mm,12" "names of emit_nvtx are split"
query plain "SELECT args ->> '\$.\"Input Dims\"', args ->> '\$.op_id' FROM event
	WHERE name = 'aten::mm' AND args ->> '\$.op_id' = 103" \
	'"[[2,3],[]]",103' "and their shapes and numbers kept"
query plain "SELECT args ->> '\$.domain', args ->> '\$.category',
	args ->> '\$.payload', args ->> '\$.color' FROM event
	WHERE name = 'ncclAllReduce'" 'NCCL,phase,12345,#ff00ff00' \
	"domains and categories of NVTX by their names"
query plain "SELECT args ->> '\$.end', end_ns = (SELECT last_ns FROM trace)
	FROM event WHERE name = 'never closed'" 'open,1' \
	"a range without an end ends with the file"
query plain "SELECT kind, count(*) FROM event WHERE name IN ('over threads',
	'a mark') GROUP BY 1" '16,1
19,1' "ranges of processes, and marks"
kind=CUPTI_ACTIVITY_KIND_
# tables under the names of other versions: read if their columns are there,
# else every command that lacks them says so
events="SELECT name, category, start_ns, dur_ns, args FROM event ORDER BY 3, 1"
"$profan" ingest -q "$made/versions.sqlite" -o "$tmp/versions.db" 2>"$tmp/err"
"$profan" query -f csv "$tmp/plain.db" "$events" >"$tmp/want"
"$profan" query -f csv "$tmp/versions.db" "$events" >"$tmp/got"
same "tables of other versions are read" "$tmp/want" "$tmp/got"
"$profan" ingest -q "$made/unknown.sqlite" -o "$tmp/unknown.db" 2>"$tmp/err"
query unknown "SELECT event_count - stored_count - metadata_count - skipped_count
	FROM trace" 0 "tables of unknown versions are counted"
for command in ranges kernels launches gaps overlap calls syncs steps; do
	run 0 "$profan" $command "$tmp/unknown.db" && tr '\n' ' ' <"$tmp/out" |
		grep -q 'rows of the table CUPTI_ACTIVITY_KIND_KERNEL_V3 are in no' &&
		! grep -q 'There are no \|nsys profile -t' "$tmp/out"
	result "$command: says that tables were not read" "$tmp/out"
done
run 0 "$profan" doctor "$tmp/unknown.db" &&
	grep -q '^tables not read .* warn$' "$tmp/out" &&
	! grep -q 'call.* \(bad\|warn\)$' "$tmp/out"
result "doctor: what was not read is no fault of the trace" "$tmp/out"

"$SQLITE3" "$made/unknown.sqlite" "DROP TABLE ${kind}MEMSET;
	DROP TABLE ${kind}SYNCHRONIZATION"
"$profan" ingest -q "$made/unknown.sqlite" -o "$tmp/none.db" 2>"$tmp/err"
for command in summary 'table verdicts' kernels; do
	# shellcheck disable=SC2086  # two words are meant
	run 0 "$profan" $command "$tmp/none.db" &&
		! grep -qi 'there \(is\|are\) no \(GPU activity\|kernels\)' "$tmp/out"
	result "$command: what was not read is not what is not there" "$tmp/out"
done

# a GPU's name is enough to know of tensor cores; overhead of threads
"$profan" ingest -q "$made/named.sqlite" -o "$tmp/named.db" 2>"$tmp/err"
run 0 "$profan" table verdicts -f csv "$tmp/named.db" &&
	grep '^A6,' "$tmp/out" | grep -v 'is not known' >"$tmp/got"
result "the name of a GPU says what it can" "$tmp/out"
run 0 "$profan" doctor -f json "$tmp/named.db" && "$PYTHON" -S - "$tmp/out" \
	>"$tmp/why" 2>&1 <<'END'
import json, sys
rows = {r["check"]: r for r in json.load(open(sys.argv[1]))["tables"]["checks"]}
r = rows["profiler overhead"]
assert r["count"] == 4 and 0 < r["share"] <= 1, r
END
result "overhead of several threads is a part of their time" "$tmp/why"

# start/end ranges: as nsys' nvtx_startend_sum has them, as steps, as slices
for name in spans spans_cross; do
	"$profan" ingest -q "$made/$name.sqlite" -o "$tmp/$name.db" 2>"$tmp/err"
done
ranges_of() { # DB: text of the finding and rows of its start/end ranges
	run 0 "$profan" ranges -q -f json "$1" && "$PYTHON" -S - "$tmp/out" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		print(d["scalars"]["finding"])
		for r in d["tables"]["spans"]:
		    print(*(r[k] for k in ("range", "count", "total_ns",
		            "median_ns", "min_ns", "max_ns")))
		assert abs(sum(r["share"] for r in d["tables"]["spans"]) - 1) < 1e-9
	END
}
ranges_of "$tmp/spans.db" >"$tmp/got" 2>&1
cat >"$tmp/want" <<'END'
Of 13 start/end ranges in the capture those of request last longest: 1.250 ms in all, 7 of them
request 7 1250015 100003 100000 650000
iteration 0 1 90000 90000 90000 90000
iteration 1 1 90000 90000 90000 90000
iteration 2 1 90000 90000 90000 90000
iteration 3 1 90000 90000 90000 90000
iteration 4 1 90000 90000 90000 90000
iteration 5 1 90000 90000 90000 90000
END
same "ranges: start/end ranges by name, and that they are there" "$tmp/want" \
	"$tmp/got"
run 0 "$profan" steps -q --steps '^iteration' --by-range -f json "$tmp/spans.db" &&
	grep -q '"step_count": 6' "$tmp/out" &&
	grep -q '"range": "request", "count": 7, "total_ns": 1250015' "$tmp/out"
result "steps are start/end ranges, and others begin in them" "$tmp/out"
run 0 "$profan" path -q --steps '^iteration' "$tmp/spans.db"
result "path: steps of no thread" "$tmp/err"
run 3 "$profan" steps -q --steps '^iteration' "$tmp/spans_cross.db" &&
	grep -q 'cross each other' "$tmp/err"
result "start/end ranges that cross are no steps" "$tmp/err"
run 0 "$profan" report -q --force -o "$tmp/p.html" "$tmp/spans.db" &&
	[ "$(grep -o 'start/end ranges of process 100[01]' "$tmp/p.html" |
		sort -u | wc -l)" = 2 ]
result "the timeline has a lane of each process' start/end ranges"
query plain "SELECT step, count(*) FROM gpu_event WHERE step IS NOT NULL
	AND kind = 7 GROUP BY 1" '0,4
1,4
2,4' "ProfilerStep#N are steps"
query plain "SELECT DISTINCT blocks_per_sm, warps_per_sm, grid_x FROM kernels" \
	'1.6,6.4,80' "kernels have their shape and the GPU's"
query plain "SELECT name FROM process" python3 \
	"only processes with events are named"
query several "SELECT count(DISTINCT t.pid), count(DISTINCT c.device)
	FROM track AS t JOIN gpu_event AS g ON g.event_id >> 32 = t.id
	JOIN gpu_config AS c ON c.id = g.config_id" '3,1' \
	"streams of three processes are told apart, the GPU is one"
query several "SELECT count(*) FROM gpu_event AS g JOIN event AS l
	ON l.id = g.launch_id JOIN event AS w ON w.id = g.event_id
	JOIN track AS t ON t.id = l.track_id JOIN track AS u ON u.id = w.track_id
	WHERE g.kind = 7 AND u.pid <> '0'
	AND u.pid <> '0 (process ' || t.pid || ')'" 0 \
	"a call and its work are of one process"
query two_gpus "SELECT DISTINCT device FROM gpu_work ORDER BY 1" '0
1' "one number of two processes is two GPUs"
query graphs "SELECT what, name, count(*) FROM gpu_work GROUP BY 1, 2" \
	'graph,CUDA graph 12,3' "a whole graph is work"
query nodes "SELECT what, name, count(*) FROM gpu_work GROUP BY 1, 2" \
	'kernel,void node(),3' "but not where its kernels were recorded"
"$profan" doctor "$tmp/graphs.db" | tr '\n' ' ' >"$tmp/got"
grep -q 'cuda-graph-trace=node' "$tmp/got"
result "doctor: how to record their kernels" "$tmp/got"
for name in graphs plain; do
	cp "$made/$name.sqlite" "$tmp/uncalled.sqlite"
	"$SQLITE3" "$tmp/uncalled.sqlite" \
		"DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME"
	"$profan" ingest -q "$tmp/uncalled.sqlite" -o "$tmp/$name.uncalled.db" \
		2>"$tmp/err" || not_ok "$name without calls is read" "$tmp/err"
done
"$PYTHON" -S -c 'import json, subprocess, sys
for db in sys.argv[2:]:
    d = json.loads(subprocess.check_output([sys.argv[1], "graphs", db, "-f",
                                            "json"]))
    s = d["scalars"]
    print([s[k] for k in ("gpu_ns", "replayed_ns", "replayed_count",
                          "launch_count", "whole_count", "graph_count")],
          s["finding"][:24], ["=node" in n for n in d["notes"] if "whole" in n])' "$profan" \
	"$tmp/graphs.db" "$tmp/plain.db" "$tmp/graphs.uncalled.db" \
	"$tmp/plain.uncalled.db" >"$tmp/got" 2>&1
cat >"$tmp/want" <<'END'
[51000, 51000, None, 3, 3, None] Graphs were recorded as  [True]
[97500, 0, 0, 0, 0, 0] No GPU work in the captu []
[51000, None, None, None, 3, None] Graphs were recorded as  [True]
[97500, None, None, None, 0, None] There are no launch call []
END
same "graphs: whole ones are replayed, and what they replay is not known" \
	"$tmp/want" "$tmp/got"
{
	"$profan" doctor "$tmp/unified.db" --all -f csv 2>"$tmp/err" | grep -E \
		'^(launched before capture|unified memory|no launch call|backlog)'
	"$profan" diff "$tmp/unified.db" "$tmp/unified.db" -f json |
		grep -oE 'A, [0-9]+ GPU events? (move|was|were|ha).* launches'
	"$profan" launches "$tmp/unified.db" -f json |
		grep -o '"orphan_count": [0-9]*'
	"$SQLITE3" "$tmp/unified.db" \
		<"$top_srcdir/schema/query/launched_before.sql"
} >"$tmp/got" 2>&1
cat >"$tmp/want" <<'END'
launched before capture,0,0,0,ok
unified memory,5,5701000,0.9193678438961458,note
no launch call,0,0,0,ok
backlog before the capture,0,0,0,ok
A, 5 GPU events move pages of unified memory, which no call launches
"orphan_count": 5
1|6|0|0|5|5701000|0|0
END
same "pages of unified memory move without a call" "$tmp/want" "$tmp/got"
"$profan" doctor "$tmp/plain.db" | tr '\n' ' ' >"$tmp/got"
grep -q 'tables not read: OSRT_API 1, SCHED_EVENTS 1; ' "$tmp/got"
result "doctor: what is not read" "$tmp/got"
"$profan" ingest -q "$made/plain.sqlite" --osrt -o "$tmp/osrt.db" 2>/dev/null
query osrt "SELECT name, dur_ns FROM event WHERE category = 'osrt'" 'poll,49' \
	"--osrt keeps calls of the system's libraries"

# ---- the same program as Kineto writes it ----
nsys kineto "$made/twin.sqlite" >"$tmp/twin.json"
"$profan" ingest -q "$tmp/twin.json" -o "$tmp/json.db" ||
	not_ok "ingest twin.json"
for db in json twin; do
	figures "$tmp/$db.db" "$tmp/$db.d" kernels launches overlap gaps calls \
		ranges steps "steps --steps ^forward" "ranges --steps ^forward" \
		trend
done
for want in "$tmp/json.d"/*; do
	same "${want##*/}: as from Kineto's JSON" "$want" "$tmp/twin.d/${want##*/}"
done

# ---- every command ----
for db in plain negative several graphs hostile columns; do
	for command in info table kernels launches overlap gaps syncs steps \
		calls memory modules ranges doctor stacks summary; do
		"$profan" $command "$tmp/$db.db" >"$tmp/out" 2>"$tmp/err" ||
			{ not_ok "$command of $db" "$tmp/err"; continue; }
		[ -s "$tmp/out" ] || [ -s "$tmp/err" ]
		result "$command of $db says something"
	done
	"$profan" report "$tmp/$db.db" -o "$tmp/$db.html" >"$tmp/err" 2>&1 &&
		"$profan" slice "$tmp/$db.db" --from 0 -o "$tmp/$db.json" \
			>"$tmp/err" 2>&1 &&
		"$profan" ingest -q "$tmp/$db.json" -o "$tmp/again.db" \
			>"$tmp/err" 2>&1
	result "report and slice of $db"
done
"$profan" diff "$tmp/plain.db" "$tmp/negative.db" --format json |
	grep -q '"comparable": "yes"'
result "diff of two"
for name in plain several copied; do
	"$profan" export --rows "$tmp/$name.db" -o "$tmp/$name.rows" \
		>"$tmp/err" 2>&1
done

# ---- nothing of the file but names that events refer to ----
"$profan" table "$tmp/plain.db" >"$tmp/plain.txt"
if grep -l 4f0c-must "$tmp"/*.db "$tmp"/*.html "$tmp"/*.json "$tmp"/*.rows \
	"$tmp"/*.txt >"$tmp/found"; then
	not_ok "no environment, command line or foreign name" "$tmp/found"
else
	ok "no environment, command line or foreign name"
fi

# ---- a database is taken where a trace is ----
cp "$made/plain.sqlite" "$tmp/own.sqlite"
"$profan" kernels "$tmp/own.sqlite" --format csv >"$tmp/got" 2>"$tmp/err"
"$profan" kernels "$tmp/plain.db" --format csv >"$tmp/want"
same "a command reads it" "$tmp/want" "$tmp/got"
mkdir "$tmp/folder"
cp "$made/plain.sqlite" "$made/bad_dlprof.sqlite" "$tmp/folder"
"$profan" ingest -q "$tmp/folder" -o "$tmp/folder.db" 2>"$tmp/err"
query folder "SELECT count(*) FROM trace" 1 "a folder with one, and with others"
for bytes in 700 4096; do
	PROFAN_CHUNK_BYTES=$bytes "$profan" ingest -q "$made/plain.sqlite" \
		-o "$tmp/plain2.db" 2>/dev/null
	cmp "$tmp/plain.db" "$tmp/plain2.db" >"$tmp/err" 2>&1
	result "batches of $bytes events give the same bytes"
done

# ---- what is refused, by name ----
refuses() { # FILE WORDS
	rm -f "$tmp/refused.db"
	"$profan" ingest "$1" -o "$tmp/refused.db" >"$tmp/err" 2>&1
	if [ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		[ ! -e "$tmp/refused.db" ] && grep -q "$2" "$tmp/err"; then
		ok "${1##*/} is refused"
	else
		not_ok "${1##*/} is refused" "$tmp/err"
	fi
}
gzip -c "$made/plain.sqlite" >"$tmp/plain.sqlite.gz"
refuses "$tmp/plain.sqlite.gz" 'inside gzip: unpack it first'
refuses "$made/bad_view.sqlite" 'its tables: StringIds$'
refuses "$made/bad_unknown.sqlite" 'its tables: t0, .*, \.\.\.$'
refuses "$made/bad_rocprof.sqlite" 'rocprof (version 1)'
refuses "$made/bad_dlprof.sqlite" 'DLProf'
refuses "$made/bad_cut.sqlite" 'SQLITE_CORRUPT'
refuses "$made/bad_head.sqlite" 'SQLITE_CORRUPT'
refuses "$tmp/plain.db" 'is a database of profan'
cp "$made/plain.sqlite" "$tmp/open.sqlite"
echo x >"$tmp/open.sqlite-wal"
refuses "$tmp/open.sqlite" "'-wal' file beside it"
cat "$made/plain.sqlite" | "$profan" ingest - -o "$tmp/refused.db" \
	>"$tmp/err" 2>&1
[ $? -eq 3 ] && grep -q 'cannot be read from a pipe' "$tmp/err"
result "a pipe is refused"

# ---- damage: an answer or one sentence, and nothing left behind ----
seeds=$(amount 6 64 400)
mkdir "$tmp/damaged"
"$PYTHON" -S "$top_srcdir/tests/damage.py" "$profan" "$tmp/damaged" $seeds "$made/plain.sqlite" \
	"$made/several.sqlite" "$made/graphs.sqlite" >"$tmp/why" 2>&1
result "$seeds damaged databases: read or refused" "$tmp/why"

# ---- real ones ----
if [ -d "$shared/inputs/nsys" ]; then
	for file in "$shared"/inputs/nsys/[!b]*.sqlite.gz; do
		name=$(basename "$file" .sqlite.gz)
		gzip -dc "$file" >"$tmp/real.sqlite"
		"$profan" ingest -q "$tmp/real.sqlite" -o "$tmp/real.db" \
			>"$tmp/err" 2>&1 &&
			nsys agree "$tmp/real.sqlite" "$tmp/real.db" \
				>>"$tmp/err" 2>&1 &&
			! grep -q '^not ok' "$tmp/err" &&
			nsys golden "$tmp/real.db" "${file%.sqlite.gz}.golden.json" \
				>>"$tmp/err" 2>&1 &&
			! grep -q PROFAN_CANARY "$tmp/real.db" &&
			"$profan" report "$tmp/real.db" --force \
				-o "$tmp/real.html" >>"$tmp/err" 2>&1 &&
			! grep -q PROFAN_CANARY "$tmp/real.html"
		result "real: $name"
	done
else
	skip "real exports" "NOT TESTED: ../shared/inputs is not there"
fi
tap_done
