/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/time/kernels.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/utf8.h"
#include "analysis/graphs/graphs.h"
#include "show/rows.h"

#define LONG_NAME 120 /* in a sentence */

/* "matrix products 46.69 %, other kernels 53.13 %", the largest first. */
static void say_classes(const struct pf_kernels *k, struct pf_buf *out)
{
	static const struct {
		const char *word, *plain;
	} words[] = {
		{ "gemm", "matrix products" },
		{ "conv", "convolutions" },
		{ "attention", "attention" },
		{ "communication", "communication" },
		{ "other", "other kernels" },
		{ NULL, "of unknown class" },
	};
	enum { WORDS = sizeof(words) / sizeof(*words) };
	int64_t ns[WORDS] = { 0 };
	char share[PF_NUM_MAX];

	for (size_t i = 0; i < k->class_count; i++) {
		const char *word = k->classes[i].class_word;
		size_t w = 0;

		while (words[w].word &&
		       (!word || strcmp(words[w].word, word) != 0))
			w++;
		pf_sat_sum(&ns[w], k->classes[i].total_ns);
	}
	pf_buf_adds(out, "");
	for (size_t n = 0; n < WORDS; n++) {
		size_t most = 0;

		for (size_t w = 1; w < WORDS; w++)
			if (ns[w] > ns[most])
				most = w;
		if (!ns[most])
			break;
		pf_num_show_ratio(share, pf_num_share(ns[most], k->total_ns));
		pf_buf_addf(out, "%s%s %s", n ? ", " : "", words[most].plain,
			    share);
		ns[most] = 0;
	}
}

