/* SPDX-License-Identifier: MIT */
/*
 * The ranges of one thread that are open at an instant, innermost last.
 * They come in order of their start, and of one start the longest first, as
 * tracks are stored.
 *
 * Ranges should nest.  Where two cross (the later one ends last), Python
 * decides, whose calls do nest: what outlives the function that it began in,
 * as what __enter__() opens outlives that call, or as a generator that was
 * dropped and never ended, goes under that function (pf_nest_enter()), which
 * holds its own until it ends.  Where no function is crossed, who draws trees
 * takes the earlier off first, so that the later belongs to what holds it
 * whole; for others it counts as inside, and the earlier stays below it until
 * both have ended: who asks what holds an instant looks at the ends.
 * (PyTorch's own rule, for its own tables, is torch/groups.c's; parents, which
 * never cross, are ingest/merge.c's, by the same rule.)
 *
 * An item is a struct of the caller's whose first member is int64_t end_ns;
 * where ranges enter by pf_nest_enter() it is struct pf_nest_range.
 */
#pragma once

#include "base/mem.h"

/* Of a thread; what is deeper counts as part of the range there. */
#define PF_NEST_DEPTH 65536

/* Of hostile ranges: so many are looked at. */
#define PF_NEST_CROSSED 512

struct pf_nest_range {
	int64_t end_ns;
	bool is_python; /* a function of Python */
};

struct pf_nest {
	size_t width;          /* of an item */
	const void *outermost; /* what the first item is a copy of */
	char *items;
	size_t depth, cap;
	int64_t at_ns; /* what is before has been passed, or dropped */
};

/* Said before items enter, it saves the compiler a call to copy each. */
#define PF_NEST_OF(n, type)                                                    \
	((n)->width == sizeof(type) ? (void)0 : __builtin_unreachable())

static inline void *pf_nest_at(const struct pf_nest *n, size_t i)
{
	return n->items + i * n->width;
}

/* The innermost range, or NULL. */
static inline void *pf_nest_top(const struct pf_nest *n)
{
	return n->depth ? pf_nest_at(n, n->depth - 1) : NULL;
}

/*
 * If the innermost range has ended at an instant it is taken off and returned,
 * valid until the next push; else NULL.
 */
static inline void *pf_nest_ended(struct pf_nest *n, int64_t at_ns)
{
	int64_t *end_ns = pf_nest_top(n);

	if (!end_ns || *end_ns > at_ns)
		return NULL;
	n->depth--;
	return end_ns;
}

/* Take off all that has ended. */
static inline void pf_nest_drop(struct pf_nest *n, int64_t at_ns)
{
	while (pf_nest_ended(n, at_ns))
		continue;
	n->at_ns = at_ns;
}

/* Put a range on, which the caller fills in; NULL: too deep. */
static inline void *pf_nest_room(struct pf_nest *n)
{
	if (n->depth >= PF_NEST_DEPTH)
		return NULL;
	if (n->depth == n->cap)
		n->items = pf_grow(n->items, &n->cap, n->depth + 1, n->width);
	return pf_nest_at(n, n->depth++);
}

/* The same, a copy of what it is in but for the end. */
static inline void *pf_nest_push(struct pf_nest *n, int64_t end_ns)
{
	const size_t width = n->width;
	char *item = pf_nest_room(n);

	if (!item)
		return NULL;
	memcpy(item, n->depth > 1 ? item - width : n->outermost, width);
	*(int64_t *)(void *)item = end_ns;
	return item;
}

/*
 * The items that a range which begins now crosses, down to the last function
 * that has not ended below something else.
 */
static inline size_t pf_nest_crossed(const struct pf_nest *n, int64_t end_ns)
{
	size_t under = 0;

	for (size_t i = 0; i < n->depth && i < PF_NEST_CROSSED; i++) {
		const struct pf_nest_range *r = pf_nest_at(n, n->depth - 1 - i);

		if (r->end_ns >= end_ns)
			break;
		if (r->is_python && r->end_ns > n->at_ns)
			under = i + 1;
	}
	return under;
}

/*
 * Is more of a range outside of what it crosses than in it?  Else an end is
 * only rounded.
 */
static inline bool pf_nest_outlives(const struct pf_nest *n, size_t crossed,
				    int64_t end_ns)
{
	const struct pf_nest_range *r;

	if (!crossed)
		return false;
	r = pf_nest_at(n, n->depth - crossed);
	return (uint64_t)end_ns - (uint64_t)r->end_ns >
	       (uint64_t)r->end_ns - (uint64_t)n->at_ns;
}

