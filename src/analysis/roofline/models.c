/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/roofline/walk.h"

#include <strings.h>

#include "base/data.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"

enum column { TYPE, BYTES, PRECISION };

struct pf_op_types {
	struct pf_data *data;
};

struct pf_op_types *pf_op_types_new(struct pf_err *err)
{
	struct pf_op_types *t = pf_calloc(1, sizeof(*t));

	t->data = pf_data_new("data/op_types.csv", "type,bytes,precision", err);
	if (t->data)
		return t;
	free(t);
	return NULL;
}

void pf_op_types_free(struct pf_op_types *t)
{
	if (!t)
		return;
	pf_data_free(t->data);
	free(t);
}

bool pf_op_args_read(struct pf_json object, struct pf_op_args *out)
{
	out->dims = pf_json_get(object, "Input Dims");
	if (!out->dims.p) /* traces of 2021 */
		out->dims = pf_json_get(object, "Input dims");
	out->types = pf_json_get(object, "Input type");
	out->values = pf_json_get(object, "Concrete Inputs");
	return out->dims.p != NULL;
}

/* A text without its quotes; anything else as it is. */
static struct pf_json bare(struct pf_json v)
{
	if (v.p && v.len >= 2 && *v.p == '"')
		return (struct pf_json){ v.p + 1, v.len - 2 };
	return v;
}

static bool is_word(struct pf_json v, const char *word)
{
	return v.len == strlen(word) && !strncasecmp(v.p, word, v.len);
}

/* Is argument n a tensor, as its type says? */
static bool op_is_tensor(const struct pf_op_args *a, size_t n)
{
	static const char *const others[] = {
		"", "Scalar", "ScalarList", "TensorList", "GenericList",
	};
	struct pf_json type = bare(pf_json_at(a->types, n));

	if (!type.p || !pf_json_at(a->dims, n).p)
		return false;
	for (size_t i = 0; i < PF_LEN(others); i++)
		if (is_word(type, others[i]))
			return false;
	return true;
}

/*
 * Has argument n no type at all?  So are tensors recorded whose sizes are
 * symbolic, and those that the caller left out.
 */
static bool op_is_untyped(const struct pf_op_args *a, size_t n)
{
	struct pf_json type = bare(pf_json_at(a->types, n));

	return type.p && !type.len;
}

bool pf_op_dims(const struct pf_op_args *a, size_t n, struct pf_dims *out)
{
	struct pf_json v = bare(pf_json_at(a->dims, n));

	out->count = 0;
	if (!v.p || (v.len && !pf_json_dims(v, out)))
		return false;
	for (size_t i = 0; i < out->count; i++)
		if (out->size[i] > INT64_MAX) /* below 0 */
			return false;
	return true;
}

/* Bytes of an element, and the precision that products of it have. */
static bool op_type(const struct pf_op_args *a, size_t n, uint64_t *bytes,
		    enum pf_peak *peak)
{
	struct pf_json type = bare(pf_json_at(a->types, n));
	const struct pf_data *d = a->known->data;

	for (size_t i = 0; type.p && i < pf_data_rows(d); i++) {
		const char *word;

		if (!is_word(type, pf_data_cell(d, i, TYPE)))
			continue;
		word = pf_data_cell(d, i, PRECISION);
		*bytes = (uint64_t)pf_num_or_none(pf_data_cell(d, i, BYTES));
		*peak = pf_peak_find(word, strlen(word));
		return true;
	}
	return false;
}

/* The value of argument n as text, outside quotes; p NULL: not recorded. */
static struct pf_json op_value(const struct pf_op_args *a, size_t n)
{
	struct pf_json v = bare(pf_json_at(a->values, n));

	if (v.p && (!v.len || is_word(v, "None")))
		v.p = NULL;
	return v;
}

static bool flag(struct pf_json v, bool by_default)
{
	int64_t number;

	if (!v.p)
		return by_default;
	if (is_word(v, "true"))
		return true;
	if (is_word(v, "false"))
		return false;
	return pf_json_int(v, &number) ? number != 0 : by_default;
}

