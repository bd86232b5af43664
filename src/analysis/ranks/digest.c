/* SPDX-License-Identifier: MIT */
/*
 * Digests as bytes.  One walk writes them and reads them, so that both agree;
 * what is read is checked against what may still follow.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/varint.h"
#include "analysis/ranks/digest.h"

#define MAGIC     "PFRK"
#define FORMAT    2
#define FORMAT_1  1 /* without sends and receives */
#define SUM_BYTES 8
#define TIME_MAX  (INT64_C(1) << 61) /* so that differences are numbers */

const enum pf_cause pf_digest_causes[PF_HOST_CAUSES] = {
	[PF_HOST_LOADS] = PF_CAUSE_DATA,
	[PF_HOST_COLLECTS] = PF_CAUSE_GC,
	[PF_HOST_COMPILES] = PF_CAUSE_COMPILE,
	[PF_HOST_ALLOCATES] = PF_CAUSE_ALLOCATOR,
	[PF_HOST_LOADS_CODE] = PF_CAUSE_MODULE,
};

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

/* ---- numbers ---- */

struct coder {
	struct pf_buf *out; /* NULL: it reads */
	const unsigned char *p, *end;
	bool is_bad; /* then all that follows is 0 */
};

static void code_u(struct coder *c, uint64_t *v)
{
	const unsigned char *p = c->p;
	uint64_t value = 0;

	if (c->out) {
		unsigned char bytes[PF_VARINT_MAX];

		pf_buf_add(c->out, bytes,
			   (size_t)(pf_varint_put(bytes, *v) - bytes));
		return;
	}
	*v = 0;
	for (unsigned shift = 0; !c->is_bad && shift < 64 && p < c->end;
	     shift += 7) {
		value |= (uint64_t)(*p & 0x7f) << shift;
		if (*p++ < 0x80) {
			*v = value;
			c->p = p;
			return;
		}
	}
	c->is_bad = true;
}

static void code_i(struct coder *c, int64_t *v)
{
	uint64_t zigzag = (uint64_t)*v << 1 ^ (uint64_t)(*v >> 63);

	code_u(c, &zigzag);
	*v = (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
}

/* A time, or a length of time, that sums can be made of. */
static void code_ns(struct coder *c, int64_t *v)
{
	code_i(c, v);
	if (!c->out && (*v < -TIME_MAX || *v > TIME_MAX)) {
		c->is_bad = true;
		*v = 0;
	}
}

/* From another time on. */
static void code_after(struct coder *c, int64_t *v, int64_t at_ns)
{
	int64_t after_ns = *v - at_ns;

	code_ns(c, &after_ns);
	*v = at_ns + after_ns;
	if (!c->out && (*v < -TIME_MAX || *v > TIME_MAX)) {
		c->is_bad = true;
		*v = at_ns;
	}
}

static void code_all(struct coder *c, int64_t *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		code_ns(c, &v[i]);
}

static bool code_bool(struct coder *c, bool is_so)
{
	uint64_t v = is_so;

	code_u(c, &v);
	return v;
}

/* How many things of at least so many bytes follow. */
static void code_count(struct coder *c, size_t *count, size_t least_bytes)
{
	uint64_t n = *count;

	code_u(c, &n);
	if (!c->out && n > (uint64_t)(c->end - c->p) / least_bytes) {
		c->is_bad = true;
		n = 0;
	}
	*count = (size_t)n;
}

/* The same; the array itself, or a new one for them. */
static void *code_array(struct coder *c, void *array, size_t *count,
			size_t least_bytes, size_t element_bytes)
{
	code_count(c, count, least_bytes);
	return c->out ? array : pf_calloc(*count + 1, element_bytes);
}

/* Some more of an array of all, which they are added to: *from is the first. */
static void *code_more(struct coder *c, void *all, size_t *all_count,
		       size_t *cap, size_t *from, size_t *count,
		       size_t least_bytes, size_t element_bytes)
{
	code_count(c, count, least_bytes);
	if (c->out)
		return all;
	*from = *all_count;
	*all_count += *count;
	return pf_grow_zero(all, cap, *all_count + 1, element_bytes);
}

static void code_text(struct coder *c, char **text)
{
	size_t len = c->out ? strlen(*text) : 0;

	code_count(c, &len, 1);
	if (c->out) {
		pf_buf_add(c->out, *text, len);
	} else {
		*text = pf_memdup0(c->p, len);
		c->p += len;
	}
}

/* ---- digests ---- */

static void code_pieces(struct coder *c, struct pf_digest_piece *p,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		code_ns(c, &p[i].after_ns);
		code_ns(c, &p[i].ns);
	}
}

