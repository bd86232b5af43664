/* SPDX-License-Identifier: MIT */
/*
 * What the agent needs to know of CUPTI's binary interface: function types,
 * kinds, result codes, and the place of each field in an activity record.  No
 * CUDA header is needed to build.  Every public record only ever grew at its
 * end, so one set of offsets serves all versions: a field is there if it ends
 * within the record size of the library at hand (struct pf_sizes).
 * tests/agent/abi_check.c holds these numbers against a real <cupti.h>.
 */
#ifndef PF_AGENT_CUPTI_ABI_H
#define PF_AGENT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Result codes. */
enum {
	PF_CUPTI_OK = 0,
	PF_CUPTI_END = 12,
	PF_CUPTI_NOT_INITIALIZED = 15,
	PF_CUPTI_INVALID_KIND = 21,
	PF_CUPTI_OTHER_CLIENT = 39,
	PF_CUPTI_UNKNOWN = 999
};

/* Activity kinds. */
enum {
	PF_KIND_MEMCPY = 1,
	PF_KIND_MEMSET = 2,
	PF_KIND_DRIVER = 4,
	PF_KIND_RUNTIME = 5,
	PF_KIND_DEVICE = 8,
	PF_KIND_CONTEXT = 9,
	PF_KIND_KERNEL = 10,
	PF_KIND_OVERHEAD = 17,
	PF_KIND_ENVIRONMENT = 20,
	PF_KIND_MEMCPY2 = 22,
	PF_KIND_UVM = 25,
	PF_KIND_EVENT = 36,
	PF_KIND_STREAM = 37,
	PF_KIND_SYNC = 38,
	PF_KIND_EXTERNAL = 39,
	PF_KIND_INTERNAL = 48,
	PF_KIND_MEMORY2 = 49,
	PF_KIND_POOL = 50,
	PF_KIND_GRAPH = 51,
	PF_KIND_JIT = 52,
	PF_KINDS = 64 /* sizes are known below this number */
};

/* Offsets of fields. */
enum {
	PF_KERNEL_REGS = 6, /* u16 */
	PF_KERNEL_START = 16,
	PF_KERNEL_END = 24,
	PF_KERNEL_DEVICE = 40,
	PF_KERNEL_CONTEXT = 44,
	PF_KERNEL_STREAM = 48,
	PF_KERNEL_GRID = 52,        /* three of u32 */
	PF_KERNEL_BLOCK = 64,       /* three of u32 */
	PF_KERNEL_SMEM_STATIC = 76, /* then dynamic */
	PF_KERNEL_LOCAL = 84,
	PF_KERNEL_CORRELATION = 92,
	PF_KERNEL_NAME = 104,
	PF_KERNEL_QUEUED = 120,
	PF_KERNEL_SUBMITTED = 128,
	PF_KERNEL_LAUNCH_TYPE = 136, /* u8 */
	PF_KERNEL_GRAPH_NODE = 144,
	PF_KERNEL_GRAPH = 156,
	PF_KERNEL_CHANNEL = 168,
	PF_KERNEL_CLUSTER = 176, /* three of u32 */

	PF_MEMCPY_KIND = 4, /* u8 each: kind, source, destination, flags */
	PF_MEMCPY_SRC = 5,
	PF_MEMCPY_DST = 6,
	PF_MEMCPY_FLAGS = 7,
	PF_MEMCPY_BYTES = 8,
	PF_MEMCPY_START = 16,
	PF_MEMCPY_END = 24,
	PF_MEMCPY_DEVICE = 32,
	PF_MEMCPY_CONTEXT = 36,
	PF_MEMCPY_STREAM = 40,
	PF_MEMCPY_CORRELATION = 44,
	PF_MEMCPY_GRAPH_NODE = 64,
	PF_MEMCPY_GRAPH = 72,

	PF_PEER_SRC_DEVICE = 44,
	PF_PEER_DST_DEVICE = 52,
	PF_PEER_CORRELATION = 60,
	PF_PEER_GRAPH_NODE = 72,
	PF_PEER_GRAPH = 80,

