/* SPDX-License-Identifier: MIT */
/*
 * A step of a pipeline, 1F1B without virtual stages: rank = stage * columns +
 * column, a column is a pipeline, ranks of a stage reduce their gradients, and
 * a norm of all ranks ends the step.  What was planted is counted as it
 * happens: from when a rank's GPU has nothing to do until what it needs begins
 * to be sent.
 */
#include "config.h"

#include "gen/ranks.h"

#include <stdlib.h>
#include <string.h>

#define FORWARD_NS 150000 /* of a kernel; three of a microbatch */
#define SLOWER     1.5
#define BYTES      (1 << 20)

enum what { GET, WORK, PUT };
enum way { ACTIVATION, GRADIENT };

struct todo {
	enum what what;
	enum way way;
	int microbatch;
};

struct span {
	int64_t from, to;
};

/* A message: both its ends, and when it has come. */
struct message {
	int64_t sent, wanted, come; /* -1: not yet */
	size_t send, receive;       /* events of the two ranks */
};

struct stage {
	struct todo *todo;
	size_t count, at;
	int put[2], got[2];        /* lanes: the last microbatch, or -1 */
	struct span *gaps, *moves; /* of GPU time */
	size_t gap_count, move_count;
};

struct run {
	struct job *j;
	struct stage *stages;     /* of each rank */
	struct message *messages; /* by way, receiving rank and microbatch */
	int columns;
};

static struct message *message_at(struct run *p, enum way way, int to, int n)
{
	return &p->messages[((size_t)way * (size_t)p->j->o->ranks +
			     (size_t)to) *
				    (size_t)p->j->o->microbatches +
			    (size_t)n];
}

static void plan(struct run *p, int rank)
{
	const struct gen_opts *o = p->j->o;
	struct stage *s = &p->stages[rank];
	int stage = rank / p->columns, warm = o->stages - 1 - stage;
	int forward = 0, backward = 0, m = o->microbatches;

	s->todo = calloc((size_t)m * 6 + 1, sizeof(*s->todo));
	s->gaps = calloc((size_t)m * 2 + 1, sizeof(*s->gaps));
	s->moves = calloc((size_t)m * 4 + 1, sizeof(*s->moves));
	if (!s->todo || !s->gaps || !s->moves)
		abort();
	s->put[0] = s->put[1] = s->got[0] = s->got[1] = -1;
	while (backward < m) {
		bool is_back = forward == m || forward - backward > warm;
		enum way way = is_back ? GRADIENT : ACTIVATION;
		int n = is_back ? backward++ : forward++;
		bool is_first = stage == (is_back ? o->stages - 1 : 0);
		bool is_last = stage == (is_back ? 0 : o->stages - 1);

		if (!is_first)
			s->todo[s->count++] = (struct todo){ GET, way, n };
		s->todo[s->count++] = (struct todo){ WORK, way, n };
		if (!is_last)
			s->todo[s->count++] = (struct todo){ PUT, way, n };
	}
}

/* Both ends are there: it moves, and both kernels end. */
static void move(struct run *p, struct message *m, int from, int to)
{
	struct job *j = p->j;
	int64_t at = gen_later(m->sent, m->wanted);
	int ranks[] = { from, to };
	size_t events[] = { m->send, m->receive };

	if (m->sent < 0 || m->wanted < 0)
		return;
	m->come = at + 4000 + BYTES / 200;
	for (int i = 0; i < 2; i++) {
		struct stage *s = &p->stages[ranks[i]];
		struct event *e = &j->ranks[ranks[i]].events[events[i]];

		e->dur_ns = m->come + i - e->start_ns;
		s->moves[s->move_count++] = (struct span){ at, m->come };
	}
	if (m->sent > m->wanted)
		j->ranks[to].wait_ns += m->sent - m->wanted;
}

static struct event *post(struct run *p, int rank, int peer, bool is_sent,
			  enum way way, int64_t free_ns)
{
	struct job *j = p->j;
	struct rank *r = &j->ranks[rank];
	struct event *e;

	if (j->o->batched) {
		e = gen_happen(r, is_sent ? SENT : RECEIVED, r->host_ns,
			       r->host_ns + 3000);
		e->group = rank % p->columns;
		e->peer = peer;
		r->host_ns += 4000;
	}
	e = gen_start(j, r,
		      j->o->batched ? EXCHANGE
		      : is_sent     ? SEND
				    : RECEIVE,
		      free_ns);
	e->start_ns = gen_later(e->start_ns, r->compute_ns);
	e->group = rank % p->columns;
	e->peer = peer;
	e->lane = (is_sent ? 0 : 2) + (int)way;
	return e;
}

/* One side of a message, unless the one before on its stream is not over. */
static bool exchange(struct run *p, int rank, const struct todo *t)
{
	struct stage *s = &p->stages[rank];
	bool is_sent = t->what == PUT;
	bool is_up = is_sent == (t->way == ACTIVATION);
	int peer = rank + (is_up ? p->columns : -p->columns);
	int to = is_sent ? peer : rank, from = is_sent ? rank : peer;
	int *last = is_sent ? &s->put[t->way] : &s->got[t->way];
	struct message *m = message_at(p, t->way, to, t->microbatch);
	int64_t free_ns = 0;
	struct event *e;

	if (*last >= 0) {
		free_ns = message_at(p, t->way, to, *last)->come;
		if (free_ns < 0)
			return false;
	}
	*last = t->microbatch;
	e = post(p, rank, peer, is_sent, t->way, free_ns);
	*(is_sent ? &m->sent : &m->wanted) = e->start_ns;
	*(is_sent ? &m->send : &m->receive) =
		(size_t)(e - p->j->ranks[rank].events);
	move(p, m, from, to);
	return true;
}

