# SPDX-License-Identifier: MIT
# profan capture: the program notices nothing, its status is ours, and what it
# left is in the database.  Then the agent itself, with NVTX and no CUDA.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH LD_PRELOAD
for variable in $(env | sed -n 's/^\(PROFAN_[A-Z_0-9]*\)=.*/\1/p'); do
	unset "$variable"
done
nvtxrun=$top_builddir/tests/gen/nvtxrun
agent=$top_builddir/.libs/libprofan_agent.so
case $(basename "$profan") in lt-*) agent= ;; esac
[ -f "$agent" ] || skip_all "the agent was not built"
PROFAN_AGENT=$agent
export PROFAN_AGENT
cd "$tmp" || exit 99

captures() { # CODE NAME ARG...: runs, result in out, err, code
	want=$1 name=$2
	shift 2
	code=0
	timeout --foreground -s KILL 120 \
		"$profan" capture "$@" >out 2>err <"${input:-/dev/null}" || code=$?
	if [ "$code" != "$want" ]; then
		echo "exit code $code, not $want" >>err
		not_ok "$name" err
		return 1
	fi
	ok "$name"
}

says() { # NAME TEXT FILE
	if grep -q -- "$2" "$3"; then ok "$1"; else not_ok "$1" "$3"; fi
}

# ---- the program's own status, streams and arguments ----
captures 0 "status 0" true
captures 7 "status 7" sh -c 'exit 7'
if [ -n "$PYTHON" ]; then
	code=0
	"$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$profan" capture sh -c 'exit 7' \
		>out 2>err || code=$?
	[ "$code" = 7 ] && ok "status 7, whatever becomes of SIGCHLD" ||
		not_ok "status 7, whatever becomes of SIGCHLD" "code $code"
else
	skip "SIGCHLD is ignored" "python3 is missing"
fi
captures 143 "killed by TERM: 128 + 15" sh -c 'kill -TERM $$'
captures 137 "killed by KILL: 128 + 9" sh -c 'kill -KILL $$'
captures 127 "no such program: 127" no-such-program
says "and names it" "no-such-program" err
: >plain
captures 126 "not executable: 126" ./plain
captures 127 "no such program, --no-ingest: 127" --no-ingest no-such-program
captures 126 "not executable, --no-ingest: 126" --no-ingest ./plain
captures 5 "status with --no-ingest" --no-ingest sh -c 'exit 5'
captures 2 "no program: 2"
captures 2 "unknown option: 2" --no-such-option true
captures 2 "bad choice: 2" --graph all true
printf 'one\ntwo\n' >in
input=in
captures 0 "standard input passes through" cat
same "to standard output, untouched" in out
input=
captures 0 "arguments are not ours" sh -c 'echo "$@" >&2; echo "$#"' sh \
	--limit 3 -q -- x
echo 5 >want
same "they all arrive, and no more" want out
captures 0 "behind --" -- sh -c 'echo $#' sh -o a
echo 2 >want
same "they all arrive" want out
sh -c 'trap "" HUP; exec "$0" capture sh -c "kill -HUP \$\$; echo alive"' \
	"$profan" >out 2>err
echo alive >want
same "what is ignored stays ignored" want out
captures 0 "a program without GPU is no failure" true
says "and it is said" "no CUDA or NVTX call" err
if ls profan.db >/dev/null 2>&1; then
	not_ok "no database of nothing" "profan.db is there"
else
	ok "no database of nothing"
fi

# ---- signals sent to us alone reach the program ----
for signal in TERM INT USR1; do
	rm -f ready
	# an asynchronous job of a shell ignores INT; perl or python would not
	cat >victim <<-EOF
		trap 'echo got; exit 3' $signal
		: >ready
		while :; do sleep 0.05; done
	EOF
	if [ "$signal" = INT ] && [ -z "$PYTHON" ]; then
		skip "INT reaches the program" "python3 is missing"
		continue
	fi
	if [ "$signal" = INT ]; then
		cat >start.py <<-'EOF'
			import os, signal, sys
			signal.signal(signal.SIGINT, signal.SIG_DFL)
			os.execv(sys.argv[1], sys.argv[1:])
		EOF
		"$PYTHON" -S start.py "$profan" capture sh victim >out 2>err &
	else
		"$profan" capture sh victim >out 2>err &
	fi
	pid=$!
	n=0
	while [ ! -f ready ] && [ $n -lt 1200 ]; do
		sleep 0.05
		n=$((n + 1))
	done
	kill -s "$signal" "$pid"
	code=0
	wait "$pid" || code=$?
	echo got >want
	if [ "$code" = 3 ] && cmp -s want out; then
		ok "$signal reaches the program"
	else
		echo "code $code" >>err
		not_ok "$signal reaches the program" out err
	fi
done

