/* SPDX-License-Identifier: MIT */
/* What each section shows is these tables, and nothing else is code. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/asset.h"
#include "base/buf.h"
#include "events/names.h"
#include "page/chart.h"
#include "page/figure.h"
#include "page/html.h"
#include "page/page.h"
#include "page/report.h"
#include "page/timeline.h"
#include "show/doc.h"

/* The sections of a page between the breakdown and the timeline. */

/* ---- which rows ---- */

static bool is_loading(const struct pf_table *t, size_t row)
{
	const char *cause = pf_table_text_at(t, row, "cause");

	return cause && !strcmp(cause, pf_cause_name(PF_CAUSE_DATA));
}

static bool is_op(const struct pf_table *t, size_t row)
{
	const char *device = pf_table_text_at(t, row, "device_type");

	return device && !strcmp(device, "CPU");
}

static bool is_finding(const struct pf_table *t, size_t row)
{
	const char *verdict = pf_table_text_at(t, row, "verdict");

	return verdict && strcmp(verdict, "ok") != 0;
}

/* ---- columns ---- */

static const struct pf_html_col cause_cols[] = { COL("cause"),
						 COL("ns"),
						 BAR("idle_share", "Of idle"),
						 COL("window_share"),
						 COL("count"),
						 COL("longest_ns"),
						 END };

static const struct pf_html_col culprit_cols[] = { COL_AS("culprit",
							  "Op, call or range"),
						   COL_AS("op", "In operator"),
						   COL("cause"),
						   COL("ns"),
						   BAR("idle_share", "Of idle"),
						   COL("count"),
						   COL("longest_ns"),
						   FRAME("frame"),
						   END };

static const struct pf_html_col gap_cols[] = {
	TIME("start_ns", "At", "ns"),
	COL("ns"),
	COL_AS("cause", "Main cause"),
	COL("culprit"),
	FRAME("frame"),
	KERNEL("before", "Last work before"),
	KERNEL("after", "First work after"),
	COL("drained_by"),
	COL("device"),
	END
};

static const struct pf_html_col part_cols[] = {
	COL("category"), COL("ns"),         BAR("share", "Of the window"),
	COL("count"),    COL("longest_ns"), END
};

static const struct pf_html_col on_path_cols[] = { COL("category"),
						   KERNEL("name", "Name"),
						   COL("ns"),
						   BAR("share",
						       "Of the window"),
						   COL("count"),
						   COL("longest_ns"),
						   END };

static const struct pf_html_col answer_cols[] = {
	COL("question"), COL("saved_ns"), BAR("saved_share", "Of the window"),
	COL("least_ns"), COL("bound_ns"), END
};

static const struct pf_html_col site_cols[] = {
	COL("call"),
	COL("op"),
	COL_AS("count", "Calls"),
	COL_AS("per_step", "Per step"),
	COL_AS("blocked_ns", "CPU blocked"),
	COL_AS("useful_ns", "GPU busy meanwhile"),
	COL_AS("idle_ns", "GPU idle after"),
	COL_AS("median_ns", "Median"),
	COL_AS("max_ns", "Longest"),
	FRAME("frame"),
	END
};

static const struct pf_html_col call_cols[] = {
	COL("call"),
	COL("count"),
	COL("cpu_ns"),
	COL("gpu_ns"),
	COL_AS("median_delay_ns", "Median delay"),
	COL_AS("max_delay_ns", "Longest delay"),
	COL_AS("short_count", "Work shorter than the call"),
	END
};

static const struct pf_html_col stream_cols[] = {
	COL("device"),
	COL("stream"),
	COL("launch_count"),
	COL_AS("mean_length", "Mean queue"),
	COL_AS("max_length", "Longest queue"),
	END
};

static const struct pf_html_col kernel_cols[] = {
	KERNEL("name", "Kernel"),
	COL("calls"),
	COL_AS("total_ns", "Total"),
	BAR("share", "Share"),
	COL_AS("cumulative_share", "Cumulative"),
	COL_AS("mean_ns", "Mean"),
	COL_AS("median_ns", "Median"),
	COL_AS("min_ns", "Min"),
	COL_AS("max_ns", "Max"),
	COL_AS("sd_ns", "Sigma"),
	COL_AS("blocks_per_sm", "Blocks/SM"),
	COL_AS("occupancy_percent", "Occupancy %"),
	COL_AS("tensor_cores", "Tensor cores"),
	END
};

static const struct pf_html_col caller_cols[] = {
	KERNEL("name", "Kernel"),
	COL_AS("op", "Operator"),
	COL("calls"),
	COL_AS("total_ns", "Total"),
	BAR("share", "Share"),
	COL_AS("mean_ns", "Mean"),
	COL_AS("median_ns", "Median"),
	COL("grid"),
	COL("block"),
	COL_AS("registers_per_thread", "Registers"),
	COL_AS("shared_memory_bytes", "Shared memory"),
	END
};

static const struct pf_html_col op_cols[] = {
	COL_AS("name", "Operator"),
	COL("count"),
	DEVICE("self_device_ns", "Device self"),
	DEVICE("device_total_ns", "Device total"),
	COL_AS("self_cpu_ns", "Host self"),
	COL_AS("cpu_total_ns", "Host total"),
	DEVICE("self_device_mem_bytes", "Device memory, self"),
	COL_AS("self_cpu_mem_bytes", "Host memory, self"),
	END
};

