/* SPDX-License-Identifier: MIT */
/*
 * Hostile column bytes.  The first byte chooses the column, the next two the
 * number of events; the rest is the column.  Then the bytes choose values
 * that are encoded and must come back as they were.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#include "store/block.c"

static struct pf_block block, back;

static void touch(const struct pf_block *b, enum pf_column column,
		  uint32_t count)
{
	volatile int64_t sum = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (column == PF_COL_START)
			sum = sum ^ b->start_ns[i];
		else if (column == PF_COL_DUR)
			sum = sum ^ b->dur_ns[i];
		else if (column == PF_COL_NAME)
			sum = sum ^ b->name[i];
		else if (column == PF_COL_PARENT)
			sum = sum ^ b->parent[i];
	}
}

static void decode_hostile(const uint8_t *data, size_t size)
{
	enum pf_column column = (enum pf_column)(data[0] % PF_COL_COUNT);
	uint32_t i, count = 1 + (uint32_t)(data[1] | data[2] << 8) %
					PF_BLOCK_EVENTS;
	struct pf_err err = { 0 };

	if (column > PF_COL_INLINE && column < PF_COL_SLOT)
		column = PF_COL_START;
	memset(block.slot_count, 0, sizeof(block.slot_count));
	for (i = 0; i < count; i++)
		block.mask[i] = 0x3ffffff;
	block.count = count;
	if (!column_decode(&block, column, count, data + 3, size - 3, &err))
		touch(&block, column, count);
	else
		FUZZ_CHECK(err.code != PF_OK);
}

static void round_trip(const uint8_t *data, size_t size)
{
	uint32_t i, count = (uint32_t)(size / 8 < 512 ? size / 8 : 512);
	struct pf_buf bytes = { 0 };
	struct pf_err err = { 0 };

	if (!count)
		return;
	for (i = 0; i < count; i++) {
		memcpy(&block.start_ns[i], data + 8 * i, 8);
		memcpy(&block.name[i], data + 8 * i, 4);
	}
	block.count = back.count = count;
	pf_column_encode(&block, PF_COL_START, &bytes);
	FUZZ_CHECK(!column_decode(&back, PF_COL_START, count, bytes.data,
				  bytes.len, &err));
	FUZZ_CHECK(!memcmp(block.start_ns, back.start_ns, 8 * (size_t)count));
	pf_buf_clear(&bytes);
	pf_column_encode(&block, PF_COL_NAME, &bytes);
	FUZZ_CHECK(!column_decode(&back, PF_COL_NAME, count, bytes.data,
				  bytes.len, &err));
	FUZZ_CHECK(!memcmp(block.name, back.name, 4 * (size_t)count));
	/* one byte less is always noticed */
	FUZZ_CHECK(column_decode(&back, PF_COL_NAME, count, bytes.data,
				 bytes.len - 1, &err));
	pf_buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!block.start_ns) {
		pf_block_init(&block, PF_BLOCK_EVENTS);
		pf_block_init(&back, PF_BLOCK_EVENTS);
	}
	if (size < 3)
		return 0;
	decode_hostile(data, size);
	round_trip(data, size);
	return 0;
}
