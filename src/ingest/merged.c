/* SPDX-License-Identifier: MIT */
/*
 * Files that were made of the traces of several processes, mostly the ranks of
 * a job: SGLang's merger puts "[TP00] " in front of every pid, others number
 * pids anew, jq puts one list behind the other.  Ids of calls, operators and
 * work are a process's own, and so are its steps and clocks.  So the events of
 * each process become a trace of their own, as if its file had been read.
 *
 * Which event is whose is said by the first of these that can:
 *
 *	labels   each process that runs something has another label before its
 *		 number;
 *	marks    "Record Window End", with which Kineto ends a file; of a file
 *		 with one pid also its name, which each file says once: parts
 *		 of the file, each with the code of one process.  Parts of one
 *		 pid that follow each other in time are one process;
 *	order    all code of one process stands before all of the next (Kineto
 *		 writes a process's operators first), and GPU work has its
 *		 calls in the part that it is in;
 *	calls    the GPU work of a track has its calls in one process.
 *
 * Where none does the file stays one trace.  Only places in the file, times
 * and ids decide, so the answer does not depend on chunks or threads.
 */
#include "config.h"

#include <ctype.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/stats.h"
#include "ingest/impl.h"
#include "store/argtext.h"

#define OWNERS_MAX  4096  /* a file of more stays one trace */
#define LABEL_MAX   64    /* bytes */
#define NUMBERS_MAX 8     /* in a label */
#define CALLS_MAX   65536 /* that are held against GPU work */
#define NOBODY      PF_INGEST_EACH_OWNER

#define OP_KINDS   (1u << PF_KIND_CPU_OP)
#define CALL_KINDS (1u << PF_KIND_RUNTIME | 1u << PF_KIND_DRIVER)

/* A process that has operators or, where none has, calls; by its pid. */
struct process {
	const char *pid;
	int64_t first, last; /* places in the file of its threads */
	bool is_named;
};

struct finding {
	struct pf_ingest *in;
	struct pf_ingest_owners *out;
	struct pf_intern pids; /* of processes, then of others */
	struct process *processes;
	size_t process_count, processes_cap;
};

static bool is_kind(const struct pf_ingest *in, const struct pf_run_event *ev,
		    uint32_t kinds)
{
	return kinds >> in->type[ev->type].kind & 1;
}

static int each_event(struct pf_ingest *in, const struct pf_ingest_track *t,
		      void (*visit)(void *arg, const struct pf_run_event *ev),
		      void *arg, struct pf_err *err)
{
	return pf_run_each(in->runs, t->runs, t->run_count, visit, arg, err);
}

/* ---- processes ---- */

static uint32_t find_process(struct finding *f, const char *pid)
{
	uint32_t n = pf_intern_add(&f->pids, pid, strlen(pid));

	return n < f->process_count ? n : NOBODY;
}

/* Records of in->process_names: place in the file, length of the pid, pid. */
#define NAMES_BYTES (1u << 20)
#define NAME_HEAD   (sizeof(int64_t) + sizeof(uint32_t))

static bool next_name(const struct pf_ingest *in, size_t *at, int64_t *order,
		      const char **pid, size_t *len)
{
	const struct pf_buf *b = &in->process_names;
	uint32_t n;

	if (*at == b->len)
		return false;
	memcpy(order, b->data + *at, sizeof(*order));
	memcpy(&n, b->data + *at + sizeof(*order), sizeof(n));
	*pid = b->data + *at + NAME_HEAD;
	*len = n;
	*at += NAME_HEAD + n;
	return true;
}

/* What the threads of a pid have together. */
struct kinds {
	const char *pid;
	uint32_t seen;
	bool is_named;
};

/*
 * Processes have operators, and calls if any has; or calls, if there are no
 * operators.  False: there are more than are told apart.
 */
static bool choose_processes(struct finding *f, const struct kinds *of,
			     size_t count)
{
	uint32_t all = 0, code;

	for (size_t i = 0; i < count; i++)
		all |= of[i].seen;
	code = all & OP_KINDS ? OP_KINDS : CALL_KINDS;
	for (size_t i = 0; i < count; i++) {
		if (!(of[i].seen & code) ||
		    (all & CALL_KINDS && !(of[i].seen & CALL_KINDS)))
			continue;
		if (f->process_count == OWNERS_MAX)
			return false;
		PF_ROOM(f->processes, f->processes_cap, f->process_count + 1);
		/* its number is that of its pid, as no other is there yet */
		pf_intern_add(&f->pids, of[i].pid, strlen(of[i].pid));
		f->processes[f->process_count++] =
			(struct process){ of[i].pid, INT64_MAX, -1,
					  of[i].is_named };
	}
	return true;
}

