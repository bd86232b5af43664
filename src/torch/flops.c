/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/flops.h"

#include <stdbool.h>
#include <string.h>

enum pf_flop_op pf_flops_op(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum pf_flop_op op;
	} known[] = {
		{ "aten::mm", PF_FLOP_MM },
		{ "aten::addmm", PF_FLOP_ADDMM },
		{ "aten::bmm", PF_FLOP_BMM },
		{ "aten::baddbmm", PF_FLOP_BADDBMM },
		{ "aten::add", PF_FLOP_POINTWISE },
		{ "aten::mul", PF_FLOP_POINTWISE },
		{ "aten::conv2d", PF_FLOP_CONV2D },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == len &&
		    !memcmp(known[i].name, name, len))
			return known[i].op;
	return PF_FLOP_NONE;
}

/* Is input n a tensor?  Lists and scalars have types of their own. */
static bool is_tensor(struct pf_json args, size_t n)
{
	static const char *const others[] = {
		"\"\"",           "\"Scalar\"",      "\"ScalarList\"",
		"\"TensorList\"", "\"GenericList\"",
	};
	struct pf_json types = pf_json_get(args, "Input type");
	struct pf_json type = pf_json_at(types, n);

	if (!type.p)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (pf_json_is(type, others[i]))
			return false;
	return true;
}

static bool input_dims(struct pf_json args, size_t n, struct pf_dims *out)
{
	struct pf_json list = pf_json_get(args, "Input Dims");

	return is_tensor(args, n) && pf_json_dims(pf_json_at(list, n), out);
}

static uint64_t product(const struct pf_dims *d)
{
	uint64_t all = 1;

	for (size_t i = 0; i < d->count; i++)
		all *= d->size[i];
	return all;
}

static uint64_t flops_matmul(struct pf_json args, size_t first, bool batched)
{
	struct pf_dims a, b;
	uint64_t n;

	if (!input_dims(args, first, &a) || !input_dims(args, first + 1, &b))
		return 0;
	if (!a.count || !a.size[a.count - 1] || (batched && !a.size[0]))
		return 0;
	n = product(&a) / a.size[a.count - 1];
	if (batched)
		n /= a.size[0];
	return 2 * n * product(&b);
}

/* A pair such as stride: one number stands for both. */
static bool read_pair(struct pf_json concrete, size_t n, int64_t out[2])
{
	struct pf_dims d;

	if (!pf_json_dims(pf_json_at(concrete, n), &d) || !d.count)
		return false;
	out[0] = (int64_t)d.size[0];
	out[1] = (int64_t)d.size[d.count > 1 ? 1 : 0];
	return true;
}

static uint64_t out_size(uint64_t in, int64_t pad, int64_t dilation,
			 uint64_t kernel, int64_t stride)
{
	uint64_t n =
		in + 2 * (uint64_t)pad - (uint64_t)dilation * (kernel - 1) - 1;

	/* C++ divides signed numbers here; -1 / -1 style overflow is barred. */
	if (stride == -1)
		return 0 - n + 1;
	return (uint64_t)((int64_t)n / stride) + 1;
}

static uint64_t flops_conv2d(struct pf_json args)
{
	struct pf_json concrete = pf_json_get(args, "Concrete Inputs");
	int64_t stride[2], pad[2], dilation[2], groups;
	struct pf_dims in, w;
	uint64_t n;

	if (!pf_json_at(concrete, 6).p || !input_dims(args, 0, &in) ||
	    !input_dims(args, 1, &w) || in.count != 4 || w.count != 4)
		return 0;
	if (!read_pair(concrete, 3, stride) || !read_pair(concrete, 4, pad) ||
	    !read_pair(concrete, 5, dilation) ||
	    !pf_json_int(pf_json_at(concrete, 6), &groups))
		return 0;
	if (!stride[0] || !stride[1] || !groups)
		return 0;
	n = 2 * in.size[0];
	n *= out_size(in.size[2], pad[0], dilation[0], w.size[2], stride[0]);
	n *= out_size(in.size[3], pad[1], dilation[1], w.size[3], stride[1]);
	n *= w.size[2] * w.size[3] * in.size[1] * w.size[0];
	return n / (uint64_t)groups;
}

uint64_t pf_flops(enum pf_flop_op op, struct pf_json args)
{
	struct pf_dims a;

	switch (op) {
	case PF_FLOP_MM:
		return flops_matmul(args, 0, false);
	case PF_FLOP_ADDMM:
		return flops_matmul(args, 1, false);
	case PF_FLOP_BMM:
		return flops_matmul(args, 0, true);
	case PF_FLOP_BADDBMM:
		return flops_matmul(args, 1, true);
	case PF_FLOP_POINTWISE:
		return input_dims(args, 0, &a) ? product(&a) : 0;
	case PF_FLOP_CONV2D:
		return flops_conv2d(args);
	case PF_FLOP_NONE:
		break;
	}
	return 0;
}
