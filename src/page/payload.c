/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "show/base64.h"
#include "base/mem.h"
#include "page/payload.h"

#define GZIP_WINDOW  (15 + 16)
#define LEVEL        6
#define MEMORY_LEVEL 8
#define OS_UNKNOWN   255

static void put_u32(char *to, uint32_t n)
{
	const uint8_t bytes[4] = { (uint8_t)n, (uint8_t)(n >> 8),
				   (uint8_t)(n >> 16), (uint8_t)(n >> 24) };

	memcpy(to, bytes, sizeof(bytes));
}

static void add_u32(struct pf_buf *out, uint32_t n)
{
	char bytes[4];

	put_u32(bytes, n);
	pf_buf_add(out, bytes, sizeof(bytes));
}

/* "width" planes of n bytes each; the first, up to what is added next. */
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

/* Where each slice stands in the order of names. */
static uint32_t *rank_by_name(const struct pf_slices *g)
{
	uint32_t *rank = pf_alloc(((size_t)g->count + 1) * sizeof(*rank));
	uint32_t most = 0, *from;

	for (uint32_t i = 0; i < g->count; i++)
		if (g->name[i] > most)
			most = g->name[i];
	from = pf_calloc((size_t)most + 2, sizeof(*from));
	for (uint32_t i = 0; i < g->count; i++)
		from[g->name[i] + 1]++;
	for (uint32_t k = 1; k <= most; k++)
		from[k] += from[k - 1];
	for (uint32_t i = 0; i < g->count; i++)
		rank[i] = from[g->name[i]]++;
	free(from);
	return rank;
}

/* The open slices of a track, and the time told last. */
struct walk {
	const struct pf_slices *g;
	uint32_t open[PF_SLICE_DEPTHS];
	unsigned height;
	int64_t now_ns;
	int64_t *gap_ns, *tail_ns;
};

static void end_slices(struct walk *w, unsigned depth)
{
	while (w->height > depth) {
		uint32_t i = w->open[--w->height];
		int64_t end_ns = w->g->start_ns[i] + w->g->dur_ns[i];

		w->tail_ns[i] = end_ns - w->now_ns;
		w->now_ns = end_ns;
	}
}

static void walk_tracks(struct walk *w)
{
	uint32_t i = 0;

	for (size_t t = 0; t < w->g->track_count; t++) {
		w->now_ns = 0;
		for (uint32_t k = 0; k < w->g->tracks[t].count; k++, i++) {
			end_slices(w, w->g->depth[i]);
			w->gap_ns[i] = w->g->start_ns[i] - w->now_ns;
			w->now_ns = w->g->start_ns[i];
			w->open[w->height++] = i;
		}
		end_slices(w, 0);
	}
}

/* Returns how many do not fit into 32 bits: those go to the escapes. */
static uint32_t add_times(struct pf_buf *out, struct pf_buf *escapes,
			  const int64_t *ns, const uint32_t *rank, uint32_t n)
{
	uint8_t *planes = add_planes(out, n, 4);
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		int32_t low = (int32_t)(uint32_t)(uint64_t)ns[i];

		put(planes, n, rank[i], (uint32_t)low, 4);
		if (ns[i] == low)
			continue;
		add_u32(escapes, i);
		add_u32(escapes,
			(uint32_t)(((uint64_t)ns[i] - (uint64_t)(int64_t)low) >>
				   32));
		count++;
	}
	return count;
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

/* Gaps, then tails; "escapes" gets how many entries each has. */
static void add_gaps_and_tails(const struct pf_slices *g, struct pf_buf *out,
			       struct pf_buf *list, uint32_t escapes[2])
{
	size_t bytes = ((size_t)g->count + 1) * sizeof(int64_t);
	struct walk *w = pf_calloc(1, sizeof(*w));
	uint32_t *rank = rank_by_name(g);

	w->g = g;
	w->gap_ns = pf_alloc(bytes);
	w->tail_ns = pf_alloc(bytes);
	walk_tracks(w);
	escapes[0] = add_times(out, list, w->gap_ns, rank, g->count);
	escapes[1] = add_times(out, list, w->tail_ns, rank, g->count);
	free(w->gap_ns);
	free(w->tail_ns);
	free(w);
	free(rank);
}

void pf_payload_encode(const struct pf_slices *g, unsigned name_bytes,
		       struct pf_buf *out)
{
	struct pf_buf list = { 0 };
	uint8_t kind[4] = { (uint8_t)name_bytes, 0, 0, 0 };
	uint32_t escapes[2];
	size_t at;

	kind[1] = (uint8_t)((g->cat ? 1 : 0) | (g->link ? 2 : 0));
	pf_buf_add(out, "PFT2", 4);
	add_u32(out, g->count);
	add_u32(out, (uint32_t)g->track_count);
	pf_buf_add(out, kind, 4);
	at = out->len; /* of escapes, which are counted on the way */
	add_u32(out, 0);
	add_u32(out, 0);
	for (size_t t = 0; t < g->track_count; t++) {
		add_u32(out, g->tracks[t].count);
		add_u32(out, g->tracks[t].depths);
	}
	add_column(out, g->name, g->count, name_bytes);
	pf_buf_add(out, g->depth, g->count);
	add_gaps_and_tails(g, out, &list, escapes);
	if (g->cat)
		pf_buf_add(out, g->cat, g->count);
	if (g->link)
		add_links(g, out);
	if (list.len)
		pf_buf_add(out, list.data, list.len);
	put_u32(out->data + at, escapes[0]);
	put_u32(out->data + at + 4, escapes[1]);
	pf_buf_release(&list);
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