static bool find_processes(struct finding *f)
{
	const struct pf_ingest *in = f->in;
	const size_t count = in->track_count - in->first_track;
	PF_OWN struct kinds *of = pf_calloc(count + 1, sizeof(*of));
	PF_AUTO(pf_intern_release) struct pf_intern pids = { 0 };
	size_t at = 0, len;
	uint32_t known;
	int64_t order;
	const char *pid;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);
		uint32_t n;

		if (t->class_letter != 'h')
			continue;
		n = pf_intern_add(&pids, t->pid, strlen(t->pid));
		of[n].pid = t->pid;
		of[n].seen |= t->kinds;
	}
	known = pids.count;
	while (next_name(in, &at, &order, &pid, &len)) {
		uint32_t n = pf_intern_add(&pids, pid, len);

		if (n < known)
			of[n].is_named = true;
	}
	return choose_processes(f, of, known);
}

/* The process of a thread of the host; NOBODY: it is of none. */
static uint32_t process_of(struct finding *f, const struct pf_ingest_track *t)
{
	return t->class_letter == 'h' ? find_process(f, t->pid) : NOBODY;
}

static void add_part(struct pf_ingest_owners *o, int64_t begin, uint32_t owner)
{
	*PF_ONE_MORE(o->parts, o->part_count, o->parts_cap) =
		(struct pf_ingest_part){ begin, owner };
}

static size_t part_at(const struct pf_ingest_owners *o, int64_t order)
{
	size_t behind = PF_SEARCH(i, o->part_count, o->parts[i].begin <= order);

	return behind ? behind - 1 : 0;
}

/* ---- labels ---- */

/* "[TP00] 900": the length of what stands before the number; 0: nothing. */
static size_t label_length(const char *pid)
{
	size_t n = strlen(pid), end = n;
	bool has_letter = false;

	while (end && isdigit((unsigned char)pid[end - 1]))
		end--;
	for (size_t i = 0; i < end; i++)
		has_letter |= isalpha((unsigned char)pid[i]) != 0;
	return end < n && end <= LABEL_MAX && has_letter ? end : 0;
}

PF_ORDER(compare_labels, struct pf_ingest_label, PF_ALPHA(text))

static uint32_t find_text(const struct pf_ingest_label *labels, size_t count,
			  const char *text, size_t len)
{
	size_t at = PF_SEARCH(i, count, strncmp(labels[i].text, text, len) < 0);

	return at < count && !strncmp(labels[at].text, text, len) &&
			       !labels[at].text[len]
		       ? labels[at].owner
		       : NOBODY;
}

/* The owner of "[TP00] 0" and "[TP00] Spans"; what has no label is the first's. */
static uint32_t owner_by_label(const struct pf_ingest_owners *o,
			       const char *pid, size_t len)
{
	for (size_t n = len < LABEL_MAX ? len : LABEL_MAX; n; n--) {
		uint32_t owner = find_text(o->labels, o->label_count, pid, n);

		if (owner != NOBODY)
			return owner;
	}
	return 0;
}

static size_t read_numbers(const char *text, int64_t out[NUMBERS_MAX])
{
	size_t count = 0;

	while (*text && count < NUMBERS_MAX) {
		int64_t n = 0;

		if (!isdigit((unsigned char)*text)) {
			text++;
			continue;
		}
		for (; isdigit((unsigned char)*text); text++)
			n = n < INT64_C(100000000) ? n * 10 + (*text - '0') : n;
		out[count++] = n;
	}
	return count;
}

/*
 * The one number in which labels differ is the rank, if it tells them apart;
 * otherwise ranks follow each other as their labels do.
 */
static bool rank_by_number(struct pf_ingest_label *labels, size_t label_count)
{
	int64_t first[NUMBERS_MAX], numbers[NUMBERS_MAX];
	size_t count = read_numbers(labels[0].text, first), differs = 0;
	size_t place = 0;

	for (size_t n = 0; n < count; n++)
		for (size_t i = 1; i < label_count; i++) {
			if (read_numbers(labels[i].text, numbers) != count)
				return false;
			if (numbers[n] == first[n])
				continue;
			differs += !differs || place != n;
			place = n;
		}
	for (size_t i = 0; i < label_count && differs == 1; i++) {
		read_numbers(labels[i].text, numbers);
		labels[i].rank = numbers[place];
		for (size_t k = 0; k < i; k++)
			if (labels[k].rank == labels[i].rank)
				return false;
	}
	return differs == 1;
}

PF_ORDER(compare_ranks, struct pf_ingest_label, PF_UP(rank))

