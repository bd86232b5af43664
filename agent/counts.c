/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "counts.h"

#include <stdio.h>

static size_t line(char *out, size_t room, size_t at, const char *key,
		   uint64_t value)
{
	int n;

	if (!value || at >= room)
		return at;
	n = snprintf(out + at, room - at, "%s=%llu\n", key,
		     (unsigned long long)value);
	return n > 0 && (size_t)n < room - at ? at + (size_t)n : at;
}

size_t pf_counts_text(const struct pf_counts *c, char *out, size_t room)
{
	static const char *const why[] = { "", "size", "write", "closed" };
	size_t at = 0;
	int truncated = PF_COUNT_READ(c->truncated), n;

#define X(name) at = line(out, room, at, #name, PF_COUNT_READ(c->name));
	PF_COUNTS(X)
#undef X
	for (int i = 0; i < PF_COUNTED_KINDS; i++) {
		char key[16];
		snprintf(key, sizeof(key), "kind.%d", i);
		at = line(out, room, at, key, PF_COUNT_READ(c->kinds[i]));
	}
	if (truncated && at < room) {
		n = snprintf(out + at, room - at, "truncated=%s\n",
			     why[truncated]);
		if (n > 0 && (size_t)n < room - at)
			at += (size_t)n;
	}
	return at;
}
