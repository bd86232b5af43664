/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "formats/pfr/kineto.h"
#include "formats/json/mend.h"

#define SIZES_MAX 16384 /* bytes of shapes in a name of torch */

static void triple(struct pf_argline *a, const char *key, const uint32_t v[3])
{
	pf_argline_key(a, key);
	pf_buf_addf(&a->text, "[%u,%u,%u]", v[0], v[1], v[2]);
}

/* As Kineto works it out, where the device is known. */
static void waves(struct pf_argline *a, const struct pf_pfr_launch *l,
		  const struct pf_kineto_device *device)
{
	double blocks, threads;

	if (device->sms <= 0)
		return;
	blocks = (double)l->grid[0] * l->grid[1] * l->grid[2] /
		 (double)device->sms;
	threads = (double)l->block[0] * l->block[1] * l->block[2];
	pf_argline_key(a, "blocks per SM");
	pf_buf_addf(&a->text, "%.6f", blocks);
	if (device->warp <= 0)
		return;
	pf_argline_key(a, "warps per SM");
	pf_buf_addf(&a->text, "%.6f", blocks * threads / (double)device->warp);
}

void pf_kineto_launch(struct pf_argline *a, const struct pf_pfr_launch *l,
		      const struct pf_kineto_device *device)
{
	static const char *const types[] = { NULL, "cooperative",
					     "cooperative on several devices",
					     "command list" };

	if (l->registers != PF_KINETO_UNKNOWN)
		pf_argline_fixed(a, "registers per thread", l->registers);
	if (l->dynamic_bytes != PF_KINETO_UNKNOWN)
		pf_argline_fixed(a, "shared memory",
				 (int64_t)l->static_bytes + l->dynamic_bytes);
	if (l->grid[0] != PF_KINETO_UNKNOWN) {
		waves(a, l, device);
		triple(a, "grid", l->grid);
		triple(a, "block", l->block);
	}
	if (l->local_bytes)
		pf_argline_fixed(a, "local memory per thread", l->local_bytes);
	if (l->cluster[0])
		triple(a, "cluster", l->cluster);
	if (l->launch_type && l->launch_type < 4)
		pf_argline_text(a, "launch type", types[l->launch_type],
				strlen(types[l->launch_type]));
}

void pf_kineto_bytes(struct pf_argline *a, uint64_t bytes, int64_t dur_ns)
{
	unsigned __int128 rate;

	if (bytes > INT64_MAX)
		bytes = INT64_MAX;
	pf_argline_slot(a, "bytes", PF_SLOT_BYTES, (int64_t)bytes);
	if (dur_ns <= 0)
		return;
	/* GB/s is bytes per ns; six digits behind the point. */
	rate = ((unsigned __int128)bytes * 1000000 +
		(unsigned __int128)dur_ns / 2) /
	       (unsigned __int128)dur_ns;
	if (rate < UINT64_C(1) << 58)
		pf_argline_slot(a, "memory bandwidth (GB/s)", PF_SLOT_BANDWIDTH,
				(int64_t)rate * 16 + 6);
}

void pf_kineto_torch(struct pf_argline *a, const struct pf_pfr_torch_name *t)
{
	struct pf_mend mend = { .p = t->sizes, .end = t->sizes + t->sizes_len };
	size_t len;

	if (t->has_sequence)
		pf_argline_slot(a, "Sequence number", PF_SLOT_SEQUENCE,
				t->sequence);
	if (t->has_op_id)
		pf_argline_number(a, "op_id", (uint64_t)t->op_id);
	if (!t->sizes || t->sizes_len > SIZES_MAX)
		return;
	len = a->text.len;
	pf_argline_key(a, "Input Dims");
	if (pf_mend_value(&mend, &a->text) != PF_MEND_OK || mend.p != mend.end)
		a->text.len = len;
}