/* Owners are numbered in the order of their ranks. */
static void number_labels(struct pf_ingest_owners *o)
{
	const size_t count = o->label_count;

	pf_sort(o->labels, count, sizeof(*o->labels), compare_labels);
	if (!rank_by_number(o->labels, count))
		for (size_t i = 0; i < count; i++)
			o->labels[i].rank = (int64_t)i;
	pf_sort(o->labels, count, sizeof(*o->labels), compare_ranks);
	o->ranks = pf_calloc(count, sizeof(*o->ranks));
	for (size_t i = 0; i < count; i++) {
		o->labels[i].owner = (uint32_t)i;
		o->ranks[i] = o->labels[i].rank;
	}
	pf_sort(o->labels, count, sizeof(*o->labels), compare_labels);
}

/* As they come, where the file does not say more. */
static void number_ranks(struct pf_ingest_owners *o)
{
	o->ranks = pf_calloc(o->count, sizeof(*o->ranks));
	for (size_t i = 0; i < o->count; i++)
		o->ranks[i] = (int64_t)i;
}

/* Each pid that runs something has a label, and not all the same. */
static bool find_labels(struct finding *f)
{
	struct pf_ingest_owners *o = f->out;
	const struct pf_ingest *in = f->in;
	PF_AUTO(pf_intern_release) struct pf_intern labels = { 0 };
	bool has_all = true;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);
		size_t n = label_length(t->pid);

		if (t->class_letter != 'h' ||
		    !(t->kinds & (OP_KINDS | CALL_KINDS)))
			continue;
		has_all &= n > 0;
		pf_intern_add(&labels, t->pid, n);
	}
	if (has_all && labels.count > 1 && labels.count <= OWNERS_MAX) {
		o->count = o->label_count = labels.count;
		o->labels = pf_calloc(labels.count, sizeof(*o->labels));
		for (uint32_t i = 0; i < labels.count; i++)
			o->labels[i].text =
				pf_strdup(pf_intern_text(&labels, i, NULL));
		number_labels(o);
	}
	return o->label_count > 0;
}

/* ---- marks ---- */

struct marks {
	uint32_t name;
	int64_t *at;
	size_t count, cap;
	bool are_names; /* of the only process */
};

static void add_mark(struct marks *m, int64_t order)
{
	if (m->count > OWNERS_MAX)
		return;
	*PF_ONE_MORE(m->at, m->count, m->cap) = order;
}

static void note_mark(void *arg, const struct pf_run_event *ev)
{
	struct marks *m = arg;

	if (ev->name == m->name)
		add_mark(m, ev->order);
}

/* Ends of files, which are on a track without a process. */
static int find_ends(struct finding *f, struct marks *m, struct pf_err *err)
{
	const struct pf_ingest *in = f->in;

	m->name = in->window_end_name;
	if (m->name == PF_ID_NONE)
		return 0;
	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		PF_TRY(!*t->pid && each_event(f->in, t, note_mark, m, err));
	}
	pf_sort(m->at, m->count, sizeof(*m->at), pf_stats_compare);
	return 0;
}

/* Text of JSON without what was escaped in it, which no label has. */
static size_t pid_of(const char *json, size_t len, const char **pid)
{
	struct pf_argtext it = { .text = json, .len = len };
	struct pf_arg a;

	while (pf_argtext_next(&it, &a)) {
		if (a.key_len != 3 || memcmp(a.key, "pid", 3) != 0)
			continue;
		*pid = a.value;
		if (a.value_len < 2 || *a.value != '"')
			return a.value_len;
		*pid = a.value + 1;
		return a.value_len - 2;
	}
	return 0;
}

void pf_ingest_note_process(struct pf_ingest *in, const char *json, size_t len,
			    int64_t order)
{
	static const char key[] = "\"process_name\"";
	const char *pid = "";
	uint32_t n;

	if (in->process_names.len > NAMES_BYTES ||
	    !memmem(json, len, key, sizeof(key) - 1))
		return;
	n = (uint32_t)pid_of(json, len, &pid);
	pf_buf_add(&in->process_names, &order, sizeof(order));
	pf_buf_add(&in->process_names, &n, sizeof(n));
	pf_buf_add(&in->process_names, pid, n);
}

static void find_names(struct finding *f, struct marks *m)
{
	const char *only = f->processes->pid, *pid;
	size_t at = 0, len;
	int64_t order;

	m->count = 0;
	m->are_names = true;
	while (next_name(f->in, &at, &order, &pid, &len))
		if (len == strlen(only) && !memcmp(pid, only, len))
			add_mark(m, order);
}

/* What of a part is known: where and when its code is, and whose it is. */
struct piece {
	int64_t first, first_ns, last_ns;
	uint32_t process; /* NOBODY: it has no code */
	bool is_mixed;
};

