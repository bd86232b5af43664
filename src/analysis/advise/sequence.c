/* SPDX-License-Identifier: MIT */
/*
 * What follows each other on the path, by its operators, wherever the path
 * is: on the host where launching bounds it, on the GPU elsewhere.
 *
 * Attention: products of batches of matrices, pointwise work, a softmax,
 * pointwise work, products again.  A softmax over classes has no second
 * product.  A chain: three pieces of GPU work or more, or their launches, of
 * pointwise operators alone.
 */
#include "analysis/advise/advise_impl.h"

static const struct {
	const char *op;
	enum advise_role role;
} roles[] = {
	{ "aten::bmm", ADVISE_ROLE_PRODUCT },
	{ "aten::baddbmm", ADVISE_ROLE_PRODUCT },
	{ "aten::matmul", ADVISE_ROLE_PRODUCT },
	{ "aten::einsum", ADVISE_ROLE_PRODUCT },
	{ "BmmBackward0", ADVISE_ROLE_PRODUCT },
	{ "BaddbmmBackward0", ADVISE_ROLE_PRODUCT },
	{ "aten::_softmax", ADVISE_ROLE_SOFTMAX },
	{ "aten::softmax", ADVISE_ROLE_SOFTMAX },
	{ "aten::_safe_softmax", ADVISE_ROLE_SOFTMAX },
	{ "aten::_softmax_backward_data", ADVISE_ROLE_SOFTMAX },
	{ "SoftmaxBackward0", ADVISE_ROLE_SOFTMAX },
	{ "aten::add", ADVISE_ROLE_POINTWISE },
	{ "aten::add_", ADVISE_ROLE_POINTWISE },
	{ "aten::sub", ADVISE_ROLE_POINTWISE },
	{ "aten::sub_", ADVISE_ROLE_POINTWISE },
	{ "aten::rsub", ADVISE_ROLE_POINTWISE },
	{ "aten::mul", ADVISE_ROLE_POINTWISE },
	{ "aten::mul_", ADVISE_ROLE_POINTWISE },
	{ "aten::div", ADVISE_ROLE_POINTWISE },
	{ "aten::div_", ADVISE_ROLE_POINTWISE },
	{ "aten::neg", ADVISE_ROLE_POINTWISE },
	{ "aten::exp", ADVISE_ROLE_POINTWISE },
	{ "aten::log", ADVISE_ROLE_POINTWISE },
	{ "aten::sqrt", ADVISE_ROLE_POINTWISE },
	{ "aten::rsqrt", ADVISE_ROLE_POINTWISE },
	{ "aten::pow", ADVISE_ROLE_POINTWISE },
	{ "aten::tanh", ADVISE_ROLE_POINTWISE },
	{ "aten::sigmoid", ADVISE_ROLE_POINTWISE },
	{ "aten::silu", ADVISE_ROLE_POINTWISE },
	{ "aten::silu_", ADVISE_ROLE_POINTWISE },
	{ "aten::gelu", ADVISE_ROLE_POINTWISE },
	{ "aten::relu", ADVISE_ROLE_POINTWISE },
	{ "aten::relu_", ADVISE_ROLE_POINTWISE },
	{ "aten::clamp", ADVISE_ROLE_POINTWISE },
	{ "aten::clamp_min", ADVISE_ROLE_POINTWISE },
	{ "aten::clamp_min_", ADVISE_ROLE_POINTWISE },
	{ "aten::where", ADVISE_ROLE_POINTWISE },
	{ "aten::masked_fill", ADVISE_ROLE_POINTWISE },
	{ "aten::masked_fill_", ADVISE_ROLE_POINTWISE },
	{ "aten::threshold_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::gelu_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::silu_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::tanh_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::sigmoid_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::dropout", ADVISE_ROLE_POINTWISE },
	{ "aten::native_dropout", ADVISE_ROLE_POINTWISE },
	{ "aten::native_dropout_backward", ADVISE_ROLE_POINTWISE },
	{ "aten::bernoulli_", ADVISE_ROLE_POINTWISE },
	{ "aten::eq", ADVISE_ROLE_POINTWISE },
	{ "aten::ne", ADVISE_ROLE_POINTWISE },
	{ "aten::lt", ADVISE_ROLE_POINTWISE },
	{ "aten::le", ADVISE_ROLE_POINTWISE },
	{ "aten::gt", ADVISE_ROLE_POINTWISE },
	{ "aten::ge", ADVISE_ROLE_POINTWISE },
	{ "aten::abs", ADVISE_ROLE_POINTWISE },
	{ "aten::sin", ADVISE_ROLE_POINTWISE },
	{ "aten::cos", ADVISE_ROLE_POINTWISE },
	{ "aten::addcmul", ADVISE_ROLE_POINTWISE },
	{ "aten::addcdiv", ADVISE_ROLE_POINTWISE },
	{ "aten::view", ADVISE_ROLE_VIEW },
	{ "aten::reshape", ADVISE_ROLE_VIEW },
	{ "aten::_unsafe_view", ADVISE_ROLE_VIEW },
	{ "aten::_reshape_alias", ADVISE_ROLE_VIEW },
	{ "aten::as_strided", ADVISE_ROLE_VIEW },
	{ "aten::expand", ADVISE_ROLE_VIEW },
	{ "aten::expand_as", ADVISE_ROLE_VIEW },
	{ "aten::transpose", ADVISE_ROLE_VIEW },
	{ "aten::permute", ADVISE_ROLE_VIEW },
	{ "aten::unsqueeze", ADVISE_ROLE_VIEW },
	{ "aten::squeeze", ADVISE_ROLE_VIEW },
	{ "aten::slice", ADVISE_ROLE_VIEW },
	{ "aten::select", ADVISE_ROLE_VIEW },
	{ "aten::t", ADVISE_ROLE_VIEW },
	{ "aten::detach", ADVISE_ROLE_VIEW },
	{ "aten::empty", ADVISE_ROLE_VIEW },
	{ "aten::empty_like", ADVISE_ROLE_VIEW },
	{ "aten::empty_strided", ADVISE_ROLE_VIEW },
	{ "aten::resize_", ADVISE_ROLE_VIEW },
	{ "aten::clone", ADVISE_ROLE_VIEW },
	{ "aten::contiguous", ADVISE_ROLE_VIEW },
	{ "aten::copy_", ADVISE_ROLE_VIEW },
	{ "aten::to", ADVISE_ROLE_VIEW },
	{ "aten::_to_copy", ADVISE_ROLE_VIEW },
};

