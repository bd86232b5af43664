/* SPDX-License-Identifier: MIT */
/* Digests as bytes, and how they are made. */
#include "config.h"

#include "analysis/ranks/digest.h"

#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/step.h"
#include "events/traces.h"
#include "show/doc.h"
#include "store/query.h"
#include "store/texts.h"
#include "store/varint.h"

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

/*
 * Digests as bytes.  One walk writes them and reads them, so that both agree;
 * what is read is checked against what may still follow.
 */

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
	if (*v >= -TIME_MAX && *v <= TIME_MAX)
		return;
	c->is_bad = true;
	if (!c->out)
		*v = 0;
}

/* From another time on. */
static void code_after(struct coder *c, int64_t *v, int64_t at_ns)
{
	int64_t after_ns = pf_sat_sub(*v, at_ns);

	code_ns(c, &after_ns);
	if (!c->out)
		*v = at_ns + after_ns;
	if (*v >= -TIME_MAX && *v <= TIME_MAX)
		return;
	c->is_bad = true;
	if (!c->out)
		*v = at_ns;
}

static void code_doing(struct coder *c, int64_t v[PF_DOING_COUNT])
{
	for (size_t i = 0; i < PF_DOING_COUNT; i++)
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

static void code_pieces(struct coder *c, struct pf_digest_piece *p, size_t from,
			size_t count)
{
	for (size_t i = from; i < from + count; i++) {
		code_ns(c, &p[i].after_ns);
		code_ns(c, &p[i].ns);
	}
}

/* Of idle time only the causes that are there at all. */
static void code_since(struct coder *c, struct pf_digest_op *op)
{
	uint64_t mask = 0;

	code_doing(c, op->since_ns);
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
	code_pieces(c, d->pieces, op->piece_from, op->piece_count);
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
	code_pieces(c, d->quiets, p->quiet_from, p->quiet_count);
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
	code_doing(c, d->ns);
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
		code_doing(c, s->ns);
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

bool pf_digest_put(const struct pf_digest *d, struct pf_buf *out)
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
	return !c.is_bad;
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

/*
 * One pass over a trace's GPU work in order of time.  A sweep sums up what the
 * GPU did, and what hosts did of a few causes beside it; the sums are read at
 * marks (starts and ends of steps, ends of collectives) as time passes them,
 * so that the time between any two is a difference of sums.  When launches are
 * known, a second pass in their order finds what each collective needed.
 */

#define PIECES_MAX  32       /* of a collective */
#define KERNELS_MAX 128      /* names of a trace; the rest is one */
#define NO_OP       SIZE_MAX /* communication that is not compared */
#define GATE_NS     10000    /* computation that waited begins so soon, */
#define BEFORE_NS   2000     /* and none ran in so long before */

/* What the GPU and its hosts have done so far. */
struct sums {
	int64_t ns[PF_DOING_COUNT];
	int64_t host_ns[PF_HOST_CAUSES]; /* while it was idle */
};

enum mark_kind { MARK_END, MARK_STEP_START, MARK_STEP_END };

struct mark {
	int64_t at_ns;
	enum mark_kind kind;
	size_t index; /* of the collective or the step */
};

struct op_end {
	int64_t end_ns;
	bool is_past;
	struct sums sums;
};

struct open_piece {
	size_t op;
	int64_t from_ns, ns;
};

/* A kernel of communication. */
struct running {
	size_t op;
	int64_t end_ns;
};

/* Computation, or the first kernel of a collective, by its launch call. */
struct launched {
	int64_t launch_id, event_id;
	int64_t start_ns, end_ns;
	int64_t op;   /* -1: computation */
	int64_t gate; /* of it: what is received, if this call is later; or -1 */
};

struct host_span {
	int64_t start_ns, end_ns, cause;
};

/* What a kernel belongs to; what arguments say of it, in any trace. */
struct what {
	size_t group; /* of the digest; of arguments: of the texts */
	enum pf_sync sync;
	enum pf_p2p p2p; /* if sync is NONE */
	int64_t bytes, size;
	int64_t peer; /* of a send or receive; or -1 */
};

/* A kernel of messages that it does not say. */
struct unsaid {
	int64_t launch_id;
	size_t p2p;
};

struct source {
	int64_t trace_id, base_ns, world;
	const char *host;
};

struct making {
	/* of the database */
	struct pf_db *db;
	struct pf_gpu *gpu;
	struct pf_names *names;
	struct pf_texts texts;
	const struct pf_steps *steps;
	struct pf_intern groups; /* texts */
	struct pf_map argsets;   /* argset.id -> said */
	struct pf_map syncs;     /* string.id -> pf_p2p << 8 | pf_sync */
	struct what *said;
	size_t said_count, said_cap;
	struct pf_arena memory; /* of sources */
	struct source *sources;
	size_t source_count;
	/* of a trace; the first member is where they begin */
	const struct pf_window_trace *trace;
	struct pf_digest d;
	bool has_begun, has_computed;
	bool is_host; /* without GPU work */
	struct pf_sweep sweep;
	struct mark *marks; /* a heap */
	size_t mark_count, mark_cap;
	struct op_end *ends; /* as the collectives */
	size_t end_cap;
	struct sums *step_sums;     /* at their starts */
	struct pf_map records;      /* record_param_comms -> collective */
	struct pf_map group_places; /* text -> group of the digest */
	size_t *lasts;              /* of each group: its last collective */
	size_t last_count, last_cap;
	size_t *closed; /* that no computation has followed */
	size_t closed_count, closed_cap;
	struct running *running;
	size_t running_count, running_cap;
	struct open_piece *pieces;
	size_t piece_count, piece_cap;
	int64_t exposed_ns;  /* pieces are known up to here */
	int64_t computed_ns; /* computation ran up to here */
	struct pf_by_event *launches;
	struct pf_sorter *hosts;
	const struct host_span *host; /* the next one */
	struct pf_map kernel_places;  /* string.id -> kernel of the digest */
	/* sends and receives */
	struct pf_map p2p_records; /* record_param_comms -> one of them */
	struct unsaid *unsaid;
	size_t unsaid_count, unsaid_cap;
	size_t *received; /* that no computation has followed */
	size_t received_count, received_cap;
	int64_t busy_ns;                /* other work ran up to here */
	struct pf_digest_piece *quiets; /* since computation; from 0 on */
	size_t quiet_count, quiet_cap;
};

/* Which collective of which group a kernel is: by arguments, else by names. */

/* What it is, if it is no collective of all. */
static enum pf_p2p p2p_of(enum pf_sync sync, struct pf_json name)
{
	return sync == PF_SYNC_NONE ? pf_collective_p2p(name) : PF_P2P_NONE;
}

static struct what read_said(struct making *m, const struct pf_collective *c,
			     const char *text, size_t len)
{
	struct what w = { .sync = pf_collective_sync(c->name),
			  .bytes = pf_collective_bytes(c),
			  .size = c->group_size };
	PF_AUTO(pf_buf_release) struct pf_buf group = { 0 };

	w.p2p = p2p_of(w.sync, c->name);
	w.peer = pf_collective_peer(text, len, w.p2p);
	pf_buf_adds(&group, "");
	if (c->group.p)
		pf_json_text(c->group, &group);
	w.group = pf_intern_add(&m->groups, group.data, group.len);
	return w;
}

/* What arguments say; NULL: nothing. */
static const struct what *read_args(struct making *m, uint32_t args)
{
	struct pf_collective c;
	const char *text;
	size_t len;
	uint64_t *place;

	if (args >= PF_ID_INLINE)
		return NULL;
	place = pf_map_at(&m->argsets, args);
	if (*place == UINT64_MAX) {
		*place = 0;
		if (pf_texts_get(&m->texts, PF_TEXT_ARGS, args, &text, &len,
				 m->db->err) == 1 &&
		    pf_collective_read(text, len, &c)) {
			*PF_ONE_MORE(m->said, m->said_count, m->said_cap) =
				read_said(m, &c, text, len);
			*place = m->said_count;
		}
	}
	return *place ? &m->said[*place - 1] : NULL;
}

/* By the range around its launch, or by its own name. */
static void read_name(struct making *m, uint32_t name, struct what *out)
{
	uint64_t *place = pf_map_at(&m->syncs, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(m->gpu, name);
		if (!text)
			text = "";
		out->sync = pf_collective_sync(
			(struct pf_json){ text, strlen(text) });
		out->p2p = p2p_of(out->sync,
				  (struct pf_json){ text, strlen(text) });
		*place = (uint64_t)out->p2p << 8 | out->sync;
	}
	out->sync = (enum pf_sync)(*place & 0xff);
	out->p2p = (enum pf_p2p)(*place >> 8);
}

/* The group of a digest by its text. */
static size_t find_group(struct making *m, uint32_t text)
{
	struct pf_digest *d = &m->d;
	uint64_t *place = pf_map_at(&m->group_places, text);

	if (*place == UINT64_MAX) {
		*place = d->group_count;
		*PF_ONE_MORE(d->groups, d->group_count, d->group_cap) =
			pf_strdup(pf_intern_text(&m->groups, text, NULL));
	}
	return (size_t)*place;
}

static void take_said(struct making *m, const struct what *said,
		      struct what *out)
{
	*out = *said;
	out->group = said->sync != PF_SYNC_NONE || said->p2p
			     ? find_group(m, (uint32_t)said->group)
			     : 0;
}

static struct what find_what(struct making *m, const struct pf_gpu_event *ev)
{
	const struct what *said = read_args(m, ev->config);
	struct what out = { .bytes = -1, .size = -1, .peer = -1 }, own;

	if (!said && ev->comm.record_id)
		said = read_args(m, ev->comm.record_args);
	if (said) {
		take_said(m, said, &out);
	} else {
		read_name(m,
			  ev->comm.name == PF_ID_NONE ? ev->name
						      : ev->comm.name,
			  &out);
		if (out.sync != PF_SYNC_NONE || out.p2p)
			out.group =
				find_group(m, pf_intern_add(&m->groups, "", 0));
	}
	/* a host does not say whom it sends to, nor from whom it receives */
	if (m->is_host)
		out.p2p = PF_P2P_NONE;
	/* several messages, or of what else is made of such kernels? */
	if (out.p2p == PF_P2P_SEVERAL) {
		read_name(m, ev->name, &own);
		out.p2p = own.p2p;
	}
	return out;
}

/* ---- where traces are from ---- */

#define FIELD(member, kind) PF_FIELD(struct source, member, NULL, kind)
static const struct pf_field source_fields[] = {
	PF_FIELD(struct source, trace_id, "id", NULL, PF_INT),
	FIELD(base_ns, PF_INT),
	PF_FIELD(struct source, world, "world_size", NULL, PF_INT),
	FIELD(host, PF_TEXT),
};
#undef FIELD

/*
 * Sends and receives of a trace, and the time without computation that the end
 * of one ended.  What a kernel moves is said by its arguments; that of several
 * messages at once says nothing, and moves those that were recorded on its
 * launching thread since the kernel before, and have no kernel of their own.
 */

#define QUIETS_MAX 32 /* of a kernel */

/* ---- messages ---- */

static void add_message(struct making *m, struct pf_digest_p2p *p,
			const struct what *what)
{
	struct pf_digest *d = &m->d;

	if (!p->message_count)
		p->message_from = d->message_count;
	*PF_ONE_MORE(d->messages, d->message_count, d->message_cap) =
		(struct pf_digest_message){
			.peer = what->peer,
			.bytes = what->bytes,
			.group = (uint32_t)what->group,
			.is_receive = what->p2p == PF_P2P_RECEIVE,
		};
	p->message_count++;
}

/* Sends and receives. */
static void take_p2p(struct making *m, const struct pf_gpu_event *ev,
		     const struct what *what, int64_t end_ns)
{
	struct pf_digest *d = &m->d;
	size_t n = d->p2p_count;

	if (what->p2p == PF_P2P_SEVERAL) {
		*PF_ONE_MORE(m->unsaid, m->unsaid_count, m->unsaid_cap) =
			(struct unsaid){ ev->launch_id, n };
	} else if (ev->comm.record_id) {
		uint64_t *place = pf_map_at(&m->p2p_records,
					    (uint64_t)ev->comm.record_id);

		if (*place != UINT64_MAX) {
			PF_AT_LEAST(d->p2ps[*place].end_ns, end_ns);
			return;
		}
		*place = n;
	}
	*PF_ONE_MORE(d->p2ps, d->p2p_count, d->p2p_cap) =
		(struct pf_digest_p2p){
			.start_ns = ev->start_ns,
			.end_ns = end_ns,
		};
	if (what->p2p != PF_P2P_SEVERAL)
		add_message(m, &d->p2ps[n], what);
	if (what->p2p == PF_P2P_SEND)
		return; /* nothing waits for its end */
	*PF_ONE_MORE(m->received, m->received_count, m->received_cap) = n;
}

/* ---- time without computation ---- */

static void add_quiet(struct making *m, size_t p2p, struct pf_digest_piece q)
{
	struct pf_digest *d = &m->d;
	struct pf_digest_p2p *p = &d->p2ps[p2p];

	if (!p->quiet_count)
		p->quiet_from = d->quiet_count;
	if (p->quiet_count == QUIETS_MAX) {
		pf_sat_sum(&p->unsplit_ns, q.ns);
		return;
	}
	q.after_ns -= p->start_ns;
	*PF_ONE_MORE(d->quiets, d->quiet_count, d->quiet_cap) = q;
	p->quiet_count++;
}

/* How long nothing ran since an instant. */
static int64_t quiet_since(const struct making *m, int64_t at_ns)
{
	int64_t sum = 0;

	for (size_t i = m->quiet_count; i-- > 0;) {
		const struct pf_digest_piece *q = &m->quiets[i];

		if (q->after_ns + q->ns <= at_ns)
			break;
		sum += q->after_ns < at_ns ? q->after_ns + q->ns - at_ns
					   : q->ns;
	}
	return sum;
}

/* What was received last, since computation had ended. */
static size_t find_gate(struct making *m, int64_t start_ns)
{
	size_t kept = 0, gate = NO_OP;

	for (size_t i = 0; i < m->received_count; i++) {
		size_t n = m->received[i];
		int64_t end_ns = m->d.p2ps[n].end_ns;

		if (end_ns > start_ns)
			m->received[kept++] = n;
		else if ((!m->has_computed ||
			  m->computed_ns <= end_ns - BEFORE_NS) &&
			 (gate == NO_OP || end_ns >= m->d.p2ps[gate].end_ns))
			gate = n;
	}
	m->received_count = kept;
	return gate;
}

/* Work that is no send nor receive begins. */
static void end_quiet(struct making *m, int64_t start_ns, int64_t end_ns)
{
	if (start_ns > m->busy_ns)
		*PF_ONE_MORE(m->quiets, m->quiet_count, m->quiet_cap) =
			(struct pf_digest_piece){ m->busy_ns,
						  start_ns - m->busy_ns };
	PF_AT_LEAST(m->busy_ns, end_ns);
}

/*
 * Computation waited for what was received if it, or other work before it,
 * began at once.  Else its host may have waited: then it is launched later.
 * The receive that it waits for if its host did, or NO_OP.
 */
static size_t compute(struct making *m, int64_t start_ns, int64_t end_ns)
{
	size_t gate;
	bool is_sure;

	end_quiet(m, start_ns, end_ns);
	gate = find_gate(m, start_ns);
	is_sure = gate == NO_OP ||
		  quiet_since(m, m->d.p2ps[gate].end_ns) <= GATE_NS;
	for (size_t i = 0; gate != NO_OP && i < m->quiet_count; i++)
		add_quiet(m, gate, m->quiets[i]);
	m->quiet_count = 0;
	return is_sure ? NO_OP : gate;
}

/* ---- messages without a kernel of their own ---- */

struct recorded {
	int64_t event_id;
	struct what what;
};

struct recording {
	struct making *m;
	struct pf_map is_record; /* string.id -> 1: a record */
	struct recorded *items;
	size_t count, cap;
};

static bool is_record(struct recording *r, uint32_t name)
{
	uint64_t *place = pf_map_at(&r->is_record, name);
	const char *text;

	if (*place == UINT64_MAX)
		*place = pf_texts_get(&r->m->texts, PF_TEXT_NAME, name, &text,
				      NULL, r->m->db->err) >= 0 &&
			 !strcmp(text, "record_param_comms");
	return *place;
}

static int take_record(void *context, const struct pf_block *b, uint32_t i,
		       int64_t event_id)
{
	struct recording *r = context;
	struct recorded one = { .event_id = event_id };
	const struct what *said = NULL;

	if (pf_names_kind(r->m->names, b->type[i]) == PF_KIND_CPU_OP &&
	    b->name[i] < PF_ID_INLINE &&
	    !pf_map_has(&r->m->p2p_records, (uint64_t)event_id) &&
	    is_record(r, b->name[i]))
		said = read_args(r->m, b->args[i]);
	if (said && (said->p2p == PF_P2P_SEND || said->p2p == PF_P2P_RECEIVE)) {
		take_said(r->m, said, &one.what);
		*PF_ONE_MORE(r->items, r->count, r->cap) = one;
	}
	return r->m->db->err->code ? -1 : 0;
}

PF_ORDER(by_event, struct recorded, PF_UP(event_id))

PF_ORDER(by_launch, struct unsaid, PF_UP(launch_id) PF_UP(p2p))

/* Ids of events are in the order of a thread, threads one after the other. */
static void give_messages(struct recording *r)
{
	struct making *m = r->m;
	size_t at = 0;

	pf_sort(r->items, r->count, sizeof(*r->items), by_event);
	pf_sort(m->unsaid, m->unsaid_count, sizeof(*m->unsaid), by_launch);
	for (size_t i = 0; i < m->unsaid_count; i++) {
		const struct unsaid *u = &m->unsaid[i];

		for (; at < r->count && r->items[at].event_id < u->launch_id;
		     at++)
			if (r->items[at].event_id >> 32 == u->launch_id >> 32)
				add_message(m, &m->d.p2ps[u->p2p],
					    &r->items[at].what);
	}
}

static int read_records(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = {
		.event = take_record, .columns = PF_COLBIT(PF_COL_ARGS)
	};

	return pf_track_read(((struct recording *)context)->m->db, t, &reader,
			     context);
}

static void settle_p2p(struct making *m)
{
	struct recording r = { .m = m };

	m->d.knows_p2p = true;
	if (!m->unsaid_count)
		return;
	if (!pf_host_tracks(m->db, m->trace->trace_id, read_records, &r))
		give_messages(&r);
	pf_map_release(&r.is_record);
	free(r.items);
}

/* Beside the pass over GPU work: hosts, kernels by name, launches. */

/* ---- what hosts do ---- */

static int take_host(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id)
{
	struct making *m = context;
	const struct pf_name_class *name;
	unsigned kind = pf_names_kind(m->names, b->type[i]);
	struct host_span span = { 0 };
	enum pf_cause cause;

	(void)event_id;
	if (kind > PF_KIND_OVERHEAD)
		return 0;
	name = pf_names_class(m->names, b->name[i]);
	PF_TRY(!name);
	cause = (enum pf_cause)(
		kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER ? name->call
		: kind == PF_KIND_OVERHEAD ? name->overhead
					   : name->range);
	while (span.cause < PF_HOST_CAUSES &&
	       pf_digest_causes[span.cause] != cause)
		span.cause++;
	if (span.cause == PF_HOST_CAUSES)
		return 0;
	span.start_ns = b->start_ns[i];
	span.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	return pf_sorter_add(m->hosts, &span, m->db->err);
}

static int read_host(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_host };

	return pf_track_read(((struct making *)context)->db, t, &reader,
			     context);
}

static void load_hosts(struct making *m)
{
	m->hosts = pf_sorter_temp(sizeof(struct host_span));
	if (!pf_host_tracks(m->db, m->trace->trace_id, read_host, m) &&
	    !pf_sorter_finish(m->hosts, m->db->err))
		m->host = pf_sorter_next(m->hosts, m->db->err);
}

/* ---- kernels ---- */

static void count_kernel(struct making *m, const struct pf_gpu_event *ev)
{
	struct pf_digest *d = &m->d;
	uint64_t *place = pf_map_at(&m->kernel_places, ev->name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(m->gpu, ev->name);
		if (!text)
			return;
		*place = d->kernel_count;
		*PF_ONE_MORE(d->kernels, d->kernel_count, d->kernel_cap) =
			(struct pf_digest_kernel){
				.name_hash = pf_digest_hash(text, strlen(text))
			};
	}
	d->kernels[*place].count++;
	pf_sat_sum(&d->kernels[*place].ns, ev->dur_ns);
}

PF_ORDER(by_time, struct pf_digest_kernel, PF_DOWN(ns) PF_UP(name_hash))

PF_ORDER(by_hash, struct pf_digest_kernel, PF_UP(name_hash))

/* The longest, and the rest as one. */
static void settle_kernels(struct making *m)
{
	struct pf_digest *d = &m->d;

	if (!d->kernel_count)
		return;
	pf_sort(d->kernels, d->kernel_count, sizeof(*d->kernels), by_time);
	for (size_t i = KERNELS_MAX; i < d->kernel_count; i++) {
		struct pf_digest_kernel *rest = &d->kernels[KERNELS_MAX - 1];

		rest->name_hash = 0;
		rest->count += d->kernels[i].count;
		pf_sat_sum(&rest->ns, d->kernels[i].ns);
	}
	PF_AT_MOST(d->kernel_count, KERNELS_MAX);
	pf_sort(d->kernels, d->kernel_count, sizeof(*d->kernels), by_hash);
}

/* ---- launches ---- */

/* In order of launches; of one instant collectives come first. */
struct in_order {
	int64_t at_ns, is_computation;
	int64_t end_ns, op;
};

/* By the calls, as far as they are known; else by the start of the work. */
static void order_launches(struct making *m, struct pf_sorter *order)
{
	const struct launched *l;
	const struct pf_block *b;
	struct pf_digest_p2p *gate;
	uint32_t i;

	while ((l = pf_by_event_next(m->launches, &b, &i))) {
		struct in_order o = { b ? b->start_ns[i] : l->start_ns,
				      l->op < 0, l->end_ns, l->op };

		gate = l->gate >= 0 ? &m->d.p2ps[l->gate] : NULL;
		/* its host did not wait for what was received */
		if (gate && (!b || b->start_ns[i] < gate->end_ns))
			gate->quiet_count = gate->unsplit_ns = 0;
		pf_sorter_add(order, &o, m->db->err);
	}
}

/* What a collective needed: the computation that was launched before it. */
static void settle_launches(struct making *m)
{
	PF_AUTO(pf_sorter_freed)
	struct pf_sorter *order = pf_sorter_temp(sizeof(struct in_order));
	const struct in_order *o;
	int64_t end_ns = INT64_MIN;

	order_launches(m, order);
	if (!m->db->err->code)
		pf_sorter_finish(order, m->db->err);
	while (!m->db->err->code && (o = pf_sorter_next(order, m->db->err))) {
		struct pf_digest_op *op;
		size_t step;

		if (o->is_computation) {
			PF_AT_LEAST(end_ns, o->end_ns);
			continue;
		}
		op = &m->d.ops[o->op];
		op->ready_ns = end_ns > o->at_ns ? end_ns : o->at_ns;
		PF_AT_MOST(op->ready_ns, op->start_ns);
		step = pf_steps_at(m->steps, m->trace->trace_id, o->at_ns);
		if (step < m->steps->count)
			op->step = m->steps->items[step].step;
	}
}

/* ---- marks ---- */

static bool is_earlier(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->at_ns < y->at_ns;
}

static void add_mark(struct making *m, int64_t at_ns, enum mark_kind kind,
		     size_t index)
{
	*PF_ONE_MORE(m->marks, m->mark_count, m->mark_cap) =
		(struct mark){ .at_ns = at_ns, .kind = kind, .index = index };
	pf_heap_rise(m->marks, sizeof(*m->marks), m->mark_count - 1,
		     is_earlier);
}

/*
 * What was done up to where the sweep is, each instant by its first set; what
 * hosts did while the GPU was idle.
 */
static void read_sums(const struct pf_sweep *s, struct sums *out)
{
	const unsigned hosts = ((1u << PF_HOST_CAUSES) - 1) << PF_DOING_IDLE;

	*out = (struct sums){ 0 };
	for (unsigned mask = 0; mask < 1u << (PF_DOING_IDLE + PF_HOST_CAUSES);
	     mask++) {
		unsigned doing =
			(unsigned)__builtin_ctz(mask | 1u << PF_DOING_IDLE);

		if (!s->by_mask[mask])
			continue;
		pf_sat_sum(
			&out->ns[doing < PF_DOING_IDLE ? doing : PF_DOING_IDLE],
			s->by_mask[mask]);
		for (unsigned rest = doing < PF_DOING_IDLE ? 0 : mask & hosts;
		     rest; rest &= rest - 1)
			pf_sat_sum(&out->host_ns[(unsigned)__builtin_ctz(rest) -
						 PF_DOING_IDLE],
				   s->by_mask[mask]);
	}
}

static void take_difference(const struct sums *to, const struct sums *from,
			    int64_t *ns, int64_t *host_ns)
{
	for (unsigned i = 0; i < PF_DOING_COUNT; i++)
		ns[i] = pf_sat_sub(to->ns[i], from->ns[i]);
	for (unsigned i = 0; host_ns && i < PF_HOST_CAUSES; i++)
		host_ns[i] = pf_sat_sub(to->host_ns[i], from->host_ns[i]);
}

static void pass_mark(struct making *m, const struct mark *mark)
{
	struct sums now;

	if (mark->kind == MARK_END &&
	    m->ends[mark->index].end_ns != mark->at_ns)
		return; /* another kernel of it ends later */
	read_sums(&m->sweep, &now);
	switch (mark->kind) {
	case MARK_END:
		m->ends[mark->index].sums = now;
		m->ends[mark->index].is_past = true;
		break;
	case MARK_STEP_START:
		m->step_sums[mark->index] = now;
		break;
	case MARK_STEP_END:
		take_difference(&now, &m->step_sums[mark->index],
				m->d.steps[mark->index].ns, NULL);
		break;
	}
}

/* ---- exposed communication ---- */

static void add_piece(struct making *m, size_t op, int64_t from_ns, int64_t ns)
{
	struct open_piece *last =
		m->piece_count ? &m->pieces[m->piece_count - 1] : NULL;

	if (op == NO_OP || ns <= 0)
		return;
	if (last && last->op == op && last->from_ns + last->ns == from_ns) {
		last->ns += ns;
		return;
	}
	if (m->d.ops[op].piece_count == PIECES_MAX) {
		pf_sat_sum(&m->d.ops[op].unsplit_ns, ns);
		return;
	}
	m->d.ops[op].piece_count++;
	*PF_ONE_MORE(m->pieces, m->piece_count, m->piece_cap) =
		(struct open_piece){ op, from_ns, ns };
}

/* From the last start up to an instant: of the kernels that run, the oldest. */
static void expose_to(struct making *m, int64_t to_ns)
{
	int64_t at =
		m->exposed_ns > m->computed_ns ? m->exposed_ns : m->computed_ns;
	size_t kept = 0;

	for (size_t i = 0; i < m->running_count; i++) {
		struct running *k = &m->running[i];
		int64_t end = k->end_ns < to_ns ? k->end_ns : to_ns;

		if (end > at) {
			add_piece(m, k->op, at, end - at);
			at = end;
		}
		if (k->end_ns > to_ns)
			m->running[kept++] = *k;
	}
	m->running_count = kept;
	PF_AT_LEAST(m->exposed_ns, to_ns);
}

/* ---- time goes on ---- */

static void add_host_to(struct making *m, int64_t to_ns)
{
	while (m->host && m->host->start_ns <= to_ns) {
		pf_sweep_add(&m->sweep,
			     PF_DOING_IDLE + (unsigned)m->host->cause,
			     m->host->start_ns, m->host->end_ns);
		m->host = pf_sorter_next(m->hosts, m->db->err);
	}
}

/* All that starts before is known: pass the marks up to an instant. */
static void pass_to(struct making *m, int64_t to_ns)
{
	while (m->mark_count && m->marks[0].at_ns <= to_ns) {
		struct mark mark = m->marks[0];

		m->marks[0] = m->marks[--m->mark_count];
		pf_heap_sink(m->marks, sizeof(*m->marks), m->mark_count, 0,
			     is_earlier);
		add_host_to(m, mark.at_ns);
		pf_sweep_to(&m->sweep, mark.at_ns);
		pass_mark(m, &mark);
	}
	add_host_to(m, to_ns);
	pf_sweep_to(&m->sweep, to_ns);
}

/* Computation begins: which collectives that have ended did it wait for? */
static void open_gates(struct making *m, int64_t start_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->closed_count; i++) {
		size_t op = m->closed[i];
		int64_t end_ns = m->ends[op].end_ns;

		if (end_ns > start_ns) {
			m->closed[kept++] = op;
			continue;
		}
		m->d.ops[op].gates = start_ns - end_ns <= GATE_NS &&
				     (!m->has_computed ||
				      m->computed_ns <= end_ns - BEFORE_NS);
	}
	m->closed_count = kept;
}