static const struct pf_html_col overlap_cols[] = {
	COL("rank"),
	COL("device"),
	COL("total_ns"),
	COL("computation_ns"),
	COL("comm_ns"),
	COL_AS("overlap_ns", "Hidden"),
	COL_AS("exposed_comm_ns", "Exposed"),
	COL_AS("overlap_share", "Share hidden"),
	COL_AS("exposed_copy_ns", "Exposed copies"),
	COL("idle_ns"),
	END
};

static const struct pf_html_col arrival_cols[] = {
	COL("rank"),
	COL_AS("count", "Collectives"),
	COL_AS("last_count", "Last to come"),
	COL_AS("late_ns", "Others wait for it"),
	COL_AS("waited_ns", "It waits"),
	END
};

static const struct pf_html_col collective_cols[] = {
	COL("collective"),
	COL_AS("group", "Group"),
	COL_AS("group_size", "Ranks"),
	COL_AS("dtype", "Type"),
	COL_AS("count", "Calls"),
	COL_AS("in_bytes", "Bytes"),
	COL_AS("total_ns", "Total"),
	COL_AS("mean_ns", "Mean"),
	COL_AS("min_ns", "Min"),
	COL_AS("max_ns", "Max"),
	COL_AS("algorithm_gb_per_s", "Algorithm GB/s"),
	COL_AS("bus_gb_per_s", "Bus GB/s"),
	END
};

static const struct pf_html_col input_cols[] = { COL_AS("culprit", "Range"),
						 FRAME("frame"),
						 COL_AS("ns", "GPU idle"),
						 BAR("idle_share", "Of idle"),
						 COL("count"),
						 COL("longest_ns"),
						 END };

static const struct pf_html_col memory_cols[] = {
	COL("device"),
	COL_AS("peak_bytes", "Peak"),
	COL_AS("capacity_bytes", "Capacity"),
	BAR("capacity_share", "Of capacity"),
	COL_AS("peak_reserved_bytes", "Reserved, peak"),
	COL_AS("unused_at_peak_bytes", "Reserved, not used at peak"),
	COL_AS("allocation_count", "Allocations"),
	COL_AS("allocated_bytes", "Allocated"),
	COL_AS("kept_bytes", "Not freed by the end"),
	COL_AS("oom_count", "Out of memory"),
	END
};

static const struct pf_html_col alive_cols[] = { COL("device"),
						 COL_AS("outer_op", "Op"),
						 COL_AS("op", "Innermost op"),
						 COL("bytes"),
						 BAR("peak_share", "Of peak"),
						 COL_AS("count", "Blocks"),
						 COL_AS("largest_bytes",
							"Largest"),
						 COL_AS("age_ns", "Age"),
						 FRAME("frame"),
						 END };

static const struct pf_html_col kept_cols[] = { COL("device"),
						COL_AS("outer_op", "Op"),
						COL_AS("op", "Innermost op"),
						COL("bytes"),
						COL_AS("count", "Blocks"),
						COL_AS("size_bytes", "Size"),
						FRAME("frame"),
						END };

static const struct pf_html_col now_cols[] = {
	COL("gpu"),
	COL_AS("segment_count", "Segments"),
	COL_AS("reserved_bytes", "Reserved"),
	COL_AS("allocated_bytes", "Allocated"),
	COL_AS("whole_bytes", "Free segments"),
	COL_AS("split_bytes", "Free between blocks"),
	COL_AS("largest_bytes", "Largest free block"),
	BAR("free_share", "Free of reserved"),
	BAR("external_share", "Free, not in one piece"),
	END
};

static const struct pf_html_col alive_stack_cols[] = {
	COL("device"),
	COL("bytes"),
	BAR("peak_share", "Of peak"),
	COL("count"),
	COL_AS("largest_bytes", "Largest"),
	FRAME("frame"),
	COL("stack"),
	END
};

static const struct pf_html_col kept_stack_cols[] = {
	COL("device"),  COL("bytes"), COL("count"),
	FRAME("frame"), COL("stack"), END
};

static const struct pf_html_col stack_cols[] = {
	COL("device"),  COL("allocated_bytes"), COL("allocation_count"),
	FRAME("frame"), COL("stack"),           END
};

static const struct pf_html_col oom_cols[] = { COL("device"),
					       COL("time_ns"),
					       COL("bytes"),
					       COL_AS("device_free_bytes",
						      "Free on the GPU"),
					       COL("allocated_bytes"),
					       COL("reserved_bytes"),
					       FRAME("frame"),
					       COL("stack"),
					       END };

static const struct pf_html_col memory_op_cols[] = {
	COL_AS("op", "Operator"),
	COL("device"),
	COL("calls"),
	COL_AS("allocation_count", "Allocations"),
	COL_AS("allocated_bytes", "Allocated"),
	COL_AS("increase_bytes", "Increase"),
	COL_AS("self_allocation_count", "Allocations, self"),
	COL_AS("self_allocated_bytes", "Allocated, self"),
	COL_AS("self_increase_bytes", "Increase, self"),
	END
};

static const struct pf_html_col module_cols[] = {
	COL("module"),
	COL_AS("calls", "Occurrences"),
	COL_AS("op_count", "Operators"),
	COL("gpu_total_ns"),
	COL("gpu_self_ns"),
	BAR("share", "GPU self, share"),
	COL("host_total_ns"),
	COL("host_self_ns"),
	END
};

