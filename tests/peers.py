# SPDX-License-Identifier: MIT
"""Figures of profan against those that other tools computed.

usage: peers.py PEERS-FOLDER COMMAND JSON TRACE

Prints one line "ok WHAT" or "not ok WHAT: ..." for each figure; nothing if
the peers say nothing about the trace.  Ends with 1 if one is not ok.
"""
import contextlib
import csv
import io
import json
import os
import statistics
import sys

peers, command, path, trace = sys.argv[1:]
doc = json.load(open(path))
scalars = doc["scalars"]


def rows(name, **want):
    with open(os.path.join(peers, name), newline="") as f:
        for row in csv.DictReader(f):
            if all(row[k] == v for k, v in want.items()):
                yield row


def check(what, got_ns, want_us, tolerance_us=1.0):
    off = abs(got_ns / 1000 - want_us)
    if off <= tolerance_us:
        print(f"ok {what}")
    else:
        print(f"not ok {what}: {got_ns} ns, not {want_us} us")


# Where a peer counts something else on purpose, and what:
# HTA takes whatever has a stream for GPU work: waits (cuda_sync records, whose
# traces are named cuda_*), CPU operators of Triton, annotations; and it drops
# work that was launched before the capture (a100_diff_test: 614 events).
HTA_OTHER = {"cuda_event_sync", "cuda_event_sync_multi_stream",
             "cuda_sync_simple_add", "mi300_triton_compile",
             "b200_vllm_eager", "a100_diff_test"}
# TraceLens does not know multimem and cross_device_reduce kernels.
TRACELENS_COMM = {"b200_vllm_eager"}
# It rounds every time to the quarter of a microsecond (doubles).
TRACELENS_ROUNDED = {"v100_ns_resolution": 25}


def overlap():
    # The split is without remainder.
    for row in [scalars] + doc["tables"]["devices"]:
        parts = sum(row[k] for k in (
            "idle_ns", "computation_ns", "exposed_comm_ns",
            "exposed_copy_ns", "exposed_memset_ns"))
        good = parts == row["total_ns"] == row["busy_ns"] + row["idle_ns"]
        print("ok" if good else "not ok", "parts sum to the total")
    for row in rows("hta_temporal_breakdown.csv", trace=trace,
                    mode="exact_last"):
        if trace in HTA_OTHER:
            continue
        check("HTA: total", scalars["total_ns"], float(row["kernel_time(us)"]))
        check("HTA: idle", scalars["idle_ns"], float(row["idle_time(us)"]))
        check("HTA: computation", scalars["computation_ns"],
              float(row["compute_time(us)"]))
    for row in rows("hta_overlap.csv", trace=trace, mode="exact_last"):
        if trace in HTA_OTHER:
            continue
        if not row["comp_comm_overlap_pctg"]:
            print("ok" if not scalars["comm_ns"] else "not ok",
                  "HTA: no communication")
            continue
        share = 100 * scalars["overlap_ns"] / scalars["comm_ns"]
        good = abs(share - float(row["comp_comm_overlap_pctg"])) <= 0.005001
        print("ok" if good else f"not ok ({share})", "HTA: overlap")
    together = doc["tables"]["together"]
    good = sum(row["ns"] for row in together) == scalars["busy_ns"]
    print("ok" if good else "not ok", "what runs together sums to busy")
    for row in rows("hta_kernel_type.csv", trace=trace, mode="exact_last",
                    include_memory_kernels="True"):
        if trace in HTA_OTHER:
            continue
        kinds = {"COMPUTATION": "computation", "MEMORY": "memory",
                 "COMMUNICATION": "communication"}
        want = {kinds[k] for k in row["kernel_type"].split(" overlapping ")}
        got = sum(r["ns"] for r in together if want == {
            "memory" if k in ("copy", "memset") else k
            for k in r["classes"].split(", ")})
        # HTA cuts every start and end to whole microseconds here.
        whole = not (scalars["busy_ns"] % 1000 or scalars["total_ns"] % 1000)
        check("HTA: " + row["kernel_type"], got, float(row["sum"]),
              1 if whole else scalars["event_count"])
    if trace in TRACELENS_COMM:
        return
    want = {row["type"]: 1000 * float(row["time ms"]) for row in
            rows("tracelens_gpu_timeline_modes.csv", trace=trace,
                 gpu_events="all", micro_idle_thresh_us="")}
    if not want:
        return
    slack = TRACELENS_ROUNDED.get(trace, 1)
    for key, name in (("total_time", "total_ns"), ("busy_time", "busy_ns"),
                      ("idle_time", "idle_ns"), ("total_comm_time", "comm_ns"),
                      ("total_memcpy_time", "copy_ns")):
        if key in want:
            check("TraceLens: " + key, scalars[name], want[key], slack)
    # TraceLens takes memsets for computation, which then hides more.
    parts = scalars["memset_ns"] / 1000
    for key, name, sign in (
            ("computation_time", "computation_ns", 1),
            ("exposed_comm_time", "exposed_comm_ns", -1),
            ("exposed_memcpy_time", "exposed_copy_ns", -1)):
        more = sign * (want[key] - scalars[name] / 1000)
        good = -slack <= more <= parts + slack
        print("ok" if good else f"not ok ({more} us more)",
              "TraceLens: " + key + ", within the memsets")