/* "False", "True", 0, 1, ...; what is not recorded is false. */
static bool op_flag(const struct pf_op_args *a, size_t n)
{
	return flag(op_value(a, n), false);
}

/* Item i of a list of such. */
static bool op_flag_at(const struct pf_op_args *a, size_t n, size_t i,
		       bool by_default)
{
	return flag(pf_json_at(op_value(a, n), i), by_default);
}

/* A number, or a list of numbers with one for all; false: neither. */
static bool op_int(const struct pf_op_args *a, size_t n, int64_t *out)
{
	struct pf_json v = op_value(a, n);

	return v.p && pf_json_int(v, out);
}

static bool op_list(const struct pf_op_args *a, size_t n,
		    struct pf_op_ints *out)
{
	struct pf_json v = op_value(a, n), item;

	out->count = 0;
	if (!v.p)
		return false;
	if (*v.p != '[') {
		out->count = 1;
		return pf_json_int(v, &out->at[0]);
	}
	while ((item = pf_json_at(v, out->count)).p) {
		if (out->count == PF_OP_INTS ||
		    !pf_json_int(item, &out->at[out->count]))
			return false;
		out->count++;
	}
	return true;
}

/*
 * Numbers that do not fit make a calculation bad, and it stays bad;
 * pf_op_work() looks once, at the end.
 */

#define OUT_BOOL  1 /* bytes of what comparisons give */
#define OUT_INDEX 8 /* and of positions */

struct pf_op_calc {
	const struct pf_op_call *call;
	const struct pf_op_model *m;
	bool is_bad;
};

/* A tensor of a call. */
struct tensor {
	struct pf_dims dims;
	uint64_t n, size; /* elements; bytes of one */
	enum pf_peak peak;
};

static uint64_t mul(struct pf_op_calc *c, uint64_t a, uint64_t b)
{
	uint64_t product = 0;

	c->is_bad |= __builtin_mul_overflow(a, b, &product);
	return product;
}

static uint64_t add(struct pf_op_calc *c, uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	c->is_bad |= __builtin_add_overflow(a, b, &sum);
	return sum;
}

static uint64_t product(struct pf_op_calc *c, const struct pf_dims *d,
			size_t from)
{
	uint64_t all = 1;

	for (size_t i = from; i < d->count; i++)
		all = mul(c, all, d->size[i]);
	return all;
}

static uint64_t bytes_of(struct pf_op_calc *c, const struct tensor *t)
{
	return mul(c, t->n, t->size);
}

static struct tensor tensor_of(struct pf_op_calc *c, const struct pf_op_args *a,
			       int at)
{
	struct tensor t = { .peak = PF_PEAK_NONE };

	if (at < 0 || !pf_op_dims(a, (size_t)at, &t.dims) ||
	    !op_type(a, (size_t)at, &t.size, &t.peak))
		c->is_bad = true;
	else
		t.n = product(c, &t.dims, 0);
	return t;
}

/* Tensor i of the model; one that it need not have is asked for first. */
static struct tensor tensor(struct pf_op_calc *c, size_t i)
{
	return tensor_of(c, &c->call->args, c->m->tensors[i]);
}

static bool has(const struct pf_op_calc *c, int at)
{
	return at >= 0 && op_is_tensor(&c->call->args, (size_t)at);
}

/* ---- products of matrices ---- */

/* y, which has the weights of a layer, is read for each few rows of x. */
static void say_weights(struct pf_op_calc *c, const struct tensor *x,
			const struct tensor *y, struct pf_op_work *out)
{
	out->rows = x->dims.size[0];
	out->weights = bytes_of(c, y);
}

