/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/device_line.h"
#include "events/words.h"
#include "trace/event.h"

/* What follows a prefix, or NULL. */
static const char *behind(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) ? NULL : s + n;
}

/* The digits at the front of a text; false: none, or too many. */
static bool take_number(const char *s, char *out, size_t out_size)
{
	size_t n = strspn(s, "0123456789");

	if (!n || n > 9 || n >= out_size)
		return false;
	snprintf(out, out_size, "%ld", strtol(s, NULL, 10));
	return true;
}

struct pf_device_place pf_device_place(const char *process, const char *line)
{
	struct pf_device_place out = { 0 };
	const char *gpu = behind(process, "/device:GPU:");
	const char *tpu = behind(process, "/device:TPU:");
	const char *stream = behind(line, "Stream #");
	char number[16];

	if (!*line)
		return out;
	if (gpu && take_number(gpu, out.pid, sizeof(out.pid))) {
		out.line =
			stream && take_number(stream, out.tid, sizeof(out.tid))
				? PF_LINE_STREAM
				: PF_LINE_DERIVED;
	} else if (tpu && take_number(tpu, number, sizeof(number))) {
		snprintf(out.pid, sizeof(out.pid), "TPU %s", number);
		out.line = pf_word(PF_WORD_TPU_LINE, line) ? PF_LINE_OTHER
							   : PF_LINE_DERIVED;
	}
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
	if (has(args, args_len, "kernel_details"))
		return PF_KIND_KERNEL;
	if (has(args, args_len, "memcpy_details") ||
	    pf_word_n(PF_WORD_STREAM_COPY, name, name_len))
		return PF_KIND_MEMCPY;
	if (has(args, args_len, "memset_details") ||
	    pf_word_n(PF_WORD_STREAM_FILL, name, name_len))
		return PF_KIND_MEMSET;
	return PF_KIND_KERNEL;
}