struct survey {
	struct finding *f;
	struct piece *pieces;
	uint32_t process;
};

static void add_to_piece(struct survey *s, int64_t order, int64_t first_ns,
			 int64_t last_ns)
{
	struct piece *p = &s->pieces[part_at(s->f->out, order)];

	if (p->process == NOBODY)
		*p = (struct piece){ order, first_ns, last_ns, s->process,
				     false };
	p->is_mixed |= p->process != s->process;
	PF_AT_MOST(p->first, order);
	PF_AT_MOST(p->first_ns, first_ns);
	PF_AT_LEAST(p->last_ns, last_ns);
}

static void see_piece(void *arg, const struct pf_run_event *ev)
{
	add_to_piece(arg, ev->order, ev->start_ns, ev->start_ns);
}

/*
 * A run is read only if its chunk is of several parts, or it matters where in
 * the file each event is.
 */
static int see_runs(struct survey *s, const struct pf_ingest_track *t,
		    bool read_all, struct pf_err *err)
{
	const struct pf_ingest_owners *o = s->f->out;

	for (size_t i = 0; i < t->run_count; i++) {
		const struct pf_run *run = &t->runs[i];

		if (!read_all && part_at(o, run->chunk_first) ==
					 part_at(o, run->chunk_behind - 1))
			add_to_piece(s, run->chunk_first, run->first_start_ns,
				     run->last_start_ns);
		else if (pf_run_each(s->f->in->runs, run, 1, see_piece, s, err))
			return -1;
	}
	return 0;
}

/* Code is what is on threads of processes. */
static int see_pieces(struct finding *f, struct piece *pieces, bool read_all,
		      struct pf_err *err)
{
	struct survey s = { .f = f, .pieces = pieces };
	const struct pf_ingest *in = f->in;

	for (size_t i = 0; i < f->out->part_count; i++)
		pieces[i].process = NOBODY;
	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		s.process = process_of(f, t);
		PF_TRY(s.process != NOBODY && see_runs(&s, t, read_all, err));
	}
	return 0;
}

static bool overlap(const struct piece *a, const struct piece *b)
{
	return a->first_ns < b->last_ns && b->first_ns < a->last_ns;
}

/* Parts without code are of the one before them; the first, of the next. */
static void join_parts(struct pf_ingest_owners *o, struct piece *pieces)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->part_count; i++) {
		if (pieces[i].process == NOBODY)
			continue;
		o->parts[kept] = o->parts[i];
		pieces[kept++] = pieces[i];
	}
	o->part_count = kept;
}

/* A part goes on an earlier one of its process that it is not beside. */
static bool own_parts(struct pf_ingest_owners *o, const struct piece *pieces)
{
	PF_OWN struct piece *owners =
		pf_calloc(o->part_count + 1, sizeof(*owners));
	bool is_whole = true;

	o->count = 0;
	for (size_t i = 0; i < o->part_count; i++) {
		const struct piece *p = &pieces[i];
		size_t n = 0;

		is_whole &= !p->is_mixed;
		while (n < o->count && (owners[n].process != p->process ||
					overlap(&owners[n], p)))
			n++;
		if (n == o->count)
			owners[o->count++] = *p;
		PF_AT_MOST(owners[n].first_ns, p->first_ns);
		PF_AT_LEAST(owners[n].last_ns, p->last_ns);
		o->parts[i].owner = (uint32_t)n;
	}
	return is_whole && o->count > 1;
}

/*
 * A name may stand before all else of its process or, as Kineto writes it,
 * behind its code, with other names: then what follows them begins with code.
 */
static int find_parts(struct finding *f, const struct marks *m, bool *found,
		      struct pf_err *err)
{
	struct pf_ingest_owners *o = f->out;
	PF_OWN struct piece *pieces = NULL;
	bool is_before;
	int rc;

	if (m->count < 2 || m->count > OWNERS_MAX)
		return 0;
	add_part(o, 0, 0);
	for (size_t i = 0; i < m->count; i++)
		add_part(o, m->at[i] + !m->are_names, 0);
	pieces = pf_calloc(o->part_count, sizeof(*pieces));
	rc = see_pieces(f, pieces, m->are_names, err);
	is_before = pieces[0].process == NOBODY;
	join_parts(o, pieces);
	for (size_t i = 0; i < o->part_count && m->are_names && !is_before; i++)
		o->parts[i].begin = pieces[i].first;
	*found = !rc && own_parts(o, pieces);
	if (!*found)
		o->part_count = 0;
	return rc;
}

