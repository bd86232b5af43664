/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "info.h"

#include <stdio.h>
#include <string.h>

struct field {
	const char *name;
	uint8_t at, bytes;
};

static const struct field device_fields[] = {
	{ "memBandwidth", PF_DEVICE_BANDWIDTH, 8 },
	{ "memSize", PF_DEVICE_MEMORY, 8 },
	{ "l2", PF_DEVICE_L2, 4 },
	{ "warp", PF_DEVICE_WARP, 4 },
	{ "coreClock", PF_DEVICE_CLOCK, 4 },
	{ "copyEngines", PF_DEVICE_ENGINES, 4 },
	{ "SMs", PF_DEVICE_SMS, 4 },
	{ "warpsPerSM", PF_DEVICE_WARPS, 4 },
	{ "blocksPerSM", PF_DEVICE_BLOCKS, 4 },
	{ "smemPerSM", PF_DEVICE_SMEM, 4 },
	{ "regsPerSM", PF_DEVICE_REGS, 4 },
	{ "ccMajor", PF_DEVICE_MAJOR, 4 },
	{ "ccMinor", PF_DEVICE_MINOR, 4 },
	{ "isMig", PF_DEVICE_MIG, 1 },
	{ NULL, 0, 0 },
};

static const struct field context_fields[] = {
	{ "dev", PF_CONTEXT_DEVICE, 4 },
	{ "api", PF_CONTEXT_API, 2 },
	{ "nullStream", PF_CONTEXT_NULL_STREAM, 2 },
	{ "parent", PF_CONTEXT_PARENT, 4 },
	{ "green", PF_CONTEXT_GREEN, 1 },
	{ "SMs", PF_CONTEXT_SMS, 2 },
	{ NULL, 0, 0 },
};

static const struct field stream_fields[] = {
	{ "prio", PF_STREAM_PRIORITY, 4 },
	{ "flag", PF_STREAM_FLAG, 4 },
	{ "corr", PF_STREAM_CORRELATION, 4 },
	{ NULL, 0, 0 },
};

static bool add_fields(struct pf_log *log, const struct pf_record *r,
		       const char *prefix, const struct field *f)
{
	char key[96];

	for (; f->name; f++) {
		if ((uint32_t)f->at + f->bytes > r->size)
			continue;
		snprintf(key, sizeof(key), "%s%s", prefix, f->name);
		if (!pf_log_number(log, key, pf_get(r, f->at, f->bytes)))
			return false;
	}
	return true;
}

static bool add_device(struct pf_log *log, const struct pf_record *r,
		       const char *prefix)
{
	const char *name = pf_get_text(r, PF_DEVICE_NAME);
	char key[96], uuid[33];

	for (uint32_t i = 0; i < 16; i++)
		snprintf(uuid + 2 * i, 3, "%02x",
			 pf_get8(r, PF_DEVICE_UUID + i));
	snprintf(key, sizeof(key), "%suuid", prefix);
	if (!pf_log_line(log, key, uuid, 32))
		return false;
	snprintf(key, sizeof(key), "%sname", prefix);
	if (name && !pf_log_line(log, key, name, strnlen(name, 1024)))
		return false;
	return add_fields(log, r, prefix, device_fields);
}

bool pf_info_add(struct pf_log *log, const struct pf_record *r, uint32_t kind)
{
	char prefix[64];

	if (kind == PF_KIND_DEVICE) {
		snprintf(prefix, sizeof(prefix), "device.%u.",
			 pf_get32(r, PF_DEVICE_ID));
		return add_device(log, r, prefix);
	}
	if (kind == PF_KIND_CONTEXT) {
		snprintf(prefix, sizeof(prefix), "context.%u.",
			 pf_get32(r, PF_CONTEXT_ID));
		return add_fields(log, r, prefix, context_fields);
	}
	snprintf(prefix, sizeof(prefix), "stream.%u.%u.",
		 pf_get32(r, PF_STREAM_CONTEXT), pf_get32(r, PF_STREAM_ID));
	return add_fields(log, r, prefix, stream_fields);
}
