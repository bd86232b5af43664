/* SPDX-License-Identifier: MIT */
/*
 * Events of traces that tests write by hand.  Times are in us.  Threads of
 * process 9: 7 makes the calls, 8 and 9 are others.  A GPU's process is its
 * number and a stream its thread, as torch writes them.
 */
#ifndef PF_TESTS_EVENTS_H
#define PF_TESTS_EVENTS_H

/* Any range; args: members of its arguments, may be "". */
#define RANGE(cat, name, ts, dur, pid, tid, args)                              \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": " #pid ", \"tid\": " #tid ", \"ts\": " #ts               \
	", \"dur\": " #dur ", \"args\": {" args "}},\n"

/* Ranges of the host: on a thread, on the one that makes the calls, others. */
#define HOST_ON(tid, cat, name, ts, dur)                                       \
	RANGE(cat, name, ts, dur, 9, tid, "\"a\": 1")
#define MAIN(cat, name, ts, dur)  HOST_ON(7, cat, name, ts, dur)
#define OTHER(cat, name, ts, dur) HOST_ON(8, cat, name, ts, dur)
#define HOST(cat, name, ts, dur)  HOST_ON(9, cat, name, ts, dur)

/* Calls of the runtime, by whose number GPU work finds them. */
#define CALL_ON(tid, name, ts, dur, number)                                    \
	RANGE("cuda_runtime", name, ts, dur, 9, tid,                           \
	      "\"correlation\": " #number)
#define CALL(name, ts, dur, number) CALL_ON(7, name, ts, dur, number)
#define LAUNCH(ts, dur, number)     CALL("cudaLaunchKernel", ts, dur, number)

/* Work of a GPU; more: further arguments, each with a comma before it. */
#define GPU_WORK(device, cat, name, ts, dur, stream, number, more)             \
	RANGE(cat, name, ts, dur, device, stream,                              \
	      "\"device\": " #device ", \"stream\": " #stream                  \
	      ", \"correlation\": " #number more)
#define WORK_WITH(cat, name, ts, dur, stream, number, more)                    \
	GPU_WORK(0, cat, name, ts, dur, stream, number, more)
#define WORK(cat, name, ts, dur, stream, number)                               \
	GPU_WORK(0, cat, name, ts, dur, stream, number, "")
#define KERNEL(name, ts, dur, stream, number)                                  \
	WORK("kernel", name, ts, dur, stream, number)
#define KERNEL_ON(device, name, ts, dur, stream, number)                       \
	GPU_WORK(device, "kernel", name, ts, dur, stream, number, "")

/* A whole trace; members: further ones of its object, each with a comma. */
#define TRACE_WITH(members, events)                                            \
	"{" members "\"baseTimeNanoseconds\": 1, \"traceEvents\": [\n" events  \
	"{\"ph\": \"i\", \"name\": \"x\", \"pid\": 9, \"tid\": 9, \"ts\": "    \
	"0}]}"
#define TRACE(events) TRACE_WITH("", events)
/* One of several ranks; as members of a trace. */
#define RANK(n) "\"distributedInfo\": {\"rank\": " #n ", \"world_size\": 4}, "

#endif
