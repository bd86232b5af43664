/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_side.h"
#include "events/gpu.h"
#include "base/mem.h"
#include "formats/event.h"

struct pool {
	struct pf_side *out;
	struct pf_intern *texts;
	const struct pf_capture *from;
	uint32_t *numbers; /* of the capture's texts; UINT32_MAX: not yet */
	struct pf_intern keys[4];
	size_t caps[4];
	uint32_t none;
	enum pf_diff_by by;
};

static uint32_t text_of(struct pool *p, uint32_t n)
{
	const char *text;
	size_t len;

	if (p->numbers[n] == UINT32_MAX) {
		text = pf_intern_text(&p->from->texts, n, &len);
		p->numbers[n] = pf_intern_add(p->texts, text, len);
	}
	return p->numbers[n];
}

static uint32_t word(struct pool *p, const char *s)
{
	return pf_intern_add(p->texts, s, strlen(s));
}

static const char *category_of(uint32_t kind)
{
	return kind == PF_KIND_KERNEL   ? "kernel"
	       : kind == PF_KIND_MEMCPY ? "gpu_memcpy"
					: "gpu_memset";
}

/* Keep what rows are put together by; the rest is the same for all. */
static struct pf_work_key key_of(struct pool *p, const struct pf_work_key *k)
{
	struct pf_work_key out = { .path = p->none,
				   .region = p->none,
				   .module = p->none,
				   .annotation = p->none,
				   .op = p->none,
				   .shapes = p->none,
				   .kernel = p->none };

	switch (p->by) {
	case PF_BY_OP:
		out.op = text_of(p, k->op);
		break;
	case PF_BY_SHAPE:
		out.op = text_of(p, k->op);
		out.shapes = text_of(p, k->shapes);
		break;
	case PF_BY_KERNEL:
		out.kernel = text_of(p, k->kernel);
		out.class = k->class;
		out.kind = k->kind;
		break;
	case PF_BY_MODULE:
		out.module = text_of(p, k->module);
		break;
	case PF_BY_ANNOTATION:
		out.annotation = text_of(p, k->annotation);
		break;
	case PF_BY_STACK:
		out.path = text_of(p, k->path);
		break;
	case PF_BY_CLASS:
		out.kernel =
			word(p, pf_gpu_class_name((enum pf_gpu_class)k->class));
		out.class = k->class;
		break;
	case PF_BY_CATEGORY:
		out.kernel = word(p, category_of(k->kind));
		out.kind = k->kind;
		break;
	case PF_BY_ALL:
		out = *k;
		out.path = text_of(p, k->path);
		out.region = text_of(p, k->region);
		out.module = text_of(p, k->module);
		out.annotation = text_of(p, k->annotation);
		out.op = text_of(p, k->op);
		out.shapes = text_of(p, k->shapes);
		out.kernel = text_of(p, k->kernel);
		break;
	}
	return out;
}

enum { WORK, OPS, IDLE, SITES };

/* The place of a key in one of the lists, which is made longer for it. */
static void *place_of(struct pool *p, int list, const void *key, size_t key_len,
		      void **rows, size_t *count, size_t row_len, bool *is_new)
{
	uint32_t n = pf_intern_add(&p->keys[list], key, key_len);

	*is_new = n == *count;
	if (*is_new) {
		*rows = pf_grow(*rows, &p->caps[list], n + (size_t)1, row_len);
		memset((char *)*rows + n * row_len, 0, row_len);
		*count = n + (size_t)1;
	}
	return (char *)*rows + n * row_len;
}

static void pool_work(struct pool *p, const struct pf_work_row *from,
		      uint64_t first)
{
	struct pf_work_key key = key_of(p, &from->key);
	struct pf_work_row *row;
	bool is_new;

	row = place_of(p, WORK, &key, sizeof(key), (void **)&p->out->work,
		       &p->out->work_count, sizeof(*row), &is_new);
	if (is_new) {
		row->key = key;
		row->first = first + from->first;
	}
	row->count += from->count;
	row->ns += from->ns;
}

static void pool_op(struct pool *p, const struct pf_op_row *from)
{
	uint32_t key[3] = { text_of(p, from->name), text_of(p, from->shapes),
			    from->kind };
	struct pf_op_row *row;
	bool is_new;

	row = place_of(p, OPS, key, sizeof(key), (void **)&p->out->ops,
		       &p->out->op_count, sizeof(*row), &is_new);
	row->name = key[0];
	row->shapes = key[1];
	row->kind = key[2];
	row->count += from->count;
	row->ns += from->ns;
	row->self_ns += from->self_ns;
}

