/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "events/device_line.h"
#include "trace/planes.h"

struct pf_device_place pf_device_place(const char *process, const char *line)
{
	struct pf_plane plane = pf_plane_of(process, strlen(process));
	struct pf_line row = pf_line_of(plane.kind, line, strlen(line));
	struct pf_device_place out = { 0 };

	if (!*line || plane.device < 0)
		return out;
	snprintf(out.pid, sizeof(out.pid), "%s%" PRId64,
		 plane.kind == PF_PLANE_TPU ? "TPU " : "", plane.device);
	if (row.kind == PF_ROW_STREAM)
		snprintf(out.tid, sizeof(out.tid), "%" PRId64, row.stream);
	out.line = row.kind == PF_ROW_STREAM  ? PF_LINE_STREAM
		   : row.kind == PF_ROW_AGAIN ? PF_LINE_DERIVED
					      : PF_LINE_OTHER;
	return out;
}

static bool has(const char *text, size_t len, const char *part)
{
	return memmem(text, len, part, strlen(part)) != NULL;
}

unsigned pf_device_kind(enum pf_device_line line, const char *name,
			size_t name_len, const char *args, size_t args_len)
{
	if (line == PF_LINE_OTHER)
		return PF_KIND_GPU_OTHER;
	if (line != PF_LINE_STREAM)
		return PF_KIND_GPU_ANNOTATION;
	return pf_work_kind(name, name_len,
			    has(args, args_len, "kernel_details"),
			    has(args, args_len, "memcpy_details"),
			    has(args, args_len, "memset_details"));
}
