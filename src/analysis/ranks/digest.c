/* SPDX-License-Identifier: MIT */
/* Digests as bytes: each number is checked against what may still follow. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "events/names.h"
#include "analysis/ranks/digest.h"

#define MAGIC     "PFRK"
#define FORMAT    2
#define FORMAT_1  1 /* without sends and receives */
#define SUM_BYTES 8
#define TIME_MAX  (INT64_C(1) << 61) /* so that differences are numbers */

const char *pf_digest_host_name(enum pf_digest_host cause)
{
	static const enum pf_cause causes[PF_HOST_CAUSES] = {
		[PF_HOST_LOADS] = PF_CAUSE_DATA,
		[PF_HOST_COLLECTS] = PF_CAUSE_GC,
		[PF_HOST_COMPILES] = PF_CAUSE_COMPILE,
		[PF_HOST_ALLOCATES] = PF_CAUSE_ALLOCATOR,
		[PF_HOST_LOADS_CODE] = PF_CAUSE_MODULE,
	};

	return pf_cause_name(causes[cause]);
}

/* FNV-1a: of names, and against damage. */
uint64_t pf_digest_hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

void pf_digest_release(struct pf_digest *d)
{
	for (size_t i = 0; i < d->group_count; i++)
		free(d->groups[i]);
	free(d->host);
	free(d->groups);
	free(d->ops);
	free(d->pieces);
	free(d->steps);
	free(d->kernels);
	free(d->p2ps);
	free(d->messages);
	free(d->quiets);
	*d = (struct pf_digest){ 0 };
}

/* ---- writing ---- */

static void put_u(struct pf_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		pf_buf_addc(out, (char)(v | 0x80));
	pf_buf_addc(out, (char)v);
}

static void put_i(struct pf_buf *out, int64_t v)
{
	put_u(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_text(struct pf_buf *out, const char *s)
{
	size_t len = strlen(s);

	put_u(out, len);
	pf_buf_add(out, s, len);
}

static void put_all(struct pf_buf *out, const int64_t *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_i(out, v[i]);
}

/* Idle time of which causes is there at all. */
static uint64_t mask_of(const struct pf_digest_op *op)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < PF_HOST_CAUSES; i++)
		if (op->host_ns[i])
			mask |= UINT64_C(1) << i;
	return mask;
}

static void put_op(struct pf_buf *out, const struct pf_digest *d,
		   const struct pf_digest_op *op, int64_t *at_ns)
{
	uint64_t mask = mask_of(op);

	put_i(out, op->start_ns - *at_ns);
	put_i(out, op->end_ns - op->start_ns);
	put_i(out, op->start_ns - op->ready_ns);
	put_i(out, op->step);
	put_i(out, op->stream);
	put_i(out, op->bytes);
	put_i(out, op->size);
	put_u(out, op->group);
	put_u(out, (uint64_t)op->kind << 2 | (uint64_t)op->gates << 1 |
			   (uint64_t)op->has_since);
	if (op->has_since) {
		put_all(out, op->since_ns, PF_DOING_COUNT);
		put_u(out, mask);
		for (size_t i = 0; i < PF_HOST_CAUSES; i++)
			if (mask >> i & 1)
				put_i(out, op->host_ns[i]);
	}
	put_u(out, op->piece_count);
	for (size_t i = 0; i < op->piece_count; i++) {
		put_i(out, d->pieces[op->piece_from + i].after_ns);
		put_i(out, d->pieces[op->piece_from + i].ns);
	}
	put_i(out, op->unsplit_ns);
	*at_ns = op->start_ns;
}

static void put_rest(struct pf_buf *out, const struct pf_digest *d)
{
	put_u(out, d->step_count);
	for (size_t i = 0; i < d->step_count; i++) {
		const struct pf_digest_step *s = &d->steps[i];

		put_i(out, s->step);
		put_i(out, s->start_ns - d->start_ns);
		put_i(out, s->end_ns - s->start_ns);
		put_all(out, s->ns, PF_DOING_COUNT);
	}
	put_u(out, d->kernel_count);
	for (size_t i = 0; i < d->kernel_count; i++) {
		put_u(out, d->kernels[i].name_hash);
		put_i(out, d->kernels[i].count);
		put_i(out, d->kernels[i].ns);
	}
}