/* extra: what is added, or none. */
static void gemm_of(struct pf_op_calc *c, size_t rank, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0), y = tensor(c, 1), bias;
	uint64_t mn, k;

	if (c->is_bad || x.dims.count != rank || y.dims.count != rank) {
		c->is_bad = true;
		return;
	}
	k = x.dims.size[rank - 1];
	c->is_bad |= !k || y.dims.size[rank - 2] != k;
	mn = mul(c, x.dims.size[rank - 2], y.dims.size[rank - 1]);
	if (rank == 3)
		mn = mul(c, mn, x.dims.size[0]);
	out->matrix = mul(c, 2, mul(c, mn, k));
	out->bytes = add(c, add(c, bytes_of(c, &x), bytes_of(c, &y)),
			 mul(c, mn, x.size));
	out->precision = x.peak;
	if (rank == 2)
		say_weights(c, &x, &y, out);
	if (c->m->extra < 0)
		return;
	out->vector = mn;
	if (!has(c, c->m->extra))
		return;
	bias = tensor_of(c, &c->call->args, c->m->extra);
	out->bytes = add(c, out->bytes, bytes_of(c, &bias));
}

static bool gemm(struct pf_op_calc *c, struct pf_op_work *out)
{
	gemm_of(c, 2, out);
	return true;
}

static bool gemm_batched(struct pf_op_calc *c, struct pf_op_work *out)
{
	gemm_of(c, 3, out);
	return true;
}

/* The result is of 2 bytes; of fp4 an element is a pair. */
static bool gemm_scaled(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0), y = tensor(c, 1);
	uint64_t mn;

	if (c->is_bad || x.dims.count != 2 || y.dims.count != 2)
		return false;
	mn = mul(c, x.dims.size[0], y.dims.size[1]);
	out->matrix = mul(c, 2, mul(c, mn, x.dims.size[1]));
	if (x.peak == PF_PEAK_FP4)
		out->matrix = mul(c, out->matrix, 2);
	out->bytes =
		add(c, add(c, bytes_of(c, &x), bytes_of(c, &y)), mul(c, mn, 2));
	out->precision = x.peak;
	say_weights(c, &x, &y, out);
	return true;
}

static bool mv(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0), y = tensor(c, 1);

	if (c->is_bad || x.dims.count != 2)
		return false;
	out->matrix = mul(c, 2, x.n);
	out->bytes = add(c, add(c, bytes_of(c, &x), bytes_of(c, &y)),
			 mul(c, x.dims.size[0], x.size));
	out->precision = x.peak;
	return true;
}

/* ---- convolutions: stride 3, padding 4, dilation 5, transposed 6, ... ---- */

enum conv_at { STRIDE = 3, PADDING, DILATION, TRANSPOSED, OUT_PADDING, GROUPS };

/* One number stands for all; none for the default. */
static int64_t conv_number(struct pf_op_calc *c, enum conv_at at, size_t i,
			   int64_t by_default)
{
	struct pf_op_ints list;

	if (!op_value(&c->call->args, at).p)
		return by_default;
	if (!op_list(&c->call->args, at, &list) ||
	    (list.count > 1 && i >= list.count)) {
		c->is_bad = true;
		return by_default;
	}
	if (!list.count)
		return by_default;
	return list.at[list.count > 1 ? i : 0];
}

/* All numbers are below 2^31, so that nothing overflows. */
static uint64_t conv_size(struct pf_op_calc *c, uint64_t in, uint64_t kernel,
			  size_t i, bool is_transposed)
{
	int64_t x = (int64_t)in, k = (int64_t)kernel, out;
	int64_t stride = conv_number(c, STRIDE, i, 1);
	int64_t padding = conv_number(c, PADDING, i, 0);
	int64_t dilation = conv_number(c, DILATION, i, 1);
	int64_t more = conv_number(c, OUT_PADDING, i, 0);
	int64_t largest = x | k | stride | padding | dilation | more;

	if (largest < 0 || largest > INT32_MAX || stride < 1 || k < 1) {
		c->is_bad = true;
		return 0;
	}
	if (is_transposed)
		out = (x - 1) * stride - 2 * padding + dilation * (k - 1) +
		      more + 1;
	else
		out = (x + 2 * padding - dilation * (k - 1) - 1) / stride + 1;
	c->is_bad |= out < 0;
	return out < 0 ? 0 : (uint64_t)out;
}

