/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <zlib.h>

#include "base/base64.h"
#include "report/payload.h"

#define GZIP_WINDOW  (15 + 16)
#define LEVEL        6
#define MEMORY_LEVEL 8
#define OS_UNKNOWN   255

static void add_u32(struct pf_buf *out, uint32_t n)
{
	const uint8_t bytes[4] = { (uint8_t)n, (uint8_t)(n >> 8),
				   (uint8_t)(n >> 16), (uint8_t)(n >> 24) };

	pf_buf_add(out, bytes, 4);
}

/* "width" planes of n bytes each; returns the first. */
static uint8_t *add_planes(struct pf_buf *out, uint32_t n, unsigned width)
{
	uint8_t *p;

	pf_buf_reserve(out, (size_t)n * width);
	p = (uint8_t *)out->data + out->len;
	out->len += (size_t)n * width;
	return p;
}

static void put(uint8_t *planes, uint32_t n, uint32_t i, uint32_t value,
		unsigned width)
{
	for (unsigned b = 0; b < width; b++)
		planes[(size_t)b * n + i] = (uint8_t)(value >> 8 * b);
}

static void add_column(struct pf_buf *out, const uint32_t *values, uint32_t n,
		       unsigned width)
{
	uint8_t *planes = add_planes(out, n, width);

	for (uint32_t i = 0; i < n; i++)
		put(planes, n, i, values[i], width);
}

static void add_escape(struct pf_buf *out, uint32_t slice, int64_t value)
{
	if ((uint64_t)value >> 32) {
		add_u32(out, slice);
		add_u32(out, (uint32_t)((uint64_t)value >> 32));
	}
}

/* Starts as differences within each track. */
static void add_starts(const struct pf_slices *g, struct pf_buf *out,
		       struct pf_buf *escapes)
{
	uint8_t *planes = add_planes(out, g->count, 4);
	uint32_t i = 0;

	for (size_t t = 0; t < g->track_count; t++) {
		int64_t before = 0;

		for (uint32_t k = 0; k < g->tracks[t].count; k++, i++) {
			int64_t step = g->start_ns[i] - before;

			put(planes, g->count, i, (uint32_t)(uint64_t)step, 4);
			add_escape(escapes, i, step);
			before = g->start_ns[i];
		}
	}
}

static void add_durs(const struct pf_slices *g, struct pf_buf *out,
		     struct pf_buf *escapes)
{
	uint8_t *planes = add_planes(out, g->count, 4);

	for (uint32_t i = 0; i < g->count; i++) {
		put(planes, g->count, i, (uint32_t)(uint64_t)g->dur_ns[i], 4);
		add_escape(escapes, i, g->dur_ns[i]);
	}
}

/* Launches follow each other, so the differences are small and alike. */
static void add_links(const struct pf_slices *g, struct pf_buf *out)
{
	uint8_t *planes = add_planes(out, g->count, 4);
	uint32_t before = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		put(planes, g->count, i, g->link[i] - before, 4);
		before = g->link[i];
	}
}

void pf_payload_encode(const struct pf_slices *g, unsigned name_bytes,
		       struct pf_buf *out)
{
	struct pf_buf starts = { 0 }, durs = { 0 }, columns = { 0 };
	uint8_t kind[4] = { (uint8_t)name_bytes, 0, 0, 0 };

	kind[1] = (uint8_t)((g->cat ? 1 : 0) | (g->link ? 2 : 0));
	add_starts(g, &columns, &starts);
	add_durs(g, &columns, &durs);
	add_column(&columns, g->name, g->count, name_bytes);
	pf_buf_add(&columns, g->depth, g->count);
	if (g->cat)
		pf_buf_add(&columns, g->cat, g->count);
	if (g->link)
		add_links(g, &columns);
	pf_buf_add(out, "PFT1", 4);
	add_u32(out, g->count);
	add_u32(out, (uint32_t)g->track_count);
	pf_buf_add(out, kind, 4);
	add_u32(out, (uint32_t)(starts.len / 8));
	add_u32(out, (uint32_t)(durs.len / 8));
	for (size_t t = 0; t < g->track_count; t++) {
		add_u32(out, g->tracks[t].count);
		add_u32(out, g->tracks[t].depths);
	}
	pf_buf_add(out, columns.data, columns.len);
	if (starts.len)
		pf_buf_add(out, starts.data, starts.len);
	if (durs.len)
		pf_buf_add(out, durs.data, durs.len);
	pf_buf_release(&columns);
	pf_buf_release(&starts);
	pf_buf_release(&durs);
}

int pf_payload_pack(const struct pf_buf *raw, struct pf_buf *out,
		    struct pf_err *err)
{
	gz_header header = { .os = OS_UNKNOWN };
	z_stream z = { 0 };
	struct pf_buf packed = { 0 };
	int rc;

	if (raw->len > UINT32_MAX / 2)
		return pf_fail(err, PF_ELIMIT, "the timeline is too large");
	if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return pf_fail(err, PF_EIO, "cannot compress the timeline");
	deflateSetHeader(&z, &header);
	pf_buf_reserve(&packed, deflateBound(&z, raw->len) + 64);
	z.next_in = (Bytef *)raw->data;
	z.avail_in = (uInt)raw->len;
	z.next_out = (Bytef *)packed.data;
	z.avail_out = (uInt)packed.cap;
	rc = deflate(&z, Z_FINISH);
	packed.len = z.total_out;
	deflateEnd(&z);
	if (rc == Z_STREAM_END)
		pf_base64(out, packed.data, packed.len);
	pf_buf_release(&packed);
	return rc == Z_STREAM_END
		       ? 0
		       : pf_fail(err, PF_EIO, "cannot compress the timeline");
}