static int find_by_marks(struct finding *f, bool *found, struct pf_err *err)
{
	struct marks m = { 0 };
	int rc = find_ends(f, &m, err);

	if (!rc)
		rc = find_parts(f, &m, found, err);
	if (!rc && !*found && f->process_count == 1) {
		find_names(f, &m);
		rc = find_parts(f, &m, found, err);
	}
	free(m.at);
	return rc;
}

/* ---- calls, and the work that they launched ---- */

struct call {
	int64_t id, start_ns;
	uint32_t process;
};

/* Of many ids those that a hash picks, the same of calls and of work. */
struct calls {
	struct finding *f;
	struct call *all;
	size_t count, cap;
	unsigned level;
	uint32_t process;
};

static bool is_picked(int64_t id, unsigned level)
{
	uint64_t h = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);

	return !level || !(h >> (64 - level));
}

static int64_t correlation_of(const struct pf_run_event *ev)
{
	const uint32_t bit = 1u << PF_SLOT_CORRELATION;

	return ev->mask & bit
		       ? ev->slots[__builtin_popcount(ev->mask & (bit - 1))]
		       : 0;
}

static void note_call(void *arg, const struct pf_run_event *ev)
{
	struct calls *c = arg;
	struct process *p = &c->f->processes[c->process];
	int64_t id = correlation_of(ev);

	PF_AT_MOST(p->first, ev->order);
	PF_AT_LEAST(p->last, ev->order);
	if (id <= 0 || !is_kind(c->f->in, ev, CALL_KINDS) ||
	    !is_picked(id, c->level))
		return;
	if (c->count == CALLS_MAX && c->level < 63) {
		size_t kept = 0;

		c->level++;
		for (size_t i = 0; i < c->count; i++)
			if (is_picked(c->all[i].id, c->level))
				c->all[kept++] = c->all[i];
		c->count = kept;
		if (!is_picked(id, c->level))
			return;
	}
	*PF_ONE_MORE(c->all, c->count, c->cap) =
		(struct call){ id, ev->start_ns, c->process };
}

PF_ORDER(compare_calls, struct call, PF_UP(id) PF_UP(process) PF_UP(start_ns))

static int gather_calls(struct calls *c, struct pf_err *err)
{
	struct pf_ingest *in = c->f->in;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		c->process = process_of(c->f, t);
		PF_TRY(c->process != NOBODY &&
		       each_event(in, t, note_call, c, err));
	}
	pf_sort(c->all, c->count, sizeof(*c->all), compare_calls);
	return 0;
}

/* How much work of a track has its call in each process. */
struct tally {
	struct calls *calls;
	int64_t *found;  /* by process */
	int64_t *before; /* of it, how much began behind its call */
	int64_t any;     /* has one in some process */
	/* by order: */
	int64_t here, elsewhere;
};

static void note_work(void *arg, const struct pf_run_event *ev)
{
	struct tally *t = arg;
	const struct calls *c = t->calls;
	const struct pf_ingest_owners *o = c->f->out;
	int64_t id = correlation_of(ev);
	uint32_t last = NOBODY;
	bool is_here = false;
	size_t at;

	if (id <= 0 || !is_picked(id, c->level))
		return;
	at = PF_SEARCH(i, c->count, c->all[i].id < id);
	if (at == c->count || c->all[at].id != id)
		return;
	t->any++;
	for (; at < c->count && c->all[at].id == id; at++) {
		uint32_t p = c->all[at].process;

		is_here |= o->part_count &&
			   o->parts[part_at(o, ev->order)].owner == p;
		if (p != last) {
			t->found[p]++;
			t->before[p] += c->all[at].start_ns <= ev->start_ns;
		}
		last = p;
	}
	t->here += is_here;
	t->elsewhere += !is_here;
}

PF_ORDER(compare_parts, struct pf_ingest_part, PF_UP(begin))

static bool is_gpu(const struct pf_ingest_track *t)
{
	return t->class_letter == 'g';
}

static void clear(struct tally *t)
{
	size_t n = t->calls->f->process_count;

	memset(t->found, 0, n * sizeof(*t->found));
	memset(t->before, 0, n * sizeof(*t->before));
	t->any = 0;
}

static bool has_gpu(const struct pf_ingest *in)
{
	for (size_t i = in->first_track; i < in->track_count; i++)
		if (is_gpu(pf_ingest_track(in, i)))
			return true;
	return false;
}

