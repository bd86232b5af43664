/* SPDX-License-Identifier: MIT */
/*
 * Which formula an operator has, by data/op_models.csv: another library is
 * another line there.  And which call of an operator GPU work belongs to.
 */
#include "config.h"

#include "analysis/roofline/walk.h"

#include <inttypes.h>
#include <strings.h>

#include "analysis/graphs/graphs.h"
#include "base/data.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/args.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/texts.h"

/*
 * The recorded arguments of one call of an operator: sizes ("Input Dims"),
 * types ("Input type") and values ("Concrete Inputs"), each a JSON list.
 * Borrowed from the text they are read from.  What is not recorded, or is not
 * of the form that is asked for, is false: a formula then has no answer.
 */

struct pf_op_args {
	struct pf_json dims, types, values;
	const struct pf_data *known; /* types: data/op_types.csv */
};

#define PF_OP_INTS 8
struct pf_op_ints {
	int64_t at[PF_OP_INTS];
	size_t count;
};

/* The size of a convolution's result, where no arguments say it. */
struct pf_op_call {
	struct pf_op_args args, parent;
	bool has_parent;           /* the call around it is a convolution's */
	const struct pf_dims *out; /* learned from a backward call, or NULL */
	bool is_dense;             /* causal attention counts as a whole */
};

struct pf_op_calc; /* a call as it is worked out */
struct pf_formula {
	const char *name;
	bool (*work)(struct pf_op_calc *c, struct pf_op_work *out);
	bool needs_parent; /* shapes are those of the call around it */
	bool learns;       /* without values, its result is another's to say */
};

enum column { TYPE, BYTES, PRECISION };

/* data/op_types.csv; NULL on error. */
static struct pf_data *op_types_new(struct pf_err *err)
{
	return pf_data_new("data/op_types.csv", "type,bytes,precision", err);
}

/* Of the argument object of an event; false: no sizes were recorded. */
static bool op_args_read(struct pf_json object, struct pf_op_args *out)
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