	PF_MEMSET_VALUE = 4,
	PF_MEMSET_BYTES = 8,
	PF_MEMSET_START = 16,
	PF_MEMSET_END = 24,
	PF_MEMSET_DEVICE = 32,
	PF_MEMSET_CONTEXT = 36,
	PF_MEMSET_STREAM = 40,
	PF_MEMSET_CORRELATION = 44,
	PF_MEMSET_KIND = 50, /* u16 */
	PF_MEMSET_GRAPH_NODE = 64,
	PF_MEMSET_GRAPH = 72,

	PF_API_CBID = 4,
	PF_API_START = 8,
	PF_API_END = 16,
	PF_API_THREAD = 28,
	PF_API_CORRELATION = 32,
	PF_API_RETURN = 36,

	PF_SYNC_TYPE = 4,
	PF_SYNC_START = 8,
	PF_SYNC_END = 16,
	PF_SYNC_CORRELATION = 24,
	PF_SYNC_CONTEXT = 28,
	PF_SYNC_STREAM = 32,
	PF_SYNC_EVENT = 36,
	PF_SYNC_EVENT_SYNC = 40,
	PF_SYNC_RETURN = 48,

	PF_EVENT_CORRELATION = 4,
	PF_EVENT_CONTEXT = 8,
	PF_EVENT_STREAM = 12,
	PF_EVENT_EVENT = 16,
	PF_EVENT_DEVICE = 24,
	PF_EVENT_TIME = 40,
	PF_EVENT_SYNC = 48,

	PF_OVERHEAD_KIND = 4,
	PF_OVERHEAD_OBJECT_KIND = 8,
	PF_OVERHEAD_OBJECT = 12, /* three of u32 */
	PF_OVERHEAD_START = 24,
	PF_OVERHEAD_END = 32,
	PF_OVERHEAD_CORRELATION = 40,
	PF_OVERHEAD_DATA = 48, /* to be freed by the client */

	PF_MEMORY_OPERATION = 4,
	PF_MEMORY_KIND = 8,
	PF_MEMORY_CORRELATION = 12,
	PF_MEMORY_ADDRESS = 16,
	PF_MEMORY_BYTES = 24,
	PF_MEMORY_TIME = 32,
	PF_MEMORY_PC = 40,
	PF_MEMORY_DEVICE = 52,
	PF_MEMORY_CONTEXT = 56,
	PF_MEMORY_STREAM = 60,
	PF_MEMORY_NAME = 64,
	PF_MEMORY_ASYNC = 72,
	PF_MEMORY_POOL_TYPE = 80,
	PF_MEMORY_POOL_ADDRESS = 88,

	PF_GRAPH_CORRELATION = 4,
	PF_GRAPH_START = 8,
	PF_GRAPH_END = 16,
	PF_GRAPH_DEVICE = 24,
	PF_GRAPH_GRAPH = 28,
	PF_GRAPH_CONTEXT = 32,
	PF_GRAPH_STREAM = 36,
	PF_GRAPH_END_DEVICE = 48,
	PF_GRAPH_END_CONTEXT = 52,

	PF_JIT_ENTRY = 4,
	PF_JIT_OPERATION = 8,
	PF_JIT_DEVICE = 12,
	PF_JIT_START = 16,
	PF_JIT_END = 24,
	PF_JIT_CORRELATION = 32,
	PF_JIT_THREAD = 68,

	PF_DEVICE_BANDWIDTH = 8,
	PF_DEVICE_MEMORY = 16,
	PF_DEVICE_L2 = 28,
	PF_DEVICE_WARP = 32,
	PF_DEVICE_CLOCK = 36,
	PF_DEVICE_ENGINES = 40,
	PF_DEVICE_SMS = 44,
	PF_DEVICE_WARPS = 52,
	PF_DEVICE_BLOCKS = 56,
	PF_DEVICE_SMEM = 60,
	PF_DEVICE_REGS = 64,
	PF_DEVICE_MAJOR = 104,
	PF_DEVICE_MINOR = 108,
	PF_DEVICE_ID = 112,
	PF_DEVICE_UUID = 120, /* 16 bytes */
	PF_DEVICE_NAME = 136,
	PF_DEVICE_MIG = 145, /* u8 */