/* Of idle time only the causes that are there at all. */
static void code_since(struct coder *c, struct pf_digest_op *op)
{
	uint64_t mask = 0;

	code_all(c, op->since_ns, PF_DOING_COUNT);
	for (size_t i = 0; i < PF_HOST_CAUSES; i++)
		if (op->host_ns[i])
			mask |= UINT64_C(1) << i;
	code_u(c, &mask);
	for (size_t i = 0; i < PF_HOST_CAUSES; i++)
		if (mask >> i & 1)
			code_ns(c, &op->host_ns[i]);
}

static void code_op(struct coder *c, struct pf_digest *d,
		    struct pf_digest_op *op, int64_t at_ns)
{
	uint64_t group = op->group;
	uint64_t bits = (uint64_t)op->kind << 2 | (uint64_t)op->gates << 1 |
			(uint64_t)op->has_since;
	int64_t mirrored_ns;

	code_after(c, &op->start_ns, at_ns);
	code_after(c, &op->end_ns, op->start_ns);
	mirrored_ns = 2 * op->start_ns - op->ready_ns;
	code_after(c, &mirrored_ns, op->start_ns);
	op->ready_ns = 2 * op->start_ns - mirrored_ns;
	code_i(c, &op->step);
	code_i(c, &op->stream);
	code_i(c, &op->bytes);
	code_i(c, &op->size);
	code_u(c, &group);
	code_u(c, &bits);
	c->is_bad |= group >= d->group_count || bits >> 2 > UINT8_MAX;
	op->group = (uint32_t)group;
	op->kind = (uint32_t)(bits >> 2);
	op->gates = bits >> 1 & 1;
	op->has_since = bits & 1;
	if (op->has_since)
		code_since(c, op);
	d->pieces = code_more(c, d->pieces, &d->piece_count, &d->piece_cap,
			      &op->piece_from, &op->piece_count, 2,
			      sizeof(*d->pieces));
	code_pieces(c, &d->pieces[op->piece_from], op->piece_count);
	code_ns(c, &op->unsplit_ns);
}

static void code_message(struct coder *c, const struct pf_digest *d,
			 struct pf_digest_message *m)
{
	uint64_t bits = (uint64_t)m->group << 1 | m->is_receive;

	code_i(c, &m->peer);
	code_i(c, &m->bytes);
	code_u(c, &bits);
	c->is_bad |= bits >> 1 >= d->group_count;
	m->group = (uint32_t)(bits >> 1);
	m->is_receive = bits & 1;
}

static void code_p2p(struct coder *c, struct pf_digest *d,
		     struct pf_digest_p2p *p, int64_t at_ns)
{
	code_after(c, &p->start_ns, at_ns);
	code_after(c, &p->end_ns, p->start_ns);
	d->messages = code_more(c, d->messages, &d->message_count,
				&d->message_cap, &p->message_from,
				&p->message_count, 3, sizeof(*d->messages));
	for (size_t i = 0; i < p->message_count; i++)
		code_message(c, d, &d->messages[p->message_from + i]);
	d->quiets = code_more(c, d->quiets, &d->quiet_count, &d->quiet_cap,
			      &p->quiet_from, &p->quiet_count, 2,
			      sizeof(*d->quiets));
	code_pieces(c, &d->quiets[p->quiet_from], p->quiet_count);
	code_ns(c, &p->unsplit_ns);
}

static void code_head(struct coder *c, struct pf_digest *d)
{
	char *host = d->host ? d->host : (char[]){ "" };
	bool has_host;

	code_i(c, &d->rank);
	code_i(c, &d->world);
	code_i(c, &d->trace_id);
	has_host = code_bool(c, d->host);
	code_text(c, &host);
	if (has_host)
		d->host = host;
	else if (!c->out)
		free(host);
	code_ns(c, &d->start_ns);
	code_after(c, &d->end_ns, d->start_ns);
	code_ns(c, &d->first_ns);
	code_all(c, d->ns, PF_DOING_COUNT);
}

