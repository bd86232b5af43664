/* SPDX-License-Identifier: MIT */
/* The rows of data/words.csv, and how they are searched. */
#include "unit/support.h"

#include <stdio.h>

#include "events/gpu.c"
#include "events/names.h"

static void test_matches(void **state)
{
	(void)state;
	assert_int_equal(pf_word(PF_WORD_COMM_KERNEL, "MyNcClKernel"), 1);
	assert_int_equal(pf_word(PF_WORD_COMM_KERNEL, "ncc"), 0);
	assert_int_equal(pf_word(PF_WORD_COMM_OP, "c10d::allreduce_"), 2);
	assert_int_equal(pf_word(PF_WORD_COMM_OP, "my c10d::allreduce_"), 0);
	assert_int_equal(pf_word_n(PF_WORD_COMM_OP, "nccl:x", 4), 0);
	assert_int_equal(pf_word_n(PF_WORD_COMM_OP, "nccl:x", 5), 3);
	assert_true(pf_word(PF_WORD_CALL_BLOCKING, "hipFree"));
	assert_true(pf_word(PF_WORD_CALL_BLOCKING, "cuMemAlloc_v2"));
	assert_false(pf_word(PF_WORD_CALL_BLOCKING, "customFree"));
	assert_false(pf_word(PF_WORD_CALL_BLOCKING, "Free"));
	assert_false(pf_word(PF_WORD_CALL_BLOCKING, "cudafree"));
	assert_false(pf_word(PF_WORD_CALL_BLOCKING, ""));
	assert_true(pf_word(PF_WORD_WAITING, "<method 'acquire' of lock>"));
}

/* No word without rows, and every row is found by its own text. */
static void test_table(void **state)
{
	bool has_rows[PF_WORD_COUNT] = { false };

	(void)state;
	for (size_t i = 0; i < pf_word_row_count; i++) {
		const struct pf_word_row *row = &pf_word_rows[i];
		char name[128];

		snprintf(name, sizeof(name), "%s%s",
			 row->match == PF_MATCH_VERB ? "cuda" : "", row->text);
		assert_int_equal(row->len, strlen(row->text));
		assert_true(pf_word(row->word, name));
		has_rows[row->word] = true;
		/* the rows of a word follow each other, verbs first */
		assert_true(i == pf_word_first[row->word] ||
			    row[-1].word == row->word);
		assert_true(row->match != PF_MATCH_VERB ||
			    i == pf_word_first[row->word] ||
			    row[-1].match == PF_MATCH_VERB);
	}
	for (size_t i = 0; i < PF_WORD_COUNT; i++)
		assert_true(has_rows[i]);
}

/*
 * Calls of other devices: names that their public headers have, of which some
 * begin as another does that is something else.
 */