static const struct pf_html_col class_cols[] = { COL("class"),
						 COL_AS("calls", "Occurrences"),
						 COL_AS("op_count",
							"Operators"),
						 COL("gpu_self_ns"),
						 BAR("share", "Share"),
						 COL("host_self_ns"),
						 END };

static const struct pf_html_col roof_cols[] = {
	COL_AS("op", "Operator"),
	COL_AS("input_shapes", "Shapes"),
	COL("calls"),
	COL("kernel_ns"),
	COL_AS("tflop_per_s", "TFLOP/s"),
	COL_AS("gb_per_s", "GB/s"),
	COL("flop_per_byte"),
	COL("bound"),
	BAR("roof_share", "Of roof"),
	COL_AS("above_roof_ns", "Above the roof"),
	COL_AS("input_types", "Types"),
	END
};

static const struct pf_html_col hlo_cols[] = { COL_AS("name", "Operation"),
					       COL_AS("op", "Operator"),
					       COL("category"),
					       COL("calls"),
					       COL_AS("self_ns", "Self"),
					       BAR("share", "Share"),
					       COL_AS("total_ns", "Total"),
					       COL_AS("flops", "Operations"),
					       COL_AS("bytes", "Bytes"),
					       END };

static const struct pf_html_col hlo_roof_cols[] = {
	COL_AS("name", "Operation"),
	COL("category"),
	COL("calls"),
	COL_AS("self_ns", "Self"),
	COL_AS("tflop_per_s", "TFLOP/s"),
	COL_AS("gb_per_s", "GB/s"),
	COL("bound"),
	BAR("roof_share", "Of roof"),
	COL_AS("above_roof_ns", "Above the roof"),
	END
};

static const struct pf_html_col family_cols[] = {
	COL("family"),
	COL("calls"),
	COL("kernel_ns"),
	BAR("share", "Of GPU time"),
	COL_AS("tflop_per_s", "TFLOP/s"),
	COL_AS("gb_per_s", "GB/s"),
	COL("bound"),
	BAR("roof_share", "Of roof"),
	COL_AS("above_roof_ns", "Above the roof"),
	END
};

static const struct pf_html_col use_cols[] = { COL("rank"),
					       COL("step"),
					       COL("time_ns"),
					       COL_AS("gpu_count", "GPUs"),
					       COL("matrix_flops"),
					       COL_AS("recomputed_flops",
						      "Recomputed"),
					       BAR("mfu", "MFU"),
					       BAR("hfu", "HFU"),
					       END };

static const struct pf_html_col rest_cols[] = { COL("op"),
						COL("why"),
						COL("work_count"),
						COL("gpu_ns"),
						BAR("share", "Of GPU time"),
						END };

static const struct pf_html_col check_cols[] = { COL("check"), COL("verdict"),
						 COL("count"), COL("gpu_ns"),
						 COL("share"), END };

static const struct pf_html_col step_cols[] = {
	COL("step"),     { "start_ns", "Starts at", PF_HTML_STEP, "dur_ns" },
	COL("dur_ns"),   COL("kernel_ns"),
	COL("copy_ns"),  COL("memset_ns"),
	COL("comm_ns"),  COL("runtime_ns"),
	COL("data_ns"),  COL("cpu_ns"),
	COL("other_ns"), COL_AS("kernel_count", "Kernels"),
	COL("rank"),     END
};

static const struct pf_html_col state_cols[] = {
	COL("track"),   COL("key"),   COL("value"), COL("meaning"),
	COL("time_ns"), COL("share"), END
};

static const struct pf_html_col counter_cols[] = {
	COL("track"), COL("name"), COL("key"), COL("sample_count"),
	COL("min"),   COL("mean"), COL("max"), END
};

static const struct pf_html_col batches_cols[] = {
	COL("row_count"),  COL_AS("first_ns", "First"),
	COL("mean_ns"),    COL("median_ns"),
	COL("p90_ns"),     COL("p99_ns"),
	COL("longest_ns"), END
};

static const struct pf_html_col batch_cols[] = {
	COL("step"), COL("batch_idx"),     COL("batch_ns"),
	COL("rate"), COL("implied_count"), END
};

static const struct pf_html_col batch_memory_cols[] = { COL("step"),
							COL("batch_idx"),
							COL("allocated_bytes"),
							COL("reserved_bytes"),
							COL("slack_bytes"),
							COL("host_percent"),
							END };

static const struct pf_html_col said_cols[] = { COL("key"), COL("value"), END };

/* ---- sections ---- */

#define TABLES_MAX 6

