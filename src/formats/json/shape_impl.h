/* SPDX-License-Identifier: MIT */
/*
 * Learning and fitting shapes (shape.h).  Included by extract_impl.h, whose
 * functions read the holes, for the fast variant only: the plain one is what
 * it is compared with.
 */

/* ---- learning ---- */

/* The next event is to be learned, in the place of the oldest shape. */
static void learn(struct pf_chrome *c, const char *start)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s = &all->shape[all->oldest];

	s->count = s->next = 0; /* none until it is whole */
	all->holes = 0;
	s->has_args = false;
	s->args_from = s->args_to = (struct pf_shape_place){ 0, 0 };
	all->learning = s;
	all->learned_to = start;
}

static void learn_hole(struct pf_chrome *c, enum pf_hole_kind kind, int slot,
		       const char *p, const char *end)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s = all->learning;

	if (!s || !end)
		return;
	if (all->holes == PF_SHAPE_HOLES) {
		all->learning = NULL;
		return;
	}
	s->hole[all->holes++] = (struct pf_hole){
		.literal = all->learned_to,
		.literal_len = (uint32_t)(p - all->learned_to),
		.kind = (uint8_t)kind,
		.slot = (int8_t)slot,
		.at = p,
		.len = (uint32_t)(end - p),
	};
	all->learned_to = end;
}

/* The hole learned last is that of an extra member. */
static void learn_extra(struct pf_chrome *c, const char *key, size_t len)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s = all->learning;

	if (!s)
		return;
	s->hole[all->holes - 1].is_extra = true;
	s->hole[all->holes - 1].key = key;
	s->hole[all->holes - 1].key_len = (uint32_t)len;
}

/* The arguments begin, or end, at p: in front of the next hole. */
static void learn_args(struct pf_chrome *c, const char *p, bool is_end)
{
	struct pf_shape *s = c->shapes->learning;
	struct pf_shape_place place;

	if (!s)
		return;
	place.hole = c->shapes->holes;
	place.offset = (uint32_t)(p - c->shapes->learned_to);
	s->has_args = true;
	*(is_end ? &s->args_to : &s->args_from) = place;
}

/* The event was read to its end: its shape, or NULL if it cannot be one. */
static struct pf_shape *learned(struct pf_chrome *c, const struct fields *f,
				const char *end)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s;

	learn_hole(c, PF_HOLE_END, -1, end, end);
	s = all->learning;
	if (!s)
		return NULL;
	all->learning = NULL;
	s->count = all->holes;
	s->is_stale = true;
	s->ph = f->ph;
	s->category_text = f->category.p;
	s->category_len = f->category.len;
	if (all->count)
		all->shape[all->last].next = (uint32_t)(s - all->shape);
	all->last = all->oldest;
	all->count += all->count < PF_SHAPES;
	all->oldest = (all->oldest + 1) % PF_SHAPES;
	return s;
}

/* ---- fitting ---- */

/* Does the text of the event before stand here, too?  Then it ends alike. */
static inline bool repeats(const struct pf_hole *h, const char *p,
			   const char *end)
{
	return (size_t)(end - p) > h->len && p[h->len] == h[1].literal[0] &&
	       pf_same_bytes(p, h->at, h->len);
}

static inline const char *read_number(int slot, const char *p, int64_t *value)
{
	return slot < PF_SLOT_FRACTION ? pf_number_integer(p, value)
				       : pf_number_decimal(p, value);
}

static const char *fit_value(const struct pf_hole *h, const char *p,
			     const char *end)
{
	int64_t ignored;
	const char *q;

	if (h->slot >= 0 && read_number(h->slot, p, &ignored))
		return NULL;
	q = value_end(p, end);
	return q == p ? NULL : q;
}

/* A value that nearly every event has its own of. */
static inline const char *read_value(struct pf_chrome *c, struct fields *f,
				     enum pf_hole_kind kind, const char *p,
				     const char *end)
{
	switch (kind) {
	case PF_HOLE_START:
		return read_time(c, p, end, f, &f->has_start, &f->start_ns);
	case PF_HOLE_DUR:
		return read_time(c, p, end, f, &f->has_dur, &f->dur_ns);
	case PF_HOLE_PID:
		f->is_other_track = true;
		return read_label(c, p, end, &f->pid);
	case PF_HOLE_TID:
		f->is_other_track = true;
		return read_label(c, p, end, &f->tid);
	default:
		f->is_other_name = true;
		return read_text(c, p, end, &f->name);
	}
}

