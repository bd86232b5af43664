/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/memsnap/stacks.h"

#define OMIT_FILE 1u
#define OMIT_NAME 2u

/* memory_viz's lists, as they stand in every release since torch 2.1 */
static const char *const omitted_names[] = {
	"unwind::unwind",    "CapturedTraceback::gather",
	"gather_with_cpp",   "_start",
	"__libc_start_main", "PyEval_",
	"PyObject_",         "PyFunction_",
};
static const char *const omitted_files[] = {
	"core/boxing",
	"/Register",
	"/Redispatch",
	"pythonrun.c",
	"Modules/main.c",
	"Objects/call.c",
	"Objects/methodobject.c",
	"pycore_ceval.h",
	"ceval.c",
	"cpython/abstract.h",
};

void pf_snap_stacks_init(struct pf_snap_stacks *s)
{
	memset(s, 0, sizeof(*s));
	pf_intern_init(&s->frames);
	pf_intern_init(&s->nodes);
}

void pf_snap_stacks_release(struct pf_snap_stacks *s)
{
	pf_intern_release(&s->frames);
	pf_intern_release(&s->nodes);
	free(s->omits);
	free(s->frame_of);
	free(s->stack_of);
}

static bool has_any(const char *const *list, size_t count, const char *p,
		    size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (memmem(p, len, list[i], strlen(list[i])))
			return true;
	return false;
}

void pf_snap_stacks_text(struct pf_snap_stacks *s, uint32_t number,
			 const char *p, size_t len)
{
	uint8_t bits = 0;

	if (has_any(omitted_files,
		    sizeof(omitted_files) / sizeof(*omitted_files), p, len))
		bits |= OMIT_FILE;
	if (has_any(omitted_names,
		    sizeof(omitted_names) / sizeof(*omitted_names), p, len))
		bits |= OMIT_NAME;
	s->omits = pf_grow(s->omits, &s->omits_cap, (size_t)number + 1, 1);
	s->omits[number] = bits;
}

uint32_t pf_snap_new_frame(struct pf_snap_stacks *s)
{
	s->frame_of = pf_grow(s->frame_of, &s->frame_cap, s->frame_count + 1,
			      sizeof(*s->frame_of));
	s->frame_of[s->frame_count] = PF_SNAP_DROPPED;
	return (uint32_t)s->frame_count++;
}

uint32_t pf_snap_new_list(struct pf_snap_stacks *s)
{
	s->stack_of = pf_grow(s->stack_of, &s->list_cap, s->list_count + 1,
			      sizeof(*s->stack_of));
	s->stack_of[s->list_count] = 0;
	return (uint32_t)s->list_count++;
}

void pf_snap_set_frame(struct pf_snap_stacks *s, uint32_t number,
		       const struct pf_snap_frame *frame)
{
	if (s->omits[frame->file] & OMIT_FILE ||
	    s->omits[frame->name] & OMIT_NAME)
		return;
	s->frame_of[number] =
		pf_intern_add(&s->frames, (const char *)frame, sizeof(*frame));
}

void pf_snap_set_list(struct pf_snap_stacks *s, uint32_t number,
		      const uint32_t *frames, size_t count)
{
	struct pf_snap_stack node = { 0 };

	for (size_t i = count; i-- > 0;) {
		node.frame = s->frame_of[frames[i]];
		if (node.frame == PF_SNAP_DROPPED) {
			s->dropped_count++;
			continue;
		}
		node.parent = pf_intern_add(&s->nodes, (const char *)&node,
					    sizeof(node)) +
			      1;
	}
	s->stack_of[number] = node.parent;
}

uint32_t pf_snap_stack_id(const struct pf_snap_stacks *s, uint32_t list)
{
	return list < s->list_count ? s->stack_of[list] : 0;
}