/* Places of the result in one channel. */
static uint64_t conv_places(struct pf_op_calc *c, const struct tensor *x,
			    const struct tensor *w, bool is_transposed)
{
	const struct pf_dims *known = c->call->out;
	uint64_t all = 1;

	if (!c->call->args.values.p) {
		c->is_bad |= !known || known->count != x->dims.count;
		return c->is_bad ? 0 : product(c, known, 2);
	}
	for (size_t i = 2; i < x->dims.count; i++)
		all = mul(c, all,
			  conv_size(c, x->dims.size[i], w->dims.size[i], i - 2,
				    is_transposed));
	return all;
}

/* extra: the bias. */
static bool conv(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0), w = tensor(c, 1), bias;
	bool is_transposed = op_flag(&c->call->args, TRANSPOSED);
	int64_t groups = 1;
	uint64_t n;

	if (c->is_bad || x.dims.count != w.dims.count || x.dims.count < 3)
		return false;
	if (c->call->args.values.p && !op_int(&c->call->args, GROUPS, &groups))
		groups = 1;
	if (groups < 1)
		return false;
	n = is_transposed ? mul(c, w.dims.size[1], (uint64_t)groups)
			  : w.dims.size[0];
	n = mul(c, mul(c, n, x.dims.size[0]),
		conv_places(c, &x, &w, is_transposed));
	out->matrix = mul(
		c, 2, mul(c, is_transposed ? x.n : n, product(c, &w.dims, 1)));
	out->bytes = add(c, add(c, bytes_of(c, &x), bytes_of(c, &w)),
			 mul(c, n, x.size));
	out->precision = x.peak;
	if (has(c, c->m->extra)) {
		bias = tensor_of(c, &c->call->args, c->m->extra);
		if (bias.dims.count) {
			out->vector = n;
			out->bytes = add(c, out->bytes, bytes_of(c, &bias));
		}
	}
	return true;
}

#define BWD_TRANSPOSED 7
#define BWD_MASK       10 /* gradients of the input, weight, bias: wanted? */

static bool conv_bwd(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor go = tensor(c, 0), x = tensor(c, 1), w = tensor(c, 2);
	bool is_transposed = op_flag(&c->call->args, BWD_TRANSPOSED);
	uint64_t parts, n;

	if (c->is_bad || go.dims.count < 3 || !w.dims.count)
		return false;
	parts = (uint64_t)op_flag_at(&c->call->args, BWD_MASK, 0, true) +
		(uint64_t)op_flag_at(&c->call->args, BWD_MASK, 1, true);
	n = mul(c, is_transposed ? x.n : go.n, product(c, &w.dims, 1));
	out->matrix = mul(c, mul(c, 2, n), parts);
	n = add(c, add(c, go.n, w.n), x.n);
	out->bytes = mul(c, mul(c, n, x.size), parts);
	out->precision = x.peak;
	if (op_flag_at(&c->call->args, BWD_MASK, 2, false)) {
		out->vector = go.n;
		n = add(c, go.n, go.dims.size[1]);
		out->bytes = add(c, out->bytes, mul(c, n, x.size));
	}
	return true;
}

/* One gradient, whose own arguments do not say enough (until 2021). */
static bool conv_bwd_part(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x, go, w;
	uint64_t n;

	if (!c->call->has_parent)
		return false;
	x = tensor_of(c, &c->call->parent, c->m->tensors[0]);
	go = tensor_of(c, &c->call->parent, c->m->tensors[1]);
	w = tensor_of(c, &c->call->parent, c->m->tensors[2]);
	out->matrix = mul(c, mul(c, 2, go.n), product(c, &w.dims, 1));
	n = add(c, add(c, x.n, go.n), w.n);
	out->bytes = mul(c, n, x.size);
	out->precision = x.peak;
	return true;
}

/* ---- attention ---- */

