#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: sh docs/guide/files.sh FOLDER
# Puts the files that the pages of the guide use into a folder.  Traces are of
# tests/gen/mktrace; of TensorFlow and JAX, of small programs of ours; the rest is
# written here as the frameworks name it.
set -eu
guide=$(cd "$(dirname "$0")" && pwd)
tests=$guide/../../tests
folder=$1
mkdir -p "$folder"
cd "$folder"
cp "$guide"/*.json.gz .
cp -r "$guide/job" .
cp "$tests/truth/2.10.0/training/trace.json.gz" training.json.gz

# SpeechBrain: one trace a process, HOST_PID.TIME.pt.trace.json
mkdir -p results/profiler_logs results/save
echo 'seed: 1986' >results/hyperparams.yaml
gzip -dc "$guide/before.json.gz" \
	>results/profiler_logs/node1_2675.1795325846467621839.pt.trace.json

# RAVE: a trace, and what its training script counts
mkdir -p rave/profiler_output rave/runs/rave_v3/version_0
gzip -dc "$guide/before.json.gz" >rave/profiler_output/profile_step_20.json
: >rave/profiler_output/profile_step_20_stacks.txt
cat >rave/runs/rave_v3/version_0/timing_profile.json <<'END'
[{"step": 100, "batch_idx": 99, "total_batch_time": 0.125, "samples_per_second": 64.0},
 {"step": 200, "batch_idx": 199, "total_batch_time": 0.115, "samples_per_second": 69.6},
 {"step": 300, "batch_idx": 299, "total_batch_time": 0.242, "samples_per_second": 33.1}]
END
cat >rave/runs/rave_v3/version_0/memory_profile.json <<'END'
[{"step": 100, "cpu_memory_percent": 21.5, "gpu_memory_allocated_gb": 2.5, "gpu_memory_reserved_gb": 4.0, "batch_idx": 99},
 {"step": 200, "cpu_memory_percent": 21.7, "gpu_memory_allocated_gb": 2.5, "gpu_memory_reserved_gb": 4.5, "batch_idx": 199}]
END
cat >rave/runs/rave_v3/version_0/training_summary.json <<'END'
{"total_training_time_seconds": 48.2, "total_steps": 300}
END

# TensorFlow and JAX: a log folder as TensorBoard has it
for who in tensorflow jax; do
	mkdir -p "logs-$who/plugins/profile/2026_11_01"
	cp "$tests/others/$who/xplane.pb" \
		"logs-$who/plugins/profile/2026_11_01/node1.xplane.pb"
done

# Nsight Systems: what 'nsys export --type sqlite' writes
if [ -n "${PYTHON-$(command -v python3)}" ]; then
	mkdir made
	"${PYTHON:-python3}" "$tests/nsys.py" make made
	mv made/plain.sqlite report1.sqlite
	rm -r made
fi
chmod -R u+w .