/* ---- collectives ---- */

static size_t add_op(struct making *m, const struct pf_gpu_event *ev,
		     const struct what *what)
{
	struct pf_digest *d = &m->d;
	size_t n = d->op_count, group = what->group;
	struct pf_digest_op *op;

	PF_ROOM(m->ends, m->end_cap, n + 1);
	op = PF_ONE_MORE(d->ops, d->op_count, d->op_cap);
	*op = (struct pf_digest_op){ .start_ns = ev->start_ns,
				     .end_ns = ev->start_ns,
				     .ready_ns = ev->start_ns,
				     .step = -1,
				     .stream = ev->stream,
				     .bytes = what->bytes,
				     .size = what->size,
				     .group = (uint32_t)group,
				     .kind = what->sync };
	m->ends[n] = (struct op_end){ .end_ns = INT64_MIN };
	while (m->last_count <= group)
		*PF_ONE_MORE(m->lasts, m->last_count, m->last_cap) = NO_OP;
	if (m->lasts[group] != NO_OP) {
		const struct op_end *end = &m->ends[m->lasts[group]];
		struct sums now;

		read_sums(&m->sweep, &now);
		op->has_since = true;
		if (end->is_past)
			take_difference(&now, &end->sums, op->since_ns,
					op->host_ns);
	}
	m->lasts[group] = n;
	*PF_ONE_MORE(m->closed, m->closed_count, m->closed_cap) = n;
	return n;
}