/* heads: which of the sizes counts heads, 1 or 2.  extra: is it causal? */
static void attention_of(struct pf_op_calc *c, size_t heads, bool is_backward,
			 struct pf_op_work *out)
{
	struct tensor q = tensor(c, 0), k = tensor(c, 1), v = tensor(c, 2);
	size_t places = 3 - heads;
	uint64_t rows, pairs, o, d, dv, qkv;

	if (c->is_bad || q.dims.count != 4 || k.dims.count != 4 ||
	    v.dims.count != 4) {
		c->is_bad = true;
		return;
	}
	d = q.dims.size[3];
	dv = v.dims.size[3];
	rows = mul(c, mul(c, q.dims.size[0], q.dims.size[heads]),
		   q.dims.size[places]);
	pairs = mul(c, rows, k.dims.size[places]);
	/* Backward takes five products, one of them done again. */
	out->matrix = mul(c, mul(c, 2, pairs),
			  is_backward ? add(c, mul(c, 3, d), mul(c, 2, dv))
				      : add(c, d, dv));
	if (!c->call->is_dense && c->m->extra >= 0 &&
	    op_flag(&c->call->args, (size_t)c->m->extra))
		out->matrix /= 2;
	o = mul(c, mul(c, rows, dv), q.size);
	qkv = mul(c, add(c, add(c, q.n, k.n), v.n), q.size);
	out->bytes = mul(c, add(c, qkv, o), is_backward ? 2 : 1);
	out->precision = q.peak;
}

static bool attention(struct pf_op_calc *c, struct pf_op_work *out)
{
	attention_of(c, 1, false, out);
	return true;
}

static bool attention_bshd(struct pf_op_calc *c, struct pf_op_work *out)
{
	attention_of(c, 2, false, out);
	return true;
}

static bool attention_bwd(struct pf_op_calc *c, struct pf_op_work *out)
{
	attention_of(c, 1, true, out);
	return true;
}

/* ---- a number of operations for each element ---- */

static void elements(struct pf_op_calc *c, uint64_t n, struct pf_op_work *out)
{
	out->vector = mul(c, n, c->m->ops);
}

/* extra: the weights, and after them what is added. */
static bool norm(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0);

	elements(c, x.n, out);
	out->bytes = mul(c, 2, bytes_of(c, &x));
	out->precision = x.peak;
	for (int at = c->m->extra; at >= 0 && at < c->m->extra + 2; at++) {
		struct tensor w;

		if (!has(c, at))
			continue;
		w = tensor_of(c, &c->call->args, at);
		if (w.dims.count)
			out->bytes = add(c, out->bytes, bytes_of(c, &w));
	}
	return true;
}

static bool norm_bwd(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor go = tensor(c, 0), x = tensor(c, 1);

	elements(c, go.n, out);
	out->bytes = mul(c, add(c, go.n, mul(c, 2, x.n)), go.size);
	out->precision = go.peak;
	return true;
}

/* extra: is the result of 4 bytes? */
static bool softmax(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0);
	uint64_t wide = x.size;

	if (c->m->extra >= 0 && op_flag(&c->call->args, (size_t)c->m->extra))
		wide = 4;
	elements(c, x.n, out);
	out->bytes = mul(c, x.n, add(c, x.size, wide));
	out->precision = x.peak;
	return true;
}

static bool softmax_bwd(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor go = tensor(c, 0);

	elements(c, go.n, out);
	out->bytes = mul(c, 3, bytes_of(c, &go));
	out->precision = go.peak;
	return true;
}

static bool unary(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0);

	elements(c, x.n, out);
	out->bytes = mul(c, 2, bytes_of(c, &x));
	out->precision = x.peak;
	return true;
}

/* Sizes of a result: each that of the operands, or 1 of those that repeat. */
static bool broadcast(struct pf_dims *to, const struct pf_dims *more)
{
	struct pf_dims all = { .count = to->count > more->count ? to->count
								: more->count };

	for (size_t i = 1; i <= all.count; i++) {
		uint64_t a = i <= to->count ? to->size[to->count - i] : 1;
		uint64_t b = i <= more->count ? more->size[more->count - i] : 1;

		if (a != b && a != 1 && b != 1)
			return false;
		all.size[all.count - i] = a == 1 ? b : a;
	}
	*to = all;
	return true;
}

