# SPDX-License-Identifier: MIT
"""Secrets in every text of a trace, and where an output shows them.

	secrets.py make FOLDER       writes traces of two ranks with a secret of its own
	                             in each text, FOLDER/fields: what each is, and
	                             prints the traces and names of two databases
	secrets.py find FOLDER FILE  the fields that FILE shows, one a line; packed
	                             timelines of pages are unpacked

A field that starts with "kept: " is one that --redact keeps by its promise.
"""
import base64
import gzip
import json
import os
import re
import sys


class Secrets:
    def __init__(self):
        self.fields = []

    def __call__(self, field):
        if field not in self.fields:
            self.fields.append(field)
        return "zq%03dxw" % self.fields.index(field)


def python_names(s):
    """Names of Python functions as torch and others write them."""
    def path(form, kind):
        return form.format(s("folder of " + kind), s("user of " + kind),
                           s("kept: file of " + kind),
                           s("kept: function of " + kind))

    return [
        path("/home/{1}/{0}/{2}.py(3): {3}", "a file"),
        path("/tmp/torchinductor_{1}/{0}/{2}.py(20): {3}", "inductor's cache"),
        path("{1}/{0}/{2}.py(3): {3}", "a relative file"),
        path("./{1}/{0}/{2}.py(3): {3}", "a file below ."),
        path("~{1}/{0}/{2}.py(3): {3}", "a file of a home"),
        path("C:\\Users\\{1}\\{0} b\\{2}.py(9): {3}", "a file of Windows"),
        path("\\\\{1}\\{0}\\{2}.py(9): {3}", "a file of a share"),
        path("/Users/{1} b/{0} c/{2}.py(9): {3}", "a file with blanks"),
        path("/opt/{1}/lib/python3.11/site-packages/{0}/{2}.py(7): {3}",
             "a package"),
        path("/opt/{1}/lib/python3.11/{0}/{2}.py(7): {3}", "the library"),
        path("file:///srv/{1}/{0}/{2}.py(7): {3}", "an address"),
        path("<built-in method {3} of /mnt/{1}/{0}/{2}.so>", "a built-in"),
        "<built-in function chdir /home/%s>" % s("home in a built-in"),
        "nn.Module: %s_0" % s("kept: module"),
        "<%s>(3): f" % s("kept: file of no folder"),
    ]


def argument(s, kind):
    return {
        "Call stack": "/home/%s/x.py(3): f;y.py(4): g" % s(kind + " Call stack"),
        "kernel_file": "/tmp/torchinductor_%s/ab/c.py" % s(kind + " kernel_file"),
        "kernel_hash": s(kind + " kernel_hash"),
        "Concrete Inputs": ["", s(kind + " Concrete Inputs")],
        "Kwinputs": {"stream": s(kind + " Kwinputs")},
        "Module Hierarchy": s(kind + " Module Hierarchy"),
        "comment": s(kind + " comment"),
        s(kind + " key of an argument"): 1,
        "nested": {"user": [{"name": s(kind + " nested argument")}]},
        "env": {"TOKEN": s(kind + " environment")},
        "env_vars": ["TOKEN=" + s(kind + " list of the environment")],
    }


