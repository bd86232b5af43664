/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "page/page.h"

#include <zlib.h>

#include "base/asset.h"
#include "base/mem.h"
#include "base/num.h"

/* "https://host/path/%f#L%l" and nothing worse; PF_EUSAGE. */
static int page_check_url(const char *url, struct pf_err *err)
{
	static const char wanted[] = "https://";
	const char *s = url;

	if (strncmp(url, wanted, strlen(wanted)) || !strstr(url, "%f"))
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is no source URL: it begins with https:// "
			       "and has %%f where the file goes",
			       url);
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s > 126 ||
		    strchr("\"'<>\\`", *s))
			return pf_fail(err, PF_EUSAGE,
				       "'%s' is no source URL: it has an odd "
				       "character",
				       url);
	return 0;
}

/* "800K", "8M", "1G" */
static int parse_size(const char *s, int64_t *out, struct pf_err *err)
{
	static const char units[] = "KMG";
	char digits[20];
	size_t len = strspn(s, "0123456789");
	const char *unit = s[len] ? strchr(units, s[len]) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (len && len < 10 && (!s[len] || (unit && !s[len + 1]))) {
		memcpy(digits, s, len);
		digits[len] = '\0';
		if (!pf_num_int(digits, out)) {
			*out <<= shift;
			return 0;
		}
	}
	return pf_fail(err, PF_EUSAGE, "'%s' is no size: say 800K, 8M or 1G",
		       s);
}

int pf_page_args_read(struct pf_page_args *args, struct pf_err *err)
{
	PF_TRY(args->source_url && page_check_url(args->source_url, err));
	return args->max_html
		       ? parse_size(args->max_html, &args->max_html_bytes, err)
		       : 0;
}

/* ---- base64 ---- */

void pf_base64(struct pf_buf *out, const void *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = data;
	char *to;

	pf_buf_reserve(out, (len + 2) / 3 * 4);
	to = out->data + out->len;
	for (size_t i = 0; i < len; i += 3, to += 4) {
		uint32_t b = i + 1 < len ? p[i + 1] : 0;
		uint32_t c = i + 2 < len ? p[i + 2] : 0;
		uint32_t all = (uint32_t)p[i] << 16 | b << 8 | c;

		to[0] = digits[all >> 18];
		to[1] = digits[all >> 12 & 63];
		to[2] = i + 1 < len ? digits[all >> 6 & 63] : '=';
		to[3] = i + 2 < len ? digits[all & 63] : '=';
	}
	*to = '\0';
	out->len = (size_t)(to - out->data);
}

/* ---- sha256 ---- */

#define SHA256_BYTES 32
#define BLOCK        64

static const uint32_t rounds[BLOCK] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void add_block(uint32_t h[8], const uint8_t *p)
{
	uint32_t w[BLOCK], s[8];

	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		       (uint32_t)p[2] << 8 | p[3];
	for (int i = 16; i < BLOCK; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, h, sizeof(s));
	for (int i = 0; i < BLOCK; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t t1 = s[7] +
			      (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & s[5]) ^ (~e & s[6])) + rounds[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

static void sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES])
{
	uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	uint8_t last[2 * BLOCK] = { 0 };
	const uint8_t *p = data;
	uint64_t bits = (uint64_t)len * 8;
	size_t rest = len % BLOCK, tail = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	for (size_t i = 0; i < len / BLOCK; i++)
		add_block(h, p + i * BLOCK);
	if (rest)
		memcpy(last, p + len - rest, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[tail - 1 - (size_t)i] = (uint8_t)(bits >> 8 * i);
	for (size_t i = 0; i < tail; i += BLOCK)
		add_block(h, last + i);
	for (int i = 0; i < SHA256_BYTES; i++)
		out[i] = (uint8_t)(h[i / 4] >> (24 - i % 4 * 8));
}

/* ---- data of the program ---- */

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
		PF_AT_LEAST(most, g->name[i]);
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
	PF_OWN struct walk *w = pf_calloc(1, sizeof(*w));
	PF_OWN uint32_t *rank = rank_by_name(g);

	w->g = g;
	w->gap_ns = pf_alloc(bytes);
	w->tail_ns = pf_alloc(bytes);
	walk_tracks(w);
	escapes[0] = add_times(out, list, w->gap_ns, rank, g->count);
	escapes[1] = add_times(out, list, w->tail_ns, rank, g->count);
	free(w->gap_ns);
	free(w->tail_ns);
}

void pf_payload_encode(const struct pf_slices *g, unsigned name_bytes,
		       struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf list = { 0 };
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
}