static const struct section {
	const char *id, *title;
	const char *link; /* the title in the row of links, which is narrow */
	/* why; NULL: as the part's finding says; "": not worth a word */
	const char *absent;
	enum pf_part part; /* whose finding stands above */
	struct pf_html_table tables[TABLES_MAX];
} sections[] = {
	{ "idle",
	  "Idle gaps",
	  "Idle",
	  "the GPU is never idle, or there is no GPU work",
	  PF_PART_GAPS,
	  { { "causes", "Idle time by cause", PF_PART_GAPS, "causes",
	      cause_cols, 20, NULL, NULL },
	    { "culprits", "What holds it", PF_PART_GAPS, "culprits",
	      culprit_cols, 50, "idle_share", NULL },
	    { "gaps", "The longest gaps", PF_PART_GAPS, "gaps", gap_cols, 60,
	      NULL, NULL } } },
	{ "path",
	  "Critical path",
	  "Path",
	  NULL,
	  PF_PART_PATH,
	  { { "path-parts", "What decides how long the window takes",
	      PF_PART_PATH, "categories", part_cols, 20, NULL, NULL },
	    { "path-rows", "By name", PF_PART_PATH, "rows", on_path_cols, 30,
	      "share", NULL },
	    { "path-answers", "What it would save", PF_PART_PATH, "what_if",
	      answer_cols, 20, NULL, NULL } } },
	{ "syncs",
	  "Synchronizations",
	  "Syncs",
	  "no call waits for the GPU",
	  PF_PART_SYNCS,
	  { { "sites", "Calls that wait for the GPU, by site", PF_PART_SYNCS,
	      "sites", site_cols, 100, NULL, NULL } } },
	{ "launches",
	  "Launches",
	  "Launches",
	  "no GPU work has a launch call",
	  PF_PART_LAUNCHES,
	  { { "calls", "Launch calls", PF_PART_LAUNCHES, "calls", call_cols, 20,
	      NULL, NULL },
	    { "streams", "Length of the queue at the launch", PF_PART_LAUNCHES,
	      "streams", stream_cols, 20, NULL, NULL } } },
	{ "kernels",
	  "Kernels",
	  "Kernels",
	  "there are no kernels",
	  PF_PART_KERNELS,
	  { { "by-name", "By name", PF_PART_KERNELS, "kernels", kernel_cols,
	      100, "share", NULL },
	    { "by-op", "By name and operator", PF_PART_CALLERS, "kernels",
	      caller_cols, 100, "share", NULL },
	    { "operations", "Operations of the TPUs", PF_PART_KERNELS,
	      "operations", hlo_cols, 100, "share", NULL } } },
	{ "ops",
	  "Operators",
	  "Operators",
	  "there are no operators",
	  PF_PART_OPS,
	  { { "averages", "By name, as key_averages()", PF_PART_OPS,
	      "key_averages", op_cols, 120, NULL, is_op } } },
	{ "roofline",
	  "Roofline",
	  "Roofline",
	  NULL,
	  PF_PART_ROOFLINE,
	  { { "roof-calls", "Calls by time above their roofs", PF_PART_ROOFLINE,
	      "calls", roof_cols, 30, "share", NULL },
	    { "roof-families", "By family", PF_PART_ROOFLINE, "families",
	      family_cols, 40, NULL, NULL },
	    { "roof-steps", "Steps against the peak", PF_PART_ROOFLINE, "steps",
	      use_cols, 40, NULL, NULL },
	    { "roof-rest", "GPU time without a roof", PF_PART_ROOFLINE,
	      "not_modelled", rest_cols, 20, "share", NULL },
	    { "roof-operations", "Operations of the TPUs", PF_PART_ROOFLINE,
	      "operations", hlo_roof_cols, 100, NULL, NULL } } },
	{ "comm",
	  "Communication",
	  "Communication",
	  "there is no communication",
	  PF_PART_OVERLAP,
	  { { "collectives", "Collectives", PF_PART_OVERLAP, "collectives",
	      collective_cols, 40, NULL, NULL },
	    { "arrivals", "Ranks at collectives", PF_PART_OVERLAP, "arrivals",
	      arrival_cols, 40, NULL, NULL },
	    { "overlap", "What hides behind what", PF_PART_OVERLAP, "devices",
	      overlap_cols, 40, NULL, NULL } } },
	{ "memory",
	  "Memory",
	  "Memory",
	  NULL,
	  PF_PART_MEMORY,
	  { { "memory-devices", "Peaks", PF_PART_MEMORY, "devices", memory_cols,
	      20, NULL, NULL },
	    { "alive", "Alive at the peak", PF_PART_MEMORY, "alive", alive_cols,
	      60, NULL, NULL },
	    { "memory-ops", "Allocations by operator", PF_PART_MEMORY, "ops",
	      memory_op_cols, 80, NULL, NULL },
	    { "kept", "Allocated and not freed", PF_PART_MEMORY, "kept",
	      kept_cols, 40, NULL, NULL } } },
	{ "memory",
	  "Memory",
	  "Memory",
	  NULL,
	  PF_PART_MEMORY,
	  { { "memory-now", "When the snapshot was taken", PF_PART_MEMORY,
	      "now", now_cols, 40, NULL, NULL },
	    { "memory-oom", "Out of memory", PF_PART_MEMORY, "oom", oom_cols,
	      20, NULL, NULL },
	    { "memory-devices", "Peaks", PF_PART_MEMORY, "devices", memory_cols,
	      20, NULL, NULL },
	    { "alive", "Alive at the peak", PF_PART_MEMORY, "alive",
	      alive_stack_cols, 60, NULL, NULL },
	    { "kept", "Allocated and not freed", PF_PART_MEMORY, "kept",
	      kept_stack_cols, 40, NULL, NULL },
	    { "memory-stacks", "Allocations by stack", PF_PART_MEMORY, "stacks",
	      stack_cols, 80, NULL, NULL } } },
	{ "counters",
	  "Counters",
	  "Counters",
	  "",
	  PF_PART_COUNTERS,
	  { { "counter-states", "States, and how long each", PF_PART_COUNTERS,
	      "states", state_cols, 60, NULL, NULL },
	    { "counter-series", "Values", PF_PART_COUNTERS, "counters",
	      counter_cols, 100, NULL, NULL } } },
	{ "training",
	  "Training script",
	  "Training",
	  "",
	  PF_PART_COUNT,
	  { { "training-times", "Batches that it timed", PF_PART_STEPS,
	      "training_times", batches_cols, 20, NULL, NULL },
	    { "training-batches", "Each of them", PF_PART_STEPS,
	      "training_batches", batch_cols, 120, NULL, NULL },
	    { "training-memory", "Memory of the GPU as it saw it",
	      PF_PART_MEMORY, "training_memory", batch_memory_cols, 120, NULL,
	      NULL },
	    { "training-summary", "What it says of itself", PF_PART_INFO,
	      "training_summary", said_cols, 40, NULL, NULL } } },
	{ "input",
	  "Input",
	  "Input",
	  "no idle time of the GPU comes from loading data",
	  PF_PART_COUNT,
	  { { "loading", "Idle time of the GPU while data is loaded",
	      PF_PART_GAPS, "culprits", input_cols, 40, NULL, is_loading } } },
	{ "modules",
	  "Modules",
	  "Modules",
	  NULL,
	  PF_PART_MODULES,
	  { { "module-tree", "As they call each other", PF_PART_MODULES,
	      "modules", module_cols, 120, "share", NULL },
	    { "module-classes", "Self time by class", PF_PART_MODULES,
	      "classes", class_cols, 40, "share", NULL } } },
	{ "quality",
	  "Trace quality",
	  "Quality",
	  "every check of the trace says ok",
	  PF_PART_DOCTOR,
	  { { "quality-checks", "Checks that found something", PF_PART_DOCTOR,
	      "checks", check_cols, 40, NULL, is_finding } } },
};

