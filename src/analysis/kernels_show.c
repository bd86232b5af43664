/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kernels_impl.h"
#include "base/num.h"
#include "base/sat.h"

#define MOST_UNKNOWN 0.2 /* share of time, for tensor cores */

static int by_total(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int rc;

	if (x->stats.sum != y->stats.sum)
		return x->stats.sum < y->stats.sum ? 1 : -1;
	rc = strcmp(x->first_text, y->first_text);
	if (!rc)
		rc = strcmp(x->second_text, y->second_text);
	return rc ? rc : (int)x->kind.class - (int)y->kind.class;
}

/* No text is added any more: pointers to them hold. */
static void sort_groups(struct kernels *k)
{
	for (size_t i = 0; i < k->group_count; i++) {
		struct group *g = &k->groups[i];

		g->first_text = pf_intern_text(&k->texts, g->first, NULL);
		g->second_text = pf_intern_text(&k->texts, g->second, NULL);
	}
	if (k->group_count)
		qsort(k->groups, k->group_count, sizeof(*k->groups), by_total);
}

static void add_short_name(struct pf_table *t, const char *name)
{
	struct pf_buf text = { 0 };

	pf_kernel_short_name(&text, name);
	pf_table_string(t, text.data);
	pf_buf_release(&text);
}

static void add_same_text(struct kernels *k, struct pf_table *t, int64_t number)
{
	const char *text =
		number >= 0 ? pf_intern_text(&k->texts, (uint32_t)number, NULL)
			    : NULL;

	pf_table_string(t, text && *text ? text : NULL);
}

static void add_mean(struct pf_table *t, const struct weighted *w)
{
	if (w->weight > 0)
		pf_table_real(t, w->sum / w->weight);
	else
		pf_table_null(t);
}

static bool has_second(const struct kernels *k)
{
	return k->args->group != BY_NAME && k->args->group != BY_OP;
}

static void add_kind(struct pf_table *t, const struct pf_kernel_kind *kind)
{
	pf_table_string(t, kind->use == PF_TENSOR_UNKNOWN
				   ? NULL
				   : pf_tensor_word(kind->use));
	pf_table_string(t, pf_class_word(kind->class));
	pf_table_string(t, pf_precision_word(kind->precision));
}

/* May the products of an operator run in another precision? */
enum op_word {
	OP_OPEN, /* not known: no operator of PyTorch, or none at all */
	OP_LISTED,
	OP_FIXED
};

static const char *const op_words[] = { NULL, "yes", "no" };

static enum op_word op_word(const struct kernels *k, const char *op)
{
	if (strncmp(op, "aten::", 6) != 0)
		return OP_OPEN;
	return pf_tensor_op(k->tensor, op) ? OP_LISTED : OP_FIXED;
}

static void add_row(struct kernels *k, struct pf_table *t,
		    const struct group *g, int64_t *so_far)
{
	double total = k->total_ns ? (double)k->total_ns : 1;

	pf_sat_sum(so_far, g->stats.sum);
	pf_table_string(t, g->first_text);
	if (has_name(k))
		add_short_name(t, g->first_text);
	if (has_second(k))
		pf_table_string(t, g->second_text);
	pf_table_int(t, g->stats.count);
	pf_table_int(t, g->stats.sum);
	pf_table_real(t, (double)g->stats.sum / total);
	pf_table_real(t, (double)*so_far / total);
	pf_table_int(t, pf_stats_mean(&g->stats));
	pf_table_int(t, g->ranks[MEDIAN]);
	pf_table_int(t, g->ranks[P90]);
	pf_table_int(t, g->ranks[P99]);
	pf_table_int(t, g->stats.max);
	pf_table_int(t, g->stats.min);
	pf_table_real(t, pf_stats_sd(&g->stats));
	add_mean(t, &g->blocks_per_sm);
	add_mean(t, &g->occupancy);
	pf_table_known(t, g->registers);
	pf_table_known(t, g->shared);
	add_same_text(k, t, g->grid);
	add_same_text(k, t, g->block);
	pf_table_known(t, g->device);
	pf_table_known(t, g->stream);
	if (has_name(k))
		add_kind(t, &g->kind);
	if (k->args->group == BY_NAME_OP)
		pf_table_string(t, op_words[op_word(k, g->second_text)]);
}