static size_t take_comm(struct making *m, const struct pf_gpu_event *ev,
			const struct what *what, int64_t end_ns)
{
	uint64_t *place = NULL;
	size_t op;

	if (what->sync == PF_SYNC_NONE)
		return NO_OP;
	if (ev->comm.record_id)
		place = pf_map_at(&m->records, (uint64_t)ev->comm.record_id);
	if (place && *place != UINT64_MAX) {
		op = (size_t)*place;
	} else {
		op = add_op(m, ev, what);
		if (place)
			*place = op;
	}
	if (end_ns > m->ends[op].end_ns) {
		m->ends[op].end_ns = m->d.ops[op].end_ns = end_ns;
		m->ends[op].is_past = false;
		add_mark(m, end_ns, MARK_END, op);
	}
	return op;
}

/* ---- an event ---- */

static void add_launch(struct making *m, const struct pf_gpu_event *ev,
		       int64_t end_ns, size_t op, size_t gate)
{
	struct launched l = { .launch_id = ev->launch_id,
			      .event_id = ev->event_id,
			      .start_ns = ev->start_ns,
			      .end_ns = end_ns,
			      .op = op == NO_OP ? -1 : (int64_t)op,
			      .gate = gate == NO_OP ? -1 : (int64_t)gate };

	pf_by_event_add(m->launches, &l);
}