/* Those of the operands that are tensors; all are there. */
static bool several(struct pf_op_calc *c, uint64_t out_bytes,
		    struct pf_op_work *out)
{
	struct pf_dims result = { 0 };
	uint64_t wide = 0, scalar = 0, n;

	out->precision = PF_PEAK_NONE;
	for (size_t i = 0; i < PF_MODEL_TENSORS; i++) {
		struct tensor t;
		int at = c->m->tensors[i];

		if (at >= 0 && op_is_untyped(&c->call->args, (size_t)at))
			return false;
		if (!has(c, at))
			continue;
		t = tensor(c, i);
		if (c->is_bad || !broadcast(&result, &t.dims))
			return false;
		out->bytes = add(c, out->bytes, bytes_of(c, &t));
		if (!scalar)
			scalar = t.size;
		if (t.dims.count && t.size > wide)
			wide = t.size;
		if (!i)
			out->precision = t.peak;
	}
	n = product(c, &result, 0);
	elements(c, n, out);
	if (!out_bytes)
		out_bytes = wide ? wide : scalar;
	out->bytes = add(c, out->bytes, mul(c, n, out_bytes));
	return scalar > 0;
}

static bool binary(struct pf_op_calc *c, struct pf_op_work *out)
{
	return several(c, 0, out);
}

static bool compare(struct pf_op_calc *c, struct pf_op_work *out)
{
	return several(c, OUT_BOOL, out);
}

/* ---- copies ---- */

static bool copy(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor to = tensor(c, 0), from;

	out->bytes = bytes_of(c, &to);
	out->precision = to.peak;
	if (has(c, c->m->tensors[1])) {
		from = tensor(c, 1);
		out->bytes = add(c, out->bytes, bytes_of(c, &from));
	}
	return true;
}

static bool fill(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor to = tensor(c, 0);

	out->bytes = bytes_of(c, &to);
	out->precision = to.peak;
	return true;
}

static bool embedding(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor w = tensor(c, 0), at = tensor(c, 1);
	uint64_t row;

	if (c->is_bad || !w.dims.count)
		return false;
	row = mul(c, product(c, &w.dims, 1), w.size);
	out->bytes = add(c, bytes_of(c, &at), mul(c, mul(c, 2, at.n), row));
	out->precision = w.peak;
	return true;
}

/* extra: along which of the sizes. */
static bool index_select(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0), at = tensor(c, 1);
	int64_t dim = 0;
	uint64_t row;

	if (c->is_bad || !x.dims.count || c->m->extra < 0)
		return false;
	if (!op_int(&c->call->args, (size_t)c->m->extra, &dim) &&
	    x.dims.count > 1)
		return false;
	if (dim < 0)
		dim += (int64_t)x.dims.count;
	if (dim < 0 || dim >= (int64_t)x.dims.count || !x.dims.size[dim])
		return false;
	row = mul(c, x.n / x.dims.size[dim], x.size);
	out->bytes = add(c, bytes_of(c, &at), mul(c, mul(c, 2, at.n), row));
	out->precision = x.peak;
	return true;
}

/* What is pooled, and of backward its gradient. */
static bool pool(struct pf_op_calc *c, struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0), more;

	elements(c, x.n, out);
	out->bytes = bytes_of(c, &x);
	out->precision = x.peak;
	if (c->m->tensors[1] >= 0) {
		more = tensor(c, 1);
		out->bytes = add(c, out->bytes, bytes_of(c, &more));
	}
	return true;
}

/* Elements of the result; extra: along which sizes, none: all. */
static uint64_t reduced(struct pf_op_calc *c, const struct tensor *x)
{
	struct pf_op_ints dims = { .count = 0 };
	uint64_t n = x->n;
	bool is_list;

	if (!n)
		return 0;
	is_list = op_list(&c->call->args, (size_t)c->m->extra, &dims);
	if (!is_list || !dims.count)
		return 1;
	for (size_t i = 0; i < dims.count; i++) {
		int64_t dim = dims.at[i];

		if (dim < 0)
			dim += (int64_t)x->dims.count;
		if (!x->dims.count)
			return 1;
		if (dim < 0 || dim >= (int64_t)x->dims.count) {
			c->is_bad = true;
			return 0;
		}
		n /= x->dims.size[dim];
	}
	return n;
}

