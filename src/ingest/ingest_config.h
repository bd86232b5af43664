/* SPDX-License-Identifier: MIT */
/*
 * gpu_config: what the arguments of GPU events say about device, stream and
 * launch shape, one row per distinct set of arguments.
 */
#ifndef PF_STORE_INGEST_CONFIG_H
#define PF_STORE_INGEST_CONFIG_H

#include "ingest/ingest_impl.h"

int pf_config_prepare(struct pf_ingest *in, struct pf_err *err);

/* Write the row of an argset if it has a stream; its id is the argset's. */
int pf_config_put(struct pf_ingest *in, uint32_t id, const char *text,
		  size_t len, struct pf_err *err);

#endif
