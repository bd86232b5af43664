/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/roofline/recompute.h"
#include "formats/event.h"

#define NODE       "autograd::engine::evaluate_function: "
#define CHECKPOINT "CheckpointFunctionBackward"
#define FILE_NAME  "torch/utils/checkpoint.py("

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

/* torch's own nodes end with a digit; those of a program do not. */
static enum pf_recompute inside_node(const char *node)
{
	size_t len = strlen(node);

	if (!strcmp(node, CHECKPOINT))
		return PF_RECOMPUTE_AGAIN;
	if (!len || node[len - 1] < '0' || node[len - 1] > '9' ||
	    strstr(node, "BackwardBackward"))
		return PF_RECOMPUTE_OTHER;
	return PF_RECOMPUTE_BACKWARD;
}

static bool is_checkpoint_frame(const char *name)
{
	static const char *const functions[] = {
		"unpack_hook",
		"recompute_fn",
		NULL,
	};
	const char *file = strstr(name, FILE_NAME);
	const char *function = file ? strstr(file, "): ") : NULL;

	return function && is_one_of(function + 3, functions);
}

struct pf_recompute_word pf_recompute_word(const char *name)
{
	static const char *const forward[] = {
		"aten::linear",
		"aten::conv1d",
		"aten::conv2d",
		"aten::conv3d",
		"aten::layer_norm",
		"aten::group_norm",
		"aten::batch_norm",
		"aten::scaled_dot_product_attention",
		NULL,
	};
	struct pf_recompute_word word = { PF_RECOMPUTE_NONE, 0, 0 };

	if (!strncmp(name, NODE, strlen(NODE)))
		word.of = (uint8_t)inside_node(name + strlen(NODE));
	word.is_forward = is_one_of(name, forward);
	word.is_frame = is_checkpoint_frame(name);
	return word;
}

enum pf_recompute pf_recompute_next(enum pf_recompute around,
				    struct pf_recompute_word word,
				    unsigned kind)
{
	if (kind == PF_KIND_PYTHON)
		return word.is_frame ? PF_RECOMPUTE_AGAIN : around;
	if (kind != PF_KIND_CPU_OP)
		return around;
	if (word.of != PF_RECOMPUTE_NONE)
		return (enum pf_recompute)word.of;
	if (word.is_forward && around == PF_RECOMPUTE_BACKWARD)
		return PF_RECOMPUTE_AGAIN;
	return around;
}