enum advise_role advise_role_of(const char *op)
{
	if (!op || !*op)
		return ADVISE_ROLE_NONE;
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcmp(roles[i].op, op))
			return roles[i].role;
	return ADVISE_ROLE_OTHER;
}

enum { IDLE, PRODUCT, SOFTMAX, WHOLE };

bool advise_attention_step(struct advise_attention *a, enum advise_role role,
			   size_t at, bool *done)
{
	*done = false;
	switch (role) {
	case ADVISE_ROLE_PRODUCT:
		if (a->state == IDLE)
			a->from = at;
		a->state = a->state == SOFTMAX || a->state == WHOLE ? WHOLE
								    : PRODUCT;
		a->last = at;
		return true;
	case ADVISE_ROLE_SOFTMAX:
		if (a->state == PRODUCT || a->state == SOFTMAX) {
			a->state = SOFTMAX;
			return true;
		}
		break;
	case ADVISE_ROLE_NONE:
	case ADVISE_ROLE_VIEW:
	case ADVISE_ROLE_POINTWISE:
		if (a->state == PRODUCT || a->state == SOFTMAX)
			return true;
		if (a->state == WHOLE && role == ADVISE_ROLE_NONE)
			return true;
		break;
	default:
		break;
	}
	*done = a->state == WHOLE;
	a->state = IDLE;
	return false;
}

#define CHAIN_LEAST 3 /* pieces of work */

bool advise_chain_step(struct advise_chain *c, enum advise_role role,
		       bool is_work, size_t at, bool *done)
{
	*done = false;
	if (role == ADVISE_ROLE_POINTWISE) {
		if (!c->works && !is_work)
			return false;
		if (!c->works)
			c->from = at;
		c->works += is_work;
		c->last = at;
		return true;
	}
	if (c->works && (role == ADVISE_ROLE_NONE ||
			 (role == ADVISE_ROLE_VIEW && !is_work)))
		return true;
	*done = c->works >= CHAIN_LEAST;
	c->works = 0;
	return false;
}