	PF_CONTEXT_ID = 4,
	PF_CONTEXT_DEVICE = 8,
	PF_CONTEXT_API = 12,         /* u16 */
	PF_CONTEXT_NULL_STREAM = 14, /* u16 */
	PF_CONTEXT_PARENT = 16,
	PF_CONTEXT_GREEN = 20, /* u8 */
	PF_CONTEXT_SMS = 22,   /* u16 */

	PF_STREAM_CONTEXT = 4,
	PF_STREAM_ID = 8,
	PF_STREAM_PRIORITY = 12,
	PF_STREAM_FLAG = 16,
	PF_STREAM_CORRELATION = 20,

	PF_EXTERNAL_KIND = 4,
	PF_EXTERNAL_ID = 8,
	PF_EXTERNAL_CORRELATION = 16,

	PF_UVM_KIND = 4,
	PF_UVM_VALUE = 8,
	PF_UVM_START = 16,
	PF_UVM_END = 24,
	PF_UVM_ADDRESS = 32,
	PF_UVM_SRC = 40,
	PF_UVM_DST = 44,

	PF_ENV_DEVICE = 4,
	PF_ENV_TIME = 8,
	PF_ENV_KIND = 16,
	PF_ENV_DATA = 20 /* words */
};

/* Attributes, callback domains and ids. */
enum {
	PF_ATTR_DEVICE_BUFFER_SIZE = 0,
	PF_ATTR_DEVICE_BUFFER_POOL = 2,
	PF_ATTR_ZEROED_BUFFERS = 5,
	PF_THREAD_ID_SYSTEM = 1,
	PF_DOMAIN_DRIVER = 1,
	PF_DOMAIN_RUNTIME = 2,
	PF_DOMAIN_RESOURCE = 3,
	PF_RESOURCE_CONTEXT_DESTROY = 2,
	PF_CBID_PROFILER_START = 308,
	PF_CBID_PROFILER_STOP = 309,
	PF_CBID_DEVICE_RESET = 164,
	PF_SITE_ENTER = 0,
	PF_SITE_EXIT = 1,
	PF_CUDA_NOT_READY = 600
};

/* The first fields of the structure that an API callback gets. */
struct pf_cupti_call {
	uint32_t site;
	const char *function;
};

/* What cuptiSubscribe_v2 takes: our name, and whose it was before. */
struct pf_cupti_subscriber {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
	/* 13.5: may others subscribe?; not in `size`, but never garbage */
	uint64_t unused[4];
};

/* One unified memory counter to be configured. */
struct pf_cupti_uvm {
	uint32_t scope, kind, device, enable;
};

typedef void pf_cupti_request_fn(uint8_t **, size_t *, size_t *);
typedef void pf_cupti_complete_fn(void *, uint32_t, uint8_t *, size_t, size_t);
typedef uint64_t pf_cupti_clock_fn(void);
typedef void pf_cupti_call_fn(void *, uint32_t, uint32_t, const void *);

/* A record and the bytes of it that exist. */
struct pf_record {
	const uint8_t *at;
	uint32_t size;
};

static inline uint64_t pf_get(const struct pf_record *r, uint32_t at,
			      uint32_t bytes)
{
	uint64_t v = 0; /* little-endian machines only: x86-64, aarch64 */

	if (at + bytes <= r->size)
		memcpy(&v, r->at + at, bytes);
	return v;
}

/* Fields that the record does not have read as 0. */
static inline uint8_t pf_get8(const struct pf_record *r, uint32_t at)
{
	return (uint8_t)pf_get(r, at, 1);
}

static inline uint16_t pf_get16(const struct pf_record *r, uint32_t at)
{
	return (uint16_t)pf_get(r, at, 2);
}

static inline uint32_t pf_get32(const struct pf_record *r, uint32_t at)
{
	return (uint32_t)pf_get(r, at, 4);
}

static inline uint64_t pf_get64(const struct pf_record *r, uint32_t at)
{
	return pf_get(r, at, 8);
}

static inline const char *pf_get_text(const struct pf_record *r, uint32_t at)
{
	return (const char *)(uintptr_t)pf_get(r, at, sizeof(char *));
}

#endif