static void test_devices(void **state)
{
	static const struct {
		enum pf_word word;
		const char *is, *is_not;
	} names[] = {
		{ PF_WORD_CALL_ALLOCATOR, "urUSMDeviceAlloc",
		  "urUSMGetMemAllocInfo" },
		{ PF_WORD_CALL_ALLOCATOR, "urVirtualMemMap",
		  "urVirtualMemGranularityGetInfo" },
		{ PF_WORD_CALL_ALLOCATOR, "urPhysicalMemCreate",
		  "urPhysicalMemRetain" },
		{ PF_WORD_CALL_ALLOCATOR, "zeVirtualMemReserve",
		  "zeVirtualMemQueryPageSize" },
		{ PF_WORD_CALL_ALLOCATOR, "piMemRelease", "piMemRetain" },
		{ PF_WORD_CALL_ALLOCATOR, "synHostMalloc", "synHostCopy" },
		{ PF_WORD_CALL_ALLOCATOR, "AscendCL@aclrtUnmapMem",
		  "AscendCL@aclrtGetMemInfo" },
		{ PF_WORD_CALL_BLOCKING, "cudaHostFree", "synHostFree" },
		{ PF_WORD_CALL_MODULE, "urProgramCreateWithIL",
		  "urProgramCreateWithNativeHandle" },
		{ PF_WORD_CALL_MODULE, "piProgramCreateWithBinary",
		  "piProgramGetInfo" },
		{ PF_WORD_CALL_MODULE, "synGraphCompile", "synGraphCreate" },
		{ PF_WORD_CALL_NO_LAUNCH,
		  "urCommandBufferAppendKernelLaunchExp",
		  "urCommandBufferEnqueueExp" },
		{ PF_WORD_CALL_COPIES, "zeCommandListAppendImageCopyRegion",
		  "zeCommandListAppendBarrier" },
		{ PF_WORD_CALL_SYNC, "synStreamSynchronize", "synStreamQuery" },
		{ PF_WORD_CALL_FILL, "synMemsetD32Async", "synMemCopyAsync" },
		{ PF_WORD_CALL_STREAM_WAIT, "synStreamWaitEvent",
		  "synStreamSynchronize" },
		{ PF_WORD_EVENT_RECORD, "synEventRecord", "synEventQuery" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_true(pf_word(names[i].word, names[i].is));
		assert_false(pf_word(names[i].word, names[i].is_not));
	}
}

/* Rules are stored by number: rows of comm_op must keep their order. */
static void test_rules(void **state)
{
	unsigned rule = PF_COMM_NAME;

	(void)state;
	for (size_t i = 0; i < pf_word_row_count; i++)
		if (pf_word_rows[i].word == PF_WORD_COMM_OP)
			assert_non_null(strstr(
				pf_comm_rule_words((enum pf_comm_rule)++ rule),
				pf_word_rows[i].text));
	assert_int_equal(rule + 1, PF_COMM_RULES);
}

static void test_operations(void **state)
{
	static const struct {
		const char *name, *category;
		enum pf_gpu_class class;
	} ops[] = {
		{ "all-reduce.3", "", PF_GPU_COMM },
		{ "all-gather-start", "", PF_GPU_COMM },
		{ "collective-permute-done.1", "", PF_GPU_COMM },
		{ "reduce-scatter.1", "async-start", PF_GPU_COMM },
		{ "psum.7", "all-reduce", PF_GPU_COMM },
		{ "fusion.2", "all-reduce fusion", PF_GPU_COMM },
		{ "copy.5", "data formatting", PF_GPU_COPY },
		{ "copy-done.4", "", PF_GPU_COPY },
		{ "recv-done.1", "host recv", PF_GPU_COPY },
		{ "copy_fusion.1", "loop fusion", PF_GPU_COMPUTE },
		{ "reduce.8", "", PF_GPU_COMPUTE },
		{ "sender.8", "custom-call", PF_GPU_COMPUTE },
		{ "", "", PF_GPU_COMPUTE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		assert_int_equal(
			pf_gpu_classify_op(ops[i].name, ops[i].category),
			ops[i].class);
}

static void test_ways(void **state)
{
	static const struct {
		const char *name;
		enum pf_copy_way way;
	} names[] = {
		{ "Memcpy HtoD (Pinned -> Device)", PF_COPY_HTOD },
		{ "Memory copy (M2D)", PF_COPY_HTOD },
		{ "MEMORY_COPY_DEVICE_TO_HOST", PF_COPY_DTOH },
		{ "Memcpy D2H", PF_COPY_DTOH },
		{ "CopyDeviceToDevice", PF_COPY_DTOD },
		{ "Memcpy P2P", PF_COPY_PTOP },
		{ "Memcpy PtoP (Device -> Device)", PF_COPY_PTOP },
		{ "__amd_rocclr_copyBuffer", PF_COPY_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(gpu_copy_way(names[i].name), names[i].way);
}

static void test_frames(void **state)
{
	static const char *const names[][2] = {
		{ "a/train.py(12): step", "a/train.py:12 step" },
		/* the line of a module is where it stood, and nothing else's */
		{ "a/train.py(12): <module>", "a/train.py <module>" },
		{ "a(1)/train.py(12): <module>", "a(1)/train.py <module>" },
		{ "train.py(12): <lambda>", "train.py:12 <lambda>" },
		{ "train.py(12): <module>s", "train.py:12 <module>s" },
		{ "<module>", "<module>" },
	};

	(void)state;
	for (size_t i = 0; i < PF_LEN(names); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", names[i][0]);
		pf_name_as_frame(text);
		assert_string_equal(text, names[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),    cmocka_unit_test(test_table),
		cmocka_unit_test(test_devices),    cmocka_unit_test(test_rules),
		cmocka_unit_test(test_operations), cmocka_unit_test(test_ways),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
