# SPDX-License-Identifier: MIT
# contrib/slurm on a cluster of this one machine (Debian's slurm-wlm and munge;
# no systemd, no cgroups, no accounting): an array over traces two of which are
# bad, one element of it killed and run again; the same parts by GNU parallel
# and xargs, to the same bytes.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "${LONG-}" ] || skip_all "NOT TESTED: make check-long does"
cd "$tmp" || exit 99
contrib=$top_srcdir/contrib/slurm
mkdir in direct direct/ranks
for i in 0 1 2 3 4 5 6 7 8 9; do
	"$mktrace" --steps 2 --layers 1 --seed $((i + 1)) >in/rank$i.json
done
: >in/rank10.json
echo 'not JSON' >in/rank11.json
folder=$(realpath in)
run 1 "$profan" merge -q "$folder" -o direct/fleet.db --keep direct/ranks
result "all in one process"

# ---- one machine, no scheduler ----
element() { # RUNNER: what each calls
	mkdir -p "$1/ranks"
	cat >"$1/element" <<END
#!/bin/sh
"$profan" merge -q -j 1 --shard \$1/4 "$folder" --keep $1/ranks -o $1/\$1.part
[ \$? -le 1 ]
END
	chmod +x "$1/element"
}
gather() { # RUNNER
	"$profan" merge -q "$1"/*.part -o "$1/fleet.db" 2>err
	same_bytes "$1"
}
same_bytes() { # FOLDER of a fleet
	cmp direct/fleet.db "$1/fleet.db" >bad 2>&1
}
element xargs
seq 0 3 | xargs -P 2 -n 1 ./xargs/element 2>err && gather xargs
result "xargs gives the same bytes" err bad
if parallel --version 2>/dev/null | grep -q '^GNU'; then
	element parallel
	# a job that fails is run again, and one that ran may be
	seq 0 3 | parallel --will-cite -j 2 --retries 2 --joblog log \
		./parallel/element 2>err
	seq 0 1 | parallel --will-cite -j 2 ./parallel/element 2>>err
	gather parallel
	result "GNU parallel gives the same bytes" err bad
else
	skip "GNU parallel" "NOT TESTED: it is not installed"
fi

# ---- the epilog form without a scheduler: two nodes, one after the other ----
mkdir node0 node1
for i in 0 1 2 3 4; do
	cp in/rank$i.json node0
	cp in/rank$((i + 5)).json node1
done
: >bad
for node in 0 1; do
	PROFAN=$profan SLURM_NODEID=$node SLURM_NNODES=2 CAPTURE=in \
		SLURMD_NODENAME=n$node bash "$contrib/profan-epilog" node$node \
		epilog 2>err || cat err >>bad
	[ $node = 1 ] || [ ! -e epilog/fleet.db ] || echo "too early" >>bad
done
"$profan" query epilog/fleet.db "SELECT count(*), count(DISTINCT labels),
	count(db) FROM rank" -f csv >>bad 2>&1
printf 'count(*),count(DISTINCT labels),count(db)\n10,2,10\n' >want
same "the epilog form: the last node merges" want bad

# ---- Slurm ----
for program in munged slurmctld slurmd sbatch scontrol; do
	PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
		skip "Slurm" "NOT TESTED: $program is missing (Debian: slurm-wlm, munge)"
		tap_done
	}
done
PATH=$PATH:/usr/sbin
cluster=$(mktemp -d /tmp/profan-slurm-XXXXXX) # names of sockets are short
SLURM_CONF=$cluster/slurm.conf
export SLURM_CONF
stop() {
	for file in slurmd.pid slurmctld.pid munge/pid; do
		[ -s "$cluster/$file" ] && kill "$(cat "$cluster/$file")" 2>/dev/null
	done
	sleep 1
	rm -rf "$cluster" 2>/dev/null || { sleep 2; rm -rf "$cluster"; }
}
trap 'stop; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
start() {
	host=$(hostname -s)
	mkdir "$cluster/state" "$cluster/spool" "$cluster/munge"
	chmod 755 "$cluster" "$cluster/munge"
	head -c 1024 /dev/urandom >"$cluster/munge/key"
	chmod 400 "$cluster/munge/key"
	munged --force --key-file="$cluster/munge/key" \
		--socket="$cluster/munge/socket" \
		--pid-file="$cluster/munge/pid" \
		--log-file="$cluster/munge/log" \
		--seed-file="$cluster/munge/seed" || return 1
	hardware=$(slurmd -C | sed -n '1s/ UpTime.*//; 1s/^[^ ]* //p')
	cat >"$SLURM_CONF" <<END
ClusterName=profan
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((20001 + $$ % 20000))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=1
NodeName=$host NodeAddr=127.0.0.1 $hardware State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
	slurmctld -f "$SLURM_CONF" -c && slurmd -f "$SLURM_CONF" || return 1
	for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		sinfo -h -o %t 2>/dev/null | grep -q idle && return 0
		sleep 1
	done
	return 1
}
if ! start >up 2>&1; then
	tail -n 5 "$cluster"/*.log >>up 2>/dev/null
	sed 's/^/# /' up
	skip "Slurm" "NOT TESTED: the cluster did not come up"
	tap_done
fi

# The element that hangs at first is killed and run again.
cat >hang <<END
#!/bin/sh
case "\$*" in
*"--shard 1/4"*)
	[ -e "$tmp/hung" ] || {
		"$profan" merge -q --shard 1/4 --keep array/ranks --capture in \\
			-o array/parts/none.db "$folder"
		rm -f array/parts/none.db
		touch "$tmp/hung"
		sleep 100
	} ;;
esac
exec "$profan" "\$@"
END
chmod +x hang
POLL=1 PROFAN=$tmp/hang bash "$contrib/profan-array" in array 4 --chdir="$tmp" \
	>said 2>&1 &
waiting=$!
for tenth in $(seq 600); do
	[ -e hung ] && break
	sleep 0.1
done
task=$(squeue -h -r -o '%F_%K %i' | sed -n 's/_1 .*/_1/p' | head -1)
scontrol requeue "$task" >>said 2>&1
# Slurm would wait for two minutes; too soon, slurmd would not start it
sleep 4
for second in $(seq 30); do
	scontrol update jobid="$task" StartTime=now >/dev/null 2>&1
	kill -0 $waiting 2>/dev/null || break
	sleep 1
done
wait $waiting
echo "exit $?" >>said
grep -h 'error: .*ob' "$cluster"/*.log >>said
cat array/log/* >>said 2>&1
[ -n "$task" ] && [ -e hung ] && [ -f array/fleet.db ] && same_bytes array
result "an array, one element killed and run again: the same bytes" said bad
grep -q '^exit 1' said && grep -q 'rank10.json' said && grep -q 'rank11.json' said
result "both bad traces are named, and the exit code is 1" said
tap_done
