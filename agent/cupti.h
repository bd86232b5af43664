/* SPDX-License-Identifier: MIT */
/*
 * CUPTI, found while the program runs.  Each function is a pointer that may
 * be NULL unless it is among those without which pf_cupti_load fails.
 */
#ifndef PF_AGENT_CUPTI_H
#define PF_AGENT_CUPTI_H

#include "cupti_abi.h"

#include <limits.h>
#include <stdbool.h>

#define PF_CUPTI_NEEDED(X)                                                     \
	X(get_version, "cuptiGetVersion", (uint32_t *))                        \
	X(register_callbacks, "cuptiActivityRegisterCallbacks",                \
	  (pf_cupti_request_fn *, pf_cupti_complete_fn *))                     \
	X(enable, "cuptiActivityEnable", (uint32_t))                           \
	X(disable, "cuptiActivityDisable", (uint32_t))                         \
	X(flush_all, "cuptiActivityFlushAll", (uint32_t))                      \
	X(next_record, "cuptiActivityGetNextRecord",                           \
	  (uint8_t *, size_t, uint8_t **))

#define PF_CUPTI_OPTIONAL(X)                                                   \
	X(dropped, "cuptiActivityGetNumDroppedRecords",                        \
	  (void *, uint32_t, size_t *))                                        \
	X(set_attribute, "cuptiActivitySetAttribute",                          \
	  (uint32_t, size_t *, void *))                                        \
	X(set_thread_id_type, "cuptiSetThreadIdType", (uint32_t))              \
	X(register_clock, "cuptiActivityRegisterTimestampCallback",            \
	  (pf_cupti_clock_fn *))                                               \
	X(callback_name, "cuptiGetCallbackName",                               \
	  (uint32_t, uint32_t, const char **))                                 \
	X(result_text, "cuptiGetResultString", (uint32_t, const char **))      \
	X(subscribe, "cuptiSubscribe", (void **, pf_cupti_call_fn *, void *))  \
	X(subscribe_v2, "cuptiSubscribe_v2",                                   \
	  (void **, pf_cupti_call_fn *, void *, struct pf_cupti_subscriber *)) \
	X(unsubscribe, "cuptiUnsubscribe", (void *))                           \
	X(enable_callback, "cuptiEnableCallback",                              \
	  (uint32_t, void *, uint32_t, uint32_t))                              \
	X(enable_domain, "cuptiEnableDomain", (uint32_t, void *, uint32_t))    \
	X(runtime_api, "cuptiActivityEnableRuntimeApi", (uint32_t, uint8_t))   \
	X(driver_api, "cuptiActivityEnableDriverApi", (uint32_t, uint8_t))     \
	X(all_sync, "cuptiActivityEnableAllSyncRecords", (uint8_t))            \
	X(event_times, "cuptiActivityEnableCudaEventDeviceTimestamps",         \
	  (uint8_t))                                                           \
	X(latency, "cuptiActivityEnableLatencyTimestamps", (uint8_t))          \
	X(uvm, "cuptiActivityConfigureUnifiedMemoryCounter",                   \
	  (struct pf_cupti_uvm *, uint32_t))

struct pf_cupti {
	void *handle;
	uint32_t version;
	char path[PATH_MAX]; /* of the library that was found */
	char error[256];     /* why pf_cupti_load failed */
	uint16_t sizes[PF_KINDS];
#define X(name, symbol, arguments) uint32_t(*name) arguments;
	PF_CUPTI_NEEDED(X)
	PF_CUPTI_OPTIONAL(X)
#undef X
};

/*
 * Find CUPTI: `path` if it is not empty, else a copy that is loaded already,
 * else the usual names.  Fills everything in, record sizes too.  -1 and
 * c->error if there is none, or one without the needed functions.
 */
int pf_cupti_load(struct pf_cupti *c, const char *path);

/*
 * Ask the library for its version and record sizes.  Some (13.5) answer
 * nothing before the driver is there: then version is 0, the sizes are the
 * least that any version has, and this may be called again.
 */
void pf_cupti_identify(struct pf_cupti *c);

/* Text for a result code; never NULL. */
const char *pf_cupti_text(const struct pf_cupti *c, uint32_t result);

/*
 * What to do with a record of a call (FORMAT.md calls the dropped ones
 * filtered).  `name` is CUPTI's; NULL is kept.
 */
enum pf_call { PF_CALL_UNKNOWN, PF_CALL_KEEP, PF_CALL_DROP, PF_CALL_QUERY };
enum pf_call pf_cupti_call(uint32_t domain, const char *name);

#endif