static bool work(struct run *p, int rank, const struct todo *t)
{
	struct job *j = p->j;
	struct rank *r = &j->ranks[rank];
	struct stage *s = &p->stages[rank];
	int stage = rank / p->columns;
	double ns = t->way == ACTIVATION ? FORWARD_NS : 2 * FORWARD_NS;

	if (stage != (t->way == ACTIVATION ? 0 : j->o->stages - 1)) {
		const struct message *m =
			message_at(p, t->way, rank, t->microbatch);
		int64_t from = gen_later(r->compute_ns, j->starts[rank]);

		if (m->come < 0)
			return false;
		if (m->sent > from)
			s->gaps[s->gap_count++] =
				(struct span){ from, m->sent };
		r->compute_ns = gen_later(r->compute_ns, m->come + 1);
		if (j->o->batched) /* and its host waits, too */
			r->host_ns = gen_later(r->host_ns, m->come + 20000);
	}
	if (j->is_planted && stage == j->o->straggler)
		ns *= SLOWER;
	for (int k = 0; k < 3; k++)
		gen_compute(j, r, MM, ns);
	return true;
}

/* What of a gap is not taken by what moves; these come in any order. */
static int64_t left_of(const struct stage *s, struct span gap)
{
	int64_t sum = 0, at = gap.from;

	while (at < gap.to) {
		int64_t next = gap.to, until = at;

		for (size_t i = 0; i < s->move_count; i++) {
			const struct span *m = &s->moves[i];

			if (m->from <= at && m->to > until)
				until = m->to;
			if (m->from > at && m->from < next)
				next = m->from;
		}
		if (until > at) {
			at = until;
			continue;
		}
		sum += next - at;
		at = next;
	}
	return sum;
}

/* All ranks wait for the last in the norm, once their messages are over. */
static void count_bubbles(struct run *p)
{
	struct job *j = p->j;
	int64_t last = 0;

	for (int i = 0; i < j->o->ranks; i++) {
		const struct rank *r = &j->ranks[i];

		last = gen_later(last, r->events[r->count - 1].start_ns);
	}
	for (int i = 0; i < j->o->ranks; i++) {
		struct rank *r = &j->ranks[i];
		struct stage *s = &p->stages[i];
		int64_t from = r->events[r->count - 1].start_ns;

		for (size_t k = 0; k < s->move_count; k++)
			from = gen_later(from, s->moves[k].to);
		r->bubble_ns += last > from ? last - from : 0;
		for (size_t k = 0; k < s->gap_count; k++)
			r->bubble_ns += left_of(s, s->gaps[k]);
		free(s->todo);
		free(s->gaps);
		free(s->moves);
	}
}

static bool advance(struct run *p, int rank)
{
	struct stage *s = &p->stages[rank];
	size_t from = s->at;

	while (s->at < s->count) {
		const struct todo *t = &s->todo[s->at];

		if (t->what == WORK ? !work(p, rank, t) : !exchange(p, rank, t))
			break;
		s->at++;
	}
	return s->at > from;
}

void gen_pipeline_step(struct job *j)
{
	struct run p = { .j = j, .columns = j->o->ranks / j->o->stages };
	size_t count = (size_t)(2 * j->o->ranks * j->o->microbatches);
	bool goes_on = true;

	p.stages = calloc((size_t)j->o->ranks, sizeof(*p.stages));
	p.messages = calloc(count, sizeof(*p.messages));
	if (!p.stages || !p.messages)
		abort();
	for (size_t i = 0; i < count; i++)
		p.messages[i] = (struct message){ .sent = -1,
						  .wanted = -1,
						  .come = -1 };
	for (int i = 0; i < j->o->ranks; i++)
		plan(&p, i);
	while (goes_on) {
		goes_on = false;
		for (int i = 0; i < j->o->ranks; i++)
			goes_on |= advance(&p, i);
	}
	for (int i = 0; i < j->o->stages && p.columns > 1; i++)
		gen_meet(j, REDUCE, i * p.columns, p.columns, 1);
	gen_meet(j, NORM, 0, j->o->ranks, 1);
	count_bubbles(&p);
	free(p.stages);
	free(p.messages);
}

int gen_pipeline_truth(const struct job *j, FILE *f)
{
	int columns = j->o->ranks / j->o->stages;

	fprintf(f, "rank,stage,bubble_ns,computation_ns,step_ns,"
		   "receive_wait_ns\n");
	for (int i = 0; i < j->o->ranks; i++)
		fprintf(f, "%d,%d,%lld,%lld,%lld,%lld\n", i, i / columns,
			(long long)j->ranks[i].bubble_ns,
			(long long)j->ranks[i].computation_ns,
			(long long)j->ranks[i].step_ns,
			(long long)j->ranks[i].wait_ns);
	return fclose(f) ? -1 : 0;
}
