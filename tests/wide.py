# SPDX-License-Identifier: MIT
"""Many of one thing, which must cost so many times what one costs: wide.py
KIND COUNT [FILE] writes what profan reads (to stdout), wide.py names the kinds."""
import json
import pickle
import sys

KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def row(cat, name, ts, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": ts, "dur": dur, "args": args}


def launched(i, at, op="aten::op", kernel="k", pid=1, tid=1, device=0, stream=7,
             length=3, **args):
    """An operator that launches a kernel, in 10 us."""
    yield row("cpu_op", op, at, 8, pid, tid, **{"External id": i + 1, **args})
    yield row("cuda_runtime", "cudaLaunchKernel", at + 1, 2, pid, tid,
              correlation=i + 1, **{"External id": i + 1})
    yield row("kernel", kernel, at + 5, length, device, stream, device=device,
              stream=stream, correlation=i + 1, **{"External id": i + 1})


def each(count, **of):
    """COUNT operators in turn; what OF names is a function of the number."""
    for i in range(count):
        yield from launched(i, 10 * i, **{k: v(i) for k, v in of.items()})


def nested(count, cat, name, **args):
    """Each is in the one before; the innermost launches a kernel."""
    for i in range(count):
        yield row(cat, name(i), i, 4 * count - 2 * i,
                  **{k: v(i) for k, v in args.items()})
    yield from launched(count, 2 * count)


# ---- where it runs ----

def in_turn(count, **of):
    """Three times each, so that each is seen between the others."""
    for i in range(3 * count):
        yield from launched(i, 100 * i, **{k: v(i % count)
                                           for k, v in of.items()})


@kind
def threads(count):
    return in_turn(count, tid=lambda i: 1000 + i)


@kind
def processes(count):
    return in_turn(count, pid=lambda i: 100 + i)


@kind
def streams(count):
    return in_turn(count, stream=lambda i: i)


@kind
def busy_streams(count):
    return in_turn(count, stream=lambda i: i, length=lambda i: 50 * count)


@kind
def devices(count):
    return in_turn(count, device=lambda i: i)


# ---- what runs ----

@kind
def operators(count):
    return each(count)


@kind
def names(count):
    return each(count, op=lambda i: f"op{i}", kernel=lambda i: f"k{i}")


@kind
def shapes(count):
    return each(count, **{
        "Input Dims": lambda i: [[i, j] for j in range(8)],
        "Input type": lambda i: ["float"] * 8})


@kind
def one_correlation(count):
    for i in range(count):
        for event in launched(i, 10 * i):
            yield {**event, "args": {**event["args"], "correlation": 1,
                                     "External id": 1}}


@kind
def at_one_time(count):
    return (e for i in range(count) for e in launched(i, 0))


@kind
def out_of_order(count):
    return reversed(list(each(count)))


@kind
def overlapping(count):
    for i in range(count):
        yield row("cpu_op", "aten::op", i, count, **{"External id": i + 1})
        yield row("cuda_runtime", "cudaLaunchKernel", i, 1, correlation=i + 1)
        yield row("kernel", "k", i + 1, count, 0, 7, device=0, stream=7,
                  correlation=i + 1)


@kind
def waits_of_streams(count):
    for i in range(count):
        at = 20 * i
        yield row("cuda_runtime", "cudaEventRecord", at, 1,
                  correlation=4 * i + 2)
        yield row("cuda_runtime", "cudaStreamWaitEvent", at + 2, 1,
                  correlation=4 * i + 3)
        yield row("cuda_sync", "Stream Wait Event", at + 2, 1, 0, i % 97,
                  device=0, stream=i % 97, correlation=4 * i + 3,
                  wait_on_stream=i % 89, wait_on_cuda_event_id=5,
                  wait_on_cuda_event_record_corr_id=4 * i + 2)
        yield from launched(4 * i, at + 5, stream=i % 97, length=2000)


@kind
def synchronizations(count):
    for i in range(count):
        at = 20 * i
        yield from launched(2 * i, at)
        for cat, name, pid, tid in (
                ("cuda_runtime", "cudaStreamSynchronize", 1, 1),
                ("cuda_sync", "Stream Synchronize", 0, 7)):
            yield row(cat, name, at + 4, 6, pid, tid, device=0, stream=7,
                      correlation=2 * i + 2)


@kind
def copies(count):
    for i in range(count):
        yield row("cuda_runtime", "cudaMemcpyAsync", 10 * i, 2,
                  correlation=i + 1)
        yield row("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 10 * i + 3,
                  4, 0, 7 + i % 3, device=0, stream=7 + i % 3,
                  correlation=i + 1, bytes=4 * i)


@kind
def collectives(count):
    for i in range(count):
        group = {"Collective name": "allreduce", "Process Group Name": str(i),
                 "Process Group Description": f"group {i}", "dtype": "Float",
                 "Group size": 2, "In msg nelems": i, "Out msg nelems": i,
                 "Process Group Ranks": "[0, 1]"}
        for event in launched(i, 10 * i, op="record_param_comms",
                              kernel="ncclDevKernel_AllReduce_Sum_f32", **group):
            event["args"].update(group)
            yield event


@kind
def graphs(count):
    for i in range(count):
        yield row("cuda_runtime", "cudaGraphLaunch", 20 * i, 8,
                  correlation=i + 1)
        for j in range(4):
            yield row("kernel", f"k{j}", 20 * i + 4 * j, 3, 0, 7, device=0,
                      stream=7, correlation=i + 1, **{
                          "graph id": i, "graph node id": 4 * i + j})


# ---- what is around it ----

@kind
def steps(count):
    for i in range(count):
        yield row("user_annotation", f"ProfilerStep#{i}", 10 * i, 9)
    yield from each(count)


@kind
def steps_at_once(count):
    for i in range(count):
        yield row("user_annotation", f"ProfilerStep#{i}", 0, 10 * count)
    yield from each(count)


@kind
def ranges(count):
    for i in range(count):
        yield row("user_annotation", f"range {i}", 10 * i, 9)
        yield row("gpu_user_annotation", f"range {i}", 10 * i + 5, 4, 0, 7)
    yield from each(count)


@kind
def crossing_ranges(count):
    for i in range(count):
        yield row("user_annotation", f"range {i}", 10 * i, 10 * count)
    yield from each(count)


@kind
def nested_ranges(count):
    return nested(count, "user_annotation", lambda i: f"range {i}")


@kind
def nested_operators(count):
    return nested(count, "cpu_op", lambda i: f"aten::op{i % 5}",
                  **{"External id": lambda i: i + 1})


@kind
def nested_functions(count):
    return nested(count, "python_function", lambda i: f"f.py({i}): g{i}", **{
        "Python id": lambda i: i + 1, "Python parent id": lambda i: i})


@kind
def nested_modules(count):
    return nested(count, "python_function", lambda i: f"nn.Module: M{i}_0", **{
        "Python id": lambda i: i + 1, "Python parent id": lambda i: i,
        "Python module id": lambda i: i})


@kind
def functions(count):
    for i in range(count):
        yield row("python_function", f"f.py({i}): g{i}", 10 * i, 9,
                  **{"Python id": i + 1, "Python parent id": None})
    yield from each(count)


@kind
def modules(count):
    for i in range(count):
        yield row("python_function", f"nn.Module: M{i}_0", 10 * i, 9, **{
            "Python id": i + 1, "Python parent id": None,
            "Python module id": i})
    yield from each(count)


@kind
def ends_of_nothing(count):
    for i in range(count):
        yield {"ph": "B", "name": f"b{i % 7}", "pid": 1, "tid": 1, "ts": i}
    for i in range(count // 2):
        yield {"ph": "E", "pid": 1, "tid": 1, "ts": count + i}


@kind
def asynchronous(count):
    for ph, at in (("b", lambda i: i), ("e", lambda i: 2 * count - i)):
        for i in range(count):
            yield {"ph": ph, "id": i, "cat": "c", "name": "n", "pid": 1,
                   "tid": 1, "ts": at(i)}


@kind
def flows(count):
    for i in range(count):
        for ph, at in (("s", 10 * i + 1), ("f", 10 * i + 5)):
            yield {"ph": ph, "id": 1 + i // 2, "pid": 1, "tid": 1, "ts": at,
                   "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}
    yield from each(count)


@kind
def allocations(count):
    for i in range(count):
        yield {"ph": "i", "s": "t", "cat": "cpu_instant_event", "pid": 1,
               "tid": 1, "name": "[memory]", "ts": 10 * i, "args": {
                   "Total Reserved": 10 ** 9, "Total Allocated": 100 * (i + 1),
                   "Bytes": 100, "Addr": i + 1, "Device Id": 0,
                   "Device Type": 1}}
    yield from each(count)


@kind
def counters(count):
    for i in range(count):
        yield {"ph": "C", "name": f"c{i}", "pid": 1, "ts": i,
               "args": {f"v{i}": i}}


@kind
def texts(count):
    return each(count, **{"Trace name": lambda i: f"{i} " + 40 * "text "})


# ---- other files ----

@kind
def folded_stacks(count):
    return "".join(f"a;b{i};c{i // 7};d {i}\n" for i in range(count))


@kind
def deep_stacks(count):
    return "".join(";".join(f"f{j}" for j in range(i % 500 + 1)) + " 1\n"
                   for i in range(count // 100))


@kind
def samples(count):
    return "timestamp, index, utilization.gpu [%]\n" + "".join(
        f"2024/01/01 {i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}.000, "
        f"{i % 8}, {i % 100} %\n" for i in range(count))


@kind
def snapshot(count):
    block = {"size": 512, "requested_size": 500, "state": "active_allocated"}
    frames = [[{"filename": f"f{i}.py", "line": i, "name": f"g{i}"}]
              for i in range(count)]
    return pickle.dumps({
        "segments": [{
            "device": 0, "address": 4096, "total_size": 512 * count,
            "allocated_size": 512 * count, "active_size": 512 * count,
            "requested_size": 500 * count, "stream": 0, "segment_type": "large",
            "blocks": [{**block, "address": 4096 + 512 * i, "frames": frames[i]}
                       for i in range(count)]}],
        "device_traces": [[{
            "action": "alloc", "addr": 4096 + 512 * i, "size": 512, "stream": 0,
            "time_us": i, "frames": frames[i]} for i in range(count)]],
    }, protocol=4)


if len(sys.argv) == 1:
    print(*KINDS)
else:
    made = KINDS[sys.argv[1]](int(sys.argv[2]))
    if isinstance(made, bytes):
        sys.stdout.buffer.write(made)
    elif isinstance(made, str):
        sys.stdout.write(made)
    else:
        sys.stdout.write("[\n")
        for written in made:
            sys.stdout.write(json.dumps(written) + ",\n")
        sys.stdout.write("{}]\n")