# ---- variables ----
preload=--preload
# A library with a sanitizer cannot be loaded before everything else.
readelf -d "$agent" 2>/dev/null | grep -qE 'lib(a|ub|t)san' && preload=
# shellcheck disable=SC2086
captures 0 "options become variables" -o 'deep/er/t-%p.pfr' -k +memory \
	--graph graph --start off --signal USR1 --delay 1500ms --duration 2s \
	--flush 250ms --exit-wait 1s --max-size 7 --clock realtime --no-nvtx \
	--no-subscribe --no-cmdline --cupti /a/cupti.so -v $preload --no-ingest \
	sh -c 'env | grep -E "^(PROFAN_|CUDA_INJ|NVTX_INJ|LD_PRELOAD)" |
		grep -v PROFAN_AGENT | sort'
real=$(realpath "$agent")
cat >want <<EOF
CUDA_INJECTION64_PATH=$real
LD_PRELOAD=$real
NVTX_INJECTION64_PATH=$real
PROFAN_CLOCK=realtime
PROFAN_CMDLINE=0
PROFAN_CUPTI=/a/cupti.so
PROFAN_DELAY_S=1.500000000
PROFAN_DURATION_S=2.000000000
PROFAN_EXIT_MS=1000
PROFAN_FLUSH_MS=250
PROFAN_GRAPH=graph
PROFAN_KINDS=+memory
PROFAN_MAX_MB=7
PROFAN_NVTX=0
PROFAN_OUT=$(realpath .)/deep/er/t-%p.pfr
PROFAN_SIGNAL=USR1
PROFAN_START=off
PROFAN_SUBSCRIBE=0
PROFAN_VERBOSE=1
EOF
[ "$preload" ] || sed -i '/^LD_PRELOAD/d' want
same "each of them" want out
captures 0 "no option: no variable but three" --no-ingest sh -c \
	'env | grep -cE "^PROFAN_" '
echo 2 >want # PROFAN_OUT, and PROFAN_AGENT of this test
same "and they are" want out
CUDA_INJECTION64_PATH=/other/tool.so run 3 "$profan" capture true
result "another tool's injection is not replaced: 3"
if CUDA_INJECTION64_PATH=/other/tool.so run 0 "$profan" capture --force true
then
	ok "but with --force"
else
	not_ok "but with --force" "$tmp/err"
fi
captures 3 "an agent that is not there: 3" --agent /no/agent.so true
echo precious >notes.txt
captures 3 "a database that would replace another file: 3" \
	--ingest notes.txt sh -c ': >ran'
if [ -e ran ]; then
	not_ok "and nothing is run" "it ran"
else
	ok "and nothing is run"
fi
captures 2 "% sequences in a folder: 2" -o '%h/x.pfr' true

# ---- the agent: NVTX ranges of a program without CUDA ----
captures 0 "three threads with NVTX" --ingest n.db -o 'run/n-%p.pfr' \
	"$nvtxrun" --threads 3
echo done >want
same "its output is its own" want out
says "the table is on standard error" "aten::linear" err
says "and where everything is" "database 'n.db'" err
"$profan" query n.db --format csv "SELECT name, count(*) AS n FROM event
	GROUP BY name ORDER BY name" | tr -d '\r' >got
cat >want <<'EOF'
name,n
ProfilerStep#0,3
ProfilerStep#1,3
ProfilerStep#2,3
a mark,9
all,1
aten::linear,9
inner,9
EOF
same "every range and mark" want got
"$profan" query n.db --format csv "SELECT DISTINCT args FROM event
	WHERE name = 'aten::linear' AND args LIKE '%Input Dims%'
	AND args NOT LIKE '%[[2,3],[]]%'" | tail -n +2 >got
: >want
same "shapes of torch's names" want got
run 0 "$profan" ingest --strict run/n-*.pfr -o strict.db
result "which needs no repair"

captures 137 "a program that is killed" --ingest k.db -o 'run/k-%p.pfr' \
	--flush 50ms "$nvtxrun" --kill
says "it was not closed" "was not closed" err
"$profan" query k.db --format csv "SELECT name FROM event
	WHERE args LIKE '%\"end\":\"open\"%' ORDER BY name" | tr -d '\r' >got
printf 'name\nall\nnever popped\n' >want
same "its open ranges are kept" want got

captures 0 "two processes" --ingest two.db -o 'run/t-%q{RANK}-%p.pfr' sh -c \
	"RANK=1 '$nvtxrun' >&2 & RANK=0 '$nvtxrun' >&2; wait"
"$profan" query two.db --format csv "SELECT rank, stored_count FROM trace
	ORDER BY rank" | tr -d '\r' >got