static void add_finding(const struct pf_kernels *k, struct pf_doc *doc)
{
	const struct pf_kernel_row *top = k->rows;
	struct pf_buf name = { 0 }, classes = { 0 };
	char share[PF_NUM_MAX], total[PF_NUM_MAX];

	if (!k->row_count) {
		pf_doc_finding(
			doc, "%s",
			k->window.tpu_count    ? pf_window_no_work(&k->window)
			: k->window.has_unread ? "No kernels could be read"
					       : "There are no kernels");
		doc->is_nothing = true;
		return;
	}
	if (!k->total_ns) {
		pf_doc_finding(doc, "Kernels take no time%s",
			       pf_window_scope(&k->window));
		return;
	}
	pf_buf_adds(&name, top->short_name ? top->short_name : top->first);
	if (name.len > LONG_NAME) {
		name.len = pf_utf8_head(name.data, LONG_NAME, LONG_NAME - 3);
		pf_buf_adds(&name, "...");
	}
	say_classes(k, &classes);
	pf_doc_finding(doc, "Kernels ran %s%s: %s; the largest is %s with %s",
		       pf_num_show_ns(total, k->total_ns),
		       pf_window_scope(&k->window), classes.data, name.data,
		       pf_num_show_ratio(share, top->share));
	pf_buf_release(&classes);
	pf_buf_release(&name);
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernels, member, key, title, kind)
static void add_scalars(const struct pf_kernels *k, struct pf_doc *doc)
{
	int of_products = k->group == PF_KERNELS_BY_NAME_OP ? PF_NS : PF_ABSENT;
	double unknown = pf_num_share(k->tensor_unknown_ns, k->total_ns);
	char text[PF_NUM_MAX], count[PF_NUM_MAX];
	const struct pf_field fields[] = {
		FIELD(total_ns, "kernel_ns", "Kernel time, summed", PF_NS),
		FIELD(calls, "kernel_count", "Kernels", PF_COUNT),
		FIELD(row_count, "group_count", "Groups", PF_COUNT),
		FIELD(tensor_core_share, "tensor_core_share", "Tensor cores",
		      PF_RATIO),
		FIELD(tensor_core_ns, "tensor_core_ns", "  time that uses them",
		      PF_NS),
		FIELD(tensor_unknown_ns, "tensor_unknown_ns",
		      "  time that may use them", PF_NS),
		FIELD(product_ns, "product_ns", "Matrix products, convolutions",
		      of_products),
		FIELD(product_fp32_ns, "product_fp32_ns",
		      "  in single precision", of_products),
		FIELD(product_unknown_ns, "product_unknown_ns",
		      "  of unknown precision", of_products),
	};

	bool is_one = k->tensor_unknown_calls == 1;

	PF_SCALARS(doc, fields, *k);
	if (unknown > PF_KERNELS_MOST_UNKNOWN)
		pf_doc_note(doc,
			    "whether %s %s (%s of the time) use%s "
			    "tensor cores is not known from %s",
			    pf_num_show_count(count, k->tensor_unknown_calls),
			    is_one ? "kernel" : "kernels",
			    pf_num_show_ratio(text, unknown), is_one ? "s" : "",
			    is_one ? "its name" : "their names");
}
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernel_row, member, key, title, kind)
/* The columns that name a group, then its figures. */
static void add_rows(const struct pf_kernels *k, struct pf_doc *doc)
{
	static const char *const second[][2] = {
		[PF_KERNELS_BY_NAME] = { "op", "Operator" },
		[PF_KERNELS_BY_NAME_OP] = { "op", "Operator" },
		[PF_KERNELS_BY_NAME_GEOMETRY] = { "geometry", "Grid x block" },
		[PF_KERNELS_BY_OP_SHAPE] = { "input_shapes", "Input shapes" },
		[PF_KERNELS_BY_OP] = { "input_shapes", "Input shapes" },
	};
	bool of_op = k->group == PF_KERNELS_BY_OP_SHAPE ||
		     k->group == PF_KERNELS_BY_OP;
	bool is_one =
		k->group == PF_KERNELS_BY_NAME || k->group == PF_KERNELS_BY_OP;
	int by_name = of_op ? PF_ABSENT : 0;
	const struct pf_field fields[] = {
		FIELD(first, of_op ? "op" : "name",
		      of_op ? "Operator" : "Kernel",
		      of_op ? PF_TEXT : PF_TEXT | PF_FULL),
		FIELD(short_name, "short_name", "Kernel",
		      PF_TEXT | PF_BRIEF | by_name),
		FIELD(second, second[k->group][0], second[k->group][1],
		      is_one ? PF_ABSENT : PF_TEXT),
		FIELD(calls, "calls", "Calls", PF_COUNT),
		FIELD(replayed, "replayed_calls", "Replayed",
		      k->graphs ? PF_COUNT : PF_ABSENT),
		FIELD(total_ns, "total_ns", "Total", PF_NS),
		FIELD(share, "share", "Share", PF_RATIO),
		FIELD(cumulative_share, "cumulative_share", "Cumulative",
		      PF_RATIO | PF_FULL),
		FIELD(mean_ns, "mean_ns", "Mean", PF_NS | PF_SPARE),
		FIELD(median_ns, "median_ns", "Median", PF_NS | PF_FULL),
		FIELD(p90_ns, "p90_ns", "90th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(p99_ns, "p99_ns", "99th", PF_NS | PF_KNOWN | PF_FULL),
		/* only without a second text is there room */
		FIELD(max_ns, "max_ns", "Max",
		      is_one ? PF_NS | PF_SPARE : PF_NS | PF_FULL),
		FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
		FIELD(sd_ns, "sd_ns", "Deviation", PF_REAL | PF_FULL),
		FIELD(blocks_per_sm, "blocks_per_sm", "Blocks per SM",
		      PF_REAL | PF_FULL),
		FIELD(occupancy_percent, "occupancy_percent", "Occupancy",
		      PF_REAL | PF_FULL),
		FIELD(registers, "registers_per_thread", "Registers",
		      PF_INT | PF_FULL | PF_KNOWN),
		FIELD(shared_bytes, "shared_memory_bytes", "Shared",
		      PF_BYTES | PF_FULL | PF_KNOWN),
		FIELD(grid, "grid", "Grid", PF_TEXT | PF_FULL),
		FIELD(block, "block", "Block", PF_TEXT | PF_FULL),
		FIELD(device, "device", "GPU", PF_INT | PF_FULL | PF_KNOWN),
		FIELD(stream, "stream", "Stream", PF_INT | PF_FULL | PF_KNOWN),
		FIELD(tensor_cores, "tensor_cores", "TC",
		      PF_TEXT | PF_SPARE | by_name),
		FIELD(class_word, "class", "Class",
		      PF_TEXT | PF_OURS | PF_FULL | by_name),
		FIELD(precision, "precision", "Precision",
		      PF_TEXT | PF_OURS | PF_FULL | by_name),
		FIELD(op_eligible, "op_eligible", "Eligible",
		      k->group == PF_KERNELS_BY_NAME_OP ? PF_TEXT | PF_FULL
							: PF_ABSENT),
	};

	PF_ROWS(doc, "kernels", NULL, fields, k->rows, (size_t)k->row_count);
}
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernel_class_row, member, key, title, kind)
static const struct pf_field class_fields[] = {
	FIELD(class_word, "class", "Class", PF_TEXT | PF_OURS),
	FIELD(precision, "precision", "Precision", PF_TEXT | PF_OURS),
	FIELD(calls, "calls", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernel_stream, member, key, title, kind)
static const struct pf_field stream_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "device", "GPU", PF_INT | PF_KNOWN),
	FIELD(stream, "stream", "Stream", PF_INT | PF_KNOWN),
	FIELD(calls, "calls", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};

void pf_kernels_show(const struct pf_kernels *k, struct pf_doc *doc)
{
	char share[PF_NUM_MAX], count[PF_NUM_MAX];

	add_finding(k, doc);
	add_scalars(k, doc);
	add_rows(k, doc);
	PF_ROWS(doc, "classes", "By class and precision", class_fields,
		k->classes, k->class_count);
	PF_WINDOW_ROWS(&k->window, doc, "streams", "By stream", stream_fields,
		       k->streams, k->stream_count);
	if (k->graphs)
		pf_graphs_note(k->graphs, doc);
	if (k->without_op)
		pf_doc_note(
			doc, "%s kernel%s (%s of kernel time) %s no operator",
			pf_num_show_count(count, k->without_op),
			k->without_op == 1 ? "" : "s",
			pf_num_show_ratio(share, pf_num_share(k->without_op_ns,
							      k->total_ns)),
			k->without_op == 1 ? "has" : "have");
}