static void take_computation(struct making *m, const struct pf_gpu_event *ev,
			     int64_t end_ns)
{
	size_t gate;

	open_gates(m, ev->start_ns);
	gate = compute(m, ev->start_ns, end_ns);
	if (!m->has_computed || end_ns > m->computed_ns)
		m->computed_ns = end_ns;
	m->has_computed = true;
	count_kernel(m, ev);
	add_launch(m, ev, end_ns, NO_OP, gate);
}

static void take_communication(struct making *m, const struct pf_gpu_event *ev,
			       int64_t end_ns)
{
	struct what what = find_what(m, ev);
	const size_t count = m->d.op_count;
	size_t op = take_comm(m, ev, &what, end_ns);

	if (what.p2p)
		take_p2p(m, ev, &what, end_ns);
	else
		end_quiet(m, ev->start_ns, end_ns);
	*PF_ONE_MORE(m->running, m->running_count, m->running_cap) =
		(struct running){ op, end_ns };
	if (op != NO_OP && m->d.op_count != count)
		add_launch(m, ev, end_ns, op, NO_OP);
}

static void take(struct making *m, const struct pf_gpu_event *ev)
{
	static const unsigned sets[PF_GPU_CLASSES] = {
		[PF_GPU_COMPUTE] = PF_DOING_COMPUTATION,
		[PF_GPU_COMM] = PF_DOING_COMMUNICATION,
		[PF_GPU_COPY] = PF_DOING_COPY,
		[PF_GPU_MEMSET] = PF_DOING_COPY,
	};
	int64_t end_ns = pf_span_end(ev->start_ns, ev->dur_ns);

	if (!m->has_begun) {
		m->has_begun = true;
		m->d.start_ns = ev->start_ns;
		if (m->mark_count && m->marks[0].at_ns < ev->start_ns)
			m->d.start_ns = m->marks[0].at_ns;
		m->d.end_ns = m->d.start_ns;
		m->exposed_ns = ev->start_ns;
		m->computed_ns = INT64_MIN;
		m->busy_ns = m->d.start_ns;
		pf_sweep_begin(&m->sweep, m->d.start_ns);
	}
	PF_AT_LEAST(m->d.end_ns, end_ns);
	pass_to(m, ev->start_ns);
	expose_to(m, ev->start_ns);
	if (ev->class == PF_GPU_COMPUTE)
		take_computation(m, ev, end_ns);
	if (ev->class == PF_GPU_COMM)
		take_communication(m, ev, end_ns);
	if (sets[ev->class] == PF_DOING_COPY)
		end_quiet(m, ev->start_ns, end_ns);
	pf_sweep_add(&m->sweep, sets[ev->class], ev->start_ns, end_ns);
}