/* The columns that name a group, then its figures. */
static size_t choose_columns(const struct kernels *k, struct pf_col *out)
{
	static const struct pf_col second[] = {
		{ 0 },
		{ "op", "Operator", PF_TEXT },
		{ "geometry", "Grid x block", PF_TEXT },
		{ "input_shapes", "Input shapes", PF_TEXT },
		{ 0 },
	};
	static const struct pf_col figures[] = {
		{ "calls", "Calls", PF_COUNT },
		{ "total_ns", "Total", PF_NS },
		{ "share", "Share", PF_RATIO },
		{ "cumulative_share", "Cumulative", PF_RATIO | PF_FULL },
		{ "mean_ns", "Mean", PF_NS },
		{ "median_ns", "Median", PF_NS | PF_FULL },
		{ "p90_ns", "90th", PF_NS | PF_FULL },
		{ "p99_ns", "99th", PF_NS | PF_FULL },
		{ "max_ns", "Max", PF_NS },
		{ "min_ns", "Min", PF_NS | PF_FULL },
		{ "sd_ns", "Deviation", PF_REAL | PF_FULL },
		{ "blocks_per_sm", "Blocks per SM", PF_REAL | PF_FULL },
		{ "occupancy_percent", "Occupancy", PF_REAL | PF_FULL },
		{ "registers_per_thread", "Registers", PF_INT | PF_FULL },
		{ "shared_memory_bytes", "Shared", PF_BYTES | PF_FULL },
		{ "grid", "Grid", PF_TEXT | PF_FULL },
		{ "block", "Block", PF_TEXT | PF_FULL },
		{ "device", "GPU", PF_INT | PF_FULL },
		{ "stream", "Stream", PF_INT | PF_FULL },
	};
	static const struct pf_col kinds[] = {
		{ "tensor_cores", "TC", PF_TEXT },
		{ "class", "Class", PF_TEXT | PF_FULL },
		{ "precision", "Precision", PF_TEXT | PF_FULL },
	};
	enum { MAX_COLUMN = 8 }; /* only without a second is there room */
	size_t count = 0;

	if (!has_name(k)) {
		out[count++] = (struct pf_col){ "op", "Operator", PF_TEXT };
	} else {
		out[count++] =
			(struct pf_col){ "name", "Kernel", PF_TEXT | PF_FULL };
		out[count++] = (struct pf_col){ "short_name", "Kernel",
						PF_TEXT | PF_BRIEF };
	}
	if (has_second(k))
		out[count++] = second[k->args->group];
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		out[count] = figures[i];
		if (i == MAX_COLUMN && has_second(k))
			out[count].kind |= PF_FULL;
		count++;
	}
	for (size_t i = 0; has_name(k) && i < 3; i++)
		out[count++] = kinds[i];
	if (k->args->group == BY_NAME_OP)
		out[count++] = (struct pf_col){ "op_eligible", "Eligible",
						PF_TEXT | PF_FULL };
	return count;
}

static void add_finding(struct kernels *k, struct pf_doc *doc)
{
	const struct group *top = NULL;
	struct pf_buf name = { 0 };
	char share[PF_NUM_MAX], total[PF_NUM_MAX];

	for (size_t i = 0; i < k->group_count; i++)
		if (!top || k->groups[i].stats.sum > top->stats.sum)
			top = &k->groups[i];
	if (!top) {
		pf_doc_finding(doc, "There are no kernels");
		doc->is_nothing = true;
		return;
	}
	if (!has_name(k))
		pf_buf_adds(&name, top->first_text);
	else
		pf_kernel_short_name(&name, top->first_text);
	if (name.len > 60)
		memcpy(name.data + 57, "...", 4);
	pf_doc_finding(doc, "%s takes %s of the %s that kernels ran", name.data,
		       pf_num_show_ratio(
			       share, k->total_ns ? (double)top->stats.sum /
							    (double)k->total_ns
						  : 0),
		       pf_num_show_ns(total, k->total_ns));
	pf_buf_release(&name);
}

static double share_of(const struct kernels *k, int64_t ns)
{
	return k->total_ns ? (double)ns / (double)k->total_ns : 0;
}

/* Nothing is claimed where much is unknown. */
static void add_tensor_cores(const struct kernels *k, struct pf_doc *doc)
{
	static const char key[] = "tensor_core_share", title[] = "Tensor cores";
	double unknown = share_of(k, k->use_ns[PF_TENSOR_UNKNOWN]);
	char text[PF_NUM_MAX];

	if (!k->total_ns || unknown > MOST_UNKNOWN)
		pf_doc_null(doc, key, title, PF_RATIO);
	else
		pf_doc_real(doc, key, title, PF_RATIO,
			    share_of(k, k->use_ns[PF_TENSOR_YES]));
	pf_doc_int(doc, "tensor_core_ns", "  time that uses them", PF_NS,
		   k->use_ns[PF_TENSOR_YES]);
	pf_doc_int(doc, "tensor_unknown_ns", "  time that may use them", PF_NS,
		   k->use_ns[PF_TENSOR_UNKNOWN]);
	if (unknown > MOST_UNKNOWN)
		pf_doc_note(doc,
			    "whether %" PRId64 " kernels (%s of the time) use "
			    "tensor cores is not known from their names",
			    k->use_calls[PF_TENSOR_UNKNOWN],
			    pf_num_show_ratio(text, unknown));
}

