/* SPDX-License-Identifier: MIT */
/*
 * Kernels are numbered within their group as they start, sorted by group and
 * number, and met with those of other ranks.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/arrival_impl.h"
#include "events/interval.h"
#include "analysis/kernels.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/spool.h"
#include "store/named.h"
#include "trace/event.h"

#define TIME_MAX (INT64_C(1) << 61) /* so that differences are numbers */
#define NO_GROUP UINT32_C(0)        /* the text "" */

/* ---- what a kernel belongs to ---- */

struct what {
	uint32_t group;
	enum pf_sync sync;
};

/* What arguments say; *is_known false: nothing. */
static int read_args(struct arrivals *a, uint32_t args, struct what *out,
		     bool *is_known, struct pf_err *err)
{
	struct pf_collective c;
	struct pf_buf group = { 0 };
	const char *text;
	size_t len;
	uint64_t *place;
	int rc;

	*is_known = false;
	if (args >= PF_ID_INLINE)
		return 0;
	place = pf_map_at(&a->argsets, args);
	if (*place == UINT64_MAX) {
		rc = pf_texts_get(&a->texts, PF_TEXT_ARGS, args, &text, &len,
				  err);
		if (rc < 0)
			return -1;
		*place = 0;
		if (rc == 1 && pf_collective_read(text, len, &c)) {
			pf_buf_adds(&group, "");
			if (c.group.p)
				pf_json_text(c.group, &group);
			*place = (uint64_t)pf_intern_add(&a->groups, group.data,
							 group.len)
					 << 8 |
				 (uint64_t)pf_collective_sync(c.name) << 1 | 1;
			pf_buf_release(&group);
		}
	}
	*is_known = *place & 1;
	out->group = (uint32_t)(*place >> 8);
	out->sync = (enum pf_sync)(*place >> 1 & 0x7f);
	return 0;
}

/* By the range around its launch, or by its own name. */
static int read_name(struct arrivals *a, uint32_t name, struct what *out,
		     struct pf_err *err)
{
	uint64_t *place = pf_map_at(&a->names, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(a->gpu, name, err);
		if (!text)
			return -1;
		*place = pf_collective_sync(
			(struct pf_json){ text, strlen(text) });
	}
	out->group = NO_GROUP;
	out->sync = (enum pf_sync)(*place);
	return 0;
}

static int find_what(struct arrivals *a, const struct pf_gpu_event *ev,
		     struct what *out, struct pf_err *err)
{
	bool is_known;

	if (read_args(a, ev->config, out, &is_known, err) < 0)
		return -1;
	if (!is_known && ev->comm.record_id &&
	    read_args(a, ev->comm.record_args, out, &is_known, err) < 0)
		return -1;
	if (is_known)
		return 0;
	return read_name(a,
			 ev->comm.name == PF_ID_NONE ? ev->name : ev->comm.name,
			 out, err);
}

static struct member *find_member(struct arrivals *a, uint32_t group,
				  size_t rank)
{
	uint64_t *place =
		pf_map_at(&a->places, (uint64_t)group << 32 | (uint64_t)rank);

	if (*place == UINT64_MAX) {
		*place = a->member_count;
		a->members = pf_grow(a->members, &a->member_cap,
				     a->member_count + 1, sizeof(*a->members));
		a->members[a->member_count++] =
			(struct member){ .group = group, .rank = rank };
	}
	return &a->members[*place];
}

/* The number of the collective: kernels of one call have one number. */
static int64_t find_number(struct arrivals *a, struct member *m,
			   int64_t record_id)
{
	uint64_t *place;

	if (!record_id)
		return m->count++;
	place = pf_map_at(&a->records, (uint64_t)record_id);
	if (*place == UINT64_MAX)
		*place = (uint64_t)m->count++;
	return (int64_t)*place;
}

static int64_t absolute(int64_t ns, int64_t base_ns)
{
	int64_t sum = pf_sat_add(ns, base_ns);

	return sum > TIME_MAX ? TIME_MAX : sum < -TIME_MAX ? -TIME_MAX : sum;
}

static int gather(struct arrivals *a, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	size_t rank = 0;
	int rc;

	while ((rc = pf_gpu_next(a->gpu, &ev, err)) == 1) {
		struct arrival at = { 0 };
		struct what what;

		if (ev->class != PF_GPU_COMM)
			continue;
		while (a->ranks[rank].trace_id != ev->trace->trace_id)
			rank++;
		if (find_what(a, ev, &what, err) < 0)
			return -1;
		if (what.sync == PF_SYNC_NONE)
			continue;
		at.group = what.group;
		at.number = find_number(a, find_member(a, what.group, rank),
					ev->comm.record_id);
		at.rank = (int64_t)rank;
		at.start_ns = absolute(ev->start_ns, a->ranks[rank].base_ns);
		at.end_ns = absolute(pf_span_end(ev->start_ns, ev->dur_ns),
				     a->ranks[rank].base_ns);
		at.sync = what.sync;
		if (pf_sorter_add(a->sorter, &at, err) < 0)
			return -1;
	}
	return rc;
}