/* ---- without a GPU ---- */

/* What a host does: an outermost operator, or communication of its own. */
struct host_work {
	int64_t start_ns, end_ns, event_id, name, is_comm;
};

struct working {
	struct making *m;
	struct pf_sorter *work;
	int64_t covered_ns; /* of the thread, by operators */
};

static int take_work(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id)
{
	struct working *w = context;
	struct making *m = w->m;
	struct host_work work = {
		.start_ns = b->start_ns[i],
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.event_id = event_id,
		.name = b->name[i],
	};
	unsigned kind = pf_names_kind(m->names, b->type[i]);
	const struct pf_name_class *class;
	const char *text;

	if ((kind != PF_KIND_CPU_OP && kind != PF_KIND_ANNOTATION) ||
	    work.start_ns < m->trace->from_ns ||
	    work.start_ns >= m->trace->to_ns)
		return 0;
	class = pf_names_class(m->names, b->name[i]);
	PF_TRY(!class);
	if (class->range == PF_CAUSE_COMM) {
		text = pf_gpu_name(m->gpu, b->name[i]);
		PF_TRY(!text);
		work.is_comm = pf_word(PF_WORD_COMM_WAIT, text);
	} else if (kind == PF_KIND_CPU_OP && !class->is_comm_op &&
		   work.end_ns > w->covered_ns) {
		w->covered_ns = work.end_ns;
	} else {
		return 0;
	}
	return pf_sorter_add(w->work, &work, m->db->err);
}