#define SECTIONS (sizeof(sections) / sizeof(*sections))

/* Could it be there?  Snapshots know stacks, not operators, and no times. */
static bool is_possible(const struct pf_parts *p, const struct section *s)
{
	if (s->part == PF_PART_MEMORY)
		return (s->tables[0].cols == now_cols) ==
		       pf_snap_state_is(&p->memory.snap);
	return s->part == PF_PART_DOCTOR ||
	       p->memory.producer != PF_FROM_SNAPSHOT;
}

static bool has_section(const struct pf_parts *p, const struct section *s)
{
	size_t count = 0;

	if (!is_possible(p, s))
		return false;
	if (s->part == PF_PART_ROOFLINE && !p->roofline.modelled_ns &&
	    !p->traces.is_tpu)
		return false; /* a list of what is not known is no part */
	for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
		count += pf_html_count(p, &s->tables[k]);
	return count;
}

/* The charts say it of memory over time, a verdict of what ran out of it. */
static bool has_lead(const struct pf_parts *p, const struct section *s)
{
	if (s->part != PF_PART_MEMORY)
		return s->part < PF_PART_COUNT;
	return pf_snap_state_is(&p->memory.snap) &&
	       !pf_usage_told_oom(&p->memory);
}

/* Every section that has data. */
static void sections_add(struct pf_buf *out, const struct pf_html_page *page)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct section *s = &sections[i];
		const char *finding = NULL;

		if (!has_section(page->parts, s))
			continue;
		pf_buf_addf(out, "<section id=%s>\n<h2>%s</h2>\n", s->id,
			    s->title);
		if (has_lead(page->parts, s))
			finding =
				pf_doc_find_finding(&page->parts->doc[s->part]);
		if (finding && *finding) {
			pf_buf_adds(out, "<p class=lead>");
			pf_html_text(out, finding);
			pf_buf_adds(out, ".</p>\n");
		}
		if (s->part == PF_PART_MEMORY)
			pf_chart_memory(out, page);
		if (s->part == PF_PART_ROOFLINE &&
		    page->parts->roofline.modelled_ns)
			pf_chart_roof(out, page);
		if (s->tables[0].cols == batches_cols)
			pf_chart_training(out, page);
		for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
			pf_html_table(out, page, &s->tables[k]);
		pf_buf_adds(out, "</section>\n");
	}
}

/* Links to the same, as list items. */
static void sections_links(struct pf_buf *out, const struct pf_parts *p)
{
	for (size_t i = 0; i < SECTIONS; i++)
		if (has_section(p, &sections[i]))
			pf_buf_addf(out, "<li><a href=\"#%s\">%s</a>\n",
				    sections[i].id, sections[i].link);
}

static const char *why_absent(const struct pf_parts *p, const struct section *s)
{
	const char *finding;

	if (s->absent)
		return s->absent;
	finding = pf_doc_find_finding(&p->doc[s->part]);
	return finding && *finding ? finding : "there is none";
}

/* The sections that are absent and why, as list items; "" if there are none. */
static void sections_absent(struct pf_buf *out, const struct pf_parts *p)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const char *absent = sections[i].absent;

		if ((!absent || *absent) && is_possible(p, &sections[i]) &&
		    !has_section(p, &sections[i])) {
			pf_buf_addf(out, "<li>%s: ", sections[i].title);
			pf_html_text(out, why_absent(p, &sections[i]));
			pf_buf_addc(out, '\n');
		}
	}
}

