/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a memory snapshot: refused with a message, or read so that all
 * entries are accounted for, every id and number is within its limits, and a
 * second reading says the same.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#include "formats/memsnap/snap.h"

struct bytes {
	const uint8_t *data;
	size_t len;
};

static int64_t read_bytes(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct bytes *b = arg;

	(void)err;
	if (len > b->len)
		len = b->len;
	if (len)
		memcpy(buf, b->data, len);
	b->data += len;
	b->len -= len;
	return (int64_t)len;
}

static int load(struct pf_snap *s, const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct pf_err err = { 0 };
	int rc = pf_snap_load(s, ".", size & 1, read_bytes, &b, &err);

	FUZZ_CHECK((rc == 0) == (err.code == PF_OK));
	FUZZ_CHECK(rc == 0 || err.text[0]);
	return rc;
}

static void check_stack(const struct pf_snap *s, uint32_t stack)
{
	const struct pf_intern *nodes = &s->stacks.nodes;
	struct pf_snap_stack node;
	size_t len, steps = 0;

	while (stack) {
		FUZZ_CHECK(stack <= nodes->count);
		memcpy(&node, pf_intern_text(nodes, stack - 1, &len),
		       sizeof(node));
		FUZZ_CHECK(node.parent < stack);
		FUZZ_CHECK(node.frame < s->stacks.frames.count);
		stack = node.parent;
		FUZZ_CHECK(++steps <= nodes->count);
	}
}

static void check_entries(const struct pf_snap *s)
{
	struct pf_err err = { 0 };
	int64_t skipped = 0;

	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		skipped += s->repairs.of[k].count;
	FUZZ_CHECK((int64_t)(pf_spool_count(s->entries) +
			     pf_spool_count(s->marks)) +
			   skipped ==
		   s->entry_count + s->mark_count);
	for (uint64_t i = 0; i < pf_spool_count(s->entries); i++) {
		const struct pf_snap_entry *e =
			pf_spool_at(s->entries, i, &err);

		FUZZ_CHECK(e->size >= 0 && e->size <= PF_SNAP_SIZE_MAX);
		FUZZ_CHECK(e->device < s->device_count);
		FUZZ_CHECK(e->name < s->pickle.texts.count);
		check_stack(s, e->stack);
	}
}

static void check_blocks(const struct pf_snap *s)
{
	struct pf_err err = { 0 };

	for (uint64_t i = 0; i < pf_spool_count(s->blocks); i++) {
		const struct pf_snap_block *b = pf_spool_at(s->blocks, i, &err);

		FUZZ_CHECK(b->segment >= 0);
		FUZZ_CHECK((uint64_t)b->segment < pf_spool_count(s->segments));
		FUZZ_CHECK(b->state < s->pickle.texts.count);
		check_stack(s, b->stack);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pf_snap a, b;
	int rc;

	if (size > 1 << 18)
		return 0;
	rc = load(&a, data, size);
	FUZZ_CHECK(load(&b, data, size) == rc);
	if (!rc) {
		check_entries(&a);
		check_blocks(&a);
		FUZZ_CHECK(pf_spool_count(a.entries) ==
			   pf_spool_count(b.entries));
		FUZZ_CHECK(a.stacks.nodes.count == b.stacks.nodes.count);
	}
	pf_snap_release(&a);
	pf_snap_release(&b);
	return 0;
}