static int read_work(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_work };
	struct working *w = context;

	w->covered_ns = INT64_MIN;
	return pf_track_read(w->m->db, t, &reader, context);
}

/* As if a GPU did it. */
static void take_host_work(struct making *m, const struct host_work *work)
{
	struct pf_gpu_event ev = {
		.trace = m->trace,
		.event_id = work->event_id,
		.start_ns = work->start_ns,
		.end_ns = work->end_ns,
		.dur_ns = work->end_ns - work->start_ns,
		.name = (uint32_t)work->name,
		.config = PF_ID_NONE,
		.class = work->is_comm ? PF_GPU_COMM : PF_GPU_COMPUTE,
		.comm = { .name = PF_ID_NONE },
	};
	struct what what = { 0 };

	if (work->is_comm)
		read_name(m, ev.name, &what);
	ev.stream = PF_DIGEST_HOSTS - (int64_t)what.sync;
	take(m, &ev);
}

static void take_hosts(struct making *m)
{
	PF_AUTO(pf_sorter_freed)
	struct pf_sorter *all = pf_sorter_temp(sizeof(struct host_work));
	struct working w = { .m = m, .work = all };
	const struct host_work *work;

	if (pf_host_tracks(m->db, m->trace->trace_id, read_work, &w) ||
	    pf_sorter_finish(all, m->db->err))
		return;
	m->is_host = true;
	while ((work = pf_sorter_next(all, m->db->err)))
		take_host_work(m, work);
}

