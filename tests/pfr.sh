# SPDX-License-Identifier: MIT
# Captures in profan's own format: the same run as .pfr and as Kineto's JSON
# gives the same tables, however the file is cut, packed or piped.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
mkpfr=$top_builddir/tests/gen/mkpfr

ingest() { # NAME FILE [ENV=VALUE...]
	name=$1 file=$2
	shift 2
	env "$@" "$profan" ingest "$file" -o "$tmp/$name.db" \
		>"$tmp/$name.said" 2>&1
}

"$mkpfr" >"$tmp/a.pfr"
"$mkpfr" --json >"$tmp/a.json"
ingest pfr "$tmp/a.pfr" || not_ok "ingest a.pfr" "$tmp/pfr.said"
ingest json "$tmp/a.json" || not_ok "ingest a.json" "$tmp/json.said"
: >"$tmp/nothing"
same "a whole capture needs no repair" "$tmp/nothing" "$tmp/pfr.said"

# ---- the same tables, but for the hints under them ----
figures() {
	sed -e '/^Note: /,$d' -e '/^There are no memory records; /d' \
		-e '/: no Python functions: /d'
}
for command in table "table --group-by-input-shape" "table --sort cuda_time" \
	steps kernels launches overlap gaps syncs stacks memory \
	"steps --steps aten::linear" "gaps --steps ProfilerStep.*"; do
	"$profan" $command "$tmp/json.db" 2>&1 | figures >"$tmp/want"
	"$profan" $command "$tmp/pfr.db" 2>&1 | figures >"$tmp/got"
	same "$command: as from JSON" "$tmp/want" "$tmp/got"
done
# ---- hints are of the profiler that wrote the trace ----
torch='with_stack=True|profile_memory=True|[^(]record_shapes=True|Activity'
for command in doctor gaps syncs memory modules "gaps --step 99"; do
	"$profan" $command "$tmp/pfr.db" >"$tmp/got" 2>&1
	if tr '\n' ' ' <"$tmp/got" | grep -qE "$torch"; then
		not_ok "$command: no option of torch's profiler" "$tmp/got"
	else
		ok "$command: no option of torch's profiler"
	fi
done
hint() { # DB TEXT NAME
	"$profan" doctor "$tmp/$1.db" 2>&1 | tr '\n' ' ' >"$tmp/got"
	grep -q "$2" "$tmp/got" && ok "$3" || not_ok "$3" "$tmp/got"
}
hint pfr 'no stacks: captures have no lines of Python; NVTX ranges' \
	"doctor: of a capture"
hint json 'no stacks: record lines of Python with with_stack=True' \
	"doctor: of the same as torch's profiler writes it"
echo '{"traceEvents": [{"ph": "X", "name": "a", "cat": "x", "pid": 1,
	"tid": 1, "ts": 1, "dur": 5}]}' >"$tmp/other.json"
ingest other "$tmp/other.json" || not_ok "ingest other" "$tmp/other.said"
hint other 'no GPU activity: record GPU work, too' "doctor: of another's"
for format in text md; do
	"$profan" gaps "$tmp/other.db" --format $format >"$tmp/got"
	if grep -qi 'none\|0 ns' "$tmp/got" ||
		! grep -q 'There is no GPU work' "$tmp/got"; then
		not_ok "gaps --format $format: no empty tables" "$tmp/got"
	else
		ok "gaps --format $format: no empty tables"
	fi
done
"$profan" gaps "$tmp/other.db" --format json >"$tmp/got"
grep -q '"causes": \[\]' "$tmp/got" && grep -q '"idle_ns": 0' "$tmp/got" &&
	ok "gaps --format json: the same shape" ||
	not_ok "gaps --format json: the same shape" "$tmp/got"