/* What read_label() or read_text() would make of it. */
static inline void borrow(struct text *t, const struct pf_hole *h,
			  const char *p)
{
	bool quoted = *p == '"';

	t->p = p + quoted;
	t->len = *p == 'n' ? 0 : h->len - 2 * (uint32_t)quoted;
}

/* The value of a hole at p: where it ends; NULL: it does not fit. */
static inline const char *fit_hole(struct pf_chrome *c, struct fields *f,
				   const struct pf_hole *h, const char *p,
				   const char *end)
{
	int64_t value;
	const char *q;

	switch (h->kind) {
	case PF_HOLE_SLOT:
		q = read_number(h->slot, p, &value);
		if (q)
			set_slot(c, f, (unsigned)h->slot, value);
		return q;
	case PF_HOLE_VALUE:
		if (repeats(h, p, end))
			return p + h->len;
		f->are_other_args = true;
		return fit_value(h, p, end);
	case PF_HOLE_PID:
	case PF_HOLE_TID:
	case PF_HOLE_NAME:
		if (!repeats(h, p, end))
			break;
		borrow(h->kind == PF_HOLE_PID   ? &f->pid
		       : h->kind == PF_HOLE_TID ? &f->tid
						: &f->name,
		       h, p);
		return p + h->len;
	}
	return read_value(c, f, (enum pf_hole_kind)h->kind, p, end);
}

static inline bool fits_literal(const struct pf_hole *h, const char *p,
				const char *end)
{
	return (size_t)(end - p) >= h->literal_len &&
	       pf_same_bytes(p, h->literal, h->literal_len);
}

static const char *fit(struct pf_chrome *c, struct pf_shape *s,
		       struct fields *f, const char *p, const char *end)
{
	struct pf_hole *h = s->hole;
	const char *q;

	if (!s->count || !fits_literal(h, p, end))
		return NULL;
	clear(f, s->is_stale);
	f->ph = s->ph;
	f->has_args = s->has_args;
	f->category.p = s->category_text;
	f->category.len = s->category_len;
	s->is_stale = true; /* its holes are another event's from here on */
	for (;; h++) {
		p += h->literal_len;
		if (h->kind == PF_HOLE_END) {
			h->at = p;
			return p;
		}
		q = fit_hole(c, f, h, p, end);
		if (!q || q >= end || !fits_literal(h + 1, q, end))
			return NULL;
		h->at = p;
		h->len = (uint32_t)(q - p);
		p = q;
	}
}

/* The shape that fits; *next is behind the event then. */
static struct pf_shape *fit_any(struct pf_chrome *c, struct fields *f,
				const char *p, const char *end,
				const char **next)
{
	struct pf_shapes *all = c->shapes;
	uint32_t likely = all->shape[all->last].next, i = likely;

	for (uint32_t n = 0; n < all->count; n++) {
		const char *q = fit(c, &all->shape[i], f, p, end);

		if (q) {
			all->shape[all->last].next = i;
			all->last = i;
			*next = q;
			return &all->shape[i];
		}
		i = i + 1 < all->count ? i + 1 : 0;
	}
	return NULL;
}

/* ---- the text of the arguments ---- */

static const char *place_of(const struct pf_shape *s,
			    struct pf_shape_place place)
{
	const struct pf_hole *h = &s->hole[place.hole];

	return h->at - h->literal_len + place.offset;
}

/* As read_args() and read_extra() would have left it. */
static void compose(struct pf_chrome *c, const struct pf_shape *s)
{
	struct pf_buf *out = &c->args_text, *extra = &c->extra_text;
	const char *copied = place_of(s, s->args_from);

	out->len = 0;
	for (const struct pf_hole *h = s->hole; h->kind != PF_HOLE_END; h++) {
		if (h->is_extra) {
			put_extra_key(extra, h->key, h->key_len);
			if (h->kind == PF_HOLE_SLOT)
				put_slot(extra, h->slot);
			else
				put(extra, h->at, h->len);
		} else if (h->kind == PF_HOLE_SLOT) {
			put(out, copied, (size_t)(h->at - copied));
			put_slot(out, h->slot);
			copied = h->at + h->len;
		}
	}
	if (s->has_args)
		put(out, copied, (size_t)(place_of(s, s->args_to) - copied));
}