/* ---- the end of a trace ---- */

/* Pieces by collective, each from its start. */
static void settle_pieces(struct making *m)
{
	struct pf_digest *d = &m->d;
	size_t at = 0;

	d->pieces = pf_calloc(m->piece_count + 1, sizeof(*d->pieces));
	d->piece_count = m->piece_count;
	for (size_t i = 0; i < d->op_count; i++) {
		d->ops[i].piece_from = at;
		at += d->ops[i].piece_count;
		d->ops[i].piece_count = 0;
	}
	for (size_t i = 0; i < m->piece_count; i++) {
		const struct open_piece *p = &m->pieces[i];
		struct pf_digest_op *op = &d->ops[p->op];

		d->pieces[op->piece_from + op->piece_count++] =
			(struct pf_digest_piece){ p->from_ns - op->start_ns,
						  p->ns };
	}
}

static int64_t absolute(int64_t ns, int64_t base_ns)
{
	int64_t sum = pf_sat_add(ns, base_ns);

	return sum > TIME_MAX ? TIME_MAX : sum < -TIME_MAX ? -TIME_MAX : sum;
}

/* From the trace's own zero to the clock that it names. */
static void add_base(struct pf_digest *d, int64_t base_ns)
{
	d->start_ns = absolute(d->start_ns, base_ns);
	d->end_ns = absolute(d->end_ns, base_ns);
	d->first_ns = absolute(d->first_ns, base_ns);
	for (size_t i = 0; i < d->op_count; i++) {
		struct pf_digest_op *op = &d->ops[i];

		op->start_ns = absolute(op->start_ns, base_ns);
		op->end_ns = absolute(op->end_ns, base_ns);
		op->ready_ns = absolute(op->ready_ns, base_ns);
	}
	for (size_t i = 0; i < d->p2p_count; i++) {
		struct pf_digest_p2p *p = &d->p2ps[i];

		p->start_ns = absolute(p->start_ns, base_ns);
		p->end_ns = absolute(p->end_ns, base_ns);
	}
	for (size_t i = 0; i < d->step_count; i++) {
		d->steps[i].start_ns = absolute(d->steps[i].start_ns, base_ns);
		d->steps[i].end_ns = absolute(d->steps[i].end_ns, base_ns);
	}
}

