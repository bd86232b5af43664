#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profile a small program with viztracer, JAX or TensorFlow.

usage: python3 capture.py FOLDER viztracer|jax|tensorflow

FOLDER gets trace.json.gz, from JAX also xplane.pb, from TensorFlow xplane.pb
alone (it writes no JSON any more), and truth.json with the versions and what
the program did.  CPU only.
"""
import glob
import gzip
import json
import os
import platform
import sys
import tempfile
import threading


def keep(source, target):
    """A copy of a file, compressed anew without name and time."""
    opener = gzip.open if source.endswith(".gz") else open
    with opener(source, "rb") as file:
        data = file.read()
    if target.endswith(".gz"):
        with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
            file.write(data)
    else:
        with open(target, "wb") as file:
            file.write(data)


def keep_profile(scratch, folder):
    """What the profiler of XLA wrote: one host's xplane.pb and trace."""
    for pattern, name in (("*.xplane.pb", "xplane.pb"), ("*.trace.json.gz", "trace.json.gz")):
        for path in glob.glob(os.path.join(scratch, "plugins", "profile", "*", pattern)):
            keep(path, os.path.join(folder, name))


CALLS = []


def fibonacci(n):
    CALLS.append(n)
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def run_viztracer(folder, scratch):
    import viztracer
    path = os.path.join(scratch, "trace.json")
    tracer = viztracer.VizTracer(output_file=path, verbose=0, file_info=False)
    tracer.start()
    with tracer.log_event("work"):
        thread = threading.Thread(target=fibonacci, args=(6,), name="helper")
        thread.start()
        total = sum(fibonacci(n) for n in range(8))
        thread.join()
    tracer.log_instant("done", args={"total": total})
    tracer.log_var("total", total)
    tracer.stop()
    tracer.save()
    keep(path, os.path.join(folder, "trace.json.gz"))
    return {"viztracer": viztracer.__version__, "fibonacci": len(CALLS), "total": total}


def run_jax(folder, scratch):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w, x):
        return w - 0.1 * jax.grad(lambda w: jnp.square(jnp.tanh(x @ w)).mean())(w)

    w, x = jnp.ones((16, 8)), jnp.ones((4, 16))
    step(w, x).block_until_ready()
    with jax.profiler.trace(scratch):
        for i in range(3):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                w = step(w, x)
            w.block_until_ready()
    keep_profile(scratch, folder)
    return {"jax": jax.__version__, "steps": 3}


def run_tensorflow(folder, scratch):
    import tensorflow as tf
    w = tf.Variable(tf.ones((16, 8)))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w)))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    x = tf.ones((4, 16))
    step(x)
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    tf.profiler.experimental.start(scratch, options)
    for i in range(3):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            step(x)
    tf.profiler.experimental.stop()
    keep_profile(scratch, folder)
    return {"tensorflow": tf.__version__, "steps": 3}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, which = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        truth = {"viztracer": run_viztracer, "jax": run_jax, "tensorflow": run_tensorflow}[which](folder, scratch)
    truth["python"] = platform.python_version()
    with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
