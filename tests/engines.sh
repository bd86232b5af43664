# SPDX-License-Identifier: MIT
# contrib/profan-parts: what Ray, Dask and Spark make of a folder, one trace of
# which is bad, is to the byte what one process makes; the Kubernetes Job is
# what its schema says, and its shell command is run as each pod would.  The
# packages come from PyPI: PROFAN_PYTHON names a Python that has them, and
# without them (or Java for Spark) a check is skipped.  Ray, Dask and Spark take
# seconds to start, and run with LONG=1 alone.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
cd "$tmp" || exit 99
python=${PROFAN_PYTHON:-$PYTHON}
PROFAN=$(realpath "$profan")
export PROFAN
mkdir in direct direct/ranks
for i in 0 1 2 3 4 5; do
	"$mktrace" --steps 2 --layers 1 --seed $((i + 1)) >in/rank$i.json
done
echo 'not JSON' >in/rank6.json
folder=$(realpath in)
run 1 "$profan" merge -q "$folder" -o direct/fleet.db --keep direct/ranks
result "all in one process" err

same_fleet() { # NAME FOLDER
	cmp direct/fleet.db "$2/fleet.db" >bad 2>&1
	result "$1" bad out err
}
engine() { # ENGINE MODULE [PROGRAM]
	if [ -z "${LONG-}" ]; then
		skip "$1" "NOT TESTED: with LONG=1 only"
	elif ! "$python" -c "import $2" 2>/dev/null; then
		skip "$1" "NOT TESTED: $2 is not there (PyPI)"
	elif [ -n "${3-}" ] && ! command -v "$3" >/dev/null; then
		skip "$1" "NOT TESTED: $3 is not there"
	else
		run 1 timeout 300 "$python" "$top_srcdir/contrib/profan-parts" \
			"$1" 3 "$folder" "$1.out"
		same_fleet "$1: the same bytes" "$1.out"
	fi
}
run 1 "$PYTHON" -S "$top_srcdir/contrib/profan-parts" processes 3 "$folder" own
same_fleet "processes: the same bytes" own
run 1 "$PYTHON" -S "$top_srcdir/contrib/profan-parts" processes 3 "$folder" own
same_fleet "and again: the same bytes" own
"$PYTHON" "$top_srcdir/contrib/profan-parts" slurm 3 a b 2>&1 |
	grep -q '^usage: profan-parts '
result "an engine that is none"
engine ray ray
engine dask distributed
engine spark pyspark java

# ---- Kubernetes: there is no cluster ----
yaml=$top_srcdir/contrib/k8s-job.yaml
if "$python" -c 'import kubernetes_validate, yaml' 2>/dev/null; then
	"$python" - "$yaml" >bad 2>&1 <<'END'
import sys
import kubernetes_validate as k
import yaml
job = yaml.safe_load(open(sys.argv[1]))
k.validate(job, k.latest_version(), strict=True)
job["spec"]["completionMode"] = 3
try:
    k.validate(job, k.latest_version(), strict=True)
except k.ValidationError:
    sys.exit()
sys.exit("a number as completionMode is let pass")
END
	result "Kubernetes: the Job is valid, strictly" bad
else
	skip "Kubernetes: the Job is valid" \
		"NOT TESTED: kubernetes-validate is not there (PyPI)"
fi
# its command, for three pods: where they have folders, tmp has
sed -n '/^        - >-$/,/^        resources:/p' "$yaml" |
	sed -e '1d;$d' -e 's/^ *//' -e "s,/traces,$folder,;s,/64,/3,
		s,/out/,$tmp/pods/,g" | tr '\n' ' ' >command
grep -q 'profan merge .*--shard \$JOB_COMPLETION_INDEX/3 ' command
result "Kubernetes: the command is found" command
mkdir pods bin && ln -s "$PROFAN" bin/profan
: >bad
for i in 0 1 2 1; do
	JOB_COMPLETION_INDEX=$i PATH=$tmp/bin:$PATH sh -c "$(cat command)" \
		2>>err || echo "pod $i" >>bad
done
[ ! -s bad ] && run 1 "$profan" merge -q pods/part.*.db -o pods/fleet.db
same_fleet "Kubernetes: what pods run, one of them twice" pods
sed "s,-o [^ ]*,-o $tmp/none/part," command >fails
! JOB_COMPLETION_INDEX=0 PATH=$tmp/bin:$PATH sh -c "$(cat fails)" 2>err &&
	grep -q 'none/part' err
result "Kubernetes: a pod that cannot write fails" err
tap_done