int pf_payload_pack(const struct pf_buf *raw, struct pf_buf *out,
		    struct pf_err *err)
{
	gz_header header = { .os = OS_UNKNOWN };
	z_stream z = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf packed = { 0 };
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
	return rc == Z_STREAM_END
		       ? 0
		       : pf_fail(err, PF_EIO, "cannot compress the timeline");
}

/* ---- the skeleton ---- */

#define SLOT(slot)                                                             \
	{                                                                      \
		.name = #slot, .at = offsetof(struct pf_skeleton, slot)        \
	}
static const struct {
	const char *name;
	size_t at;
} slots[] = {
	SLOT(title),
	SLOT(header),
	SLOT(nav),
	SLOT(fine_link),
	SLOT(verdicts_title),
	SLOT(verdicts),
	SLOT(tiles),
	SLOT(breakdown_title),
	SLOT(breakdown),
	SLOT(sections),
	SLOT(timeline),
	SLOT(fine),
	SLOT(method),
	SLOT(data),
	SLOT(style),
	SLOT(script),
	SLOT(policy),
	SLOT(generator),
};
#define SLOTS (PF_LEN(slots))

static const struct pf_buf *html_of(const struct pf_skeleton *s, size_t slot)
{
	return (const struct pf_buf *)((const char *)s + slots[slot].at);
}

static void add_hash(struct pf_buf *out, const struct pf_buf *text)
{
	uint8_t hash[SHA256_BYTES];

	sha256(text->data, text->len, hash);
	pf_buf_adds(out, "'sha256-");
	pf_base64(out, hash, sizeof(hash));
	pf_buf_addc(out, '\'');
}

static int add_asset(struct pf_buf *out, const char *name, struct pf_err *err)
{
	size_t len;
	const char *text = pf_asset(name, &len);

	if (!text)
		return pf_fail(err, PF_EDATA, "'%s' is not compiled in", name);
	pf_buf_add(out, text, len);
	return 0;
}

/* The slot of this name; SLOTS if there is none. */
static size_t find_slot(const char *name, size_t len)
{
	size_t i = 0;

	while (i < SLOTS && (strlen(slots[i].name) != len ||
			     memcmp(slots[i].name, name, len) != 0))
		i++;
	return i;
}

static int fill(const char *text, const struct pf_skeleton *s,
		struct pf_buf *out, struct pf_err *err)
{
	bool is_used[SLOTS] = { false };

	for (;;) {
		const char *open = strstr(text, "{{"), *close;
		size_t slot;

		if (!open)
			break;
		close = strstr(open, "}}");
		if (!close)
			return pf_fail(err, PF_EDATA,
				       "a slot of the page has no end");
		pf_buf_add(out, text, (size_t)(open - text));
		slot = find_slot(open + 2, (size_t)(close - open - 2));
		if (slot == SLOTS)
			return pf_fail(err, PF_EDATA,
				       "unknown slot '%.*s' of the page",
				       (int)(close - open - 2), open + 2);
		is_used[slot] = true;
		if (html_of(s, slot)->len)
			pf_buf_add(out, html_of(s, slot)->data,
				   html_of(s, slot)->len);
		text = close + 2;
	}
	pf_buf_adds(out, text);
	for (size_t i = 0; i < SLOTS; i++)
		if (!is_used[i])
			return pf_fail(err, PF_EDATA,
				       "slot '%s' is not on the page",
				       slots[i].name);
	return 0;
}

int64_t pf_fill_bytes(const struct pf_skeleton *s)
{
	int64_t sum = PF_FILL_BYTES;

	for (size_t i = 0; i < SLOTS; i++)
		sum += (int64_t)html_of(s, i)->len;
	return sum;
}

int pf_fill(struct pf_skeleton *s, struct pf_buf *out, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	PF_TRY(add_asset(&text, "reports/page.html", err));
	PF_TRY(add_asset(&s->style, "reports/style.css", err));
	PF_TRY(add_asset(&s->script, "reports/shared.js", err));
	PF_TRY(add_asset(&s->script, "reports/canvas.js", err));
	PF_TRY(add_asset(&s->script, "reports/app.js", err));
	pf_buf_adds(&s->policy, "default-src 'none'; script-src ");
	add_hash(&s->policy, &s->script);
	pf_buf_adds(&s->policy, "; style-src ");
	add_hash(&s->policy, &s->style);
	pf_buf_adds(&s->policy, "; img-src data:; base-uri 'none'; "
				"form-action 'none'");
	pf_buf_adds(&s->generator, "profan " PACKAGE_VERSION);
	return fill(text.data, s, out, err);
}

void pf_fill_release(struct pf_skeleton *s)
{
	for (size_t i = 0; i < SLOTS; i++)
		pf_buf_release((struct pf_buf *)((char *)s + slots[i].at));
}