/* ---- what is met ---- */

/* Two ranks of one group must have as many collectives. */
static void check_counts(struct arrivals *a, const struct member *x,
			 const struct member *y)
{
	if (x->count == y->count || a->why.len)
		return;
	pf_buf_adds(&a->why, "the process group ");
	if (x->group != NO_GROUP)
		pf_buf_addf(&a->why, "'%s' ",
			    pf_intern_text(&a->groups, x->group, NULL));
	pf_buf_addf(&a->why,
		    "has %" PRId64 " collectives on rank %" PRId64
		    " and %" PRId64 " on rank %" PRId64,
		    x->count, a->ranks[x->rank].rank, y->count,
		    a->ranks[y->rank].rank);
}

/* Is there a group on several ranks, and has each as many on all of them? */
static bool check_groups(struct arrivals *a)
{
	size_t *first = pf_calloc(a->groups.count, sizeof(*first));
	bool is_met = false;

	for (size_t i = 0; i < a->member_count; i++) {
		size_t *one = &first[a->members[i].group];

		if (*one) {
			is_met = true;
			check_counts(a, &a->members[*one - 1], &a->members[i]);
		} else {
			*one = i + 1;
		}
	}
	free(first);
	return is_met;
}

/* Who came first, last, last but one, and do all do the same? */
static bool measure(const struct arrivals *a, const struct meeting *m,
		    const struct arrival **first, const struct arrival **last,
		    int64_t *second_ns)
{
	bool is_same = true;

	*first = *last = NULL;
	*second_ns = INT64_MIN;
	for (size_t i = 0; i < a->rank_count; i++) {
		const struct arrival *at = &m->at[i];

		if (at->group < 0)
			continue;
		is_same &= !*first || at->sync == (*first)->sync;
		if (!*first || at->start_ns < (*first)->start_ns)
			*first = at;
		if (!*last || at->start_ns > (*last)->start_ns) {
			*second_ns = *last ? (*last)->start_ns : INT64_MIN;
			*last = at;
		} else if (at->start_ns > *second_ns) {
			*second_ns = at->start_ns;
		}
	}
	return is_same;
}

/* The ends of a collective, against the mean of them. */
static void add_ends(struct arrivals *a, const struct meeting *m,
		     int64_t reference_ns)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->rank_count; i++)
		if (m->at[i].group >= 0)
			pf_sat_sum(&sum, m->at[i].end_ns - reference_ns);
	sum /= (int64_t)m->count;
	for (size_t i = 0; i < a->rank_count; i++)
		if (m->at[i].group >= 0)
			pf_sat_sum(&a->ranks[i].end_ns,
				   m->at[i].end_ns - reference_ns - sum);
}

static void meet(struct arrivals *a, struct meeting *m)
{
	const struct arrival *first, *last;
	int64_t second_ns, spread;
	bool is_early = false;

	if (m->count < 2)
		return;
	if (!measure(a, m, &first, &last, &second_ns)) {
		a->mixed_count++;
		a->is_named_mixed |= m->group != NO_GROUP;
		return;
	}
	spread = last->start_ns - first->start_ns;
	a->count++;
	pf_sat_sum(&a->spread_ns, spread);
	for (size_t i = 0; i < a->rank_count; i++) {
		if (m->at[i].group < 0)
			continue;
		a->ranks[i].count++;
		pf_sat_sum(&a->ranks[i].waited_ns,
			   last->start_ns - m->at[i].start_ns);
		is_early |= m->at[i].end_ns < last->start_ns;
	}
	a->early_count += is_early;
	add_ends(a, m, first->end_ns);
	if (last->start_ns == second_ns)
		return; /* no rank alone was late */
	a->ranks[last->rank].last_count++;
	pf_sat_sum(&a->ranks[last->rank].late_ns, spread);
	pf_sat_sum(&a->ranks[last->rank].gain_ns, last->start_ns - second_ns);
	if (spread > a->worst_ns) {
		a->worst_ns = spread;
		a->worst = *first;
	}
}

static void begin_meeting(struct arrivals *a, const struct arrival *at)
{
	a->meeting.group = at->group;
	a->meeting.number = at->number;
	a->meeting.count = 0;
	for (size_t i = 0; i < a->rank_count; i++)
		a->meeting.at[i].group = -1;
}

/* From the first start to the last end of its kernels. */
static void add_arrival(struct meeting *m, const struct arrival *at)
{
	struct arrival *held = &m->at[at->rank];

	if (held->group < 0) {
		*held = *at;
		m->count++;
		return;
	}
	if (at->start_ns < held->start_ns)
		held->start_ns = at->start_ns;
	if (at->end_ns > held->end_ns)
		held->end_ns = at->end_ns;
}