/* The table of all steps, below the breakdown. */
static void sections_steps(struct pf_buf *out, const struct pf_html_page *page)
{
	static const struct pf_html_table table = { "steps",       "All steps",
						    PF_PART_STEPS, "steps",
						    step_cols,     150,
						    NULL,          NULL };

	if (pf_html_count(page->parts, &table) < 2)
		return;
	pf_buf_adds(out, "<details><summary>All steps</summary>\n");
	pf_html_table(out, page, &table);
	pf_buf_adds(out, "</details>\n");
}

/* The page around the tables: header, verdicts, tiles, checks, method. */

/* ---- header ---- */

static void add_fact(struct pf_buf *out, const char *title, const char *value)
{
	if (!value || !*value)
		return;
	pf_buf_addf(out, "<div><dt>%s</dt> <dd>", title);
	pf_html_text(out, value);
	pf_buf_adds(out, "</dd></div>\n");
}

/* Append a text of what was found as it may be shown. */
static void add_text(struct pf_buf *out, const struct pf_parts *p,
		     const char *text)
{
	struct pf_buf shown = { 0 };

	pf_buf_adds(out, pf_parts_text(p, text, &shown));
	pf_buf_release(&shown);
}

/* Has a device before it its name? */
static bool is_known(const struct pf_info *info, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (info->devices[i].name &&
		    !strcmp(info->devices[i].name, info->devices[at].name))
			return true;
	return false;
}

/* The devices of one name together: their sizes differ by a page or two. */
static void add_devices(struct pf_buf *out, const struct pf_parts *p)
{
	struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < p->info.device_count && shown < 4; i++) {
		const struct pf_info_device *d = &p->info.devices[i];

		if (!d->name || is_known(&p->info, i))
			continue;
		pf_buf_adds(&text, shown++ ? "; " : "");
		add_text(&text, p, *d->name ? d->name : "unnamed");
		if (d->memory_bytes > 0) {
			pf_buf_adds(&text, ", ");
			pf_figure_bytes(&text, d->memory_bytes);
		}
	}
	add_fact(out, pf_window_device(&p->traces), text.data);
	pf_buf_release(&text);
}

/* An option of the profiler that all traces share. */
static const char *find_option(const struct pf_info *info, const char *key)
{
	for (size_t i = 0; i < info->option_count; i++)
		if (!strcmp(info->options[i].key, key))
			return info->options[i].value;
	return NULL;
}

static void add_software(struct pf_buf *out, const struct pf_parts *p)
{
	static const struct {
		const char *key, *title;
	} versions[] = {
		{ "cuda_runtime_version", "CUDA runtime" },
		{ "cuda_driver_version", "driver" },
		{ "cupti_version", "CUPTI" },
		{ "hip_runtime_version", "HIP runtime" },
		{ "hip_driver_version", "driver" },
		{ "roctracer_version", "roctracer" },
	};
	struct pf_buf text = { 0 };

	if (p->torch)
		pf_buf_addf(&text, "%s %d.%d%s",
			    p->is_torch_said ? "torch"
					     : "torch (the trace does not say "
					       "its version; table as of torch",
			    p->torch / 100, p->torch % 100,
			    p->is_torch_said ? "" : ")");
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		const char *value = find_option(&p->info, versions[i].key);

		if (!value)
			continue;
		pf_buf_addf(&text, "%s%s ", text.len ? ", " : "",
			    versions[i].title);
		add_text(&text, p, value);
	}
	add_fact(out, "Software", text.data);
	pf_buf_release(&text);
}

static void add_ranks(struct pf_buf *out, const struct pf_info *info)
{
	struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < info->trace_count && shown < 16; i++)
		if (info->traces[i].rank != PF_NO_INT)
			pf_buf_addf(&text, "%s%" PRId64, shown++ ? ", " : "",
				    info->traces[i].rank);
	if (shown && info->traces->world_size != PF_NO_INT)
		pf_buf_addf(&text, " of %" PRId64, info->traces->world_size);
	add_fact(out, "Rank", text.data);
	pf_buf_release(&text);
}

/* Of one trace; the files of several are told by "profan info". */
static void add_digest(struct pf_buf *out, const struct pf_info *info)
{
	struct pf_buf text = { 0 };

	if (info->trace_count == 1)
		pf_html_digest(&text, info->traces->xxh128);
	if (text.len)
		pf_buf_addf(out, "<div><dt>File</dt> <dd>%s</dd></div>\n",
			    text.data);
	pf_buf_release(&text);
}

static void add_header(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_info *info = &r->parts.info;
	struct pf_buf text = { 0 };

	add_digest(out, info);
	add_devices(out, &r->parts);
	add_software(out, &r->parts);
	add_ranks(out, info);
	if (r->parts.steps_text.len) {
		pf_buf_adds(&text, r->parts.window.step
					   ? r->parts.window.step
					   : r->parts.steps_text.data);
		if (r->parts.window.step &&
		    strcmp(r->parts.window.step, r->parts.steps_text.data) != 0)
			pf_buf_addf(&text, " of %s", r->parts.steps_text.data);
	} else {
		pf_buf_adds(&text, "none");
	}
	if (!r->parts.steps.is_untimed && r->parts.steps.count)
		add_fact(out, strpbrk(text.data, " .,") ? "Steps" : "Step",
			 text.data);
	pf_buf_clear(&text);
	if (info->traces->span_ns != PF_NO_INT) {
		pf_figure_ns(&text, info->traces->span_ns);
		add_fact(out, "Recorded", text.data);
	}
	pf_buf_release(&text);
}

