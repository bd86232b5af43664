/* SPDX-License-Identifier: MIT */
/*
 * The binary interface between NVTX version 3 and a tool that is loaded
 * through NVTX_INJECTION64_PATH: numbers of functions and layouts, in our
 * own words.  tests/agent/nvtx3_check.c uses the real headers against it.
 */
#ifndef PF_AGENT_NVTX_ABI_H
#define PF_AGENT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { PF_NVTX_TABLE_CALLBACKS = 1 };
enum { PF_NVTX_CORE = 1, PF_NVTX_CORE2 = 5 };

typedef void pf_nvtx_fn(void);

/* What getExportTable(PF_NVTX_TABLE_CALLBACKS) gives. */
struct pf_nvtx_callbacks {
	size_t size;
	int (*module_table)(int module, pf_nvtx_fn ****table, unsigned *size);
};

typedef const void *pf_nvtx_export_fn(uint32_t table);

struct pf_nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_type; /* 1 ARGB */
	uint32_t colour;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type, padding; /* 1 char, 2 wchar_t, 3 registered */
	const void *message;
};

enum { PF_NVTX_ARGB = 1 };
enum { PF_NVTX_ASCII = 1, PF_NVTX_UNICODE, PF_NVTX_REGISTERED };

#endif