static void finish(struct making *m)
{
	struct sums sums;
	int64_t end_ns = m->d.end_ns;

	if (m->has_begun) {
		for (size_t i = 0; i < m->d.step_count; i++)
			PF_AT_LEAST(end_ns, m->d.steps[i].end_ns);
		expose_to(m, end_ns);
		pass_to(m, m->d.end_ns);
		read_sums(&m->sweep, &sums);
		memcpy(m->d.ns, sums.ns, sizeof(m->d.ns));
		pass_to(m, end_ns);
	}
	settle_pieces(m);
	settle_launches(m);
	settle_p2p(m);
	settle_kernels(m);
}

/* ---- a trace ---- */

static void take_steps(struct making *m)
{
	struct pf_digest *d = &m->d;

	for (size_t i = 0; i < m->steps->count; i++) {
		const struct pf_step *s = &m->steps->items[i];

		if (s->trace_id != m->trace->trace_id || s->is_empty ||
		    s->end_ns <= m->trace->from_ns ||
		    s->start_ns >= m->trace->to_ns)
			continue;
		*PF_ONE_MORE(d->steps, d->step_count, d->step_cap) =
			(struct pf_digest_step){ .step = s->step,
						 .start_ns = s->start_ns,
						 .end_ns = s->end_ns };
	}
	m->step_sums = pf_calloc(d->step_count + 1, sizeof(*m->step_sums));
	for (size_t i = 0; i < d->step_count; i++) {
		add_mark(m, d->steps[i].start_ns, MARK_STEP_START, i);
		add_mark(m, d->steps[i].end_ns, MARK_STEP_END, i);
	}
}

static void begin(struct making *m, const struct pf_window_trace *trace)
{
	m->trace = trace;
	m->d = (struct pf_digest){ .rank = trace->rank,
				   .world = -1,
				   .trace_id = trace->trace_id,
				   .first_ns = trace->first_ns };
	pf_sweep_init(&m->sweep);
	m->launches = pf_by_event_new(m->db, sizeof(struct launched),
				      PF_COLBIT(PF_COL_START));
	take_steps(m);
	load_hosts(m);
}

static void end(struct making *m)
{
	pf_digest_release(&m->d);
	pf_map_release(&m->records);
	pf_map_release(&m->kernel_places);
	pf_map_release(&m->group_places);
	pf_by_event_free(m->launches);
	pf_sorter_free(m->hosts);
	free(m->marks);
	free(m->ends);
	free(m->step_sums);
	free(m->pieces);
	free(m->running);
	free(m->closed);
	free(m->lasts);
	pf_map_release(&m->p2p_records);
	free(m->unsaid);
	free(m->received);
	free(m->quiets);
	memset(&m->trace, 0, sizeof(*m) - offsetof(struct making, trace));
}

static void hand_over(struct making *m, const struct pf_digest_sink *sink)
{
	size_t at = PF_SEARCH(i, m->source_count,
			      m->sources[i].trace_id < m->trace->trace_id);
	const struct source *from = &m->sources[at];

	if (!m->has_begun)
		take_hosts(m);
	finish(m);
	if (at < m->source_count && from->trace_id == m->trace->trace_id) {
		m->d.world = from->world;
		if (from->host && *from->host)
			m->d.host = pf_strdup(from->host);
		add_base(&m->d, from->base_ns);
	}
	if (!m->db->err->code)
		sink->take(sink->context, &m->d, m->db->err);
}

/* Up to a trace, or the end: those without GPU work have digests, too. */
static void go_on(struct making *m, const struct pf_window *w, size_t *next,
		  const struct pf_window_trace *to,
		  const struct pf_digest_sink *sink)
{
	do {
		if (m->trace)
			hand_over(m, sink);
		end(m);
		if (*next == w->count || m->db->err->code)
			return;
		begin(m, &w->traces[(*next)++]);
	} while (m->trace != to);
}

int pf_digests_make(struct pf_db *db, const struct pf_window *window,
		    const struct pf_digest_sink *sink)
{
	PF_AUTO(pf_steps_release) struct pf_steps steps = { 0 };
	struct making m = { .db = db, .steps = &steps, .texts = { .db = db } };
	const struct pf_gpu_event *ev;
	size_t next = 0;

	m.sources = pf_named_read(db, "rank_traces", PF_FIELDS(source_fields),
				  &m.memory, &m.source_count);
	if (!pf_steps_load(db, window->steps, &steps) && m.sources &&
	    (m.names = pf_names_new(db)))
		m.gpu = pf_gpu_new(db, window, PF_GPU_STARTS | PF_GPU_CALLS);
	while (!db->err->code && pf_gpu_next(m.gpu, &ev) == 1) {
		if (ev->trace != m.trace)
			go_on(&m, window, &next, ev->trace, sink);
		if (!db->err->code)
			take(&m, ev);
	}
	if (!db->err->code)
		go_on(&m, window, &next, NULL, sink);
	end(&m);
	pf_intern_release(&m.groups);
	pf_map_release(&m.argsets);
	pf_map_release(&m.syncs);
	pf_arena_release(&m.memory);
	free(m.said);
	pf_names_free(m.names);
	pf_gpu_free(m.gpu);
	pf_texts_release(&m.texts);
	return db->err->code ? -1 : 0;
}
