/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an XSpace, in memory: refused, or events that are accounted
 * for, however few go into a batch.
 */
#include "config.h"

#include "fuzz/events.h"

#include <string.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "formats/xspace/map.c"

struct replay {
	struct pf_xs_map map;
	struct fuzz_events seen;
};

static void settle_all(void *arg)
{
	struct replay *r = arg;

	fuzz_events_take(&r->seen, &r->map.parsed);
	pf_xs_map_begin(&r->map);
}

static void read_all(struct replay *r, const uint8_t *data, size_t size,
		     size_t batch_events)
{
	struct pf_xs_bytes bytes;
	struct pf_xs_space space;
	struct pf_err err = { 0 };
	int rc;

	memset(r, 0, sizeof(*r));
	xs_bytes_of_memory(&bytes, data, size);
	rc = pf_xs_space_read(&space, &bytes, pf_temp_dir(), &err);
	FUZZ_CHECK(!rc || err.code == PF_EDATA);
	if (!rc) {
		pf_xs_map_init(&r->map, &space);
		r->map.batch_events = batch_events;
		r->map.settle = settle_all;
		r->map.settle_arg = r;
		pf_xs_map_begin(&r->map);
		pf_xs_map_describe(&r->map);
		for (size_t i = 0; i < space.plane_count; i++)
			pf_xs_map_plane(&r->map, &space.planes[i]);
		FUZZ_CHECK(!err.code);
		settle_all(r);
		pf_xs_map_release(&r->map);
	}
	fuzz_events_check(&r->seen);
	pf_xs_space_release(&space);
	pf_xs_bytes_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay whole, parts;

	if (size > 1 << 18)
		return 0;
	pf_xs_claims((const char *)data, size < 16 ? size : 16);
	read_all(&whole, data, size, 1000);
	read_all(&parts, data, size, 1);
	fuzz_events_same(&whole.seen, &parts.seen);
	return 0;
}