/* Parts of processes that follow each other in the file. */
static int find_order(struct tally *t, bool *found, struct pf_err *err)
{
	struct finding *f = t->calls->f;
	struct pf_ingest_owners *o = f->out;
	bool follow = true;
	int rc = 0;

	for (size_t i = 0; i < f->process_count; i++)
		add_part(o, f->processes[i].first, (uint32_t)i);
	pf_sort(o->parts, o->part_count, sizeof(*o->parts), compare_parts);
	for (size_t i = 1; i < o->part_count; i++)
		follow &= f->processes[o->parts[i - 1].owner].last <
			  o->parts[i].begin;
	for (size_t i = f->in->first_track;
	     follow && i < f->in->track_count && !rc; i++)
		if (is_gpu(pf_ingest_track(f->in, i)))
			rc = each_event(f->in, pf_ingest_track(f->in, i),
					note_work, t, err);
	*found = !rc && follow && t->elsewhere <= t->here / 16 &&
		 (t->here || !has_gpu(f->in));
	if (!*found)
		o->part_count = 0;
	return rc;
}

/* The process that a track's work was launched by; NOBODY: by several. */
static uint32_t launcher(const struct tally *t)
{
	size_t best = 0, n = t->calls->f->process_count;

	for (size_t i = 1; i < n; i++)
		if (t->found[i] > t->found[best] ||
		    (t->found[i] == t->found[best] &&
		     t->before[i] > t->before[best]))
			best = i;
	if (t->found[best] < t->any - t->any / 16)
		return NOBODY;
	for (size_t i = 0; i < n; i++)
		if (i != best && t->found[i] == t->found[best] &&
		    t->before[i] == t->before[best])
			return NOBODY;
	return (uint32_t)best;
}

/* Threads by their number, for events whose pid is none of a process. */
struct threads {
	struct pf_intern tids;
	uint32_t *owner; /* by number in tids, of those below count */
	size_t owner_cap;
	uint32_t count;
};

static void find_threads(struct finding *f, struct threads *threads)
{
	const struct pf_ingest *in = f->in;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);
		uint32_t n;

		if (process_of(f, t) == NOBODY)
			continue;
		n = pf_intern_add(&threads->tids, t->tid, strlen(t->tid));
		PF_ROOM(threads->owner, threads->owner_cap, (size_t)n + 1);
		threads->owner[n] = find_process(f, t->pid);
	}
	threads->count = threads->tids.count;
}

/* Python frames of a thread may have another pid than its operators. */
static uint32_t owner_of_host(struct finding *f, struct threads *threads,
			      const struct pf_ingest_track *t)
{
	uint32_t owner = find_process(f, t->pid), n;

	if (owner != NOBODY)
		return owner;
	n = pf_intern_add(&threads->tids, t->tid, strlen(t->tid));
	return n < threads->count ? threads->owner[n] : 0;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	size_t n = strlen(x->pid), m = strlen(y->pid);

	return n != m ? (n > m) - (n < m) : strcmp(x->pid, y->pid);
}

/* Events in order of time say nothing of that of ranks, pids may. */
static void number_pids(struct finding *f)
{
	struct pf_ingest *in = f->in;
	PF_OWN uint32_t *place = pf_calloc(f->process_count, sizeof(*place));

	for (size_t i = 0; i < f->process_count; i++)
		f->processes[i].first = (int64_t)i;
	pf_sort(f->processes, f->process_count, sizeof(*f->processes),
		compare_numbers);
	for (size_t i = 0; i < f->process_count; i++)
		place[f->processes[i].first] = (uint32_t)i;
	for (size_t i = in->first_track; i < in->track_count; i++) {
		struct pf_ingest_track *t = pf_ingest_track(in, i);

		t->owner = place[t->owner];
	}
}

/* Who launched the work of each track; each process has launched some. */
static int find_launchers(struct tally *t, bool *found, struct pf_err *err)
{
	struct finding *f = t->calls->f;
	struct pf_ingest *in = f->in;
	struct threads threads = { 0 };
	PF_OWN bool *has_work = pf_calloc(f->process_count, sizeof(*has_work));
	int rc = 0;

	*found = true;
	find_threads(f, &threads);
	for (size_t i = in->first_track; i < in->track_count && *found && !rc;
	     i++) {
		struct pf_ingest_track *track = pf_ingest_track(in, i);

		track->owner = 0;
		if (!is_gpu(track)) {
			track->owner = owner_of_host(f, &threads, track);
			continue;
		}
		clear(t);
		rc = each_event(in, track, note_work, t, err);
		if (t->any)
			track->owner = launcher(t);
		*found = !rc && track->owner != NOBODY;
		if (*found && t->any)
			has_work[track->owner] = true;
	}
	for (size_t i = 0; i < f->process_count && has_gpu(in); i++)
		*found &= has_work[i];
	f->out->by_track = *found;
	if (*found)
		number_pids(f);
	pf_intern_release(&threads.tids);
	free(threads.owner);
	return rc;
}