printf 'rank,stored_count\n0,13\n1,13\n' >want
same "one database, two ranks" want got
captures 0 "again into the same folder" --ingest again.db -o 'run/t-%q{RANK}-%p.pfr' \
	sh -c "RANK=7 '$nvtxrun'"
"$profan" query again.db --format csv "SELECT rank FROM trace" |
	tr -d '\r' >got
printf 'rank\n7\n' >want
same "only what is new" want got

# ---- the agent with a CUPTI that is none: all the way to the tables ----
drive=$top_builddir/tests/agent/drive
fake=$top_builddir/tests/agent/.libs/libfakecupti.so
if [ ! -f "$fake" ] || [ -z "$PYTHON" ]; then
	skip "from CUPTI's records to tables" "no fake CUPTI or no python3"
	tap_done
fi
captures 0 "a program with CUDA" --cupti "$fake" --ingest cuda.db \
	-o 'run/cuda-%p.pfr' "$drive" init launch:5000 nvtx:100 exit
says "kernels are in the table" "vecadd(float const\*, float const\*" err
"$PYTHON" -S "$top_srcdir/tests/agent/pfr.py" --check run/cuda-*.pfr >look 2>&1 ||
	not_ok "the file is whole" look
{
	for key in API KERNEL MEMCPY PUSH RSTART MARK; do
		sed -n "s/^events\.$key=//p" look
	done
	sed -n 's/^stat\.events=//p' look | tr -d "'"
} >want
"$profan" query cuda.db --format csv "SELECT
	sum(kind IN (4, 5)) || '
' || sum(kind = 7) || '
' || sum(kind = 8) || '
' || sum(kind = 1) || '
' || sum(kind = 19) || '
' || sum(kind = 16) || '
' || (SELECT value FROM trace_fact WHERE key = 'stat_events') AS n
	FROM event" | tr -d '\r"' | tail -n +2 >got
same "as many events as another reader finds" want got
"$profan" query cuda.db --format csv "SELECT count(*) AS n FROM gpu_event
	WHERE launch_id IS NULL" | tr -d '\r' >got
printf 'n\n0\n' >want
same "every kernel and copy has its call" want got
run 0 "$profan" ingest --strict run/cuda-*.pfr -o strict.db
result "nothing needs repair"
# one record of each kind, as Kineto names them
captures 0 "every kind of record" --cupti "$fake" --ingest all.db -k all \
	--graph graph -o 'run/all-%p.pfr' "$drive" init all
"$profan" query all.db --format csv "SELECT e.name, e.category, t.class,
	CASE WHEN t.class = 'host' THEN 'pid' ELSE t.pid END AS pid,
	CASE WHEN t.class = 'host' AND t.tid <> '0' THEN 'tid'
		ELSE t.tid END AS tid, e.args
	FROM event AS e JOIN track AS t ON t.id = e.track_id
	ORDER BY e.category, e.name, e.args" | tr -d '\r' | sed 's/""/'"'"'/g
	s/\(queued'"'"':\)[0-9]*/\1T/; s/\(submitted'"'"':\)[0-9]*/\1T/' >got
