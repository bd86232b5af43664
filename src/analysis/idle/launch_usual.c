/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "analysis/idle/launch_usual.h"
#include "store/db.h"
#include "formats/event.h"

/* Lengths by their highest bit and the three below it. */
#define SUB  3
#define BINS (64 << SUB)

static size_t bin_of(int64_t ns)
{
	int top;

	if (ns < 1 << SUB)
		return ns < 0 ? 0 : (size_t)ns;
	top = 63 - __builtin_clzll((unsigned long long)ns);
	return (size_t)(top - SUB + 1) << SUB |
	       ((uint64_t)ns >> (top - SUB) & ((1 << SUB) - 1));
}

/* The least length in a bin. */
static int64_t least_of(size_t bin)
{
	size_t top = bin >> SUB, low = bin & ((1 << SUB) - 1);

	return top ? (int64_t)(((size_t)1 << SUB | low) << (top - 1))
		   : (int64_t)low;
}

static int count_track(struct pf_db *db, struct pf_names *names, uint32_t track,
		       int64_t *bins, struct pf_err *err)
{
	struct pf_cursor *c =
		pf_cursor_new(db, track,
			      PF_COLBIT(PF_COL_DUR) | PF_COLBIT(PF_COL_NAME) |
				      PF_COLBIT(PF_COL_TYPE),
			      err);
	const struct pf_name_class *class;
	struct pf_span s;
	int rc = c ? 0 : -1;

	while (!rc && (rc = pf_cursor_next(c, &s, err)) == 1) {
		unsigned kind = pf_names_kind(names, s.type);

		rc = 0;
		if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER)
			continue;
		class = pf_names_class(names, s.name, err);
		if (!class)
			rc = -1;
		else if (class->launches == PF_LAUNCHES_KERNEL &&
			 !class->is_graph)
			bins[bin_of(s.dur_ns)]++;
	}
	pf_cursor_free(c);
	return rc;
}

int64_t pf_launch_usual(struct pf_db *db, struct pf_names *names,
			const struct pf_track *tracks, size_t track_count,
			struct pf_err *err)
{
	int64_t bins[BINS] = { 0 }, count = 0, below = 0;
	size_t bin = 0;

	for (size_t i = 0; i < track_count; i++)
		if (!strcmp(tracks[i].class_name, "host") &&
		    count_track(db, names, tracks[i].id, bins, err) < 0)
			return -1;
	for (size_t i = 0; i < BINS; i++)
		count += bins[i];
	while (bin + 1 < BINS && (below += bins[bin]) * 2 < count)
		bin++;
	return count ? least_of(bin) : 0;
}