tables() { # DB: what the columns of GPU rows and steps say
	"$profan" query "$1" "SELECT k.*, s.text FROM gpu_event AS k
		JOIN string AS s ON s.id = k.name_id ORDER BY k.id" |
		wc -l
	"$profan" query "$1" --format csv "SELECT kind, start_ns, dur_ns,
		s.text, g.correlation, g.step, g.bytes, c.device, c.stream,
		c.context, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y,
		c.block_z, c.registers_per_thread, c.shared_memory_bytes,
		c.blocks_per_sm, c.warps_per_sm, l.name AS call,
		l.start_ns AS call_ns, o.name AS op, o.start_ns AS op_ns
		FROM gpu_event AS g JOIN string AS s ON s.id = g.name_id
		LEFT JOIN gpu_config AS c ON c.id = g.config_id
		LEFT JOIN event AS l ON l.id = g.launch_id
		LEFT JOIN event AS o ON o.id = g.op_id
		ORDER BY g.start_ns, g.correlation"
	"$profan" query "$1" --format csv "SELECT rank, world_size, base_ns,
		first_ns, last_ns FROM trace"
	"$profan" query "$1" --format csv "SELECT class, pid, tid, name,
		event_count, first_ns, last_ns FROM track ORDER BY class, pid,
		tid"
	"$profan" query "$1" --format csv "SELECT step, start_ns, dur_ns
		FROM step ORDER BY step"
	"$profan" query "$1" --format csv "SELECT name, kind, start_ns, dur_ns
		FROM event WHERE kind < 7 ORDER BY start_ns, dur_ns"
}
tables "$tmp/json.db" >"$tmp/want" 2>&1
tables "$tmp/pfr.db" >"$tmp/got" 2>&1
same "GPU work, calls, operators, steps: as from JSON" "$tmp/want" "$tmp/got"

# ---- ranges that cross, and a thread that has none ----
"$mkpfr" --crossing >"$tmp/crossing.pfr"
ingest crossing "$tmp/crossing.pfr"
same "crossing ranges need no repair" "$tmp/nothing" "$tmp/crossing.said"
"$profan" table "$tmp/crossing.db" --format csv --sort none 2>"$tmp/err" |
	"$PYTHON" -S -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    if r["device_type"] == "CPU":
        print(r["name"], r["self_cpu_ns"], r["cpu_total_ns"],
              r["self_device_ns"], r["count"])' | sort >"$tmp/got"
cat >"$tmp/want" <<'EOF'
Pi 97000 99000 1000 1
crossing 96000 100000 6000 1
cudaLaunchKernel 8000 8000 0 4
EOF
if [ -n "$PYTHON" ]; then
	same "each owns what it launched, and is called as it is" \
		"$tmp/want" "$tmp/got"
else
	skip "each owns what it launched" "python3 is missing"
fi
"$profan" query "$tmp/crossing.db" --format csv "SELECT o.name AS op,
	g.dur_ns FROM gpu_event AS g LEFT JOIN event AS o ON o.id = g.op_id
	ORDER BY g.start_ns" | tr -d '\r' >"$tmp/got"
printf 'op,dur_ns\nPi,1000\ncrossing,2000\ncrossing,4000\n,8000\n' \
	>"$tmp/want"
same "kernels and their operators" "$tmp/want" "$tmp/got"

# ---- pieces, packing, pipes ----
for chunk in 1 17 4096; do
	ingest part "$tmp/a.pfr" PROFAN_CHUNK_BYTES=$chunk
	same "pieces of $chunk bytes: the same database" "$tmp/pfr.db" \
		"$tmp/part.db"
done
but_for_the_file() { # DB: everything as SQL, without the file's own row
	"$profan" query "$1" --format csv "SELECT * FROM event
		ORDER BY id" 2>&1
	"$profan" query "$1" --format csv "SELECT * FROM trace_fact" 2>&1
}
but_for_the_file "$tmp/pfr.db" >"$tmp/want"
gzip -c "$tmp/a.pfr" >"$tmp/a.pfr.gz"
ingest part "$tmp/a.pfr.gz"
but_for_the_file "$tmp/part.db" >"$tmp/got"
same "gzip" "$tmp/want" "$tmp/got"
if command -v zstd >/dev/null; then
	zstd -q "$tmp/a.pfr"
	ingest part "$tmp/a.pfr.zst"
	but_for_the_file "$tmp/part.db" >"$tmp/got"
	same "zstd" "$tmp/want" "$tmp/got"
