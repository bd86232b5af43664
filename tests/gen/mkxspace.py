# SPDX-License-Identifier: MIT
"""Writes small XSpace files (*.xplane.pb) of our own: mkxspace.py CASE > FILE,
or all of them: mkxspace.py --all FOLDER.

A writer of protobuf's wire format and nothing else: it knows no reader.
"""
import sys


BYTES = [bytes([n]) for n in range(128)]


def varint(n):
    if 0 <= n < 128:
        return BYTES[n]
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def num(field, n):
    return varint(field << 3) + varint(n)


def msg(field, *parts):
    body = b"".join(p if isinstance(p, bytes) else p.encode() for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


STATS = ["", "correlation_id", "kernel_details", "memcpy_details", "tf_op",
         "name", "step_num", "allocator_name", "allocation_bytes",
         "bytes_allocated", "addr", "peak_bytes_in_use", "profile_start_time",
         "core_count", "memory_size", "device_vendor", "secret",
         "jit(f)/dot_general", "fraction", "hlo_category",
         "_p", "_pt", "_c", "_ct", "index_on_host", "bytes_reserved",
         "bytes_available", "flops", "bytes_accessed", "device_type_string",
         "hlo_op"]


def stat(name, value, kind=None):
    """kind: the field of the value; by its type if it is not said."""
    if kind is None:
        kind = 5 if isinstance(value, str) else 4
    if kind == 2:
        return msg(4, num(1, STATS.index(name)), varint(2 << 3 | 1), value)
    if kind in (5, 6, 8):
        return msg(4, num(1, STATS.index(name)), msg(kind, value))
    return msg(4, num(1, STATS.index(name)), num(kind, value))


def event(meta, offset_ps, duration_ps, *stats):
    return msg(4, num(1, meta), num(2, offset_ps), num(3, duration_ps), *stats)


def line(ident, name, timestamp_ns, *events):
    return msg(3, num(1, ident), msg(2, name), num(3, timestamp_ns), *events)


def names(texts):
    return b"".join(msg(4, num(1, i), msg(2, num(1, i), msg(2, t)))
                    for i, t in texts.items())


def stat_names():
    return b"".join(msg(5, num(1, i), msg(2, num(1, i), msg(2, t)))
                    for i, t in enumerate(STATS) if t)


def plane(name, *parts, number=0):
    return msg(1, num(1, number), msg(2, name), *parts)


def environment():
    s = stat("profile_start_time", 1700000000000000000)
    return plane("Task Environment", stat_names(), b"\x32" + s[1:])


def host(steps=3):
    api, thread = [], []
    for i in range(steps):
        t = i * 1000000  # ns
        thread.append(event(1, t * 1000, 900000500, stat("step_num", i + 5)))
        thread.append(event(2, t * 1000 + 10000, 800000000))
        thread.append(event(3, t * 1000 + 20000, 300000000,
                            stat("tf_op", "f:MatMul")))
        api.append(event(4, t * 1000 + 50999, 20000001,
                         stat("correlation_id", 10 + i, 3)))
        thread.append(event(5, t * 1000 + 30000, 0,
                            stat("allocator_name", "GPU_0_bfc"),
                            stat("allocation_bytes", 1024 * (i + 1)),
                            stat("bytes_allocated", 1024 * (i + 1)),
                            stat("addr", 4096 * (i + 1)),
                            stat("fraction", b"\0\0\0\0\0\0\xd0\x3f", 2)))
    # two threads of one name
    return plane("/host:CPU", line(-77, "python", 1000, *thread),
                 line(78, "python", 1000, *api),
                 names({1: "train", 2: "$main.py:7 step", 3: "f:MatMul",
                        4: "cudaLaunchKernel", 5: "MemoryAllocation"}),
                 stat_names())


def gpu(steps=3):
    work = []
    for i in range(steps):
        t = i * 1000000
        work.append(event(1, t * 1000 + 100000999, 200000001,
                          stat("correlation_id", 10 + i, 3),
                          stat("kernel_details", "regs:38 static_shared:128 "
                               "dynamic_shared:64 grid:16,2,1 block:256,1,1 "
                               "occ_pct:50"),
                          stat("name", STATS.index("jit(f)/dot_general"), 7)))
        work.append(event(2, t * 1000 + 400000000, 1000000,
                          stat("memcpy_details",
                               "kind:Pinned size:4096 dest:0 async:1")))
    again = [event(3, 0, 500000000), event(4, 1000000000, 500000000)]
    return plane("/device:GPU:0",
                 line(7, "Stream #7(Kernel,MemcpyH2D)", 1000, *work),
                 line(-5, "Steps", 1000, *again),
                 names({1: "gemm_kernel.kd", 2: "MemcpyH2D", 3: "0", 4: "1"}),
                 stat_names(),
                 b"\x32" + stat("core_count", 80)[1:],
                 b"\x32" + stat("memory_size", 1 << 34)[1:],
                 b"\x32" + stat("device_vendor", "Ours")[1:])


def alike():
    """Statistics that differ in numbers alone, or in what one stands for."""
    half, small = b"\0\0\0\0\0\0\xe0\x3f", b"\0\0\0\0\0\0\xd0\x3f"

    def memory(meta, t, size, *more):
        return event(meta, t * 1000, 0, stat("allocation_bytes", size),
                     stat("bytes_allocated", size * 2), *more)
    return plane("/host:CPU", line(
        1, "a", 1,
        memory(1, 0, 16), memory(1, 1, 32), memory(2, 2, 32),
        memory(2, 3, 16),
        # one slot twice; a number that is too small for one of its own
        memory(1, 4, 16, stat("bytes_allocated", -1)),
        memory(1, 5, 64, stat("bytes_allocated", -1)),
        memory(1, 5, 16, stat("bytes_allocated", 7), stat("addr", 1)),
        memory(1, 5, 64, stat("bytes_allocated", 9), stat("addr", 2)),
        memory(1, 6, 16, stat("fraction", half, 2)),
        memory(1, 7, 64, stat("fraction", small, 2)),
        # more numbers than slots
        event(3, 8000, 0, *[stat("core_count", i) for i in range(11)]),
        event(3, 9000, 0, *[stat("core_count", i) for i in range(1, 12)]),
        # a text beside the number
        event(3, 10000, 0, stat("core_count", 1), stat("name", "a")),
        event(3, 11000, 0, stat("core_count", 2), stat("name", "b")),
        event(3, 12000, 0, stat("core_count", 3), stat("name", "a"))),
        names({1: "MemoryAllocation", 2: "MemoryDeallocation", 3: "x"}),
        stat_names())


def frees():
    """Frees without a size, as TPUs have them: figures in tests/xspace.sh.
    The thread that frees stands before the one that allocates."""
    def record(meta, at_us, device, addr, total, *more):
        return event(meta, at_us * 1000000, 0, stat("index_on_host", device),
                     stat("bytes_allocated", total), stat("addr", addr), *more)

    def got(at_us, device, addr, total, size):
        return record(1, at_us, device, addr, total,
                      stat("allocation_bytes", size))

    def op(meta, start_us, end_us):
        return event(meta, start_us * 1000000, (end_us - start_us) * 1000000,
                     stat("tf_op", "x"))
    return plane("/host:CPU", line(
        1, "worker", 1, op(4, 50, 300), op(5, 55, 70),
        record(2, 60, 0, 4096, 1032),
        # twice what nobody saw allocated, and a device that begins so
        record(2, 150, 1, 12288, 416), record(2, 160, 1, 12288, 416),
        record(2, 180, 2, 4096, 300), record(2, 200, 0, 4096, 1032),
        # what was seen, and once more
        got(210, 3, 8192, 32, 32), record(2, 220, 3, 8192, 0),
        record(2, 230, 3, 8192, 0)),
        line(2, "main", 1, op(3, 0, 100),
             got(10, 0, 4096, 1064, 64), got(20, 0, 8192, 1096, 32),
             got(30, 1, 4096, 516, 16), got(170, 0, 4096, 1160, 128)),
        names({1: "MemoryAllocation", 2: "MemoryDeallocation", 3: "f:Make",
               4: "f:Use", 5: "f:Drop"}), stat_names())


def frees_in_order():
    """The same of one thread, whose records need no sorting."""
    return one(
        event(1, 1000, 0, stat("index_on_host", 0), stat("addr", 64),
              stat("allocation_bytes", 8), stat("bytes_allocated", 8)),
        event(2, 2000, 0, stat("index_on_host", 0), stat("addr", 64),
              stat("bytes_allocated", 0)),
        more=names({1: "MemoryAllocation", 2: "MemoryDeallocation"}))


def tpu():
    ops = line(3, "XLA Ops", 0, event(1, 0, 5000000), event(1, 4000000, 4000000))
    beside = line(4, "Async XLA Ops", 0, event(1, 0, 90000000))
    again = line(2, "XLA Modules", 0, event(2, 0, 9000000))
    return plane("/device:TPU:1", again, ops, beside,
                 msg(4, num(1, 1), msg(2, num(1, 1), msg(2, "%add.1 = f32[4]"),
                                       msg(4, "add.1"))),
                 names({2: "jit_f(1)"}), stat_names())


# Operations of a TPU: number -> name, and what XLA calls its category.
OPS = {1: ("while.1", "while"), 2: ("fusion.1", "loop fusion"),
       3: ("all-reduce.2", None), 4: ("psum.7", "all-reduce"),
       5: ("copy-done.3", "copy-done"), 6: ("all-gather-start.4", None),
       7: ("all-gather-done.4", None), 8: ("custom.9", "custom-call")}


def op(meta, start_ns, end_ns):
    return event(meta, start_ns * 1000, (end_ns - start_ns) * 1000)


def op_names(ops=None):
    out = b""
    for i, (name, category) in (ops or OPS).items():
        more = b"\x2a" + stat("hlo_category", category)[1:] if category else b""
        if name == "fusion.1":
            more += (b"\x2a" + stat("flops", 100)[1:] +
                     b"\x2a" + stat("bytes_accessed", 1000)[1:])
        out += msg(4, num(1, i), msg(2, num(1, i),
                                     msg(2, "%%%s = f32[4] x()" % name),
                                     msg(4, name), more))
    return out


def tpu_work():
    """Two devices, whose times tests/xspace.sh knows."""
    ops = [op(1, 1000, 11000),  # a loop, and in it:
           op(2, 1000, 4000), op(3, 4000, 6000), op(4, 7000, 8000),
           op(5, 15000, 18000), op(6, 20000, 20100), op(2, 20100, 24100),
           op(7, 24100, 25100)]
    # under way: a collective, and what nobody can tell
    flights = [op(8, 12000, 14000), op(6, 20000, 25000)]
    # ten microseconds before the first and behind the last operation
    modules = [event(9, 0, 35000000)]
    more = names({9: "jit_f(1)"})
    return (plane("/device:TPU:0", line(3, "XLA Ops", 0, *ops),
                  line(4, "Async XLA Ops", 0, *flights),
                  line(2, "XLA Modules", 0, *modules), op_names(), more,
                  stat_names()) +
            # a fusion in the time of what waits for a copy, as it occurs
            plane("/device:TPU:1", line(3, "XLA Ops", 0, op(2, 5000, 9000),
                                        op(5, 12000, 14000),
                                        op(2, 12500, 13000)),
                  op_names(), stat_names()))


def tpu_waits():
    """Most of the time is in what waits for copies, and in none half; an
    operation of another program has the name of one of them."""
    ops = {1: ("copy.3", "copy-done"), 2: ("copy.4", "copy-done"),
           3: ("fusion.1", "loop fusion"), 4: ("copy.3", "copy")}
    return plane("/device:TPU:0", line(3, "XLA Ops", 0, op(1, 0, 4000),
                                       op(4, 4000, 4500), op(3, 4500, 6000),
                                       op(2, 6000, 10000)),
                 op_names(ops), stat_names())


def tpu_long():
    """Operations that say their whole text alone."""
    known = b"".join(msg(4, num(1, i), msg(2, num(1, i), msg(
        2, "%%%s = f32[4]{0:T(256)} %s(f32[4] %%x = 3)" % (n, n))))
        for i, n in ((1, "add.1"), (2, "all-reduce.2")))
    return plane("/device:TPU:0", line(3, "XLA Ops", 0, op(1, 0, 3000),
                                       op(2, 4000, 6000), op(3, 7000, 8000)),
                 known, names({3: "% = x"}), stat_names())


def tpu_roof():
    """A TPU v6e whose peaks are 918e3 operations and 1638 bytes in a ns; times
    in tests/xspace.sh."""
    ops = {1: ("dot.1", "convolution fusion", 918000000, 100),   # 1000 ns
           2: ("add.2", "loop fusion", 100, 1638000),            # 1000 ns
           3: ("near.3", "loop fusion", 0, 163800000),           # 100 us
           4: ("all-reduce.4", "all-reduce", 100, 1638),
           5: ("copy-done.5", "copy-done", None, None),
           6: ("while.6", "while", 918000000, 1638),
           7: ("bare.7", "data formatting", None, 1638000)}      # 1000 ns
    known = b""
    for i, (name, category, flops, size) in ops.items():
        more = b"\x2a" + stat("hlo_category", category)[1:]
        if flops is not None:
            more += b"\x2a" + stat("flops", flops)[1:]
        if size is not None:
            more += b"\x2a" + stat("bytes_accessed", size)[1:]
        known += msg(4, num(1, i), msg(
            2, num(1, i), msg(2, "%%%s = f32[4] x()" % name), msg(4, name),
            more))
    work = [op(1, 0, 4000), op(1, 4000, 6000), op(2, 10000, 11250),
            op(3, 20000, 23000), op(4, 30000, 32000), op(5, 40000, 41000),
            op(6, 50000, 60000), op(2, 51000, 53000), op(7, 70000, 75000)]
    return plane("/device:TPU:0", line(3, "XLA Ops", 0, *work), known,
                 stat_names(), b"\x32" + stat("device_type_string",
                                              "TPU v6 Lite")[1:])


def tpu_calls():
    """Four programs: two that the host's calls brought, by a small number and
    a large one, and those whose number was given away as another type or twice."""
    large = -7553005589621818113

    def call(meta, start_us, end_us, *stats):
        return event(meta, start_us * 1000000, (end_us - start_us) * 1000000,
                     *stats)

    def gives(number, kind):
        return stat("_p", number), stat("_pt", kind)

    def takes(number, kind):
        return stat("_c", number), stat("_ct", kind)

    device = plane(
        "/device:TPU:0",
        line(2, "XLA Modules", 0, call(9, 100, 200, *takes(7, 12)),
             call(9, 500, 600, *takes(large, 12)),
             call(9, 800, 900, *takes(8, 12)),
             call(9, 1000, 1100, *takes(9, 12))),
        line(3, "XLA Ops", 0, call(2, 100, 200), call(2, 500, 600),
             call(2, 800, 900), call(2, 1000, 1100)),
        op_names(), names({9: "jit_f(1)"}), stat_names())
    return device + plane(
        "/host:CPU",
        line(1, "main", 0, call(1, 50, 60, *gives(7, 12))),
        line(2, "worker", 0, call(2, 210, 400),
             call(1, 450, 470, *gives(large, 12)),
             call(1, 700, 710, *gives(8, 3)),
             call(1, 910, 920, *gives(9, 12)),
             call(1, 930, 940, *gives(9, 12))),
        names({1: "DoEnqueueProgram", 2: "load a batch"}), stat_names())


def reserved():
    """Programs reserve memory beside what is allocated, on a TPU; of a host
    that has TPUs at all."""
    def record(at_us, allocated, reserved, size, device=0):
        return event(1, at_us * 1000000, 0, stat("index_on_host", device),
                     stat("allocation_bytes", size), stat("addr", at_us * 64),
                     stat("bytes_allocated", allocated),
                     stat("bytes_reserved", reserved),
                     stat("bytes_available", 5000 - allocated - reserved),
                     stat("peak_bytes_in_use", 4500),
                     stat("fraction", b"\0\0\0\0\0\0\xd0\x3f", 2))
    return plane("/host:CPU", line(
        1, "worker", 0, record(1, 2000, 0, 2000), record(2, 2100, 400, 100),
        record(3, 2050, 1900, 50), record(4, 64, 0, 64, 1)),
        names({1: "MemoryAllocation"}), stat_names())


def annotations():
    """Ranges of the application between those of the runtime, on its threads,
    by statistics, names, threads and what is around them; times in us."""
    def span(meta, start_us, end_us, *stats):
        return event(meta, start_us * 1000000, (end_us - start_us) * 1000000,
                     *stats)
    python = [
        span(1, 0, 1000, stat("step_num", 0)), span(2, 0, 530),
        span(3, 550, 950), span(4, 560, 600),       # its compiler's pass
        span(5, 960, 990, stat("_c", 4)),           # linked: not its own
        span(1, 1000, 2000, stat("step_num", 1)), span(2, 1000, 1530),
        span(3, 1550, 1950), span(6, 1960, 1990),
        span(7, 2000, 2600)]
    pool = [span(8, 0, 900), span(9, 1000, 1400), span(10, 1100, 1200)]
    return plane("/host:CPU", line(1, "python", 0, *python),
                 line(2, "tf_data_iterator_resource/7", 0, *pool),
                 names({1: "train", 2: "load_batch", 3: "PjitFunction(step)",
                        4: "simplification", 5: "copy", 6: "Some::Function",
                        7: "evaluate", 8: "refill",
                        9: "Iterator::Root::Prefetch",
                        10: "Iterator::Root::Prefetch::Map"}), stat_names())


def cpu_comm():
    """A step of 1 ms on a CPU, of which a collective of XLA takes 300 us."""
    def span(meta, start_us, end_us, *stats):
        return event(meta, start_us * 1000000, (end_us - start_us) * 1000000,
                     *stats)
    return plane("/host:CPU",
                 line(1, "python", 0, span(1, 0, 1000, stat("step_num", 0))),
                 line(2, "tf_XLAEigen/1", 0,
                      span(2, 100, 300, stat("tf_op", "x")),
                      span(3, 400, 700, stat("tf_op", "x"))),
                 names({1: "train", 2: "dot.1", 3: "all-reduce.3"}),
                 stat_names())


def pooled():
    """Kernels of calls on a line of their own, and who is in something between
    them: a pool's thread from 6.05 to 15 ms, then one that sleeps; before them
    the profiler starts."""
    def span(meta, start_us, end_us, *stats):
        return event(meta, start_us * 1000000, (end_us - start_us) * 1000000,
                     *stats)
    calls = [span(4, us, us + 50, stat("correlation_id", us, 3))
             for us in (5900, 16000)]
    work = [span(1, us + 100, us + 200, stat("correlation_id", us, 3),
                 stat("kernel_details", "regs:8 grid:1,1,1 block:64,1,1"))
            for us in (5900, 16000)]
    return plane("/host:CPU",
                 line(1, "python", 0, span(1, 0, 5000), span(2, 15000, 16000)),
                 line(2, "tf_pjrt_thread_pool/2", 0, span(3, 6050, 15000)),
                 line(3, "Host Threads/3", 0, *calls),
                 names({1: "$profiler.py:91 start_trace",
                        2: "$threading.py:324 wait",
                        3: "BufferSequencingEvent::Execute",
                        4: "hipModuleLaunchKernel"}),
                 stat_names()) + \
        plane("/device:GPU:0", line(7, "Stream #7(Kernel)", 0, *work),
              names({1: "gemm_kernel.kd"}), stat_names())


def awaited():
    """A program on the CPU waits for a result from 2 to 10 ms, which a pool's
    thread computes from 3 to 8 ms and then waits for, too."""
    def span(meta, start_ms, end_ms, *stats):
        return event(meta, start_ms * 10 ** 9, (end_ms - start_ms) * 10 ** 9,
                     *stats)
    return plane("/host:CPU",
                 line(1, "python", 0, span(5, 0, 10, stat("step_num", 1, 3)),
                      span(1, 0, 2), span(2, 2, 10)),
                 line(2, "tf_XLAEigen/2", 0,
                      span(3, 3, 8, stat("hlo_op", "dot.3")), span(4, 8, 9)),
                 names({1: "$train.py:3 step", 2: "$array.py:615 _value",
                        3: "dot.3",
                        4: "ThunkExecutor::Execute (wait for completion)",
                        5: "train"}),
                 stat_names())


def apart():
    """Step 0 of two GPUs, of which the second begins 9 ms after the first."""
    def device(number, at_us):
        return plane("/device:GPU:%d" % number,
                     line(7, "Stream #7(Kernel)", at_us * 1000,
                          event(1, 100000000, 200000000,
                                stat("correlation_id", 10 + number, 3))),
                     line(-5, "Steps", at_us * 1000, event(2, 0, 500000000)),
                     names({1: "gemm_kernel.kd", 2: "0"}), stat_names())
    calls = [event(1, us * 1000000, 50000000, stat("correlation_id", n, 3))
             for n, us in ((10, 1010), (11, 10010))]
    return device(0, 1000) + device(1, 10000) + \
        plane("/host:CPU", line(3, "Host Threads/3", 0, *calls),
              names({1: "cudaLaunchKernel"}), stat_names())


def tpu_apart():
    """Steps of two TPUs, of which the second has more, and they are before."""
    def device(number, at_us, count):
        starts = [i * 600000000 for i in range(count)]
        return plane("/device:TPU:%d" % number,
                     line(3, "XLA Ops", at_us * 1000,
                          *(event(2, at + 100000000, 200000000)
                            for at in starts)),
                     line(-5, "Steps", at_us * 1000,
                          *(event(20 + i, at, 500000000)
                            for i, at in enumerate(starts))),
                     op_names(), names({20: "0", 21: "1"}), stat_names())
    return device(0, 10000, 1) + device(1, 1000, 2)


def warming():
    """Five steps, of which two are warm-up."""
    at, steps = 0, []
    for i, us in enumerate((38000, 24000, 1500, 1500, 1500)):
        steps.append(event(1, at * 1000000, us * 1000000, stat("step_num", i)))
        at += us
    return plane("/host:CPU", line(1, "python", 0, *steps),
                 names({1: "train"}), stat_names())


def whole(*more):
    return gpu() + host() + b"".join(more) + environment() + msg(4, "box")


def one(*events, plane_name="/host:CPU", head=num(3, 10),
        more=names({1: "x"})):
    return plane(plane_name, msg(3, msg(2, "python"), head, *events), more,
                 stat_names())


SECRET = "hf_0123456789abcdefghijklmnopqrstuvwx"
CASES = {
    "whole": whole,
    "alike": alike,
    "frees": frees,
    "frees_in_order": frees_in_order,
    "annotations": annotations,
    "apart": lambda: apart() + environment(),
    "tpu_apart": lambda: tpu_apart() + environment(),
    "cpu_comm": cpu_comm,
    "warming": lambda: warming() + environment(),
    "pooled": lambda: pooled() + environment(),
    "awaited": lambda: awaited() + environment(),
    "reserved": lambda: tpu() + reserved(),
    "tpu": lambda: tpu() + host(1) + environment() + msg(4, "box"),
    "tpu_waits": tpu_waits,
    "tpu_work": lambda: tpu_work() + environment() + msg(4, "box"),
    "tpu_long": lambda: tpu_long() + environment(),
    "tpu_roof": lambda: tpu_roof() + environment(),
    "tpu_calls": lambda: tpu_calls() + environment(),
    # TPUs beside a GPU, whose numbers would meet
    "tpu_and_gpu": lambda: tpu_work() + gpu(1) + environment(),
    # only what the device says of steps
    "device_steps": lambda: gpu() + environment(),
    # a name that one plane has twice, and planes of one number
    "twice": lambda: gpu(1) + gpu(2) + host(1) + host(2),
    "later_wins": lambda: plane("/host:CPU", line(1, "a", 1, event(1, 0, 9000)),
                                names({1: "first"}), names({1: "second"})),
    "no_time": lambda: one(msg(4, num(1, 1), num(5, 1000))),
    "negative": lambda: one(event(1, -5000001, 2000), event(1, 0, -4000)),
    "epoch": lambda: one(event(1, 1500, 3000),
                         head=num(3, 1700000000000001000)) + environment(),
    "past_the_limit": lambda: one(event(1, 0, (1 << 63) - 1), event(1, 0, 7000),
                                  head=num(3, (1 << 62) - 10)),
    "unknown_name": lambda: one(event(77, 0, 1000)),
    "group": lambda: one(event(1, 0, 1000)) +
        plane("/host:CPU", b"\x1b\x1c") + host(1),
    "bad_event": lambda: one(msg(4, b"\x0b"), event(1, 0, 1000),
                             msg(4, num(1, 1) + b"\x22\x05ab")),
    "bad_stat": lambda: one(msg(4, num(1, 1), num(2, 1), num(3, 1000),
                                msg(4, num(1, 1), b"\x10\x05"))),
    "unknown_plane": lambda: plane("/device:CUSTOM:0", line(
        1, "a", 1, event(1, 0, 1), event(1, 5, 1))) + host(1),
    "secret": lambda: one(event(1, 0, 1000, stat("secret", SECRET, 6)),
                          event(1, 0, 1000, stat("secret", SECRET, 8))) +
        plane("Task Environment", names({1: SECRET}), stat_names(),
              b"\x32" + stat("secret", SECRET)[1:]),
    "perfetto": lambda: msg(1, num(8, 5), num(10, 1)),
    "other": lambda: msg(1, "hello"),
    # a profile of pprof: types of values, a sample, texts of which the first is ""
    "pprof": lambda: msg(1, num(1, 1), num(2, 2)) +
        msg(2, msg(1, num(1, 1)), msg(2, num(1, 9))) + msg(6) +
        msg(6, "space") + msg(6, "bytes"),
    # messages of xprof's tools: counts of hosts and tasks; no named plane
    "overview": lambda: msg(1, num(1, 1), num(2, 1)) + msg(6, num(1, 5)),
    "nameless": lambda: msg(1, num(1, 1)) + msg(1, msg(3, num(1, 1))),
    "long_varint": lambda: b"\x0a" + b"\xff" * 11 + b"\x01",
    "past_the_end": lambda: b"\x0a" + varint(1 << 40) + msg(2, "/host:CPU"),
    "filtered": lambda: whole().decode("utf-8", "replace").encode(),
    # more than a dictionary holds
    "many_names": lambda: plane("/host:CPU", line(1, "a", 1, *(
        event(i, i * 1000, 500) for i in range(70000))),
        names({i: "n%d" % i for i in range(70000)}), stat_names()),
}

if __name__ == "__main__":
    if sys.argv[1] == "--all":
        for name, case in CASES.items():
            with open(f"{sys.argv[2]}/{name}.xplane.pb", "wb") as f:
                f.write(case())
    else:
        sys.stdout.buffer.write(CASES[sys.argv[1]]())