/*
 * A range begins, a copy of what it is in, a function that it outlives not
 * counted: NULL if that is too deep.  What it outlives but is no function is
 * taken off first where a tree is drawn; who asks for instants has what began
 * last on top, if it is no function.
 */
static inline void *pf_nest_enter(struct pf_nest *n, struct pf_nest_range range,
				  bool is_tree)
{
	const size_t crossed = pf_nest_crossed(n, range.end_ns);
	const size_t over = is_tree || range.is_python ? crossed : 0;
	const bool is_out = over || pf_nest_outlives(n, crossed, range.end_ns);
	const int64_t *top_ns;
	char *item;

	while (is_tree && !over && (top_ns = pf_nest_top(n)) &&
	       *top_ns < range.end_ns)
		n->depth--;
	if (!pf_nest_push(n, range.end_ns))
		return NULL;
	item = pf_nest_at(n, n->depth - 1 - over);
	if (over)
		memmove(item + n->width, item, over * n->width);
	if (is_out)
		memcpy(item,
		       n->depth - 1 > crossed
			       ? (const char *)pf_nest_at(n, n->depth - 2 -
								     crossed)
			       : (const char *)n->outermost,
		       n->width);
	/* The end of what outlived a function is lost: it outlives others too. */
	range.is_python = range.is_python && !over;
	*(struct pf_nest_range *)item = range;
	return item;
}

/*
 * Where events know their parents (PF_COL_PARENT), ingest has decided: so many
 * items hold an event that begins now, what has ended taken off.  Those above
 * go, unless functions that it outlives are among them ("under"): then they
 * stay, and it goes below them.  A function that is under others, as its end
 * was lost, holds nothing of them and need not be put on.  Items begin with
 * this struct.
 */
struct pf_nest_event {
	int64_t end_ns;
	uint32_t seq; /* on its track; its parent's is so much less: */
	bool is_python;
};

static inline size_t pf_nest_place(struct pf_nest *n, int64_t start_ns,
				   struct pf_nest_event event, uint32_t parent,
				   bool *is_under)
{
	const struct pf_nest_event *e;
	size_t at;

	pf_nest_drop(n, start_ns);
	*is_under = false;
	for (at = n->depth; at; at--) {
		e = pf_nest_at(n, at - 1);
		if (parent && e->seq <= event.seq - parent &&
		    e->end_ns >= event.end_ns)
			break;
		*is_under |= e->is_python;
	}
	*is_under &= n->depth - at <= PF_NEST_CROSSED;
	return at;
}

/* Put a copy of an item on, above so many; false: too deep. */
static inline bool pf_nest_insert(struct pf_nest *n, size_t at,
				  const void *item)
{
	char *place;

	if (n->depth >= PF_NEST_DEPTH)
		return false;
	if (n->depth == n->cap)
		n->items = pf_grow(n->items, &n->cap, n->depth + 1, n->width);
	place = pf_nest_at(n, at);
	memmove(place + n->width, place, (n->depth - at) * n->width);
	memcpy(place, item, n->width);
	n->depth++;
	return true;
}

/*
 * Time goes on: the next piece of it, up to an instant, in which one range is
 * the innermost; that range, valid until the next push.  NULL when there is
 * none left; then what ended is off, and time stands at the instant.
 */
static inline void *pf_nest_pass(struct pf_nest *n, int64_t to_ns,
				 int64_t *piece_from_ns, int64_t *piece_to_ns)
{
	while (n->depth && n->at_ns < to_ns) {
		int64_t *end_ns = pf_nest_top(n);

		*piece_from_ns = n->at_ns;
		*piece_to_ns = *end_ns < to_ns ? *end_ns : to_ns;
		if (*end_ns <= to_ns)
			n->depth--;
		if (*piece_to_ns <= n->at_ns)
			continue;
		n->at_ns = *piece_to_ns;
		return end_ns;
	}
	pf_nest_drop(n, to_ns);
	n->at_ns = to_ns;
	return NULL;
}

/* Another thread. */
static inline void pf_nest_clear(struct pf_nest *n)
{
	n->depth = 0;
	n->at_ns = INT64_MIN;
}

static inline void pf_nest_release(struct pf_nest *n)
{
	free(n->items);
	n->items = NULL;
	n->depth = n->cap = 0;
}