else
	skip "zstd" "no zstd command"
fi
cat "$tmp/a.pfr" | "$profan" ingest - -o "$tmp/part.db" >"$tmp/said" 2>&1
but_for_the_file "$tmp/part.db" >"$tmp/got"
same "standard input" "$tmp/want" "$tmp/got"

# ---- a killed process ----
"$mkpfr" --killed >"$tmp/killed.pfr"
ingest killed "$tmp/killed.pfr"
grep -q "was not closed" "$tmp/killed.said"
result "a capture without its end says so" "$tmp/killed.said"
"$profan" table "$tmp/pfr.db" 2>/dev/null >"$tmp/want"
"$profan" table "$tmp/killed.db" 2>/dev/null >"$tmp/got"
same "and has the same table" "$tmp/want" "$tmp/got"
run 3 "$profan" ingest --strict "$tmp/killed.pfr" -o "$tmp/s.db"
result "and is refused by --strict"

# ---- a hole: every event is stored, or counted as lost ----
size=$(wc -c <"$tmp/a.pfr")
at=$((size / 2))
{ head -c $at "$tmp/a.pfr"; tail -c +$((at + 501)) "$tmp/a.pfr"; } \
	>"$tmp/hole.pfr"
ingest hole "$tmp/hole.pfr"
"$profan" query "$tmp/hole.db" --format csv "SELECT
	t.event_count - t.metadata_count + l.value =
		(SELECT value FROM trace_fact WHERE key = 'stat_events')
		AND l.value > 0 AND e.value = 1 AS fits
	FROM trace AS t, trace_fact AS l, trace_fact AS e
	WHERE l.key = 'pfr_lost_events' AND e.key = 'pfr_end'" |
	tail -n +2 | tr -d '\r' >"$tmp/got"
echo 1 >"$tmp/want"
same "a hole of 500 bytes: events read and lost are those written" \
	"$tmp/want" "$tmp/got"
grep -q "events lost with damaged" "$tmp/hole.said"
result "and it is said" "$tmp/hole.said"
run 0 "$profan" doctor "$tmp/hole.db" &&
	grep -q "capture incomplete .*warn" "$tmp/out"
result "and by doctor" "$tmp/out" "$tmp/err"

# ---- what is no capture ----
refused() { # NAME TEXT FILE
	if ! run 3 "$profan" ingest "$3" -o "$tmp/no.db"; then
		not_ok "$1" "$tmp/err"
	elif ! grep -q "$2" "$tmp/err" || [ "$(wc -l <"$tmp/err")" != 1 ]; then
		not_ok "$1: says '$2'" "$tmp/err"
	elif [ -e "$tmp/no.db" ]; then
		not_ok "$1: leaves no database" "no.db is there"
	else
		ok "$1"
	fi
}
tr -d '\r' <"$tmp/a.pfr" >"$tmp/text.pfr"
refused "damaged by a transfer as text" "text-mode transfer" "$tmp/text.pfr"
{ head -c 8 "$tmp/a.pfr"; printf '\002'; tail -c +10 "$tmp/a.pfr"; } \
	>"$tmp/new.pfr"
refused "a later major version" "version 2.0" "$tmp/new.pfr"
head -c 16 "$tmp/a.pfr" >"$tmp/head.pfr"
refused "nothing but a header" "without a whole frame" "$tmp/head.pfr"
head -c 9 "$tmp/a.pfr" >"$tmp/short.pfr"
refused "cut in its header" "cut off in its header" "$tmp/short.pfr"