/* out_bytes: of an element of the result; 0: as what is reduced. */
static bool reduce_to(struct pf_op_calc *c, uint64_t out_bytes, bool has_both,
		      struct pf_op_work *out)
{
	struct tensor x = tensor(c, 0);
	uint64_t n;

	/* max() of two tensors is another operator. */
	if (c->is_bad || c->m->extra < 0 || has(c, c->m->extra))
		return false;
	n = reduced(c, &x);
	elements(c, x.n, out);
	if (!out_bytes)
		out_bytes = x.size;
	if (has_both && op_value(&c->call->args, (size_t)c->m->extra).p)
		out_bytes = x.size + OUT_INDEX;
	out->bytes = add(c, bytes_of(c, &x), mul(c, n, out_bytes));
	out->precision = x.peak;
	return true;
}

static bool reduce(struct pf_op_calc *c, struct pf_op_work *out)
{
	return reduce_to(c, 0, false, out);
}

static bool reduce_bool(struct pf_op_calc *c, struct pf_op_work *out)
{
	return reduce_to(c, OUT_BOOL, false, out);
}

static bool reduce_index(struct pf_op_calc *c, struct pf_op_work *out)
{
	return reduce_to(c, OUT_INDEX, false, out);
}

static bool reduce_both(struct pf_op_calc *c, struct pf_op_work *out)
{
	return reduce_to(c, 0, true, out);
}

/* ---- by name ---- */

static const struct pf_formula formulas[] = {
	{ "gemm", gemm, false, false },
	{ "gemm_batched", gemm_batched, false, false },
	{ "gemm_scaled", gemm_scaled, false, false },
	{ "mv", mv, false, false },
	{ "conv", conv, false, true },
	{ "conv_bwd", conv_bwd, false, false },
	{ "conv_bwd_part", conv_bwd_part, true, false },
	{ "attention", attention, false, false },
	{ "attention_bshd", attention_bshd, false, false },
	{ "attention_bwd", attention_bwd, false, false },
	{ "norm", norm, false, false },
	{ "norm_bwd", norm_bwd, false, false },
	{ "softmax", softmax, false, false },
	{ "softmax_bwd", softmax_bwd, false, false },
	{ "unary", unary, false, false },
	{ "binary", binary, false, false },
	{ "compare", compare, false, false },
	{ "copy", copy, false, false },
	{ "fill", fill, false, false },
	{ "embedding", embedding, false, false },
	{ "index_select", index_select, false, false },
	{ "pool", pool, false, false },
	{ "reduce", reduce, false, false },
	{ "reduce_bool", reduce_bool, false, false },
	{ "reduce_index", reduce_index, false, false },
	{ "reduce_both", reduce_both, false, false },
};

/* NULL: there is none of that name. */
static const struct pf_formula *formula_find(const char *name)
{
	for (size_t i = 0; i < PF_LEN(formulas); i++)
		if (!strcmp(formulas[i].name, name))
			return &formulas[i];
	return NULL;
}

/* Lengths of several sequences, a window: the call is of another form. */
static bool is_given(const struct pf_op_args *a, int at)
{
	int64_t number;

	if (at < 0)
		return false;
	if (op_is_tensor(a, (size_t)at))
		return true;
	return op_value(a, (size_t)at).p &&
	       !(op_int(a, (size_t)at, &number) && number == -1);
}

bool pf_op_work(const struct pf_op_call *call, const struct pf_op_model *m,
		struct pf_op_work *out)
{
	struct pf_op_calc c = { call, m, false };

