/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of devices, contexts and streams as lines of INFO frames.
 */
#ifndef PF_AGENT_INFO_H
#define PF_AGENT_INFO_H

#include "cupti_abi.h"
#include "log.h"

/*
 * Add what a record of PF_KIND_DEVICE, PF_KIND_CONTEXT or PF_KIND_STREAM
 * says.  False if the log is full.
 */
bool pf_info_add(struct pf_log *log, const struct pf_record *r, uint32_t kind);

#endif
