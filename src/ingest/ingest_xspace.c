/* SPDX-License-Identifier: MIT */
/*
 * XSpace files (*.xplane.pb): planes are found first, then each is read twice,
 * what it defines and its lines.  What cannot be read anywhere (a pipe,
 * compressed data) is kept in an unlinked file.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "ingest/ingest_impl.h"
#include "formats/xspace/map.h"

#define PIECE_BYTES  (256u << 10)
#define WINDOW_BYTES (512u << 10)

struct reading {
	struct pf_ingest *in;
	struct pf_xs_space space;
	struct pf_xs_map map;
	struct pf_ingest_batcher batcher;
	int64_t at; /* where the plane at hand ends */
};

static int settle(void *arg, struct pf_err *err)
{
	struct reading *r = arg;
	struct pf_ingest *in = r->in;

	if (pf_ingest_batcher_put(&r->batcher, &r->map.parsed, err))
		return -1;
	pf_xs_map_begin(&r->map);
	if (in->options->progress)
		in->options->progress(in->bytes_before + r->space.bytes->at,
				      in->events_before + in->event_count);
	return 0;
}

static int map_planes(struct reading *r, struct pf_err *err)
{
	struct pf_xs_map *m = &r->map;
	int rc;

	m->batch_events = pf_ingest_batch_events(r->in);
	m->settle = settle;
	m->settle_arg = r;
	pf_xs_map_begin(m);
	rc = pf_xs_map_describe(m, err);
	for (size_t i = 0; i < r->space.plane_count && !rc; i++)
		rc = pf_xs_map_plane(m, &r->space.planes[i], err);
	return rc ? -1 : settle(r, err);
}

static int read_space(struct reading *r, struct pf_xs_bytes *bytes,
		      struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	int rc = pf_xs_space_read(&r->space, bytes, in->directory, err);

	if (!rc) {
		pf_xs_map_init(&r->map, &r->space);
		rc = map_planes(r, err);
		pf_xs_map_release(&r->map);
	}
	if (!rc && !r->space.whole && !in->event_count)
		rc = pf_fail(err, PF_EDATA,
			     "is cut off before its first event");
	pf_repairs_add(&in->repairs, &r->space.repairs);
	pf_xs_space_release(&r->space);
	return rc;
}

/* ---- the bytes ---- */

/* All of the input in a file without a name. */
static int64_t keep(struct pf_input *input, const struct pf_buf *head, int fd,
		    struct pf_err *err)
{
	char *piece = pf_alloc(PIECE_BYTES);
	int64_t at = (int64_t)head->len, n = 0;
	int rc = pf_tempfile_write(fd, head->data, head->len, 0, err);

	while (!rc && (n = pf_input_read(input, piece, PIECE_BYTES, err)) > 0) {
		rc = pf_tempfile_write(fd, piece, (size_t)n, (uint64_t)at, err);
		at += n;
	}
	free(piece);
	return rc || n < 0 ? -1 : at;
}

static int read_xspace(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct reading r = { .in = in };
	int fd = pf_input_plain_fd(input), temp_fd = -1;
	int64_t size = pf_input_size(input);
	struct pf_xs_bytes bytes;
	int rc = -1;

	if (fd < 0) {
		fd = temp_fd = pf_tempfile_open(in->directory, err);
		size = fd < 0 ? -1 : keep(input, head, fd, err);
	}
	if (size >= 0) {
		pf_xs_bytes_init(&bytes, fd, size, WINDOW_BYTES);
		pf_ingest_batcher_init(&r.batcher, in);
		in->json_bytes = size;
		in->found_list = true;
		rc = read_space(&r, &bytes, err);
		pf_ingest_batcher_release(&r.batcher);
		pf_xs_bytes_release(&bytes);
	}
	if (temp_fd >= 0)
		close(temp_fd);
	return rc;
}

PF_INGEST_FORMAT(15, xspace) = { "xspace", pf_xs_claims, read_xspace, NULL,
				 false };