static int meet_all(struct arrivals *a, struct pf_err *err)
{
	const struct arrival *at;

	if (!check_groups(a))
		pf_buf_adds(&a->why, "no collective was found on several "
				     "ranks");
	if (a->why.len)
		return 0;
	if (pf_sorter_finish(a->sorter, err) < 0)
		return -1;
	a->meeting.at = pf_calloc(a->rank_count, sizeof(*a->meeting.at));
	a->meeting.group = -1;
	while ((at = pf_sorter_next(a->sorter, err))) {
		if (at->group != a->meeting.group ||
		    at->number != a->meeting.number) {
			meet(a, &a->meeting);
			begin_meeting(a, at);
		}
		add_arrival(&a->meeting, at);
	}
	meet(a, &a->meeting);
	return err->code ? -1 : 0;
}

/* ---- ranks and machines ---- */

static int find_hosts(struct arrivals *a, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(a->db, "rank_traces", err);
	int rc = -1;

	while (st && (rc = pf_db_step(a->db, st, err)) == 1) {
		int64_t id = sqlite3_column_int64(st, 0);
		const char *host = (const char *)sqlite3_column_text(st, 3);

		for (size_t i = 0; i < a->rank_count; i++) {
			if (a->ranks[i].trace_id != id)
				continue;
			a->ranks[i].base_ns = sqlite3_column_int64(st, 1);
			if (host && *host)
				a->ranks[i].host =
					pf_memdup0(host, strlen(host));
		}
	}
	sqlite3_finalize(st);
	return rc;
}

static void take_ranks(struct arrivals *a, const struct pf_window *w)
{
	a->rank_count = w->count;
	a->ranks = pf_calloc(w->count, sizeof(*a->ranks));
	for (size_t i = 0; i < w->count; i++) {
		const struct pf_window_trace *t = &w->traces[i];
		int64_t from =
			t->from_ns > t->first_ns ? t->from_ns : t->first_ns;
		int64_t to = t->to_ns < t->last_ns ? t->to_ns : t->last_ns;

		a->ranks[i].trace_id = t->trace_id;
		a->ranks[i].rank = t->rank;
		a->ranks[i].first_ns = t->first_ns;
		if (to > from)
			a->ranks[i].window_ns = pf_sat_sub(to, from);
		for (size_t k = 0; k < i && !a->why.len; k++)
			if (w->traces[k].rank == t->rank && t->rank >= 0)
				pf_buf_addf(&a->why,
					    "two traces are of rank %" PRId64,
					    t->rank);
		if (t->rank < 0 && !a->why.len)
			pf_buf_adds(&a->why, "not every trace says which rank "
					     "it is of");
	}
}

/* ---- the whole ---- */

static int set_up(struct arrivals *a, const struct pf_window *window,
		  struct pf_err *err)
{
	pf_intern_init(&a->groups);
	pf_map_init(&a->argsets);
	pf_map_init(&a->names);
	pf_map_init(&a->records);
	pf_map_init(&a->places);
	pf_intern_add(&a->groups, "", 0);
	a->sorter = pf_sorter_temp(sizeof(struct arrival));
	take_ranks(a, window);
	a->gpu = pf_gpu_new(a->db, window, PF_GPU_STARTS, err);
	return a->gpu ? find_hosts(a, err) : -1;
}

static void tear_down(struct arrivals *a)
{
	pf_gpu_free(a->gpu);
	pf_texts_release(&a->texts);
	pf_sorter_free(a->sorter);
	pf_intern_release(&a->groups);
	pf_map_release(&a->argsets);
	pf_map_release(&a->names);
	pf_map_release(&a->records);
	pf_map_release(&a->places);
	pf_buf_release(&a->why);
	free(a->meeting.at);
	free(a->members);
	pf_arrivals_release(&(struct pf_arrivals){
		.ranks = a->ranks, .rank_count = a->rank_count });
}

void pf_arrivals_release(struct pf_arrivals *a)
{
	for (size_t i = 0; i < a->rank_count; i++)
		free(a->ranks[i].host);
	free(a->ranks);
	free(a->withheld);
	*a = (struct pf_arrivals){ 0 };
}

int pf_arrivals_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_arrivals *out, struct pf_err *err)
{
	struct arrivals a = { .db = db, .texts = { .db = db } };
	int rc;

	if (!pf_window_has_processes(window))
		return 0;
	rc = set_up(&a, window, err);
	if (!rc && !a.why.len)
		rc = gather(&a, err);
	if (!rc && !a.why.len)
		rc = meet_all(&a, err);
	if (!rc)
		pf_arrivals_settle(&a, out);
	tear_down(&a);
	return rc;
}