static void pool_wait(struct pool *p, int list, struct pf_wait_row **rows,
		      size_t *count, const struct pf_wait_row *from)
{
	uint32_t key[4] = { from->cause, text_of(p, from->name),
			    text_of(p, from->op), text_of(p, from->frame) };
	struct pf_wait_row *row;
	bool is_new;

	row = place_of(p, list, key, sizeof(key), (void **)rows, count,
		       sizeof(*row), &is_new);
	row->cause = key[0];
	row->name = key[1];
	row->op = key[2];
	row->frame = key[3];
	row->count += from->count;
	row->ns += from->ns;
	row->idle_ns += from->idle_ns;
}

static void pool_sums(struct pf_side *s, const struct pf_capture *c)
{
	s->steps += (int64_t)c->full_count;
	s->step_ns += c->step_ns;
	s->busy_ns += c->busy_ns;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		s->class_ns[i] += c->class_ns[i];
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++)
		s->count[i] += c->count[i];
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		s->cause_ns[i] += c->cause_ns[i];
	for (size_t i = 0; i < PF_PATH_CATEGORIES; i++)
		s->path_ns[i] += c->path_ns[i];
	s->path_window_ns += c->path_window_ns;
	s->path_steps += c->path_steps;
	s->gpu_events += c->gpu_events;
	s->before_count += c->before_count;
	s->migrated_count += c->migrated_count;
	s->without_launch += c->without_launch;
	s->outside_count += c->outside_count;
	s->lost.cut_count += c->lost.cut_count;
	s->lost.dropped_count += c->lost.dropped_count;
	s->lost.skipped_count += c->lost.skipped_count;
	s->has_steps |= c->has_steps;
	s->has_shapes |= c->has_shapes;
	if (c->peak_bytes > s->peak_bytes)
		s->peak_bytes = c->peak_bytes;
	if (c->reserved_bytes > s->reserved_bytes)
		s->reserved_bytes = c->reserved_bytes;
}

static void pool_capture(struct pool *p, const struct pf_capture *c, bool first)
{
	struct pf_side *s = p->out;

	p->from = c;
	p->numbers = pf_calloc(c->texts.count + (size_t)1, sizeof(*p->numbers));
	for (size_t i = 0; i < c->texts.count; i++)
		p->numbers[i] = UINT32_MAX;
	pool_sums(s, c);
	if (first) {
		s->device_count = c->device_count;
		s->world_size = c->world_size;
		s->trace_count = c->trace_count;
		s->device_name = text_of(p, c->device_name);
		s->hardware = text_of(p, c->hardware);
		s->platform = text_of(p, c->platform);
		s->versions = text_of(p, c->versions);
		s->options = text_of(p, c->options);
	}
	for (size_t i = 0; i < c->work_count; i++)
		pool_work(p, &c->work[i], first ? 0 : UINT64_C(1) << 40);
	for (size_t i = 0; i < c->op_count; i++)
		pool_op(p, &c->ops[i]);
	for (size_t i = 0; i < c->idle_count; i++)
		pool_wait(p, IDLE, &s->idle, &s->idle_count, &c->idle[i]);
	for (size_t i = 0; i < c->site_count; i++)
		pool_wait(p, SITES, &s->sites, &s->site_count, &c->sites[i]);
	free(p->numbers);
}

void pf_side_pool(struct pf_side *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by)
{
	struct pool p = { .out = out, .texts = texts, .by = by };

	*out = (struct pf_side){ .captures = captures,
				 .capture_count = count,
				 .peak_bytes = -1,
				 .reserved_bytes = -1 };
	p.none = word(&p, "");
	for (size_t i = 0; i < 4; i++)
		pf_intern_init(&p.keys[i]);
	for (size_t i = 0; i < count; i++)
		pool_capture(&p, captures[i], i == 0);
	for (size_t i = 0; i < 4; i++)
		pf_intern_release(&p.keys[i]);
}

void pf_side_release(struct pf_side *s)
{
	free(s->work);
	free(s->ops);
	free(s->idle);
	free(s->sites);
	*s = (struct pf_side){ 0 };
}

bool pf_side_knows(const struct pf_side *s, const struct pf_side *other,
		   enum pf_step_count count)
{
	if (s->gpu_events || !other->gpu_events)
		return true;
	switch (count) {
	case PF_COUNT_TENSORS:
	case PF_COUNT_OPS:
		return true;
	case PF_COUNT_LAUNCHES:
	case PF_COUNT_GRAPHS:
	case PF_COUNT_SYNCS:
	case PF_COUNT_ALLOCATIONS:
	case PF_COUNT_CALLS:
		return s->count[PF_COUNT_CALLS];
	default:
		return false;
	}
}
