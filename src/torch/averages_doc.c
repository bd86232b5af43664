/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/averages_doc.h"

static const struct pf_col cols[] = {
	{ "name", "Name", PF_TEXT },
	{ "input_shapes", "Input shapes", PF_TEXT },
	{ "stack", "Stack", PF_TEXT },
	{ "device_type", "Device", PF_TEXT },
	{ "is_user_annotation", "Annotation", PF_INT },
	{ "count", "Calls", PF_COUNT },
	{ "self_cpu_ns", "Self CPU", PF_NS },
	{ "cpu_total_ns", "CPU total", PF_NS },
	{ "self_device_ns", "Self device", PF_NS },
	{ "device_total_ns", "Device total", PF_NS },
	{ "self_cpu_mem_bytes", "Self CPU memory", PF_BYTES },
	{ "cpu_mem_bytes", "CPU memory", PF_BYTES },
	{ "self_device_mem_bytes", "Self device memory", PF_BYTES },
	{ "device_mem_bytes", "Device memory", PF_BYTES },
	{ "flops", "FLOPs", PF_COUNT },
	{ "overload_name", "Overload", PF_TEXT },
};

#define COLUMNS (sizeof(cols) / sizeof(*cols))

struct pf_table *pf_averages_table(struct pf_doc *doc, bool by_overload)
{
	return pf_doc_table(doc, PF_AVERAGES_TABLE, NULL, cols,
			    COLUMNS - !by_overload);
}

static void put_flops(struct pf_table *t, const struct pf_flops_sum *flops)
{
	char digits[PF_FLOPS_DIGITS];

	if (!flops->unknown_count && pf_flops_known(flops) < 0)
		pf_table_digits(t, pf_flops_digits(digits, flops));
	else
		pf_table_known(t, pf_flops_known(flops));
}

void pf_averages_add(struct pf_table *t, const struct pf_average *row)
{
	const struct pf_figures *f = &row->sum;

	pf_table_string(t, row->name);
	pf_table_string(t, row->shapes);
	pf_table_string(t, row->stack);
	pf_table_string(t, row->is_device ? "CUDA" : "CPU");
	pf_table_int(t, row->is_annotation);
	pf_table_int(t, (int64_t)row->count);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		pf_table_int(t, f->ns[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		pf_table_int(t, f->bytes[i]);
	put_flops(t, &f->flops);
	if (pf_table_col_count(t) == COLUMNS)
		pf_table_string(t, row->overload);
}