	*out = (struct pf_op_work){ .precision = PF_PEAK_NONE };
	for (size_t i = 0; i < PF_MODEL_WITHOUT; i++)
		if (is_given(&call->args, m->without[i]))
			return false;
	return m->formula && m->formula->work(&c, out) && !c.is_bad;
}

#define HEADER                                                                 \
	"op,in_place,outermost,family,formula,tensors,extra,ops,without,"      \
	"teaches"
enum models_column {
	OP,
	IN_PLACE,
	OUTERMOST,
	FAMILY,
	FORMULA,
	TENSORS,
	EXTRA,
	OPS,
	WITHOUT,
	TEACHES
};

struct pf_op_models {
	struct pf_data *data;
	struct pf_op_model *models; /* by name */
	size_t count, cap;
	struct pf_arena texts;
};

/* "0 1 2": at most max numbers; the others are -1.  false: something else. */
static bool read_list(const char *s, int *out, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		out[i] = -1;
		if (*s < '0' || *s > '9')
			continue;
		out[i] = 0;
		while (*s >= '0' && *s <= '9' && out[i] < 1000)
			out[i] = out[i] * 10 + (*s++ - '0');
		s += *s == ' ';
	}
	return !*s;
}

static void add_model(struct pf_op_models *m, struct pf_op_model model,
		      bool in_place)
{
	m->models =
		pf_grow(m->models, &m->cap, m->count + 2, sizeof(*m->models));
	m->models[m->count++] = model;
	if (in_place) {
		size_t len = strlen(model.op);
		char *name = pf_arena_alloc(&m->texts, len + 2);

		memcpy(name, model.op, len);
		memcpy(name + len, "_", 2);
		model.op = name;
		m->models[m->count++] = model;
	}
}

static int read_row(struct pf_op_models *m, size_t row, struct pf_err *err)
{
	const struct pf_data *d = m->data;
	const char *formula = pf_data_cell(d, row, FORMULA);
	struct pf_op_model model = {
		.op = pf_data_cell(d, row, OP),
		.family = pf_data_cell(d, row, FAMILY),
		.is_outermost = *pf_data_cell(d, row, OUTERMOST),
		.formula = formula_find(formula),
	};
	int64_t ops = pf_num_or_none(pf_data_cell(d, row, OPS));

	model.ops = ops > 0 ? (uint64_t)ops : 0;
	if ((*formula && !model.formula) ||
	    !read_list(pf_data_cell(d, row, TENSORS), model.tensors,
		       PF_MODEL_TENSORS) ||
	    !read_list(pf_data_cell(d, row, EXTRA), &model.extra, 1) ||
	    !read_list(pf_data_cell(d, row, WITHOUT), model.without,
		       PF_MODEL_WITHOUT) ||
	    !read_list(pf_data_cell(d, row, TEACHES), model.teaches, 3))
		return pf_fail(err, PF_EDATA,
			       "'data/op_models.csv' has a wrong line of '%s'",
			       model.op);
	add_model(m, model, *pf_data_cell(d, row, IN_PLACE));
	return 0;
}

PF_ORDER(by_name, struct pf_op_model, PF_ALPHA(op))

struct pf_op_models *pf_op_models_new(struct pf_err *err)
{
	struct pf_op_models *m = pf_calloc(1, sizeof(*m));
	int rc = 0;

	m->data = pf_data_new("data/op_models.csv", HEADER, err);
	for (size_t i = 0; m->data && !rc && i < pf_data_rows(m->data); i++)
		rc = read_row(m, i, err);
	if (!m->data || rc) {
		pf_op_models_free(m);
		return NULL;
	}
	pf_sort(m->models, m->count, sizeof(*m->models), by_name);
	return m;
}

void pf_op_models_free(struct pf_op_models *m)
{
	if (!m)
		return;
	pf_data_free(m->data);
	pf_arena_release(&m->texts);
	free(m->models);
	free(m);
}

const struct pf_op_model *pf_op_models_find(const struct pf_op_models *m,
					    const char *op)
{
	struct pf_op_model key = { .op = op };

	return bsearch(&key, m->models, m->count, sizeof(key), by_name);
}