def kernels():
    table = doc["tables"]["kernels"]
    good = (sum(row["total_ns"] for row in table) == scalars["kernel_ns"]
            and sum(row["calls"] for row in table) == scalars["kernel_count"]
            and all(row["min_ns"] <= row["median_ns"] <= row["max_ns"]
                    for row in table))
    print("ok" if good else "not ok", "groups sum to the whole")
    # What TensorBoard shows of its sample traces: kernels, names, time in us.
    golden = {"v100_resnet50_workers0": ((8772, 67, 591532000),
                                         (8772, 67, 591209000)),
              "v100_resnet50_workers4": ((8868, 62, 594868000),
                                         (8868, 62, 594263000))}
    if trace in golden:
        got = (scalars["kernel_count"], scalars["group_count"],
               scalars["kernel_ns"])
        print("ok" if got in golden[trace] else f"not ok {got}",
              "TensorBoard: kernels")


CLASSES = ("kernel_ns", "copy_ns", "memset_ns", "comm_ns", "runtime_ns",
           "data_ns", "cpu_ns", "other_ns")
# TensorBoard's figures of its samples in us: steps, their durations, the
# classes of the first step, the means of the classes, utilization, estimated
# SM efficiency and achieved occupancy (percent).
GOLDEN_STEPS = {
    "v100_resnet50_workers0": [
        ([187948, 175153, 179733, 174564, 182172, 165983],
         [98598, 1941, 90, 0, 2796, 69317, 14091, 1115],
         [98588.67, 1915.33, 89.00, 0, 2907.50, 59261.83, 13674.17, 1155.67],
         .555141, .546790, 49.128005),
        ([171772, 149553, 149803, 149532, 154343, 154465],
         [98420, 1654, 88, 0, 9789, 46723, 13876, 1222],
         [98534.83, 1733.83, 88.83, 0, 4053.33, 35503.67, 13786.33, 1210.50],
         .636072, .626510, 49.135551)],
    "v100_resnet50_workers4": [
        ([182306, 126183, 127181, 123079, 163461, 124198],
         [99778, 3606, 98, 0, 41028, 4341, 27460, 5995],
         [99144.67, 3159.83, 97.67, 0, 10564.00, 1186.17, 22664.83, 4250.83],
         .702703, .692250, 48.909891),
        ([170134, 122520, 123217, 118625, 119738, 202617],
         [99384, 2866, 98, 0, 46518, 1716, 14941, 4611],
         [99043.83, 2884.67, 97.83, 0, 10580.83, 291.83, 14313.17, 15596.33],
         .693543, .683223, 48.914377)],
}


def steps():
    table = doc["tables"]["steps"]
    # what nobody recorded is null and adds nothing
    good = table and all(sum(row[k] or 0 for k in CLASSES) == row["dur_ns"]
                         for row in table)
    print("ok" if good else "not ok", "the classes sum to each step")
    if trace == "h100_owlv2":
        # TensorBoard's of the same trace; its occupancy counts artefacts.
        row = table[0]
        for what, got, want in (
                ("kernel", row["kernel_ns"], 551451.61),
                ("copy", row["copy_ns"], 14570.26),
                ("memset", row["memset_ns"], 737.60),
                ("data", row["data_ns"], 619045.01),
                ("other", row["other_ns"], 8487.41),
                ("step", row["dur_ns"], 1211182.25)):
            check("TensorBoard: " + what, got, want, 0.02)
        for key, want in (("utilization_share", .455300),
                          ("sm_efficiency_share", .449219)):
            good = abs(scalars[key] - want) < 1e-6
            print("ok" if good else "not ok", "TensorBoard: " + key)
    if trace not in GOLDEN_STEPS:
        return
    durs = [row["dur_ns"] / 1000 for row in table]
    first = [table[0][k] / 1000 for k in CLASSES]
    means = [sum(row[k] for row in table) / len(table) / 1000
             for k in CLASSES]
    good = any(durs == g[0] and first == g[1]
               and all(abs(a - b) < 0.0051 for a, b in zip(means, g[2]))
               and abs(scalars["utilization_share"] - g[3]) < 1e-6
               and abs(scalars["sm_efficiency_share"] - g[4]) < 1e-6
               and abs(scalars["occupancy_percent"] - g[5]) < 1e-6
               for g in GOLDEN_STEPS[trace])
    print("ok" if good else f"not ok {durs} {first} {means}",
          "TensorBoard: steps, classes, utilization, SM efficiency, occupancy")