cat >want <<'EOF'
name,category,class,pid,tid,args
cuLaunchKernel,cuda_driver,host,pid,tid,"{'cbid':307,'correlation':102,'return value':1}"
cudaEventRecord,cuda_event,mark,1,events,"{'event':11,'correlation':109,'context':2,'on stream':7}"
Allocate (Device),cuda_memory,mark,1,memory,"{'bytes':2097152,'ptr':139637976727552,'correlation':111,'context':2,'on stream':7,'asynchronous':1,'pool':138538465099776,'name':'weights'}"
cudaLaunchKernel,cuda_runtime,host,pid,tid,"{'cbid':211,'correlation':101}"
Context Sync,cuda_sync,gpu,1,-1,"{'cuda_sync_kind':'Context Sync','stream':-1,'correlation':108,'device':1,'context':2}"
Stream Sync,cuda_sync,gpu,1,7,"{'cuda_sync_kind':'Stream Sync','stream':7,'correlation':107,'device':1,'context':2,'return value':600}"
Unified memory,cuda_uvm,mark,2,unified memory,"{'kind':2,'value':65536,'address':137438953472000,'dur (ns)':10,'source':1}"
Power,environment,counter,1,',"{'data0':300000,'data1':700000,'data2':0,'data3':0}"
Memcpy HtoD (Pinned -> Device),gpu_memcpy,gpu,1,7,"{'device':1,'context':2,'stream':7,'correlation':103,'bytes':1048576,'memory bandwidth (GB/s)':1048.576000,'graph id':6,'graph node id':5}"
Memcpy PtoP (Device -> Device),gpu_memcpy,gpu,1,7,"{'device':1,'context':2,'stream':7,'correlation':104,'bytes':1048576,'memory bandwidth (GB/s)':1048.576000,'fromDevice':3,'toDevice':4,'graph id':6,'graph node id':5}"
Memset (Device),gpu_memset,gpu,1,7,"{'device':1,'context':2,'stream':7,'correlation':105,'bytes':4096,'memory bandwidth (GB/s)':8.192000,'graph id':6,'graph node id':4}"
ampere_sgemm_128x64_tn,kernel,gpu,1,7,"{'device':1,'context':2,'stream':7,'correlation':102,'registers per thread':32,'shared memory':3072,'blocks per SM':0.181818,'warps per SM':12196.363636,'grid':[2,3,4],'block':[128,129,130],'local memory per thread':16,'launch type':'cooperative','graph id':8,'graph node id':77,'queued':T,'submitted':T}"
graph 3,kernel,gpu,1,7,"{'device':1,'context':2,'stream':7,'correlation':112,'graph id':3,'whole graph':true}"
"vecadd(float const*, float const*, float*, int)",kernel,gpu,1,7,"{'device':1,'context':2,'stream':7,'correlation':101,'registers per thread':32,'shared memory':3072,'blocks per SM':0.045455,'warps per SM':3049.090909,'grid':[1,2,3],'block':[128,129,130],'local memory per thread':16,'cluster':[1,2,3],'launch type':'cooperative','graph id':8,'graph node id':77,'queued':T,'submitted':T}"
Buffer Flush,overhead,host,pid,0,
Command Buffer Full,overhead,host,pid,tid,"{'correlation':110}"
Internal Launch,overhead,host,pid,tid,"{'correlation':106}"
JIT Cache Store,overhead,host,pid,tid,"{'correlation':113}"
EOF
same "names, places and arguments of each" want got
"$profan" query all.db --format csv "SELECT name, dur_ns FROM event
	WHERE category IN ('kernel', 'cuda_sync') ORDER BY name" |
	tr -d '\r"' >got
cat >want <<'EOF'
name,dur_ns
Context Sync,10
Stream Sync,10
ampere_sgemm_128x64_tn,1000
graph 3,10
vecadd(float const*, float const*, float*, int),1000
EOF
same "and their durations" want got

"$profan" query all.db --format csv "SELECT what, name FROM gpu_work
	WHERE name LIKE '%graph%' UNION ALL
	SELECT 'kernel', name FROM kernels WHERE name LIKE '%graph%'" |
	tr -d '\r' >got
printf 'what,name\ngraph,graph 3\n' >want
same "a whole graph is no kernel" want got
run 0 "$profan" doctor all.db --all --format csv &&
	grep -q '^whole graphs,1,' "$tmp/out" &&
	grep -q 'profan capture --graph node' "$tmp/err"
result "doctor: how to record what a graph runs" "$tmp/out" "$tmp/err"

captures 0 "records without times" --cupti "$fake" --ingest zero.db \
	-o 'run/zero-%p.pfr' "$drive" init launch:32 zero
"$PYTHON" -S "$top_srcdir/tests/agent/pfr.py" --events run/zero-*.pfr |
	grep -c 'untimed=1' >want
"$profan" query zero.db --format csv "SELECT count(*) AS n
	FROM metadata_event WHERE json LIKE '%untimed%'" | tail -n +2 |
	tr -d '\r' >got
same "are kept beside all figures" want got
says "and counted" "events without times kept as metadata" err
"$profan" query zero.db --format csv "SELECT t.event_count - t.metadata_count
	+ (SELECT sum(count) FROM metadata_event WHERE json LIKE '%untimed%')
	- f.value AS n FROM trace AS t, trace_fact AS f
	WHERE f.key = 'stat_events'" | tr -d '\r' >got
printf 'n\n0\n' >want
same "none is lost" want got

captures 137 "the same, killed" --cupti "$fake" --ingest killed.db \
	--flush 50ms -o 'run/killed-%p.pfr' "$drive" init launch:5000 flush kill
"$profan" query killed.db --format csv "SELECT
	event_count = stored_count + metadata_count + paired_count +
		skipped_count AS fits, stored_count >= 10000 AS enough
	FROM trace" | tr -d '\r' >got
printf 'fits,enough\n1,1\n' >want
same "what was flushed is there" want got
# See locks_at_fork in tests/agent/agent.sh.
if readelf -d "$agent" 2>/dev/null | grep -q libasan; then
	skip "a fork makes two files" "AddressSanitizer"
else
	captures 0 "a fork makes two files" --cupti "$fake" --ingest fork.db \
		-o 'run/fork-%p.pfr' "$drive" init launch:100 nvtx:5 fork2:nvtx:7 launch:50
	"$profan" query fork.db --format csv "SELECT count(*) AS n FROM trace" |
		tr -d '\r' >got
	printf 'n\n2\n' >want
	same "in one database" want got
fi
tap_done