static void put_p2p(struct pf_buf *out, const struct pf_digest *d,
		    const struct pf_digest_p2p *p, int64_t *at_ns)
{
	put_i(out, p->start_ns - *at_ns);
	put_i(out, p->end_ns - p->start_ns);
	put_u(out, p->message_count);
	for (size_t i = 0; i < p->message_count; i++) {
		const struct pf_digest_message *m =
			&d->messages[p->message_from + i];

		put_i(out, m->peer);
		put_i(out, m->bytes);
		put_u(out, (uint64_t)m->group << 1 | m->is_receive);
	}
	put_u(out, p->quiet_count);
	for (size_t i = 0; i < p->quiet_count; i++) {
		put_i(out, d->quiets[p->quiet_from + i].after_ns);
		put_i(out, d->quiets[p->quiet_from + i].ns);
	}
	put_i(out, p->unsplit_ns);
	*at_ns = p->start_ns;
}

static void put_p2ps(struct pf_buf *out, const struct pf_digest *d)
{
	int64_t at_ns = d->start_ns;

	put_u(out, d->knows_p2p);
	put_u(out, d->p2p_count);
	for (size_t i = 0; i < d->p2p_count; i++)
		put_p2p(out, d, &d->p2ps[i], &at_ns);
}

void pf_digest_put(const struct pf_digest *d, struct pf_buf *out)
{
	size_t from = out->len;
	int64_t at_ns = d->start_ns;
	uint64_t sum;

	pf_buf_adds(out, MAGIC);
	put_u(out, FORMAT);
	put_i(out, d->rank);
	put_i(out, d->world);
	put_i(out, d->trace_id);
	put_u(out, d->host != NULL);
	put_text(out, d->host ? d->host : "");
	put_i(out, d->start_ns);
	put_i(out, d->end_ns - d->start_ns);
	put_i(out, d->first_ns);
	put_all(out, d->ns, PF_DOING_COUNT);
	put_u(out, d->group_count);
	for (size_t i = 0; i < d->group_count; i++)
		put_text(out, d->groups[i]);
	put_u(out, d->op_count);
	for (size_t i = 0; i < d->op_count; i++)
		put_op(out, d, &d->ops[i], &at_ns);
	put_rest(out, d);
	put_p2ps(out, d);
	sum = pf_digest_hash(out->data + from, out->len - from);
	for (unsigned i = 0; i < 64; i += 8)
		pf_buf_addc(out, (char)(sum >> i));
}

/* ---- reading ---- */

struct reader {
	const unsigned char *p, *end;
	bool is_bad;
};

static uint64_t get_u(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && r->p < r->end; shift += 7) {
		unsigned char c = *r->p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
	r->is_bad = true;
	return 0;
}