/* Are there figures of a kernel of this kind and operator to add up? */
static bool is_product(const struct kernels *k, const struct group *g)
{
	enum op_word word = op_word(k, g->second_text);

	if (g->kind.class == PF_CLASS_GEMM || g->kind.class == PF_CLASS_CONV)
		return word != OP_FIXED;
	return g->kind.class == PF_CLASS_UNKNOWN && word == OP_LISTED;
}

/*
 * Time in matrix products and convolutions that may run in another precision.
 * A kernel of unknown purpose is one if its operator says so.
 */
static void add_products(const struct kernels *k, struct pf_doc *doc)
{
	int64_t all = 0, fp32 = 0, unknown = 0;

	for (size_t i = 0; i < k->group_count; i++) {
		const struct group *g = &k->groups[i];

		if (!is_product(k, g))
			continue;
		pf_sat_sum(&all, g->stats.sum);
		if (g->kind.precision == PF_PRECISION_FP32)
			pf_sat_sum(&fp32, g->stats.sum);
		if (g->kind.precision == PF_PRECISION_UNKNOWN)
			pf_sat_sum(&unknown, g->stats.sum);
	}
	pf_doc_int(doc, "product_ns", "Matrix products, convolutions", PF_NS,
		   all);
	pf_doc_int(doc, "product_fp32_ns", "  in single precision", PF_NS,
		   fp32);
	pf_doc_int(doc, "product_unknown_ns", "  of unknown precision", PF_NS,
		   unknown);
}

static void add_classes(const struct kernels *k, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "class", "Class", PF_TEXT },
		{ "precision", "Precision", PF_TEXT },
		{ "calls", "Calls", PF_COUNT },
		{ "total_ns", "Total", PF_NS },
		{ "share", "Share", PF_RATIO },
	};
	struct pf_table *t =
		pf_doc_table(doc, "classes", "By class and precision", cols,
			     sizeof(cols) / sizeof(*cols));

	for (int c = 0; c < PF_CLASSES; c++)
		for (int p = 0; p < PF_PRECISIONS; p++) {
			const struct tally *tally = &k->by_kind[c][p];

			if (!tally->calls)
				continue;
			pf_table_string(t,
					pf_class_word((enum pf_kernel_class)c));
			pf_table_string(
				t, pf_precision_word((enum pf_precision)p));
			pf_table_int(t, tally->calls);
			pf_table_int(t, tally->ns);
			pf_table_real(t, share_of(k, tally->ns));
		}
}

static int by_place(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	if (x->trace_id != y->trace_id)
		return x->trace_id < y->trace_id ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->stream > y->stream) - (x->stream < y->stream);
}

static void add_streams(struct kernels *k, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "rank", "Rank", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "stream", "Stream", PF_INT },
		{ "calls", "Calls", PF_COUNT },
		{ "total_ns", "Total", PF_NS },
		{ "share", "Share", PF_RATIO },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
	};
	struct pf_table *t = pf_doc_table(doc, "streams", "By stream", cols,
					  sizeof(cols) / sizeof(*cols));

	if (k->stream_count)
		qsort(k->streams, k->stream_count, sizeof(*k->streams),
		      by_place);
	for (size_t i = 0; i < k->stream_count; i++) {
		const struct stream *s = &k->streams[i];

		pf_table_known(t, s->rank);
		pf_table_known(t, s->device);
		pf_table_known(t, s->stream);
		pf_table_int(t, s->calls);
		pf_table_int(t, s->total_ns);
		pf_table_real(t, share_of(k, s->total_ns));
		pf_table_int(t, s->trace_id);
	}
}

void pf_kernels_show(struct kernels *k, struct pf_doc *doc)
{
	struct pf_col cols[28];
	size_t count = choose_columns(k, cols);
	struct pf_table *t;
	int64_t so_far = 0;
	char share[PF_NUM_MAX];

	sort_groups(k);
	add_finding(k, doc);
	pf_doc_int(doc, "kernel_ns", "Kernel time, summed", PF_NS, k->total_ns);
	pf_doc_int(doc, "kernel_count", "Kernels", PF_COUNT, k->calls);
	pf_doc_int(doc, "group_count", "Groups", PF_COUNT,
		   (int64_t)k->group_count);
	add_tensor_cores(k, doc);
	if (k->args->group == BY_NAME_OP)
		add_products(k, doc);
	t = pf_doc_table(doc, "kernels", NULL, cols, count);
	for (size_t i = 0; i < k->group_count; i++)
		add_row(k, t, &k->groups[i], &so_far);
	add_classes(k, doc);
	add_streams(k, doc);
	if (k->without_op)
		pf_doc_note(doc,
			    "%" PRId64 " kernels (%s of their time) have no "
			    "operator",
			    k->without_op,
			    pf_num_show_ratio(share,
					      share_of(k, k->without_op_ns)));
}