static int find_by_calls(struct finding *f, bool *found, struct pf_err *err)
{
	struct calls c = { .f = f };
	struct tally t = { .calls = &c };
	int rc;

	*found = false;
	if (f->process_count < 2)
		return 0;
	for (size_t i = 0; i < f->process_count && !has_gpu(f->in); i++)
		if (!f->processes[i].is_named)
			return 0; /* nothing tells that they are any */
	t.found = pf_calloc(f->process_count, sizeof(*t.found));
	t.before = pf_calloc(f->process_count, sizeof(*t.before));
	rc = gather_calls(&c, err);
	if (!rc)
		rc = find_order(&t, found, err);
	if (!rc && !*found)
		rc = find_launchers(&t, found, err);
	if (*found)
		f->out->count = f->process_count;
	free(c.all);
	free(t.found);
	free(t.before);
	return rc;
}

/* ---- tracks ---- */

static uint32_t owner_at(const struct pf_ingest_owners *o, int64_t order)
{
	return o->parts[part_at(o, order)].owner;
}

struct spread {
	const struct pf_ingest_owners *o;
	uint32_t first, last; /* owners */
	bool any;
};

static void see_owner(void *arg, const struct pf_run_event *ev)
{
	struct spread *s = arg;
	uint32_t owner = owner_at(s->o, ev->order);

	if (!s->any || owner < s->first)
		s->first = owner;
	if (!s->any || owner > s->last)
		s->last = owner;
	s->any = true;
}

/* What of a track is an owner's, a run at a time. */
struct share {
	struct pf_run_memory memory;
	struct pf_buf bytes;
	struct pf_run run;
	size_t track; /* that it goes to; 0: none is made yet */
};

struct sharing {
	const struct pf_ingest_owners *o;
	struct share *of;  /* owners */
	uint32_t *touched; /* by the run at hand */
	size_t touched_count;
};

static void take_share(void *arg, const struct pf_run_event *ev)
{
	struct sharing *s = arg;
	uint32_t owner = owner_at(s->o, ev->order);
	struct share *to = &s->of[owner];

	if (!to->run.count++) {
		s->touched[s->touched_count++] = owner;
		to->run.first_start_ns = ev->start_ns;
		to->memory = (struct pf_run_memory){ 0 };
		pf_buf_clear(&to->bytes);
	}
	to->run.last_start_ns = ev->start_ns;
	pf_run_put(&to->memory, ev, &to->bytes);
}

/* A track like another, for an owner's events alone. */
static size_t add_like(struct pf_ingest *in, size_t i, uint32_t owner)
{
	struct pf_ingest_track *t;

	PF_ROOM(in->tracks, in->tracks_cap,
		in->track_count + 1 - in->first_track);
	t = pf_ingest_track(in, in->track_count);
	*t = *pf_ingest_track(in, i);
	t->pid = pf_strdup(t->pid);
	t->tid = pf_strdup(t->tid);
	t->runs = NULL;
	t->run_count = t->runs_cap = 0;
	t->owner = owner;
	return in->track_count++;
}

static int put_share(struct pf_ingest *in, size_t i, struct share *from,
		     uint32_t owner, struct pf_err *err)
{
	struct pf_ingest_track *t;

	if (!from->track) {
		if (in->track_count - in->first_track ==
		    2 * PF_INGEST_TRACKS_MAX)
			return pf_fail(err, PF_ELIMIT,
				       "too many threads and streams of "
				       "several processes");
		from->track = add_like(in, i, owner);
	}
	from->run.bytes = (uint32_t)from->bytes.len;
	PF_TRY(pf_scratch_add(in->runs, from->bytes.data, from->bytes.len,
			      &from->run.offset, err));
	t = pf_ingest_track(in, from->track);
	*PF_ONE_MORE(t->runs, t->run_count, t->runs_cap) = from->run;
	from->run.count = 0;
	return 0;
}

/* A track's events go to tracks of their owners; it is nobody's then. */
static int share_track(struct pf_ingest *in, const struct pf_ingest_owners *o,
		       size_t i, struct pf_err *err)
{
	struct sharing s = { .o = o };
	int rc = 0;

	s.of = pf_calloc(o->count, sizeof(*s.of));
	s.touched = pf_calloc(o->count, sizeof(*s.touched));
	pf_ingest_track(in, i)->owner = NOBODY;
	for (size_t k = 0; k < pf_ingest_track(in, i)->run_count && !rc; k++) {
		struct pf_ingest_track one = *pf_ingest_track(in, i);

		one.runs += k;
		one.run_count = 1;
		rc = each_event(in, &one, take_share, &s, err);
		for (size_t n = 0; n < s.touched_count && !rc; n++)
			rc = put_share(in, i, &s.of[s.touched[n]], s.touched[n],
				       err);
		s.touched_count = 0;
	}
	for (size_t n = 0; n < o->count; n++)
		pf_buf_release(&s.of[n].bytes);
	free(s.of);
	free(s.touched);
	return rc;
}