static int64_t get_i(struct reader *r)
{
	uint64_t v = get_u(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* A time, or a length of time, that sums can be made of. */
static int64_t get_ns(struct reader *r)
{
	int64_t v = get_i(r);

	if (v < -TIME_MAX || v > TIME_MAX) {
		r->is_bad = true;
		return 0;
	}
	return v;
}

/* From another time on. */
static int64_t get_after(struct reader *r, int64_t at_ns)
{
	int64_t v = at_ns + get_ns(r);

	if (v < -TIME_MAX || v > TIME_MAX) {
		r->is_bad = true;
		return at_ns;
	}
	return v;
}

/* How many things of at least so many bytes follow. */
static size_t get_count(struct reader *r, size_t least_bytes)
{
	uint64_t n = get_u(r);

	if (n > (uint64_t)(r->end - r->p) / least_bytes) {
		r->is_bad = true;
		return 0;
	}
	return (size_t)n;
}

static char *get_text(struct reader *r)
{
	size_t len = get_count(r, 1);
	char *text = pf_memdup0(r->p, len);

	r->p += len;
	return text;
}

static void get_all(struct reader *r, int64_t *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		v[i] = get_ns(r);
}

static void get_pieces(struct reader *r, struct pf_digest *d,
		       struct pf_digest_op *op)
{
	op->piece_from = d->piece_count;
	op->piece_count = get_count(r, 2);
	d->pieces = pf_grow(d->pieces, &d->piece_cap,
			    d->piece_count + op->piece_count + 1,
			    sizeof(*d->pieces));
	for (size_t i = 0; i < op->piece_count; i++) {
		struct pf_digest_piece *p = &d->pieces[d->piece_count++];

		p->after_ns = get_ns(r);
		p->ns = get_ns(r);
	}
	op->unsplit_ns = get_ns(r);
}

static void get_since(struct reader *r, struct pf_digest_op *op)
{
	uint64_t mask;

	get_all(r, op->since_ns, PF_DOING_COUNT);
	mask = get_u(r);
	for (size_t i = 0; i < PF_HOST_CAUSES; i++)
		if (mask >> i & 1)
			op->host_ns[i] = get_ns(r);
}

static void get_op(struct reader *r, struct pf_digest *d, int64_t *at_ns)
{
	struct pf_digest_op *op = &d->ops[d->op_count++];
	uint64_t group, bits;

	*op = (struct pf_digest_op){ .start_ns = get_after(r, *at_ns) };
	op->end_ns = get_after(r, op->start_ns);
	op->ready_ns = get_after(r, op->start_ns);
	op->ready_ns = 2 * op->start_ns - op->ready_ns;
	op->step = get_i(r);
	op->stream = get_i(r);
	op->bytes = get_i(r);
	op->size = get_i(r);
	group = get_u(r);
	bits = get_u(r);
	r->is_bad |= group >= d->group_count || bits >> 2 > UINT8_MAX;
	op->group = (uint32_t)group;
	op->kind = (uint32_t)(bits >> 2);
	op->gates = bits >> 1 & 1;
	op->has_since = bits & 1;
	if (op->has_since)
		get_since(r, op);
	get_pieces(r, d, op);
	*at_ns = op->start_ns;
}

static void get_groups(struct reader *r, struct pf_digest *d)
{
	size_t count = get_count(r, 1);

	d->groups = pf_calloc(count + 1, sizeof(*d->groups));
	while (!r->is_bad && d->group_count < count)
		d->groups[d->group_count++] = get_text(r);
}

#define OP_BYTES 9 /* at least, as steps are */

static void get_ops(struct reader *r, struct pf_digest *d)
{
	size_t count = get_count(r, OP_BYTES);
	int64_t at_ns = d->start_ns;

	d->ops = pf_calloc(count + 1, sizeof(*d->ops));
	while (!r->is_bad && d->op_count < count)
		get_op(r, d, &at_ns);
}

static void get_rest(struct reader *r, struct pf_digest *d)
{
	size_t count = get_count(r, 3 + PF_DOING_COUNT);

	d->steps = pf_calloc(count + 1, sizeof(*d->steps));
	for (size_t i = 0; i < count && !r->is_bad; i++) {
		struct pf_digest_step *s = &d->steps[d->step_count++];

		s->step = get_i(r);
		s->start_ns = get_after(r, d->start_ns);
		s->end_ns = get_after(r, s->start_ns);
		get_all(r, s->ns, PF_DOING_COUNT);
	}
	count = get_count(r, 3);
	d->kernels = pf_calloc(count + 1, sizeof(*d->kernels));
	for (size_t i = 0; i < count && !r->is_bad; i++) {
		struct pf_digest_kernel *k = &d->kernels[d->kernel_count++];

		k->name_hash = get_u(r);
		k->count = get_ns(r);
		k->ns = get_ns(r);
	}
}

static void get_messages(struct reader *r, struct pf_digest *d,
			 struct pf_digest_p2p *p)
{
	p->message_from = d->message_count;
	p->message_count = get_count(r, 3);
	d->messages = pf_grow(d->messages, &d->message_cap,
			      d->message_count + p->message_count + 1,
			      sizeof(*d->messages));
	for (size_t i = 0; i < p->message_count; i++) {
		struct pf_digest_message *m = &d->messages[d->message_count++];
		uint64_t bits;

		m->peer = get_i(r);
		m->bytes = get_i(r);
		bits = get_u(r);
		r->is_bad |= bits >> 1 >= d->group_count;
		m->group = (uint32_t)(bits >> 1);
		m->is_receive = bits & 1;
	}
}

static void get_p2p(struct reader *r, struct pf_digest *d, int64_t *at_ns)
{
	struct pf_digest_p2p *p = &d->p2ps[d->p2p_count++];

	*p = (struct pf_digest_p2p){ .start_ns = get_after(r, *at_ns) };
	p->end_ns = get_after(r, p->start_ns);
	get_messages(r, d, p);
	p->quiet_from = d->quiet_count;
	p->quiet_count = get_count(r, 2);
	d->quiets = pf_grow(d->quiets, &d->quiet_cap,
			    d->quiet_count + p->quiet_count + 1,
			    sizeof(*d->quiets));
	for (size_t i = 0; i < p->quiet_count; i++) {
		struct pf_digest_piece *q = &d->quiets[d->quiet_count++];

		q->after_ns = get_ns(r);
		q->ns = get_ns(r);
	}
	p->unsplit_ns = get_ns(r);
	*at_ns = p->start_ns;
}

#define P2P_BYTES 5 /* at least */

static void get_p2ps(struct reader *r, struct pf_digest *d)
{
	int64_t at_ns = d->start_ns;
	size_t count;

	d->knows_p2p = get_u(r);
	count = get_count(r, P2P_BYTES);
	d->p2ps = pf_calloc(count + 1, sizeof(*d->p2ps));
	while (!r->is_bad && d->p2p_count < count)
		get_p2p(r, d, &at_ns);
}

static void get_head(struct reader *r, struct pf_digest *d)
{
	bool has_host;

	d->rank = get_i(r);
	d->world = get_i(r);
	d->trace_id = get_i(r);
	has_host = get_u(r);
	d->host = get_text(r);
	if (!has_host) {
		free(d->host);
		d->host = NULL;
	}
	d->start_ns = get_ns(r);
	d->end_ns = get_after(r, d->start_ns);
	d->first_ns = get_ns(r);
	get_all(r, d->ns, PF_DOING_COUNT);
}

/* Is it a digest, whole, and of this version?  Then only the body is left. */
static bool open_bytes(struct reader *r, const unsigned char *data, size_t len)
{
	uint64_t sum = 0;

	if (len < sizeof(MAGIC) + SUM_BYTES ||
	    memcmp(data, MAGIC, strlen(MAGIC)) != 0)
		return false;
	for (unsigned i = 0; i < SUM_BYTES; i++)
		sum |= (uint64_t)data[len - SUM_BYTES + i] << 8 * i;
	r->p = data + strlen(MAGIC);
	r->end = data + len - SUM_BYTES;
	return sum == pf_digest_hash(data, len - SUM_BYTES);
}

int pf_digest_get(const void *data, size_t len, struct pf_digest *out,
		  struct pf_err *err)
{
	struct reader r = { 0 };
	uint64_t version;

	*out = (struct pf_digest){ .rank = -1 };
	if (!open_bytes(&r, data, len))
		return pf_fail(err, PF_EDATA,
			       "a rank's digest is damaged: its checksum "
			       "differs");
	version = get_u(&r);
	if (version != FORMAT && version != FORMAT_1)
		return pf_fail(err, PF_EDATA,
			       "a rank's digest is of version %llu; this "
			       "profan reads %d and %d",
			       (unsigned long long)version, FORMAT_1, FORMAT);
	get_head(&r, out);
	get_groups(&r, out);
	if (!r.is_bad)
		get_ops(&r, out);
	if (!r.is_bad)
		get_rest(&r, out);
	if (!r.is_bad && version == FORMAT)
		get_p2ps(&r, out);
	if (!r.is_bad && r.p == r.end)
		return 0;
	pf_digest_release(out);
	return pf_fail(err, PF_EDATA, "a rank's digest is damaged");
}