/* ---- verdicts ---- */

static void add_verdict(struct pf_buf *out, const struct pf_html_page *page,
			const struct pf_verdict *v)
{
	static const char *const titles[] = { "Note", "Warning", "Severe" };
	struct pf_buf command = { 0 };

	pf_buf_addf(out, "<li class=%s id=%s><p><strong>%s</strong> ",
		    pf_severity_word(v->severity), v->id, titles[v->severity]);
	pf_html_sentence(out, &v->sentence);
	pf_buf_adds(out, ".</p>\n<p class=how>");
	if (v->recoverable_ns > 0) {
		pf_buf_addf(out, "<span data-v=%" PRId64 ">",
			    v->recoverable_ns);
		pf_verdict_stake(out, v);
		pf_buf_adds(out, "</span> ");
	}
	pf_buf_addf(out, "<a href=\"#%s\">table</a> ", v->section);
	if (v->from_ns >= 0 && pf_html_side(page, v->trace_id))
		pf_html_span(out, page, v->trace_id, v->from_ns, v->to_ns,
			     "timeline");
	pf_verdict_command(v, page->parts, &command);
	if (command.len) {
		pf_buf_adds(out, " <code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>");
	}
	pf_buf_adds(out, "</p>\n");
	pf_buf_release(&command);
}

static void add_verdicts(struct pf_buf *out, const struct pf_report *r,
			 const struct pf_html_page *page)
{
	const struct pf_verdicts *v = &r->verdicts;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol>\n");
	if (v->fired <= PF_VERDICTS_SHOWN)
		return;
	pf_buf_addf(out,
		    "<details><summary>More findings (%zu)</summary>"
		    "<ol class=verdicts start=%d>\n",
		    v->fired - PF_VERDICTS_SHOWN, PF_VERDICTS_SHOWN + 1);
	for (size_t i = PF_VERDICTS_SHOWN; i < v->fired; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol></details>\n");
}

/* ---- tiles ---- */

static void add_tiles(struct pf_buf *out, const struct pf_tiles *tiles)
{
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_buf_addf(out,
			    "<div><dt>%s</dt> <dd data-k=%s data-v=", t->title,
			    t->key);
		pf_figure_exact(out, &t->value);
		pf_buf_adds(out, "><b>");
		pf_html_cell(out, &t->value, t->kind);
		pf_buf_adds(out, "</b>");
		if (t->detail.len) {
			pf_buf_adds(out, " <small>");
			pf_html_text(out, t->detail.data);
			pf_buf_adds(out, "</small>");
		}
		pf_buf_adds(out, "</dd></div>\n");
	}
}

/* ---- checked and fine ---- */

static void add_share(struct pf_buf *out, const struct pf_verdict *v,
		      double value)
{
	if (v->part == PF_PART_DOCTOR)
		pf_buf_adds(out, value < 0.5 ? "no warning" : "a warning");
	else if (v->part == PF_PART_STEPS) /* times the median */
		pf_buf_addf(out, "%.2f ×", value);
	else
		pf_html_ratio(out, value);
}

static void add_checks(struct pf_buf *out, const struct pf_verdicts *v)
{
	pf_buf_adds(out, "<section id=\"fine\" aria-labelledby=\"h-fine\">\n"
			 "<h2 id=\"h-fine\">Checked and fine</h2>\n<details>"
			 "<summary>Rules that did not fire, and why</summary>\n"
			 "<div class=t><table id=checks><caption class=h>Rules "
			 "that did not fire</caption><thead><tr>"
			 "<th scope=col>Checked<th scope=col class=n>Measured"
			 "<th scope=col class=n>Threshold<th scope=col>Result"
			 "</tr></thead>\n<tbody>");
	for (size_t i = v->fired; i < v->count; i++) {
		const struct pf_verdict *a = &v->all[i];

		pf_buf_addf(out, "<tr><th scope=row>%s (%s)<td class=n>",
			    a->title, a->id);
		if (a->state != PF_RULE_WITHHELD)
			add_share(out, a, a->measured);
		pf_buf_adds(out, "<td class=n>");
		if (a->warn > 1e-6)
			add_share(out, a, a->warn);
		pf_buf_adds(out, "<td>");
		if (a->is_folded)
			pf_buf_adds(out, "said by the verdict on idle time");
		else if (a->state == PF_RULE_WITHHELD) {
			pf_buf_adds(out, "not checked: ");
			pf_html_sentence(out, &a->sentence);
		} else {
			pf_buf_adds(out, "fine");
		}
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "</tbody></table></div>\n</details>\n</section>\n");
}

/* ---- method ---- */

static void add_coverage(struct pf_buf *out, const struct pf_parts *p)
{
	int64_t known = p->launches.all.count;
	int64_t orphans = p->launches.orphan_count;
	double all = 0, op = 0; /* only their ratio is shown */

	for (int64_t i = 0; i < p->callers.row_count; i++) {
		const struct pf_kernel_row *row = &p->callers.rows[i];

		all += (double)row->total_ns;
		if (row->second && strcmp(row->second, "(none)") != 0)
			op += (double)row->total_ns;
	}
	if (known + orphans <= 0)
		return;
	pf_buf_adds(out, "<p id=coverage>Coverage: ");
	pf_html_ratio(out, (double)known / (double)(known + orphans));
	pf_buf_adds(out, " of the GPU events have a launch call");
	if (all > 0) {
		pf_buf_adds(out, ", ");
		pf_html_ratio(out, (double)op / (double)all);
		pf_buf_adds(out, " of the kernel time an operator");
	}
	pf_buf_adds(out, ".</p>\n");
}