/* The sizes of argument n, also of a scalar, which has none. */
static bool op_dims(const struct pf_op_args *a, size_t n, struct pf_dims *out)
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
	const struct pf_data *d = a->known;

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
 * op_work() looks once, at the end.
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

	if (at < 0 || !op_dims(a, (size_t)at, &t.dims) ||
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

/* false: the call says too little, or says what cannot be. */
static bool op_work(const struct pf_op_call *call, const struct pf_op_model *m,
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
	PF_ROOM(m->models, m->cap, m->count + 2);
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

static void op_models_free(struct pf_op_models *m)
{
	if (!m)
		return;
	pf_data_free(m->data);
	pf_arena_release(&m->texts);
	free(m->models);
	free(m);
}

static struct pf_op_models *op_models_new(struct pf_err *err)
{
	struct pf_op_models *m = pf_calloc(1, sizeof(*m));
	int rc = 0;

	m->data = pf_data_new("data/op_models.csv", HEADER, err);
	for (size_t i = 0; m->data && !rc && i < pf_data_rows(m->data); i++)
		rc = read_row(m, i, err);
	if (!m->data || rc) {
		op_models_free(m);
		return NULL;
	}
	pf_sort(m->models, m->count, sizeof(*m->models), by_name);
	return m;
}

/* By the operator's whole name; NULL: it has none. */
static const struct pf_op_model *op_models_find(const struct pf_op_models *m,
						const char *op)
{
	struct pf_op_model key = { .op = op };

	return bsearch(&key, m->models, m->count, sizeof(key), by_name);
}

/*
 * What is open on a thread follows the parents that ingest stored, so the
 * operator of work is the one that every other command names.
 */

/*
 * What backward does a second time because forward did not keep it
 * (activation checkpointing): such calls are work of the GPU, and no progress
 * of the model.  Told by what is open around a call: a node of autograd whose
 * checkpoint runs forward again, torch's own functions that do, or an operator
 * that only forward calls inside a node of torch's.
 */

enum pf_recompute {
	PF_RECOMPUTE_NONE,
	PF_RECOMPUTE_BACKWARD, /* in a node of torch's */
	PF_RECOMPUTE_OTHER,    /* in a node that may call anything */
	PF_RECOMPUTE_AGAIN,
};

/* What the name of a range says. */
struct pf_recompute_word {
	uint8_t of; /* enum pf_recompute: of what is inside a node */
	uint8_t is_forward, is_frame; /* an operator; a Python function */
};

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

static struct pf_recompute_word recompute_word(const char *name)
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

/* The state inside a range (kind: enum pf_kind) from that around it. */
static enum pf_recompute recompute_next(enum pf_recompute around,
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

/*
 * Work that graphs replay, by the operators that evidence names.  Of captures
 * the arguments are known, too: each replay of a captured call of an operator
 * with a model is a call, whose work is what was captured in it, by the rule
 * of all other work (analysis/roofline/walk.h).  An eager run says which operator, and
 * not of which shapes: such work is listed with what has none.
 */

/* ---- replayed ---- */

#define NONE UINT32_MAX

/* What work in a captured call belongs to; asked for once. */
struct owner {
	bool is_known;
	uint32_t at; /* the call, or NONE: nothing around has a model */
	uint32_t shape;
};

struct rest {
	uint32_t op; /* a text of graphs */
	enum pf_roof_why why;
	int64_t count, ns;
};

struct pf_roof_replayed {
	struct pf_roof_walk *out;
	struct pf_graphs *graphs;
	struct owner *owners; /* by number in arounds */
	struct pf_map rest_at;
	struct rest *rest;
	size_t rest_count, rest_cap;
};

static struct pf_roof_replayed *roof_replayed_new(struct pf_roof_walk *out,
						  struct pf_graphs *graphs)
{
	struct pf_roof_replayed *r = pf_calloc(1, sizeof(*r));

	r->out = out;
	r->graphs = graphs;
	r->owners = pf_calloc(graphs->around_count + 1, sizeof(*r->owners));
	out->how_ns =
		pf_arena_calloc(&out->texts, PF_HOWS, sizeof(*out->how_ns));
	return r;
}

static const struct pf_op_model *model_of(const struct pf_roof_replayed *r,
					  uint32_t op)
{
	const char *text = pf_graphs_text(r->graphs, op);
	const struct pf_op_model *m =
		text ? op_models_find(r->out->models, text) : NULL;

	return m && m->formula ? m : NULL;
}

/*
 * Does work in a call of "in" count as that of "outer", a call around it?  In
 * some families it is the outermost that owns it, else the innermost.
 */
static bool owns(const struct pf_op_model *outer, const struct pf_op_model *in)
{
	return in->is_outermost && !strcmp(outer->family, in->family);
}

/* The innermost with a model; of some families the outermost of these. */
static uint32_t find_owner(const struct pf_roof_replayed *r, uint32_t at)
{
	const struct pf_graph_around *all = r->graphs->arounds;
	const struct pf_op_model *in = NULL, *outer;
	uint32_t found = NONE;

	for (; at != PF_NO_TEXT; at = all[at].parent) {
		if (!(outer = model_of(r, all[at].name)))
			continue;
		if (!in || owns(outer, in))
			found = at;
		in = in ? in : outer;
	}
	return found;
}

static struct pf_json args_of(const struct pf_roof_replayed *r, uint32_t args)
{
	const char *text = pf_graphs_text(r->graphs, args);

	return (struct pf_json){ text ? text : "", text ? strlen(text) : 0 };
}

/* Does a call in one of this operator take the shapes of its arguments? */
static bool roof_lends_shapes(const char *op, size_t len)
{
	static const char end[] = "convolution_backward";

	return len >= sizeof(end) - 1 &&
	       !memcmp(op + len - sizeof(end) + 1, end, sizeof(end) - 1);
}

/* The arguments of the call around it, if they count. */
static struct pf_json args_around(const struct pf_roof_replayed *r, uint32_t at)
{
	const struct pf_graph_around *all = r->graphs->arounds;
	const char *text = at == PF_NO_TEXT
				   ? NULL
				   : pf_graphs_text(r->graphs, all[at].name);

	if (!text || !roof_lends_shapes(text, strlen(text)))
		return (struct pf_json){ NULL, 0 };
	return args_of(r, all[at].args);
}

static uint32_t roof_walk_shape(struct pf_roof_walk *w,
				struct pf_roof_shape shape, struct pf_json own,
				struct pf_json around);

static const struct owner *owner_of(struct pf_roof_replayed *r, uint32_t at)
{
	static const struct owner nobody = { .is_known = true, .at = NONE };
	const struct pf_graph_around *call;
	struct pf_roof_shape shape = { 0 };
	struct pf_json outer = { NULL, 0 };
	struct owner *o;

	if (at == PF_NO_TEXT)
		return &nobody;
	o = &r->owners[at];
	if (o->is_known)
		return o;
	*o = (struct owner){ .is_known = true, .at = find_owner(r, at) };
	if (o->at == NONE)
		return o;
	call = &r->graphs->arounds[o->at];
	shape.model = model_of(r, call->name);
	shape.op = pf_arena_string(&r->out->texts,
				   pf_graphs_text(r->graphs, call->name));
	if (shape.model->formula->needs_parent)
		outer = args_around(r, call->parent);
	o->shape =
		roof_walk_shape(r->out, shape, args_of(r, call->args), outer);
	return o;
}

/* Without a call: under the operator that is claimed. */
static void walk_add_rest(struct pf_roof_replayed *r, uint32_t op,
			  enum pf_roof_why why, int64_t ns)
{
	uint64_t *at = pf_map_at(&r->rest_at, (uint64_t)why << 32 | op);

	if (*at == UINT64_MAX) {
		*at = r->rest_count;
		*PF_ONE_MORE(r->rest, r->rest_count, r->rest_cap) =
			(struct rest){ .op = op, .why = why };
	}
	r->rest[*at].count++;
	pf_sat_sum(&r->rest[*at].ns, ns);
}

/* Events have ids above 0: those of captured calls, replayed, are below. */
static int64_t call_id(const struct pf_roof_replayed *r, int64_t launch_id,
		       uint32_t owner)
{
	int64_t replay = pf_graphs_launch_at(r->graphs, launch_id);

	return -1 - (replay * (int64_t)r->graphs->around_count + owner);
}

/*
 * The next work of a call, in order of time, with all but what tells its call:
 * 1 if a graph has its operator, and it was taken; 0; or -1.
 */
static int roof_replayed_add(struct pf_roof_replayed *r, int64_t launch_id,
			     const struct pf_roof_work *work, bool is_comm,
			     struct pf_err *err)
{
	struct pf_roof_walk *o = r->out;
	const struct pf_window_trace *t = &o->window.traces[work->trace];
	const struct pf_graph_node *n = pf_graphs_next(r->graphs, launch_id);
	bool is_inside =
		work->start_ns >= t->from_ns && work->start_ns < t->to_ns;
	int64_t ns = work->end_ns - work->start_ns;
	struct pf_roof_work w = *work;
	const struct owner *owner;

	if (n && is_inside)
		pf_sat_sum(&o->how_ns[n->how], ns);
	if (!n || !pf_graphs_op(r->graphs, n))
		return 0;
	owner = owner_of(r, n->around);
	if (is_comm || owner->at == NONE) {
		if (is_inside)
			walk_add_rest(r, n->op,
				      is_comm ? PF_ROOF_COMM
				      : n->around == PF_NO_TEXT &&
						      model_of(r, n->op)
					      ? PF_ROOF_NO_SHAPES
					      : PF_ROOF_NO_MODEL,
				      ns);
		return 1;
	}
	w.shape = owner->shape;
	w.call_id = call_id(r, launch_id, owner->at);
	w.step = (uint32_t)pf_steps_at(
		&o->steps, t->trace_id,
		pf_graphs_launch_ns(r->graphs, launch_id));
	return pf_sorter_add(o->works, &w, err) < 0 ? -1 : 1;
}

void pf_roof_walk_rest(struct pf_roof_walk *w, const char *op,
		       enum pf_roof_why why, int64_t count, int64_t ns)
{
	struct pf_roof_rest *r = NULL;

	for (size_t i = 0; i < w->rest_count && !r; i++)
		if (w->rest[i].why == why && w->rest[i].op && op &&
		    !strcmp(w->rest[i].op, op))
			r = &w->rest[i];
	if (!r) {
		r = PF_ONE_MORE(w->rest, w->rest_count, w->rest_cap);
		*r = (struct pf_roof_rest){ .op = op, .why = why };
	}
	r->count += count;
	pf_sat_sum(&r->ns, ns);
}

/* All came: what has no model is listed.  NULL is allowed. */
static void roof_replayed_close(struct pf_roof_replayed *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->rest_count; i++)
		pf_roof_walk_rest(
			r->out,
			pf_arena_string(
				&r->out->texts,
				pf_graphs_text(r->graphs, r->rest[i].op)),
			r->rest[i].why, r->rest[i].count, r->rest[i].ns);
	pf_map_release(&r->rest_at);
	free(r->owners);
	free(r->rest);
	free(r);
}

#define WALK_NAMES_MAX (1u << 20) /* ids of a sound database are far below */

/* What is open on the thread. */
struct open {
	struct pf_nest_event event;
	int64_t start_ns;
	uint32_t name, args;
	uint32_t modelled; /* the innermost with a model, of this on; NONE */
	const struct pf_op_model *model;
	enum pf_recompute state;
};

/* GPU work by its operator; sorted by the first two. */
struct work {
	int64_t op_id, start_ns, end_ns;
	uint32_t name, trace;
	bool is_comm, is_host;
};

/* What a name means, by string.id; asked for once. */
struct meaning {
	const struct pf_op_model *model;
	struct pf_recompute_word word;
	bool is_known;
};

/* The result of a convolution; two different ones: none. */
struct lesson {
	struct pf_dims out;
	bool is_split;
};

struct walk {
	struct pf_db *db;
	struct pf_roof_walk *out;
	struct pf_kinds kinds;
	struct pf_texts texts;
	struct meaning *meanings;
	size_t meaning_count;
	struct pf_nest open; /* struct open */
	size_t top; /* so many hold the event at hand, which is the last */
	struct pf_by_event *works;
	struct pf_map by_args;   /* name and arguments -> shape */
	struct pf_map by_trace;  /* the same of those that learn of a trace */
	int64_t trace_id;        /* this one */
	struct pf_map taught;    /* name and arguments that taught */
	struct pf_intern places; /* of lessons: trace, input, weight */
	struct lesson *lessons;
	size_t lesson_cap;
	struct pf_map rest; /* name and reason -> rest */
	const struct pf_track *track;
	struct pf_roof_replayed *replayed; /* or NULL */
};

static struct open *open_at(const struct walk *w, size_t i)
{
	return pf_nest_at(&w->open, i);
}

/* ---- names ---- */

static int mean(struct walk *w, uint32_t name, const struct meaning **out)
{
	static const struct meaning unknown = { .is_known = true };
	const char *text;
	struct meaning *m;
	size_t len;

	*out = &unknown;
	if (name >= WALK_NAMES_MAX)
		return 0;
	w->meanings = pf_grow_zero(w->meanings, &w->meaning_count,
				   (size_t)name + 1, sizeof(*m));
	m = &w->meanings[name];
	*out = m;
	if (m->is_known)
		return 0;
	PF_TRY(pf_texts_get(&w->texts, PF_TEXT_NAME, name, &text, &len,
			    w->db->err) < 0);
	m->model = op_models_find(w->out->models, text);
	m->word = recompute_word(text);
	m->is_known = true;
	return 0;
}

/* Kept; NULL: no name, or an error. */
static const char *name_text(struct walk *w, uint32_t name)
{
	const char *text;

	if (name >= PF_ID_INLINE || pf_texts_get(&w->texts, PF_TEXT_NAME, name,
						 &text, NULL, w->db->err) < 0)
		return NULL;
	return pf_arena_string(&w->out->texts, text);
}

/* ---- arguments ---- */

static int read_args(struct walk *w, uint32_t args, struct pf_json *out)
{
	const char *text = "";
	size_t len = 0;

	PF_TRY(args < PF_ID_INLINE &&
	       pf_texts_get(&w->texts, PF_TEXT_ARGS, args, &text, &len,
			    w->db->err) < 0);
	*out = (struct pf_json){ text, len };
	return 0;
}

static const char *keep(struct pf_roof_walk *w, struct pf_json v)
{
	return v.p ? pf_arena_text(&w->texts, v.p, v.len) : NULL;
}

static void add_key(struct pf_buf *key, struct pf_json v)
{
	if (v.p)
		pf_buf_add(key, v.p, v.len);
	pf_buf_add(key, "\n", 1); /* no JSON has one that is not escaped */
}

/* ---- convolutions teach each other ---- */

static void add_dims(struct pf_buf *key, const struct pf_dims *d)
{
	for (size_t i = 0; i < d->count; i++)
		pf_buf_addf(key, "%" PRIu64 " ", d->size[i]);
	pf_buf_adds(key, "\n");
}

static struct lesson *lesson_at(struct walk *w, int64_t trace_id,
				const struct pf_dims *x,
				const struct pf_dims *weight, bool *is_new)
{
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	uint32_t count = w->places.count, n;

	pf_buf_addf(&key, "%" PRId64 "\n", trace_id);
	add_dims(&key, x);
	add_dims(&key, weight);
	n = pf_intern_add(&w->places, key.data, key.len);
	*is_new = n == count;
	PF_ROOM(w->lessons, w->lesson_cap, (size_t)n + 1);
	return &w->lessons[n];
}

static bool same_dims(const struct pf_dims *a, const struct pf_dims *b)
{
	return a->count == b->count &&
	       !memcmp(a->size, b->size, a->count * sizeof(*a->size));
}

static int teach(struct walk *w, const struct open *o)
{
	struct pf_op_args args = { .known = w->out->types };
	uint64_t *seen =
		pf_map_at(&w->taught, (uint64_t)o->name << 32 | o->args);
	struct pf_dims d[3];
	struct pf_json object;
	struct lesson *l;
	bool is_new;

	if (*seen == (uint64_t)w->track->trace_id)
		return 0;
	*seen = (uint64_t)w->track->trace_id;
	PF_TRY(read_args(w, o->args, &object));
	if (!op_args_read(object, &args))
		return 0;
	for (size_t i = 0; i < 3; i++)
		if (o->model->teaches[i] < 0 ||
		    !op_dims(&args, (size_t)o->model->teaches[i], &d[i]))
			return 0;
	l = lesson_at(w, w->track->trace_id, &d[0], &d[1], &is_new);
	if (is_new)
		*l = (struct lesson){ .out = d[2] };
	else if (!same_dims(&l->out, &d[2]))
		l->is_split = true;
	return 0;
}

/* ---- shapes ---- */

/*
 * The number of a shape: shape has its op and model, and of what learns the
 * trace; own are the call's arguments, around those of the call that it is in
 * (p NULL: they do not count).
 */
static uint32_t roof_walk_shape(struct pf_roof_walk *w,
				struct pf_roof_shape shape, struct pf_json own,
				struct pf_json around)
{
	struct pf_op_args args = { 0 }, outer = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	uint32_t n;

	op_args_read(own, &args);
	if (!shape.model->formula->learns || args.values.p)
		shape.trace_id = 0;
	pf_buf_addf(&key, "%s\n%" PRId64 "\n", shape.op, shape.trace_id);
	add_key(&key, args.dims);
	add_key(&key, args.types);
	add_key(&key, args.values);
	if (around.p) {
		op_args_read(around, &outer);
		add_key(&key, outer.dims);
		add_key(&key, outer.types);
	}
	n = pf_intern_add(&w->shape_keys, key.data, key.len);
	if (n < w->shape_count)
		return n;
	shape.dims = keep(w, args.dims);
	shape.types = keep(w, args.types);
	shape.values = keep(w, args.values);
	shape.parent_dims = keep(w, outer.dims);
	shape.parent_types = keep(w, outer.types);
	*PF_ONE_MORE(w->shapes, w->shape_count, w->shape_cap) = shape;
	return n;
}

static int make_shape(struct walk *w, const struct open *o, uint32_t parent,
		      uint32_t *out)
{
	struct pf_roof_shape shape = { .op = name_text(w, o->name),
				       .model = o->model,
				       .trace_id = w->track->trace_id };
	struct pf_json own, around = { NULL, 0 };
	PF_OWN char *copy = NULL;

	PF_TRY(!shape.op || read_args(w, o->args, &own) < 0);
	/* what is read next takes its place */
	copy = pf_memdup0(own.p, own.len);
	own.p = copy;
	if (parent == PF_ID_NONE || !read_args(w, parent, &around))
		*out = roof_walk_shape(w->out, shape, own, around);
	return w->db->err->code ? -1 : 0;
}

/* The arguments of the call around it, if they count. */
static uint32_t parent_args(struct walk *w, uint32_t at)
{
	const struct open *o = at ? open_at(w, at - 1) : NULL;
	const char *text;
	size_t len;

	if (!o || o->name >= PF_ID_INLINE ||
	    pf_texts_get(&w->texts, PF_TEXT_NAME, o->name, &text, &len,
			 w->db->err) <= 0)
		return PF_ID_NONE;
	return roof_lends_shapes(text, len) ? o->args : PF_ID_NONE;
}

static int find_shape(struct walk *w, uint32_t at, uint32_t *out)
{
	const struct open *o = open_at(w, at);
	const struct pf_formula *f = o->model->formula;
	uint64_t *known, key = (uint64_t)o->name << 32 | o->args;
	uint32_t parent = PF_ID_NONE;
	struct pf_map *map;

	if (f->needs_parent) {
		parent = parent_args(w, at);
		return w->db->err->code ? -1 : make_shape(w, o, parent, out);
	}
	if (w->trace_id != w->track->trace_id) {
		pf_map_release(&w->by_trace);
		w->trace_id = w->track->trace_id;
	}
	map = f->learns ? &w->by_trace : &w->by_args;
	known = pf_map_at(map, key);
	if (*known == UINT64_MAX) {
		PF_TRY(make_shape(w, o, parent, out));
		*pf_map_at(map, key) = *out;
	} else {
		*out = (uint32_t)*known;
	}
	return 0;
}

static struct pf_json json_of(const char *text)
{
	return (struct pf_json){ text, text ? strlen(text) : 0 };
}

static void work_out(struct walk *w, struct pf_roof_shape *s, bool is_dense)
{
	struct pf_op_call call = {
		.args = { json_of(s->dims), json_of(s->types),
			  json_of(s->values), w->out->types },
		.parent = { json_of(s->parent_dims),
			    json_of(s->parent_types),
			    { NULL, 0 },
			    w->out->types },
		.has_parent = s->parent_dims != NULL,
		.is_dense = is_dense,
	};
	struct pf_dims x, weight;
	const struct lesson *l;
	bool is_new;

	if (!s->dims)
		return;
	if (s->trace_id && op_dims(&call.args, 0, &x) &&
	    op_dims(&call.args, 1, &weight)) {
		l = lesson_at(w, s->trace_id, &x, &weight, &is_new);
		if (is_new) /* nobody said: for the next who asks, too */
			w->lessons[w->places.count - 1].is_split = true;
		else if (!l->is_split)
			call.out = &l->out;
	}
	s->is_modelled = op_work(&call, s->model, &s->work);
}

/* ---- work that belongs to no call ---- */

static bool is_inside(const struct walk *w, const struct work *work)
{
	const struct pf_window_trace *t = &w->out->window.traces[work->trace];

	return work->start_ns >= t->from_ns && work->start_ns < t->to_ns;
}

static int add_unowned(struct walk *w, const struct work *work, uint32_t name,
		       enum pf_roof_why why)
{
	struct pf_roof_walk *o = w->out;
	uint64_t *at;

	if (!is_inside(w, work))
		return 0;
	at = pf_map_at(&w->rest, (uint64_t)why << 32 | name);
	if (*at == UINT64_MAX) {
		const char *op = name_text(w, name);

		PF_TRY(w->db->err->code);
		*pf_map_at(&w->rest, (uint64_t)why << 32 | name) =
			o->rest_count;
		*PF_ONE_MORE(o->rest, o->rest_count, o->rest_cap) =
			(struct pf_roof_rest){ .op = op, .why = why };
		at = pf_map_at(&w->rest, (uint64_t)why << 32 | name);
	}
	o->rest[*at].count++;
	pf_sat_sum(&o->rest[*at].ns, work->end_ns - work->start_ns);
	return 0;
}

/* ---- threads ---- */

/* The call that work of the innermost range belongs to, or NONE. */
static uint32_t owner_of_call(const struct walk *w)
{
	uint32_t in = open_at(w, w->top - 1)->modelled, at = in;

	for (uint32_t up = in; up != NONE;
	     up = up ? open_at(w, up - 1)->modelled : NONE)
		if (owns(open_at(w, up)->model, open_at(w, in)->model))
			at = up;
	return at;
}

static int walk_work(struct walk *w, const struct work *work)
{
	uint32_t at = w->top ? owner_of_call(w) : NONE;
	struct pf_roof_work r = { .start_ns = work->start_ns,
				  .end_ns = work->end_ns,
				  .name = work->name,
				  .trace = work->trace,
				  .is_host = work->is_host };
	const struct open *o;

	if (!w->top)
		return add_unowned(w, work, PF_ID_NONE, PF_ROOF_NO_OP);
	o = open_at(w, w->top - 1);
	if (work->is_comm)
		return add_unowned(w, work, o->name, PF_ROOF_COMM);
	if (at == NONE)
		return add_unowned(w, work, o->name, PF_ROOF_NO_MODEL);
	o = open_at(w, at);
	PF_TRY(find_shape(w, at, &r.shape));
	r.call_id = (int64_t)((uint64_t)w->track->id << 32 | o->event.seq);
	r.step = (uint32_t)pf_steps_at(&w->out->steps, w->track->trace_id,
				       o->start_ns);
	r.is_recomputed = o->state == PF_RECOMPUTE_AGAIN;
	return pf_sorter_add(w->out->works, &r, w->db->err);
}

/* All work of this operator; of 0: that of none. */
static int walk_works(struct walk *w, int64_t event_id)
{
	const struct pf_block *none;
	const struct work *work;
	uint32_t ignored;

	while ((work = pf_by_event_peek(w->works)) && work->op_id == event_id) {
		struct work copy = *work;

		PF_TRY(!pf_by_event_next(w->works, &none, &ignored));
		PF_TRY(event_id ? walk_work(w, &copy)
				: add_unowned(w, &copy, PF_ID_NONE,
					      copy.is_comm ? PF_ROOF_COMM
							   : PF_ROOF_NO_OP));
	}
	return w->db->err->code ? -1 : 0;
}

/*
 * Nothing is in it, it launched nothing and teaches nothing: most events are
 * so, and pass by.
 */
static int is_leaf(struct walk *w, const struct pf_block *b, uint32_t i,
		   int64_t event_id)
{
	const struct work *work = pf_by_event_peek(w->works);
	const struct meaning *m;

	if (i + 1 == b->count ||
	    b->start_ns[i + 1] < pf_span_end(b->start_ns[i], b->dur_ns[i]) ||
	    (work && work->op_id == event_id))
		return w->db->err->code ? -1 : 0;
	PF_TRY(mean(w, b->name[i], &m));
	return !m->model || m->model->teaches[0] < 0;
}

/* The event at hand, below what is open from a place on. */
static void insert(struct walk *w, size_t at, const struct open *o)
{
	if (!pf_nest_insert(&w->open, at, o))
		return;
	w->top = at + 1;
	for (size_t i = at + 1; i < w->open.depth; i++) {
		struct open *over = open_at(w, i);

		over->modelled +=
			over->modelled != NONE && over->modelled >= at;
	}
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id)
{
	struct walk *w = context;
	unsigned kind = pf_kinds_at(&w->kinds, b->type[i]);
	struct open o = {
		.event = { .end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
			   .seq = (uint32_t)((uint64_t)event_id & UINT32_MAX),
			   .is_python = kind == PF_KIND_PYTHON },
		.start_ns = b->start_ns[i],
		.name = b->name[i],
		.args = b->args[i],
		.modelled = NONE,
		.state = PF_RECOMPUTE_NONE,
	};
	const struct meaning *m;
	bool is_under;
	size_t at;
	int rc = is_leaf(w, b, i, event_id);

	if (rc)
		return rc < 0 ? -1 : 0;
	at = pf_nest_place(&w->open, o.start_ns, o.event, b->parent[i],
			   &is_under);
	w->top = at;
	if (is_under && o.event.is_python)
		return 0;
	if (!is_under)
		w->open.depth = at;
	PF_TRY(mean(w, b->name[i], &m));
	if (at) {
		o.modelled = open_at(w, at - 1)->modelled;
		o.state = open_at(w, at - 1)->state;
	}
	if (kind == PF_KIND_CPU_OP)
		o.model = m->model;
	o.state = recompute_next(o.state, m->word, kind);
	if (o.model && o.model->formula)
		o.modelled = (uint32_t)at;
	insert(w, at, &o);
	PF_TRY(o.model && o.model->teaches[0] >= 0 && teach(w, &o) < 0);
	return walk_works(w, event_id);
}

static bool wants_more(void *context, const struct pf_track *t)
{
	struct walk *w = context;

	return pf_by_event_is_on(w->works, t->id);
}

static int read_tracks(struct walk *w)
{
	static const struct pf_track_reader reader = {
		.event = take,
		.wants_more = wants_more,
		.columns = PF_COLBIT(PF_COL_PARENT) | PF_COLBIT(PF_COL_ARGS),
	};
	struct pf_track *tracks;
	const struct work *left;
	size_t count;
	int rc = pf_tracks_load(w->db, 0, &tracks, &count, w->db->err);

	PF_TRY(rc < 0);
	for (size_t i = 0; !rc && i < count; i++) {
		w->track = &tracks[i];
		w->open.depth = w->top = 0;
		if (pf_by_event_is_on(w->works, tracks[i].id))
			rc = pf_track_read(w->db, &tracks[i], &reader, w);
	}
	pf_tracks_free(tracks, count);
	left = rc ? NULL : pf_by_event_peek(w->works);
	if (left)
		return pf_fail(w->db->err, PF_EDB,
			       "operator %" PRId64 " is missing", left->op_id);
	return rc || w->db->err->code ? -1 : 0;
}

/* ---- GPU work ---- */

static void count_devices(struct walk *w, const struct pf_gpu_set *set)
{
	const struct pf_window *window = &w->out->window;

	for (size_t i = 0; i < window->count; i++)
		for (size_t j = 0; j < set->count; j++)
			w->out->device_counts[i] += set->items[j].worker_id ==
						    window->traces[i].worker_id;
}

/* 1: the work is of an operator that a graph has for it. */
static int walk_replayed(struct walk *w, const struct pf_gpu_event *ev,
			 const struct work *work)
{
	const struct pf_roof_work r = { .start_ns = work->start_ns,
					.end_ns = work->end_ns,
					.name = work->name,
					.trace = work->trace,
					.is_host = work->is_host };

	if (!ev->launch_id)
		return 0;
	return roof_replayed_add(w->replayed, ev->launch_id, &r, work->is_comm,
				 w->db->err);
}

static int gather(struct walk *w)
{
	struct pf_window *window = &w->out->window;
	PF_AUTO(pf_gpu_freed)
	struct pf_gpu *gpu = pf_gpu_new(
		w->db, window, PF_GPU_LINKS | PF_GPU_STARTS | PF_GPU_OUTSIDE);
	PF_AUTO(pf_gpu_set_release) struct pf_gpu_set set = { 0 };
	const struct pf_gpu_event *ev;
	int rc = -1;

	w->works = pf_by_event_new(w->db, sizeof(struct work), 0);
	while (gpu && (rc = pf_gpu_next(gpu, &ev)) == 1) {
		struct work work = {
			.op_id = ev->op_id,
			.start_ns = ev->start_ns,
			.end_ns = pf_span_end(ev->start_ns, ev->dur_ns),
			.name = ev->name,
			.trace = (uint32_t)(ev->trace - window->traces),
			.is_comm = ev->class == PF_GPU_COMM,
			.is_host = ev->class == PF_GPU_COPY &&
				   (ev->way == PF_COPY_HTOD ||
				    ev->way == PF_COPY_DTOH),
		};

		if (!ev->is_outside) {
			pf_gpu_set_add(&set, ev->trace, ev->device);
			pf_sat_sum(&w->out->started_ns,
				   work.end_ns - work.start_ns);
		}
		rc = w->replayed ? walk_replayed(w, ev, &work) : 0;
		if (!rc)
			rc = pf_by_event_add(w->works, &work);
		if (rc < 0)
			break;
	}
	count_devices(w, &set);
	return rc;
}

static void tear_down(struct walk *w)
{
	pf_kinds_release(&w->kinds);
	pf_texts_release(&w->texts);
	pf_by_event_free(w->works);
	pf_map_release(&w->by_args);
	pf_map_release(&w->by_trace);
	pf_map_release(&w->taught);
	pf_map_release(&w->rest);
	pf_intern_release(&w->places);
	free(w->meanings);
	free(w->lessons);
	pf_nest_release(&w->open);
}

static int prepare(struct walk *w, const struct pf_window_args *args)
{
	struct pf_roof_walk *o = w->out;

	PF_TRY(pf_window_resolve(w->db, args, &o->window));
	PF_TRY(pf_window_settle(w->db, &o->window) < 0);
	PF_TRY(pf_window_steps(w->db, &o->window, &o->steps));
	PF_TRY(pf_kinds_load(&w->kinds, w->db, w->db->err) < 0);
	o->device_counts = pf_arena_calloc(&o->texts, o->window.count,
					   sizeof(*o->device_counts));
	o->works = pf_sorter_temp(sizeof(struct pf_roof_work));
	o->models = op_models_new(w->db->err);
	o->types = o->models ? op_types_new(w->db->err) : NULL;
	return o->types ? 0 : -1;
}

int pf_roof_walk(struct pf_db *db, const struct pf_window_args *args,
		 bool is_dense, struct pf_graphs *graphs,
		 struct pf_roof_walk *out)
{
	PF_AUTO(tear_down)
	struct walk w = { .db = db,
			  .out = out,
			  .texts = { .db = db },
			  .open = { .width = sizeof(struct open) } };

	int rc;

	PF_TRY(prepare(&w, args));
	if (graphs)
		w.replayed = roof_replayed_new(out, graphs);
	rc = gather(&w) || walk_works(&w, 0) || read_tracks(&w) ? -1 : 0;
	roof_replayed_close(w.replayed);
	PF_TRY(rc);
	for (size_t i = 0; i < out->shape_count; i++)
		work_out(&w, &out->shapes[i], is_dense);
	return pf_sorter_finish(out->works, db->err);
}

void pf_roof_walk_release(struct pf_roof_walk *w)
{
	pf_sorter_free(w->works);
	pf_data_free(w->types);
	op_models_free(w->models);
	pf_steps_release(&w->steps);
	pf_arena_release(&w->texts);
	pf_window_release(&w->window);
	pf_intern_release(&w->shape_keys);
	free(w->shapes);
	free(w->rest);
	*w = (struct pf_roof_walk){ 0 };
}
