# SPDX-License-Identifier: MIT
"""A trace whose every name would like to be more than a name.

usage: hostile.py > trace.json
"""
import json
import sys

NAMES = [
    "</script><script>window.pwned=1</script>",
    "</style><script>window.pwned=2</script>",
    "<!--<script>window.pwned=3</script>",
    "<img src=x onerror=window.pwned=4>",
    '"><svg onload=window.pwned=5>',
    "'-alert(1)-'",
    "${window.pwned=6}",
    "{{constructor.constructor('window.pwned=7')()}}",
    "{{verdicts}}",
    "javascript:window.pwned=8",
    "&lt;b&gt;&amp;&#60;",
    "]]></script><script>window.pwned=9</script>",
    "line\u2028sep\u2029para",
    "\u202eevil\u202c \u2066x\u2069 \u200f",
    "nul\u0000 esc\u001b[31m bel\u0007 del\u007f c1\u009b",
    "L" * 20000,
    "__proto__", "constructor", "toString", "hasOwnProperty",
    "=cmd|' /C calc'!A0",
    "\U0001f600" * 50,
    "`backtick` | pipe @everyone #1 GH-1 https://evil.example/x",
    "%s%n%d\x01\x02\x01",
    " ", "   ",
    "void at::native::k<</script><script>window.pwned=10</script>>(int)",
    "nccl</td></tr></table><script>window.pwned=11</script>",
    "/home/alice/</a><script>window.pwned=12</script>.py(12): f",
    "a.py(7): <script>window.pwned=13</script>",
    "enumerate(DataLoader)#<script>window.pwned=14</script>.__next__",
]
LONE = '"\\ud800lone"'
BAD = b'"\xff\xfebad\xc3"'


def main():
    out = sys.stdout.buffer
    events = []
    t = 1000.0
    ext = 1
    for p, label in ((1, NAMES[0]), (0, NAMES[3])):
        events.append({"ph": "M", "pid": p, "tid": 0, "ts": 0,
                       "name": "process_name", "args": {"name": label}})
    events.append({"ph": "M", "pid": 1, "tid": 2, "ts": 0,
                   "name": "thread_name", "args": {"name": NAMES[4]}})
    for step in range(4):
        begin = t
        for i, name in enumerate(NAMES):
            events.append({"ph": "X", "cat": "python_function", "pid": 1,
                           "tid": 2, "ts": t, "dur": 90, "name": name,
                           "args": {"Python id": ext}})
            events.append({"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2,
                           "ts": t + 1, "dur": 80, "name": name,
                           "args": {"External id": ext, "Input Dims": name}})
            events.append({"ph": "X", "cat": "cuda_runtime", "pid": 1,
                           "tid": 2, "ts": t + 2, "dur": 20,
                           "name": "cudaLaunchKernel" if i % 3 else
                           "cudaStreamSynchronize",
                           "args": {"correlation": ext, "External id": ext}})
            events.append({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7,
                           "ts": t + 30, "dur": 25, "name": name,
                           "args": {"correlation": ext, "device": 0,
                                    "stream": 7, "grid": [1, 1, 1],
                                    "block": [32, 1, 1]}})
            events.append({"ph": "i", "s": "t", "pid": 1, "tid": 2,
                           "ts": t + 5, "name": "[memory]",
                           "args": {"Device Type": 1, "Device Id": 0,
                                    "Addr": ext, "Bytes": 4096,
                                    "Total Allocated": 4096 * ext,
                                    "Total Reserved": 4096 * ext}})
            events.append({"ph": "X", "cat": "user_annotation", "pid": 1,
                           "tid": 2, "ts": t + 0.5, "dur": 85, "name": name})
            t += 100 + 40 * (i == 3)
            ext += 1
        events.append({"ph": "X", "cat": "user_annotation", "pid": 1,
                       "tid": 2, "ts": begin - 0.5, "dur": t - begin,
                       "name": "ProfilerStep#%d" % step})
    head = {"schemaVersion": 1, "with_stack": 1, "record_shapes": 1,
            "traceName": NAMES[0],
            "deviceProperties": [{"id": 0, "name": NAMES[3],
                                  "totalGlobalMem": 8192,
                                  "computeMajor": 9, "computeMinor": 0,
                                  "numSms": 4}],
            "distributedInfo": {"backend": NAMES[1], "rank": 0,
                                "world_size": 2, "host": NAMES[5]},
            NAMES[0]: NAMES[4]}
    text = json.dumps(head)[:-1] + ', "traceEvents": [\n'
    out.write(text.encode())
    out.write(",\n".join(json.dumps(e) for e in events).encode())
    for name in (LONE.encode(), BAD):
        out.write(b',\n{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, '
                  b'"ts": %d, "dur": 50, "name": ' % t + name + b'}')
        t += 60
    out.write(b"\n]}\n")


main()
