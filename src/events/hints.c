/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/hints.h"

#include "base/mem.h"
#include "store/kept.h"
#include "store/query.h"

/* Of tables, logs, stacks and timelines that stand beside traces. */
#define NO_TRACE "only a trace has that: record one, too, with torch.profiler"

#define LEGACY                                                                 \
	"what torch's profiler before Kineto exported (CPU functions, CUDA "   \
	"functions) is kept, but not read as operators and GPU work: record "  \
	"with torch.profiler"

#define NO_WAITS "what streams of this device wait for is not known"

/* Who has calls of the device did ask for its work. */
#define NO_WORK(activity)                                                      \
	activity " recorded calls, but no work: nothing was launched, or "     \
		 "the device's profiler has no record of it"

static const char *const hints[PF_HINTS][PF_FROM_LEGACY] = {
	[PF_HINT_WORK] = {
		"record GPU work with activities=[ProfilerActivity.CPU, "
		"ProfilerActivity.CUDA]",
		"the program gave CUPTI no GPU work to record; 'profan capture "
		"-v' says what the agent found",
		"record GPU work, too",
		"a memory snapshot has none: record a trace, too, with "
		"torch.profiler",
		"nsys recorded no GPU work: trace with -t cuda, where it can "
		"(not under WSL, nor without the rights that it asks for)",
		"record GPU work with rocprofv3 --kernel-trace "
		"--memory-copy-trace",
		NO_TRACE,
		[PF_FROM_TORCH_XPU] = NO_WORK("ProfilerActivity.XPU"),
		[PF_FROM_TORCH_MTIA] = NO_WORK("ProfilerActivity.MTIA"),
		[PF_FROM_TORCH_HPU] = NO_WORK("ProfilerActivity.HPU"),
		[PF_FROM_TORCH_NPU] =
			NO_WORK("ProfilerActivity.NPU of torch_npu.profiler"),
		[PF_FROM_TORCH_OTHER] = NO_WORK("ProfilerActivity.PrivateUse1"),
		[PF_FROM_TORCH_CUDA] = NO_WORK("ProfilerActivity.CUDA"),
	},
	[PF_HINT_CALLS] = {
		"record launch calls with activities=[ProfilerActivity.CPU, "
		"ProfilerActivity.CUDA]",
		"record launch calls with --kinds +runtime,+driver",
		"record launch calls, too",
		"a memory snapshot has none: record a trace, too",
		"record launch calls with nsys profile -t cuda",
		"record launch calls with rocprofv3 --hip-trace",
		NO_TRACE,
		[PF_FROM_TORCH_XPU] =
			"record launch calls with activities=[ProfilerActivity.CPU, "
			"ProfilerActivity.XPU]",
		[PF_FROM_TORCH_MTIA] =
			"record launch calls with activities=[ProfilerActivity.CPU, "
			"ProfilerActivity.MTIA]",
		[PF_FROM_TORCH_HPU] =
			"record launch calls with activities=[ProfilerActivity.CPU, "
			"ProfilerActivity.HPU]",
		[PF_FROM_TORCH_NPU] =
			"record launch calls with activities=[ProfilerActivity.CPU, "
			"ProfilerActivity.NPU] of torch_npu.profiler",
		[PF_FROM_TORCH_OTHER] =
			"record launch calls with activities=[ProfilerActivity.CPU, "
			"ProfilerActivity.PrivateUse1]",
	},
	[PF_HINT_STACKS] = {
		"record lines of Python with with_stack=True",
		"captures have no lines of Python; NVTX ranges name places of "
		"the program",
		"record lines of Python, too",
		"call torch.cuda.memory._record_memory_history() before the "
		"model is built",
		"exports of Nsight Systems have no lines of Python here; NVTX "
		"ranges name places of the program",
		"AMD's profilers do not record lines of Python; roctx ranges "
		"name places of the program (rocprofv3 --marker-trace)",
		NO_TRACE,
	},
	[PF_HINT_SHAPES] = {
		"record shapes with record_shapes=True",
		"captures have shapes where the names of NVTX ranges have "
		"them, as those of emit_nvtx(record_shapes=True)",
		"record shapes of operators, too",
		"a memory snapshot has none: record a trace, too",
		"name operators with "
		"torch.autograd.profiler.emit_nvtx(record_shapes=True)",
		"name operators with "
		"torch.autograd.profiler.emit_nvtx(record_shapes=True) and "
		"trace with rocprofv3 --marker-trace",
		NO_TRACE,
	},
	[PF_HINT_MEMORY] = {
		"record allocations with profile_memory=True",
		"captures do not have the allocations of tensors",
		"record allocations, too",
		"call torch.cuda.memory._record_memory_history() before the "
		"model is built",
		"exports of Nsight Systems do not have the allocations of "
		"tensors",
		"AMD's profilers do not record the allocations of tensors",
		NO_TRACE,
	},
	[PF_HINT_STEPS] = {
		"mark steps with a schedule and step() of torch.profiler's "
		"profile, or name other ranges with --steps",
		"mark steps with NVTX ranges ProfilerStep#N, or name other "
		"ranges with --steps",
		"name the ranges that are steps with --steps",
		"a memory snapshot has none: record a trace, too",
		"mark steps with NVTX ranges ProfilerStep#N, or name other "
		"ranges with --steps",
		"mark steps with roctx ranges ProfilerStep#N, or name other "
		"ranges with --steps",
		NO_TRACE,
	},
	[PF_HINT_MODULES] = {
		"record them with with_stack=True",
		"captures have none",
		"only traces of PyTorch have them",
		"a memory snapshot has none: record a trace, too",
		"only traces of PyTorch have them",
		"only traces of PyTorch have them",
		NO_TRACE,
	},
	[PF_HINT_HEAD] = {
		"warm up in a schedule, and synchronize before the capture",
		"begin later (--delay, --start api), and synchronize before",
		"synchronize before the capture",
		"a memory snapshot has none: record a trace, too",
		"synchronize before the capture begins; an export that was cut "
		"lacks the calls of its first work",
		"synchronize before the capture begins",
		NO_TRACE,
	},
	[PF_HINT_NO_OP] = {
		"as in compiled code, graphs and libraries",
		"NVTX ranges around the calls name what launches it",
		"as in compiled code, graphs and libraries",
		"a memory snapshot has none: record a trace, too",
		"NVTX ranges around the calls, as those of emit_nvtx(), name what "
		"launches it",
		"roctx ranges around the calls, as those of emit_nvtx(), name "
		"what launches it (rocprofv3 --marker-trace)",
		NO_TRACE,
		[PF_FROM_TORCH_NPU] =
			"no flow of torch_npu leads to it from one",
	},
	[PF_HINT_COARSE] = {
		"a newer torch writes nanoseconds",
		"the agent writes nanoseconds",
		"delays and gaps are as coarse",
		"a memory snapshot has none: record a trace, too",
		"exports have nanoseconds",
		"AMD's profilers write nanoseconds",
		NO_TRACE,
	},
	[PF_HINT_WAITS] = {
		"record what streams wait for with "
		"enable_cuda_sync_events=True in experimental_config="
		"torch._C._profiler._ExperimentalConfig(...)",
		"record what streams wait for with --kinds +sync",
		"record what streams wait for, too",
		"a memory snapshot has none: record a trace, too",
		"nsys records what streams wait for with -t cuda",
		"AMD's profilers do not record what streams wait for",
		NO_TRACE,
		[PF_FROM_TORCH_XPU] = NO_WAITS,
		[PF_FROM_TORCH_MTIA] = NO_WAITS,
		[PF_FROM_TORCH_HPU] = NO_WAITS,
		[PF_FROM_TORCH_NPU] = NO_WAITS,
		[PF_FROM_TORCH_OTHER] = NO_WAITS,
	},
	[PF_HINT_RANGES] = {
		"mark parts of the program with record_function or NVTX",
		"mark parts of the program with NVTX",
		"mark parts of the program with annotations of its profiler",
		"a memory snapshot has those of torch alone",
		"mark parts of the program with NVTX, and trace with -t nvtx",
		"mark parts of the program with roctx ranges (rocprofv3 "
		"--marker-trace)",
		NO_TRACE,
	},
	[PF_HINT_GRAPHS] = {
		"record the kernels of graphs",
		"profan capture --graph node records their kernels",
		"record the kernels of graphs",
		"a memory snapshot has none: record a trace, too",
		"nsys profile --cuda-graph-trace=node records their kernels",
		"record the kernels of graphs",
		NO_TRACE,
	},
};

static void *make_producer(struct pf_db *db, const char *arg)
{
	PF_STMT(st) = pf_named_prepare(db, "producer", db->err);
	int rc = pf_db_step(db, st, db->err);
	enum pf_producer *made = NULL;

	(void)arg;
	if (rc >= 0) {
		made = pf_calloc(1, sizeof(*made));
		*made = rc == 1 ? (enum pf_producer)sqlite3_column_int(st, 0)
				: PF_FROM_OTHERS;
	}
	return made;
}

int pf_hint_producer(struct pf_db *db, enum pf_producer *out)
{
	const enum pf_producer *made =
		pf_memo_get(db, make_producer, free, NULL);

	*out = made ? *made : PF_FROM_OTHERS;
	return made ? 0 : -1;
}

const char *pf_hint(enum pf_producer producer, enum pf_hint hint)
{
	const char *text;

	if (producer == PF_FROM_LEGACY)
		return LEGACY;
	text = hints[hint][producer];
	return text ? text : hints[hint][PF_FROM_TORCH];
}
