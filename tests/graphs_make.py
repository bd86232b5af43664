# SPDX-License-Identifier: MIT
"""A small model's kernels: replayed by a graph, launched one by one, or as
they were captured.
usage: graphs_make.py graph|eager|capture|order|frames|lost LAYERS [PIECES]

frames is graph, and lost is capture, with Python functions that ranges and
lost ends cross."""
import json
import sys

LAYER = [("rms_norm_kernel", "norm"), ("gemm_qkv_128x64", "aten::linear"),
         ("rotary_kernel", "rope"), ("flash_fwd_kernel", "attend"),
         ("gemm_out_64x64", "aten::linear"), ("rms_norm_kernel", "norm"),
         ("gemm_up_256x64", "aten::linear"), ("silu_and_mul<float>", "silu"),
         ("gemm_down_64x256", "aten::linear")]
SHAPES = {"Input Dims": [[8], [4, 16], [16, 8], [], []],
          "Input type": 3 * ["c10::BFloat16"] + 2 * ["Scalar"]}
events = []


def add(cat, name, ts, dur, args=None, pid=1, tid=1):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                   "tid": tid, "ts": ts, "dur": dur, "args": args or {}})


def kernel(name, ts, dur, correlation, **more):
    add("kernel", name, ts, dur, dict(device=0, stream=7,
                                      correlation=correlation, **more), 0, 7)


def model(layers, other=False):
    yield "indexSelect_kernel", "embed", ""
    for i in range(layers):
        for name, op in LAYER:
            if other and name.startswith("gemm"):
                name = name.replace("128", "256")
            yield name, op, f"Layer_{i}"
    yield "rms_norm_kernel", "norm", "Model_0"
    yield "gemm_head_128x128", "aten::linear", "Model_0"
    yield "argmax_kernel", "sample", "Model_0"


what, layers = sys.argv[1], int(sys.argv[2])
has_frames = what in ("frames", "lost")
what = {"frames": "graph", "lost": "capture"}.get(what, what)
if what == "graph":
    for replay in range(3):
        t = 1000 + replay * 100000
        add("user_annotation", f"execute_{replay}", t, 50)
        if has_frames:
            add("python_function", "profiler.py(1): __enter__", t - 5, 10)
            add("python_function", "jit.py(1): is_scripting", t + 2, 1)
        add("cuda_runtime", "cudaGraphLaunch", t + 10, 20,
            {"correlation": replay + 1})
        for n, (name, _, _) in enumerate(model(layers)):
            # the attention of layer 2 is slow
            slow = name.startswith("flash") and n == 1 + 2 * 9 + 3
            kernel(name, t + 40 + 20 * n, 19 if slow else 10, replay + 1,
                   **{"graph id": 5, "graph node id": n + 1})
else:
    t = 1000
    if what != "eager":
        add("cuda_runtime", "cudaStreamBeginCapture", t - 10, 5)
    for n, (name, op, module) in enumerate(model(layers, what == "eager")):
        args = {"correlation": n + 100}
        if what == "capture":
            args["kernel"] = name
            if op == "aten::linear":  # the shapes are those of what it is in
                add("cpu_op", "aten::addmm", t + 5, 80, SHAPES)
        if module:
            add("python_function", f"nn.Module: {module}", t, 90)
            if has_frames:
                add("python_function", "<built-in function next>", t + 1,
                    200000)
        add("cpu_op", op, t + 10, 60)
        add("cuda_runtime", "cudaLaunchKernel", t + 20, 20, args)
        # the driver's call inside is the same launch
        add("cuda_driver", "cuLaunchKernel", t + 22, 10)
        if what == "eager":
            kernel(name, t + 50, 10, n + 100)
        t += 100
    if what != "eager":
        add("cuda_runtime", "cudaStreamEndCapture", t, 5)
sys.stdout.write(json.dumps({"schemaVersion": 1, "traceEvents": events}))