def step(s, e, n, at):
    def add(cat, name, start, dur, tid=s("thread id"), **args):
        e.append({"ph": "X", "cat": cat, "name": name, "pid": s("process id"),
                  "tid": tid, "ts": at + start, "dur": dur,
                  "args": dict(argument(s, cat), **args)})

    def launch(start, name, kind, gpu_start, dur, **args):
        number = 1000 * n + start
        add("cuda_runtime", "cudaLaunchKernel", start, 5, correlation=number)
        e.append({"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": 7,
                  "ts": at + gpu_start, "dur": dur, "args": dict(
                      argument(s, kind), correlation=number, device=0, stream=7,
                      **args)})

    add("user_annotation", "ProfilerStep#%d" % n, 0, 990)
    add("user_annotation", s("annotation"), 1, 980)
    add("user_annotation", "/data/%s" % s("annotation that is a folder"), 1, 980)
    add("user_annotation", "%s %d of 9" % (s("annotation that counts"), n), 2,
        978)
    for i, name in enumerate(python_names(s)):
        add("python_function", name, 3 + i, 970 - 2 * i,
            **{"Python id": 100 * n + i + 1, "Python parent id": 100 * n + i})
    add("cpu_op", "aten::" + s("kept: operator"), 30, 60, **{
        "External id": n, "Sequence number": n, "Input type": ["float"],
        "Input Dims": [[2, 3]]})
    launch(31, s("kept: kernel"), "kernel", 200, 50)
    launch(40, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 260, 9,
           bytes=9)
    add("cpu_op", "c10d::allreduce_", 100, 40)
    add("cpu_op", "record_param_comms", 101, 38, **{
        "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 4,
        "Out msg nelems": 4, "Group size": 2,
        "Process Group Name": s("kept: name of a process group"),
        "Process Group Description": s("kept: words of a process group"),
        "Process Group Ranks": "[0, 1]"})
    launch(110, "ncclDevKernel_AllReduce_Sum_f32", "kernel", 270, 30)
    add("gpu_user_annotation", s("annotation of the GPU"), 200, 60)
    add("cuda_runtime", "cudaStreamSynchronize", 310, 500, correlation=0)
    launch(850, s("kept: kernel"), "kernel", 900, 40)
    add("overhead", s("kept: overhead"), 960, 2)
    add(s("category"), s("name of a category of its own"), 964, 2)
    e.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]",
              "pid": s("process id"), "tid": s("thread id"), "ts": at + 50,
              "s": "t", "args": dict(argument(s, "memory"), **{
                  "Device Type": 1, "Device Id": 0, "Bytes": 512 * (-1) ** n,
                  "Addr": 4096, "Total Allocated": 512 * (n % 2 + 1),
                  "Total Reserved": 4096})})
    e.append({"ph": "i", "name": s("instant"), "pid": s("process id"), "tid":
              s("thread id"), "ts": at + 60, "s": "g"})
    e.append({"ph": "C", "name": s("counter"), "pid": 0, "tid": 0,
              "ts": at + 60, "args": {s("series of a counter"): 5}})
    for ph in "be":
        e.append({"ph": ph, "cat": s("async category"), "id": 4, "name":
                  s("async"), "pid": 1, "tid": 1, "ts": at + 70})
    for ph in "sf":
        e.append({"ph": ph, "cat": "ac2g", "id": n, "name": s("flow"),
                  "pid": s("process id"), "tid": s("thread id"),
                  "ts": at + 31})


def trace(s, rank):
    e = []
    for key, what in (("process_name", "name"), ("process_labels", "labels"),
                      ("thread_name", "name"), (s("metadata event"), "x")):
        for pid, tid in ((s("process id"), s("thread id")), (0, 7)):
            e.append({"ph": "M", "name": key, "pid": pid, "tid": tid,
                      "args": {what: s(key + " of " + str(pid))}})
    for n in range(8):
        step(s, e, n, 1000 * n)
    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA " + s("kept: GPU"),
                              "serial": s("serial number")}],
        "distributedInfo": {
            "backend": "nccl", "rank": rank, "world_size": 2,
            "host": s("host"), "pg_config": [{
                "pg_name": s("kept: name of a process group"),
                "pg_desc": s("kept: words of a process group"),
                "backend_config": s("backend_config"), "ranks": [0, 1]}]},
        "hostname": s("host name"), "user": s("user"), "cwd": s("cwd"),
        "traceName": "/home/%s/t.json" % s("traceName"),
        "record_shapes": 1, "with_stack": 1, "profile_memory": 1,
        s("top-level key"): s("top-level value"),
        "metadata": {"command": "/home/%s/train" % s("command")},
        "environment": {"TOKEN": s("environment")},
        "environ": ["TOKEN=" + s("list of the environment")],
        "traceEvents": e,
    }


def make(folder):
    s = Secrets()
    inside = os.path.join(folder, s("folder of the trace"))
    os.makedirs(inside)
    for rank in range(2):
        name = s("host in the file's name") + "_%d.pt.trace.json" % rank
        with open(os.path.join(inside, name), "w") as f:
            f.write(json.dumps(trace(s, rank)))
        print(os.path.join(inside, name))
    inside = os.path.join(folder, s("folder of the database"))
    os.makedirs(inside)
    for count in "one", "two":
        print(os.path.join(inside, s("name of a database") + count))
    with open(os.path.join(folder, "fields"), "w") as f:
        f.write("\n".join(s.fields) + "\n")


def find(folder, name):
    fields = open(os.path.join(folder, "fields")).read().splitlines()
    text = open(name, "rb").read()
    for data in re.findall(rb'octet-stream" id="p.">([^<]*)', text):
        text += gzip.decompress(base64.b64decode(data))
    for number in sorted({int(n) for n in re.findall(rb"(?i)zq(\d+)xw", text)}):
        print(fields[number])


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    find(sys.argv[2], sys.argv[3])
