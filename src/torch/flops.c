/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/flops.h"

#include <math.h>
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

enum input { NO_TENSOR, TENSOR, UNKNOWN };

/*
 * Lists and scalars have types of their own.  No type has what is no tensor
 * although the formula's operators take nothing else there: one of symbolic
 * sizes.
 */
static enum input input_dims(struct pf_json args, size_t n, struct pf_dims *out)
{
	static const char *const others[] = {
		"\"Scalar\"",
		"\"ScalarList\"",
		"\"TensorList\"",
		"\"GenericList\"",
	};
	struct pf_json types = pf_json_get(args, "Input type");
	struct pf_json list = pf_json_get(args, "Input Dims");
	struct pf_json type = pf_json_at(types, n);

	if (!types.p || !list.p || pf_json_is(type, "\"\""))
		return UNKNOWN;
	for (size_t i = 0; type.p && i < sizeof(others) / sizeof(*others); i++)
		if (pf_json_is(type, others[i]))
			return NO_TENSOR;
	return type.p && pf_json_dims(pf_json_at(list, n), out) ? TENSOR
								: NO_TENSOR;
}

/* Both tensors, or what the worse of them is. */
static enum input two_inputs(struct pf_json args, size_t first,
			     struct pf_dims *a, struct pf_dims *b)
{
	enum input x = input_dims(args, first, a);
	enum input y = input_dims(args, first + 1, b);

	if (x == NO_TENSOR || y == NO_TENSOR)
		return NO_TENSOR;
	return x == UNKNOWN ? x : y;
}

static uint64_t product(const struct pf_dims *d)
{
	uint64_t all = 1;

	for (size_t i = 0; i < d->count; i++)
		all *= d->size[i];
	return all;
}

static enum input flops_matmul(struct pf_json args, size_t first, bool batched,
			       uint64_t *out)
{
	struct pf_dims a, b;
	enum input in = two_inputs(args, first, &a, &b);
	uint64_t n;

	if (in != TENSOR)
		return in;
	if (!a.count || !a.size[a.count - 1] || (batched && !a.size[0]))
		return NO_TENSOR;
	n = product(&a) / a.size[a.count - 1];
	if (batched)
		n /= a.size[0];
	*out = 2 * n * product(&b);
	return TENSOR;
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

static enum input flops_conv2d(struct pf_json args, uint64_t *out)
{
	struct pf_json concrete = pf_json_get(args, "Concrete Inputs");
	int64_t stride[2], pad[2], dilation[2], groups;
	struct pf_dims in, w;
	enum input both = two_inputs(args, 0, &in, &w);
	uint64_t n;

	if (both != TENSOR)
		return both;
	if (in.count != 4 || w.count != 4)
		return NO_TENSOR;
	if (!concrete.p)
		return UNKNOWN;
	if (!read_pair(concrete, 3, stride) || !read_pair(concrete, 4, pad) ||
	    !read_pair(concrete, 5, dilation) ||
	    !pf_json_int(pf_json_at(concrete, 6), &groups))
		return NO_TENSOR;
	if (!stride[0] || !stride[1] || !groups)
		return NO_TENSOR;
	n = 2 * in.size[0];
	n *= out_size(in.size[2], pad[0], dilation[0], w.size[2], stride[0]);
	n *= out_size(in.size[3], pad[1], dilation[1], w.size[3], stride[1]);
	n *= w.size[2] * w.size[3] * in.size[1] * w.size[0];
	*out = n / (uint64_t)groups;
	return TENSOR;
}

static enum input flops_pointwise(struct pf_json args, uint64_t *out)
{
	struct pf_dims a;
	enum input in = input_dims(args, 0, &a);

	if (in == TENSOR)
		*out = product(&a);
	return in;
}

bool pf_flops(enum pf_flop_op op, struct pf_json args, uint64_t *out)
{
	*out = 0;
	switch (op) {
	case PF_FLOP_MM:
		return flops_matmul(args, 0, false, out) != UNKNOWN;
	case PF_FLOP_ADDMM:
		return flops_matmul(args, 1, false, out) != UNKNOWN;
	case PF_FLOP_BMM:
		return flops_matmul(args, 0, true, out) != UNKNOWN;
	case PF_FLOP_BADDBMM:
		return flops_matmul(args, 1, true, out) != UNKNOWN;
	case PF_FLOP_POINTWISE:
		return flops_pointwise(args, out) != UNKNOWN;
	case PF_FLOP_CONV2D:
		return flops_conv2d(args, out) != UNKNOWN;
	case PF_FLOP_NONE:
		break;
	}
	return true;
}

/* ---- sums ---- */

void pf_flops_add(struct pf_flops_sum *sum, const struct pf_flops_sum *part)
{
	sum->low += part->low;
	sum->high += part->high + (sum->low < part->low);
	sum->unknown_count += part->unknown_count;
}

int pf_flops_compare(const struct pf_flops_sum *a, const struct pf_flops_sum *b)
{
	if (!a->unknown_count != !b->unknown_count)
		return a->unknown_count ? -1 : 1;
	if (a->unknown_count)
		return 0;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return (a->low > b->low) - (a->low < b->low);
}

/* The first 64 bits, the last of which stands for all behind it. */
double pf_flops_double(const struct pf_flops_sum *sum)
{
	uint64_t top = sum->high, rest = sum->low;
	int shift;

	if (!top)
		return (double)rest;
	shift = __builtin_clzll(top);
	if (shift) {
		top = top << shift | rest >> (64 - shift);
		rest <<= shift;
	}
	return ldexp((double)(top | (rest != 0)), 64 - shift);
}

char *pf_flops_digits(char out[PF_FLOPS_DIGITS], const struct pf_flops_sum *sum)
{
	unsigned __int128 n = (unsigned __int128)sum->high << 64 | sum->low;
	char *p = out + PF_FLOPS_DIGITS - 1;

	*p = '\0';
	do
		*--p = (char)('0' + (int)(n % 10));
	while (n /= 10);
	return p;
}

int64_t pf_flops_known(const struct pf_flops_sum *sum)
{
	return sum->unknown_count || sum->high || sum->low > INT64_MAX
		       ? -1
		       : (int64_t)sum->low;
}