static void add_sql(struct pf_buf *out, const char *query)
{
	struct pf_buf name = { 0 };
	const char *sql;

	if (!query)
		return;
	pf_buf_addf(&name, "schema/query/%s.sql", query);
	sql = pf_asset(name.data, NULL);
	if (sql) {
		pf_buf_addf(out,
			    "<details><summary><code>%s</code></summary>"
			    "<pre>",
			    name.data);
		pf_html_text(out, sql);
		pf_buf_adds(out, "</pre></details>\n");
	}
	pf_buf_release(&name);
}

static void add_definitions(struct pf_buf *out)
{
	pf_buf_adds(out, "<p>What figures of them are, in plain SQL for "
			 "<code>profan query</code>:</p>\n");
	for (int i = 0; i < PF_PART_COUNT; i++)
		add_sql(out, pf_parts_query((enum pf_part)i));
}

static void add_method(struct pf_buf *out, const struct pf_parts *p)
{
	struct pf_buf absent = { 0 };

	pf_buf_adds(out, "<details><summary>Commands, definitions and what is "
			 "left out</summary>\n");
	add_coverage(out, p);
	pf_buf_adds(out, "<p>Every figure of this page is one of these "
			 "commands; <code>--format json</code> prints it to "
			 "the last digit.</p>\n<ul class=cmds>\n");
	for (int i = 0; i < PF_PART_COUNT; i++) {
		struct pf_buf command = { 0 };

		pf_parts_command(p, (enum pf_part)i, &command);
		pf_buf_adds(out, "<li><code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>\n");
		pf_buf_release(&command);
	}
	pf_buf_adds(out, "</ul>\n");
	if (!p->traces.is_tpu)
		add_definitions(out);
	sections_absent(&absent, p);
	if (absent.len)
		pf_buf_addf(out,
			    "<p>Not on this page, for want of data:</p>\n"
			    "<ul>\n%s</ul>\n",
			    absent.data);
	pf_buf_release(&absent);
	for (int i = 0; i < PF_PART_COUNT; i++)
		for (size_t k = 0; k < p->doc[i].note_count; k++) {
			if (!*p->doc[i].notes[k])
				continue;
			pf_buf_adds(out, "<p class=note>");
			pf_html_text(out, p->doc[i].notes[k]);
			pf_buf_adds(out, ".</p>\n");
		}
	pf_buf_adds(out, "</details>\n");
}

/* In place of a chart where there is no trace, only what stands beside one. */
static void add_no_times(struct pf_buf *out, const struct pf_parts *p)
{
	const char *finding = pf_doc_find_finding(&p->doc[PF_PART_STEPS]);

	if (p->steps.is_untimed)
		finding = "A memory snapshot has no GPU work";
	else if (p->steps.count || !finding)
		return;
	pf_buf_adds(out, "<p class=lead>");
	pf_html_text(out, finding);
	pf_buf_adds(out, ".</p>\n");
}

/* ---- the page ---- */

int pf_report_html(struct pf_report *r, struct pf_buf *out)
{
	struct pf_skeleton s = { 0 };
	struct pf_buf title = { 0 };
	struct pf_titles titles;
	struct pf_html_page page = { .parts = &r->parts,
				     .source_url = r->args.page.source_url,
				     .titles = &titles };
	int rc;

	pf_titles_init(&titles);
	page.first_ns = r->parts.traces.traces[0].first_ns;
	if (pf_timelines_have(&r->timelines))
		page.timelines = &r->timelines;
	pf_report_title(r, &title);
	pf_html_text(&s.title, title.data);
	add_header(&s.header, r);
	if (r->has_advice && r->advise.given)
		pf_buf_adds(&s.nav, "<li><a href=\"#try\">To try</a>\n");
	sections_links(&s.nav, &r->parts);
	pf_buf_adds(&s.fine_link, "<li><a href=\"#fine\">Checks</a>\n");
	pf_buf_adds(&s.verdicts_title, "Verdicts");
	add_verdicts(&s.verdicts, r, &page);
	add_tiles(&s.tiles, &r->tiles);
	pf_buf_adds(&s.breakdown_title, "Where the time goes");
	add_no_times(&s.breakdown, &r->parts);
	pf_chart_steps(&s.breakdown, &page);
	sections_steps(&s.breakdown, &page);
	pf_report_advice_html(r, &s.sections);
	sections_add(&s.sections, &page);
	add_checks(&s.fine, &r->verdicts);
	add_method(&s.method, &r->parts);
	rc = pf_timeline_html(&r->timelines,
			      r->args.page.max_html_bytes - pf_fill_bytes(&s),
			      &s.timeline, &s.data, r->db->err);
	if (!rc)
		rc = pf_fill(&s, out, r->db->err);
	pf_fill_release(&s);
	pf_buf_release(&title);
	pf_titles_release(&titles);
	return rc;
}