# ---- killed while it reads: the database of before stays ----
"$mkpfr" --steps 200 >"$tmp/larger.pfr"
ingest old "$tmp/a.pfr"
cp "$tmp/old.db" "$tmp/before.db"
mkfifo "$tmp/pipe"
"$profan" ingest "$tmp/pipe" -o "$tmp/old.db" >/dev/null 2>&1 &
pid=$!
exec 9>"$tmp/pipe"
head -c 100000 "$tmp/larger.pfr" >&9
kill -KILL "$pid"
wait "$pid" 2>/dev/null
exec 9>&-
same "the database after SIGKILL" "$tmp/before.db" "$tmp/old.db"
if run 3 sh -c "trap '' XFSZ; ulimit -f 100; exec '$profan' ingest \
	'$tmp/larger.pfr' -o '$tmp/old.db'"; then
	same "the database after a full disk" "$tmp/before.db" "$tmp/old.db"
else
	not_ok "the database after a full disk" "$tmp/err"
fi
ingest old "$tmp/larger.pfr"
if ls "$tmp"/old.db.* >"$tmp/left" 2>/dev/null; then
	not_ok "nothing is left behind" "$tmp/left"
else
	ok "nothing is left behind"
fi

# ---- several files of one run ----
if run 0 "$profan" ingest "$tmp/a.pfr" "$tmp/killed.pfr" "$tmp/a.json" \
	-o "$tmp/three.db" && "$profan" query "$tmp/three.db" --format csv \
	"SELECT id, format, rank FROM trace" >"$tmp/got"; then
	printf 'id,format,rank\r\n1,pfr,3\r\n2,pfr,3\r\n3,chrome,3\r\n' \
		>"$tmp/want"
	tr -d '"' <"$tmp/got" | tr -d '\r' >"$tmp/got2"
	tr -d '\r' <"$tmp/want" >"$tmp/want2"
	same "captures and traces in one database" "$tmp/want2" "$tmp/got2"
else
	not_ok "captures and traces in one database" "$tmp/err"
fi

# ---- what the agent recorded on an H100 of agent/gpu-check.cu (row G23) ----
recorded() { # NAME SQL: columns of a row apart by "|"
	ingest "$1" "$top_srcdir/tests/agent/h100/$1.pfr" &&
		"$profan" query "$tmp/$1.db" --format csv "$2" >"$tmp/rows" &&
		tr -d '"\r' <"$tmp/rows" | sed 1d >"$tmp/got"
	same "on an H100: $1" "$tmp/want" "$tmp/got"
}
linked='(SELECT count(launch_id) FROM gpu_event WHERE kind IN (7, 8, 9))'

echo '50,50' >"$tmp/want"
recorded eager "SELECT count(*), $linked FROM event WHERE category = 'kernel'
	AND name = 'empty_kernel(int)'"
echo '25,25,5,5' >"$tmp/want"
recorded graph "SELECT count(*), $linked,
	count(DISTINCT json_extract(args, '\$.correlation')),
	count(DISTINCT json_extract(args, '\$.\"graph node id\"'))
	FROM event WHERE category = 'kernel'"
cat >"$tmp/want" <<'END'
Memcpy HtoD (Pageable -> Device),100001
Memcpy HtoD (Pinned -> Device),100002
Memcpy DtoH (Device -> Pageable),100003
Memcpy DtoH (Device -> Pinned),100004
Memcpy DtoD (Device -> Device),100005
Memcpy DtoD (Device -> Managed),100006
Memset (Device),100007
END
recorded copies "SELECT name, json_extract(args, '\$.bytes') AS bytes FROM event
	WHERE category IN ('gpu_memcpy', 'gpu_memset') ORDER BY 2"
printf '%s,1\n' 'Context Sync' 'Event Sync' 'Stream Sync' 'Stream Wait Event' \
	>"$tmp/want"
recorded syncs "SELECT name, count(*) FROM event WHERE category = 'cuda_sync'
	GROUP BY 1 ORDER BY 1"
tap_done