# HTA's queue knows no hipModuleLaunchKernel and no hipGraphLaunch; and where a
# launch and the start of other work fall on the same microsecond, it takes the
# launch first (the trace cuda_event_sync_multi_stream).
HTA_QUEUE = {"mi300_qwen", "mi300_triton_compile", "mi300_vllm_graph_decode",
             "cuda_event_sync_multi_stream"}


def launches():
    table = doc["tables"]["calls"]
    good = sum(row["count"] for row in table) == scalars["launch_count"]
    print("ok" if good else "not ok", "the calls sum to the launches")
    delays = doc["tables"]["delays"]
    good = sum(row["count"] for row in delays) == scalars["launch_count"]
    print("ok" if good else "not ok", "the delays sum to the launches")
    good = (sum(row["count"] for row in doc["tables"]["short_kernels"])
            == scalars["short_kernel_count"])
    print("ok" if good else "not ok", "short kernels sum by operator")
    # HTA reads these calls only.
    mine = [row for row in table if row["call"] in (
        "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
        "cudaMemsetAsync")]
    for row in rows("hta_launch_stats_summary.csv", trace=trace,
                    mode="exact_last"):
        check("HTA: launches", 1000 * sum(r["count"] for r in mine),
              float(row["launches"]), 0)
        check("HTA: CPU time", sum(r["cpu_ns"] for r in mine),
              float(row["cpu_duration_sum"]))
        check("HTA: GPU time", sum(r["gpu_ns"] for r in mine),
              float(row["gpu_duration_sum"]))
        check("HTA: longest delay", max(r["max_delay_ns"] for r in mine),
              float(row["launch_delay_max"]))
        check("HTA: slow calls", 1000 * sum(r["slow_count"] for r in mine),
              float(row["runtime_outliers_gt50us"]), 0)
        check("HTA: long delays",
              1000 * sum(r["delayed_count"] for r in mine),
              float(row["launch_delay_outliers_gt100us"]), 0)
    if trace in HTA_QUEUE:
        return
    streams = doc["tables"]["streams"]
    for row in rows("hta_queue_length_summary.csv", trace=trace,
                    mode="exact_last"):
        for r in streams:
            if str(r["stream"]) == row["stream"]:
                check("HTA: longest queue", 1000 * r["max_length"],
                      float(row["queue_length_max"]), 0)


# TraceLens lists calls without an operator as operators; takes the union of
# streams that run at once, which is less than the sum; and rounds.
TRACELENS_CALLS = {"cuLaunchKernelEx", "hipGraphLaunch", "cudaLaunchKernel"}
TRACELENS_UNION = {"b200_vllm_eager", "a100_diff_test", "cuda_sync_simple_add"}


def ops():
    mine = {row["op"]: row["ns"] for row in
            list(doc["tables"].values())[0]}
    slack = TRACELENS_ROUNDED.get(trace, 1)
    for row in rows("tracelens_ops_summary.csv", trace=trace):
        name = row["name"]
        want = float(row["total_direct_kernel_time_sum"])
        if name in TRACELENS_CALLS:
            continue
        got = mine.get(name, 0)
        if trace in TRACELENS_UNION:
            good = -slack <= got / 1000 - want <= 0.02 * want
            print("ok" if good else f"not ok ({got} ns, not {want} us)",
                  "TraceLens: less than the sum: " + name)
        else:
            check("TraceLens: " + name, got, want, slack)


# HTA's short kernels are launched by calls of at most 50 us.
def calls():
    mine = [row for row in list(doc["tables"].values())[0] if row["call"] in
            ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
             "cudaMemsetAsync")]
    delays = sorted(max(0, row["delay_ns"]) for row in mine)
    short = sum(row["cpu_ns"] <= 50000 and row["gpu_ns"] < row["cpu_ns"]
                for row in mine)
    for row in rows("hta_launch_stats_summary.csv", trace=trace,
                    mode="exact_last"):
        check("HTA: short kernels", 1000 * short,
              float(row["short_gpu_kernels"]), 0)
        # its doubles round each to a few nanoseconds
        check("HTA: sum of delays", sum(delays),
              float(row["launch_delay_sum"]), 1 + len(mine) / 400)
        if mine:
            check("HTA: median of delays", statistics.median(delays),
                  float(row["launch_delay_median"]))


with contextlib.redirect_stdout(io.StringIO()) as said:
    {"ops": ops, "calls": calls, "overlap": overlap, "kernels": kernels,
     "steps": steps, "launches": launches}[command]()
print(said.getvalue(), end="")
sys.exit("\nnot ok" in "\n" + said.getvalue())