/* By owner, else as they were. */
PF_ORDER(compare_tracks, struct pf_ingest_track, PF_UP(owner) PF_UP(place))

static void drop_track(struct pf_ingest_track *t)
{
	free(t->pid);
	free(t->tid);
	free(t->runs);
}

static int own_track(struct pf_ingest *in, const struct pf_ingest_owners *o,
		     size_t i, struct pf_err *err)
{
	struct pf_ingest_track *t = pf_ingest_track(in, i);
	struct spread s = { .o = o };

	if (!o->part_count) {
		if (!o->by_track)
			t->owner = owner_by_label(o, t->pid, strlen(t->pid));
		return 0;
	}
	PF_TRY(each_event(in, t, see_owner, &s, err));
	t->owner = s.first;
	return s.first == s.last ? 0 : share_track(in, o, i, err);
}

static int own_tracks(struct pf_ingest *in, const struct pf_ingest_owners *o,
		      struct pf_err *err)
{
	const size_t count = in->track_count;
	size_t kept = in->first_track;

	for (size_t i = in->first_track; i < count; i++)
		pf_ingest_track(in, i)->place = (uint32_t)(i - in->first_track);
	for (size_t i = in->first_track; i < count; i++)
		PF_TRY(own_track(in, o, i, err));
	for (size_t i = in->first_track; i < in->track_count; i++) {
		struct pf_ingest_track *t = pf_ingest_track(in, i);

		if (t->owner == NOBODY)
			drop_track(t);
		else
			*pf_ingest_track(in, kept++) = *t;
	}
	in->track_count = kept;
	pf_sort(in->tracks, kept - in->first_track, sizeof(*in->tracks),
		compare_tracks);
	return 0;
}

/* ---- pids that are of one owner, for what stands beside events ---- */

PF_ORDER(compare_pids, struct pf_ingest_label, PF_ALPHA(text) PF_UP(owner))

static void find_pids(struct pf_ingest *in, struct pf_ingest_owners *o)
{
	const size_t count = in->track_count - in->first_track;
	struct pf_ingest_label *p = pf_calloc(count + 1, sizeof(*p));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		p[i] = (struct pf_ingest_label){ in->tracks[i].pid,
						 in->tracks[i].owner, 0 };
	pf_sort(p, count, sizeof(*p), compare_pids);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1;
		     end < count && !strcmp(p[end].text, p[i].text);)
			end++;
		if (p[i].owner == p[end - 1].owner)
			p[kept++] = p[i];
	}
	for (size_t i = 0; i < kept; i++)
		p[i].text = pf_strdup(p[i].text);
	o->pids = p;
	o->pid_count = kept;
}

/* ---- all of it ---- */

int pf_ingest_owners_find(struct pf_ingest *in, struct pf_ingest_owners *o,
			  struct pf_err *err)
{
	struct finding f = { .in = in, .out = o };
	bool found = false;
	int rc = 0;

	*o = (struct pf_ingest_owners){ .count = 1 };
	if (!strcmp(in->format_name, PF_INGEST_CHROME_NAME) &&
	    find_processes(&f) && f.process_count) {
		found = find_labels(&f);
		if (!found)
			rc = find_by_marks(&f, &found, err);
		if (!rc && !found)
			rc = find_by_calls(&f, &found, err);
	}
	if (!rc && found) {
		if (!o->ranks)
			number_ranks(o);
		rc = own_tracks(in, o, err);
		find_pids(in, o);
	} else {
		o->count = 1;
	}
	free(f.processes);
	pf_intern_release(&f.pids);
	return rc;
}

static void free_labels(struct pf_ingest_label *labels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(labels[i].text);
	free(labels);
}

void pf_ingest_owners_release(struct pf_ingest_owners *o)
{
	free_labels(o->labels, o->label_count);
	free_labels(o->pids, o->pid_count);
	free(o->parts);
	free(o->ranks);
}

uint32_t pf_ingest_owner_of_metadata(const struct pf_ingest_owners *o,
				     const char *json, size_t len,
				     int64_t order, int64_t count)
{
	const char *pid = "";
	size_t n = pid_of(json, len, &pid);
	uint32_t owner = find_text(o->pids, o->pid_count, pid, n);

	if (owner != NOBODY)
		return owner;
	if (!o->part_count)
		return owner_by_label(o, pid, n);
	return count % (int64_t)o->count ? owner_at(o, order) : NOBODY;
}