#define OP_BYTES  9 /* at least, as steps are */
#define P2P_BYTES 5 /* at least */

static void code_digest(struct coder *c, struct pf_digest *d)
{
	code_head(c, d);
	d->groups = code_array(c, d->groups, &d->group_count, 1,
			       sizeof(*d->groups));
	for (size_t i = 0; i < d->group_count; i++)
		code_text(c, &d->groups[i]);
	d->ops = code_array(c, d->ops, &d->op_count, OP_BYTES, sizeof(*d->ops));
	for (size_t i = 0; i < d->op_count && !c->is_bad; i++)
		code_op(c, d, &d->ops[i],
			i ? d->ops[i - 1].start_ns : d->start_ns);
	d->steps = code_array(c, d->steps, &d->step_count, 3 + PF_DOING_COUNT,
			      sizeof(*d->steps));
	for (size_t i = 0; i < d->step_count; i++) {
		struct pf_digest_step *s = &d->steps[i];

		code_i(c, &s->step);
		code_after(c, &s->start_ns, d->start_ns);
		code_after(c, &s->end_ns, s->start_ns);
		code_all(c, s->ns, PF_DOING_COUNT);
	}
	d->kernels = code_array(c, d->kernels, &d->kernel_count, 3,
				sizeof(*d->kernels));
	for (size_t i = 0; i < d->kernel_count; i++) {
		code_u(c, &d->kernels[i].name_hash);
		code_ns(c, &d->kernels[i].count);
		code_ns(c, &d->kernels[i].ns);
	}
}

/* What digests of version 1 are without. */
static void code_p2ps(struct coder *c, struct pf_digest *d)
{
	d->knows_p2p = code_bool(c, d->knows_p2p);
	d->p2ps = code_array(c, d->p2ps, &d->p2p_count, P2P_BYTES,
			     sizeof(*d->p2ps));
	for (size_t i = 0; i < d->p2p_count && !c->is_bad; i++)
		code_p2p(c, d, &d->p2ps[i],
			 i ? d->p2ps[i - 1].start_ns : d->start_ns);
}

void pf_digest_put(const struct pf_digest *d, struct pf_buf *out)
{
	struct pf_digest copy = *d; /* walked over, and left as it is */
	struct coder c = { .out = out };
	size_t from = out->len;
	uint64_t version = FORMAT, sum;

	pf_buf_adds(out, MAGIC);
	code_u(&c, &version);
	code_digest(&c, &copy);
	code_p2ps(&c, &copy);
	sum = pf_digest_hash(out->data + from, out->len - from);
	for (unsigned i = 0; i < 64; i += 8)
		pf_buf_addc(out, (char)(sum >> i));
}

/* Is it a digest, whole, and of this version?  Then only the body is left. */
static bool open_bytes(struct coder *c, const unsigned char *data, size_t len)
{
	uint64_t sum = 0;

	if (len < sizeof(MAGIC) + SUM_BYTES ||
	    memcmp(data, MAGIC, strlen(MAGIC)) != 0)
		return false;
	for (unsigned i = 0; i < SUM_BYTES; i++)
		sum |= (uint64_t)data[len - SUM_BYTES + i] << 8 * i;
	c->p = data + strlen(MAGIC);
	c->end = data + len - SUM_BYTES;
	return sum == pf_digest_hash(data, len - SUM_BYTES);
}

int pf_digest_get(const void *data, size_t len, struct pf_digest *out,
		  struct pf_err *err)
{
	struct coder c = { 0 };
	uint64_t version = 0;

	*out = (struct pf_digest){ .rank = -1 };
	if (!open_bytes(&c, data, len))
		return pf_fail(err, PF_EDATA,
			       "a rank's digest is damaged: its checksum "
			       "differs");
	code_u(&c, &version);
	if (version != FORMAT && version != FORMAT_1)
		return pf_fail(err, PF_EDATA,
			       "a rank's digest is of version %llu; this "
			       "profan reads %d and %d",
			       (unsigned long long)version, FORMAT_1, FORMAT);
	code_digest(&c, out);
	if (version == FORMAT)
		code_p2ps(&c, out);
	if (!c.is_bad && c.p == c.end)
		return 0;
	pf_digest_release(out);
	return pf_fail(err, PF_EDATA, "a rank's digest is damaged");
}
