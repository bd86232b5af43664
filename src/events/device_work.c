/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/num.h"
#include "events/device_work.h"
#include "formats/planes.h"

#define TPU "TPU " /* of its tracks' processes: "TPU 0", "TPU 0 SparseCore 1" */

static bool is_of_tpu(const struct pf_track *track)
{
	return !strncmp(track->pid, TPU, sizeof(TPU) - 1);
}

enum pf_work_row pf_work_row(const struct pf_track *track, bool is_tpu)
{
	if (strcmp(track->class_name, "gpu") != 0)
		return PF_WORK_NONE;
	if (!is_tpu || !is_of_tpu(track))
		return PF_WORK_GPU;
	if (pf_line_has_programs(track->tid, strlen(track->tid)))
		return PF_WORK_PROGRAMS;
	switch (pf_line_of(PF_PLANE_TPU, track->tid, strlen(track->tid)).kind) {
	case PF_ROW_TPU:
		return PF_WORK_OPS;
	case PF_ROW_FLIGHT:
		return PF_WORK_FLIGHT;
	default:
		return PF_WORK_NONE;
	}
}

int64_t pf_work_device(const struct pf_track *track)
{
	const char *at = track->pid + sizeof(TPU) - 1;
	int64_t device = 0;
	size_t digits;

	if (!is_of_tpu(track))
		return pf_num_or_none(track->pid);
	digits = strspn(at, "0123456789");
	for (size_t i = 0; i < digits && digits <= 9; i++)
		device = device * 10 + (at[i] - '0');
	return digits && digits <= 9 ? device : -1;
}

int64_t pf_work_stream(const struct pf_track *track)
{
	return pf_num_or_none(track->tid);
}
