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
#include "show/escape.h"

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

/* ---- sections ---- */

static const char memory_cols[] =
	"device; peak_bytes; capacity_bytes=Capacity; capacity_share=Of "
	"capacity; peak_reserved_bytes=Reserved, peak; "
	"unused_at_peak_bytes=Reserved, not used at peak; allocation_count; "
	"allocated_bytes; kept_bytes=Not freed by the end; oom_count";

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
	  { TABLE("causes", "Idle time by cause", PF_PART_GAPS, "causes", 20,
		  "cause; ns; idle_share; window_share; count; longest_ns"),
	    TABLE("culprits", "What holds it", PF_PART_GAPS, "culprits", 50,
		  "culprit=Op, call or range; op=In operator; cause; ns; "
		  "idle_share; count; longest_ns; frame",
		  .share = "idle_share"),
	    TABLE("gaps", "The longest gaps", PF_PART_GAPS, "gaps", 60,
		  "start_ns=At; ns; cause; culprit; frame; before=Last work "
		  "before; after=First work after; drained_by; device",
		  .span = "ns") } },
	{ "path",
	  "Critical path",
	  "Path",
	  NULL,
	  PF_PART_PATH,
	  { TABLE("path-parts", "What decides how long the window takes",
		  PF_PART_PATH, "categories", 20,
		  "category; ns; share=Of the window; count; longest_ns"),
	    TABLE("path-rows", "By name", PF_PART_PATH, "rows", 30,
		  "category; name; ns; share=Of the window; count; longest_ns",
		  .share = "share"),
	    TABLE("path-answers", "What it would save", PF_PART_PATH, "what_if",
		  20,
		  "question; saved_ns; saved_share=Of the window; least_ns; "
		  "bound_ns") } },
	{ "syncs",
	  "Synchronizations",
	  "Syncs",
	  "no call waits for the GPU",
	  PF_PART_SYNCS,
	  { TABLE("sites", "Calls that block the host, by site", PF_PART_SYNCS,
		  "sites", 100,
		  "call; op; count; per_step; blocked_ns=CPU blocked; "
		  "useful_ns=GPU busy meanwhile; idle_ns=GPU idle after; "
		  "median_ns; max_ns; frame") } },
	{ "launches",
	  "Launches",
	  "Launches",
	  "no GPU work has a launch call",
	  PF_PART_LAUNCHES,
	  { TABLE("calls", "Launch calls", PF_PART_LAUNCHES, "calls", 20,
		  "call; count; cpu_ns; gpu_ns; median_delay_ns; "
		  "max_delay_ns=Longest delay; short_count=Work shorter than "
		  "the call"),
	    TABLE("streams", "Length of the queue at the launch",
		  PF_PART_LAUNCHES, "streams", 20,
		  "device; stream; launch_count; mean_length; "
		  "max_length=Longest queue") } },
	{ "kernels",
	  "Kernels",
	  "Kernels",
	  "there are no kernels",
	  PF_PART_KERNELS,
	  { TABLE("by-name", "By name", PF_PART_KERNELS, "kernels", 100,
		  "name; calls; total_ns; share; cumulative_share; mean_ns; "
		  "median_ns; min_ns; max_ns; sd_ns; "
		  "blocks_per_sm=Blocks/SM; occupancy_percent=Occupancy %; "
		  "tensor_cores=Tensor cores",
		  .share = "share"),
	    TABLE("by-op", "By name and operator", PF_PART_CALLERS, "kernels",
		  100,
		  "name; op; calls; total_ns; share; mean_ns; median_ns; grid; "
		  "block; registers_per_thread; shared_memory_bytes=Shared "
		  "memory",
		  .share = "share"),
	    TABLE("operations", "Operations of the TPUs", PF_PART_KERNELS,
		  "operations", 100,
		  "name; op; category; calls; self_ns; share; total_ns; flops; "
		  "bytes",
		  .share = "share") } },
	{ "ops",
	  "Operators",
	  "Operators",
	  "there are no operators",
	  PF_PART_OPS,
	  { TABLE("averages", "By name, as key_averages() of the whole capture",
		  PF_PART_OPS, "key_averages", 120,
		  "name=Operator; count; self_device_ns=Device self; "
		  "device_total_ns; self_cpu_ns=Host self; cpu_total_ns=Host "
		  "total; self_device_mem_bytes=Device memory, self; "
		  "self_cpu_mem_bytes=Host memory, self",
		  .is_wanted = is_op) } },
	{ "roofline",
	  "Roofline",
	  "Roofline",
	  NULL,
	  PF_PART_ROOFLINE,
	  { TABLE("roof-calls", "Calls by time above their roofs",
		  PF_PART_ROOFLINE, "calls", 30,
		  "op; input_shapes; calls; kernel_ns; tflop_per_s; gb_per_s; "
		  "flop_per_byte; bound; roof_share; above_roof_ns=Above the "
		  "roof; input_types",
		  .share = "share"),
	    TABLE("roof-families", "By family", PF_PART_ROOFLINE, "families",
		  40,
		  "family; calls; kernel_ns; share=Of GPU time; tflop_per_s; "
		  "gb_per_s; bound; roof_share; above_roof_ns=Above the roof"),
	    TABLE("roof-steps", "Steps against the peak", PF_PART_ROOFLINE,
		  "steps", 40,
		  "rank; step; time_ns; gpu_count; matrix_flops; "
		  "recomputed_flops; mfu; hfu"),
	    TABLE("roof-rest", "GPU time without a roof", PF_PART_ROOFLINE,
		  "not_modelled", 20,
		  "op; why; work_count; gpu_ns; share=Of GPU time",
		  .share = "share"),
	    TABLE("roof-operations", "Operations of the TPUs", PF_PART_ROOFLINE,
		  "operations", 100,
		  "name; category; calls; self_ns; tflop_per_s; gb_per_s; "
		  "bound; roof_share; above_roof_ns=Above the roof") } },
	{ "comm",
	  "Communication",
	  "Communication",
	  "there is no communication",
	  PF_PART_OVERLAP,
	  { TABLE("collectives", "Collectives", PF_PART_OVERLAP, "collectives",
		  40,
		  "collective; group; group_size; dtype; count=Calls; "
		  "in_bytes=Bytes; total_ns; mean_ns; min_ns=Min; max_ns=Max; "
		  "algorithm_gb_per_s=Algorithm GB/s; bus_gb_per_s"),
	    TABLE("arrivals", "Ranks at collectives", PF_PART_OVERLAP,
		  "arrivals", 40,
		  "rank; count; last_count=Last to come; late_ns; waited_ns"),
	    TABLE("overlap", "What hides behind what", PF_PART_OVERLAP,
		  "devices", 40,
		  "rank; device; total_ns; computation_ns; comm_ns; "
		  "overlap_ns=Hidden; exposed_comm_ns=Exposed; "
		  "overlap_share=Share hidden; exposed_copy_ns=Exposed copies; "
		  "idle_ns") } },
	{ "memory",
	  "Memory",
	  "Memory",
	  NULL,
	  PF_PART_MEMORY,
	  { TABLE("memory-devices", "Peaks", PF_PART_MEMORY, "devices", 20,
		  memory_cols),
	    TABLE("alive", "Alive at the peak", PF_PART_MEMORY, "alive", 60,
		  "device; outer_op; op; bytes; peak_share; count; "
		  "largest_bytes; age_ns=Age; frame"),
	    TABLE("memory-ops", "Allocations by operator", PF_PART_MEMORY,
		  "ops", 80,
		  "op=Operator; device; calls; allocation_count=Allocations; "
		  "allocated_bytes=Allocated; increase_bytes=Increase; "
		  "self_allocation_count=Allocations, self; "
		  "self_allocated_bytes=Allocated, self; "
		  "self_increase_bytes=Increase, self"),
	    TABLE("kept", "Allocated and not freed", PF_PART_MEMORY, "kept", 40,
		  "device; outer_op; op; bytes; count; size_bytes=Size; "
		  "frame") } },
	{ "memory",
	  "Memory",
	  "Memory",
	  NULL,
	  PF_PART_MEMORY,
	  { TABLE("memory-now", "When the snapshot was taken", PF_PART_MEMORY,
		  "now", 40,
		  "gpu; segment_count; reserved_bytes; allocated_bytes; "
		  "whole_bytes; split_bytes=Free between blocks; "
		  "largest_bytes=Largest free block; free_share; "
		  "external_share=Free, not in one piece"),
	    TABLE("memory-oom", "Out of memory", PF_PART_MEMORY, "oom", 20,
		  "device; time_ns; bytes; device_free_bytes; allocated_bytes; "
		  "reserved_bytes; frame; stack"),
	    TABLE("memory-devices", "Peaks", PF_PART_MEMORY, "devices", 20,
		  memory_cols),
	    TABLE("alive", "Alive at the peak", PF_PART_MEMORY, "alive", 60,
		  "device; bytes; peak_share; count; largest_bytes; frame; "
		  "stack"),
	    TABLE("kept", "Allocated and not freed", PF_PART_MEMORY, "kept", 40,
		  "device; bytes; count; frame; stack"),
	    TABLE("memory-stacks", "Allocations by stack", PF_PART_MEMORY,
		  "stacks", 80,
		  "device; allocated_bytes; allocation_count; frame; "
		  "stack") } },
	{ "counters",
	  "Counters",
	  "Counters",
	  "",
	  PF_PART_COUNTERS,
	  { TABLE("counter-states", "States, and how long each",
		  PF_PART_COUNTERS, "states", 60,
		  "track; key; value; meaning; time_ns; share"),
	    TABLE("counter-series", "Values", PF_PART_COUNTERS, "counters", 100,
		  "track; name; key; sample_count; min; mean; max") } },
	{ "training",
	  "Training script",
	  "Training",
	  "",
	  PF_PART_COUNT,
	  { TABLE("training-times", "Batches that it timed", PF_PART_STEPS,
		  "training_times", 20,
		  "row_count; first_ns; mean_ns; median_ns; p90_ns; p99_ns; "
		  "longest_ns"),
	    TABLE("training-batches", "Each of them", PF_PART_STEPS,
		  "training_batches", 120,
		  "step; batch_idx; batch_ns; rate; implied_count"),
	    TABLE("training-memory", "Memory of the GPU as it saw it",
		  PF_PART_MEMORY, "training_memory", 120,
		  "step; batch_idx; allocated_bytes; reserved_bytes; "
		  "slack_bytes; host_percent"),
	    TABLE("training-summary", "What it says of itself", PF_PART_INFO,
		  "training_summary", 40, "key; value") } },
	{ "input",
	  "Input",
	  "Input",
	  "no idle time of the GPU comes from loading data",
	  PF_PART_COUNT,
	  { TABLE("loading", "Idle time of the GPU while data is loaded",
		  PF_PART_GAPS, "culprits", 40,
		  "culprit=Range; frame; ns=GPU idle; idle_share; count; "
		  "longest_ns",
		  .is_wanted = is_loading) } },
	{ "modules",
	  "Modules",
	  "Modules",
	  NULL,
	  PF_PART_MODULES,
	  { TABLE("module-tree", "As they call each other", PF_PART_MODULES,
		  "modules", 120,
		  "module; calls=Occurrences; op_count=Operators; "
		  "gpu_total_ns; gpu_self_ns; share=GPU self, share; "
		  "host_total_ns; host_self_ns",
		  .share = "share"),
	    TABLE("module-classes", "Self time by class", PF_PART_MODULES,
		  "classes", 40,
		  "class; calls=Occurrences; op_count=Operators; gpu_self_ns; "
		  "share=Share; host_self_ns",
		  .share = "share") } },
	{ "quality",
	  "Trace quality",
	  "Quality",
	  "every check of the trace says ok",
	  PF_PART_DOCTOR,
	  { TABLE("quality-checks", "Checks that found something",
		  PF_PART_DOCTOR, "checks", 40,
		  "check; verdict; count; gpu_ns; share",
		  .is_wanted = is_finding) } },
};

#define SECTIONS (PF_LEN(sections))

/* Could it be there?  Snapshots know stacks, not operators, and no times. */
static bool is_possible(const struct pf_parts *p, const struct section *s)
{
	if (s->part == PF_PART_MEMORY)
		return !strcmp(s->tables[0].name, "now") ==
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
			pf_html_prose(out, finding, strlen(finding));
			pf_buf_adds(out, ".</p>\n");
		}
		if (s->part == PF_PART_MEMORY)
			pf_chart_memory(out, page);
		if (s->part == PF_PART_ROOFLINE &&
		    page->parts->roofline.modelled_ns)
			pf_chart_roof(out, page);
		if (!strcmp(s->tables[0].name, "training_times"))
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
	static const struct pf_html_table table =
		TABLE("steps", "All steps", PF_PART_STEPS, "steps", 150,
		      "step; start_ns=Starts at; dur_ns; kernel_ns; copy_ns; "
		      "memset_ns; comm_ns; runtime_ns; data_ns; cpu_ns; "
		      "other_ns; kernel_count; rank",
		      .span = "dur_ns");

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
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

	pf_buf_adds(out, pf_parts_text(p, text, &shown));
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
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
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
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (p->torch)
		pf_buf_addf(&text, "%s %d.%d%s",
			    p->is_torch_said ? "torch"
					     : "torch (the trace does not say "
					       "its version; table as of torch",
			    p->torch / 100, p->torch % 100,
			    p->is_torch_said ? "" : ")");
	for (size_t i = 0; i < PF_LEN(versions); i++) {
		const char *value = find_option(&p->info, versions[i].key);

		if (!value)
			continue;
		pf_buf_addf(&text, "%s%s ", text.len ? ", " : "",
			    versions[i].title);
		add_text(&text, p, value);
	}
	add_fact(out, "Software", text.data);
}

static void add_ranks(struct pf_buf *out, const struct pf_info *info)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < info->trace_count && shown < 16; i++)
		if (info->traces[i].rank != PF_NO_INT)
			pf_buf_addf(&text, "%s%" PRId64, shown++ ? ", " : "",
				    info->traces[i].rank);
	if (shown && info->traces->world_size != PF_NO_INT)
		pf_buf_addf(&text, " of %" PRId64, info->traces->world_size);
	add_fact(out, "Rank", text.data);
}

/* Of one trace; the files of several are told by "profan info". */
static void add_digest(struct pf_buf *out, const struct pf_info *info)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (info->trace_count == 1)
		pf_html_digest(&text, info->traces->xxh128);
	if (text.len)
		pf_buf_addf(out, "<div><dt>File</dt> <dd>%s</dd></div>\n",
			    text.data);
}

static void add_header(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_info *info = &r->parts.info;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

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
}

/* ---- verdicts ---- */

/* With marked names (page/verdict.h). */
static void html_sentence(struct pf_buf *out, const struct pf_buf *sentence)
{
	const char *s = sentence->data, *end = s ? s + sentence->len : s;
	bool is_name = false;

	while (s < end) {
		const char *mark = s;

		while (mark < end && *mark != PF_SAY_NAME &&
		       *mark != PF_SAY_END)
			mark++;
		if (is_name)
			pf_escape_html(out, s, (size_t)(mark - s));
		else
			pf_html_prose(out, s, (size_t)(mark - s));
		if (mark < end && is_name != (*mark == PF_SAY_NAME)) {
			is_name = !is_name;
			pf_buf_adds(out, is_name ? "<code>" : "</code>");
		}
		s = mark + 1;
	}
	if (is_name)
		pf_buf_adds(out, "</code>");
}

static void add_verdict(struct pf_buf *out, const struct pf_html_page *page,
			const struct pf_verdict *v)
{
	static const char *const titles[] = { "Note", "Warning", "Severe" };
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 }, gain = { 0 };

	pf_buf_addf(out, "<li class=%s id=%s><p><strong>%s</strong> ",
		    pf_severity_word(v->severity), v->id, titles[v->severity]);
	html_sentence(out, &v->sentence);
	pf_verdict_say_gain(v, ". ", &gain);
	pf_html_prose(out, gain.data, gain.len);
	pf_buf_adds(out, ".</p>\n");
	if (v->advice && v->advice->remedy) {
		pf_buf_adds(out, "<p class=try>To try: ");
		pf_html_text(out, v->advice->remedy);
		pf_buf_adds(out, ".</p>\n");
	}
	if (v->advice && v->advice->code && v->severity > PF_NOTE) {
		pf_buf_adds(out, "<pre class=try>");
		pf_html_text(out, v->advice->code);
		pf_buf_adds(out, "</pre>\n");
	}
	pf_buf_adds(out, "<p class=how>");
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
}

static void add_advise(struct pf_buf *out, const struct pf_report *r)
{
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	pf_report_advise_command(r, &command);
	pf_buf_adds(out, "<p class=lead>All that was judged, where it is, and "
			 "what to write: <code>");
	pf_html_text(out, command.data);
	pf_buf_adds(out, "</code></p>\n");
}

static void add_verdicts(struct pf_buf *out, const struct pf_report *r,
			 const struct pf_html_page *page)
{
	const struct pf_verdicts *v = &r->verdicts;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol>\n");
	if (v->fired <= PF_VERDICTS_SHOWN) {
		add_advise(out, r);
		return;
	}
	pf_buf_addf(out,
		    "<details><summary>More findings (%zu)</summary>"
		    "<ol class=verdicts start=%d>\n",
		    v->fired - PF_VERDICTS_SHOWN, PF_VERDICTS_SHOWN + 1);
	for (size_t i = PF_VERDICTS_SHOWN; i < v->fired; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol>\n");
	add_advise(out, r);
	pf_buf_adds(out, "</details>\n");
}

/* ---- tiles ---- */

static void add_tiles(struct pf_buf *out, const struct pf_html_page *page,
		      const struct pf_tiles *tiles)
{
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_html_tile(out, page, &t->col, &t->value, &t->detail);
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
			pf_buf_adds(out, "said by advice");
		else if (a->state == PF_RULE_WITHHELD) {
			pf_buf_adds(out, "not checked: ");
			html_sentence(out, &a->sentence);
		} else {
			pf_buf_adds(out, a->sentence.len ? "fine: " : "fine");
			html_sentence(out, &a->sentence);
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

		all += (double)row->ns.of.sum;
		if (row->second && strcmp(row->second, "(none)") != 0)
			op += (double)row->ns.of.sum;
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
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
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
	PF_AUTO(pf_buf_release) struct pf_buf absent = { 0 };

	pf_buf_adds(out, "<details><summary>Commands, definitions and what is "
			 "left out</summary>\n");
	add_coverage(out, p);
	pf_buf_adds(out, "<p>Every figure of this page is one of these "
			 "commands; <code>--format json</code> prints it to "
			 "the last digit.</p>\n<ul class=cmds>\n");
	for (int i = 0; i < PF_PART_COUNT; i++) {
		PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

		pf_parts_command(p, (enum pf_part)i, &command);
		pf_buf_adds(out, "<li><code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>\n");
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
	for (int i = 0; i < PF_PART_COUNT; i++)
		for (size_t k = 0; k < p->doc[i].note_count; k++) {
			if (!*p->doc[i].notes[k])
				continue;
			pf_buf_adds(out, "<p class=note>");
			pf_html_prose(out, p->doc[i].notes[k],
				      strlen(p->doc[i].notes[k]));
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
	pf_html_prose(out, finding, strlen(finding));
	pf_buf_adds(out, ".</p>\n");
}

/* ---- the page ---- */

int pf_report_html(struct pf_report *r, struct pf_buf *out)
{
	PF_AUTO(pf_fill_release) struct pf_skeleton s = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };
	PF_AUTO(pf_titles_release) struct pf_titles titles = { 0 };
	struct pf_html_page page = { .parts = &r->parts,
				     .source_url = r->args.page.source_url,
				     .titles = &titles };

	PF_TRY(pf_titles_init(&titles, r->db->err));
	page.first_ns = r->parts.traces.traces[0].first_ns;
	if (pf_timelines_have(&r->timelines))
		page.timelines = &r->timelines;
	pf_report_title(r, &title);
	pf_html_text(&s.title, title.data);
	add_header(&s.header, r);
	sections_links(&s.nav, &r->parts);
	pf_buf_adds(&s.fine_link, "<li><a href=\"#fine\">Checks</a>\n");
	pf_buf_adds(&s.verdicts_title, "Verdicts");
	add_verdicts(&s.verdicts, r, &page);
	add_tiles(&s.tiles, &page, &r->tiles);
	pf_buf_adds(&s.breakdown_title, "Where the time goes");
	add_no_times(&s.breakdown, &r->parts);
	pf_chart_steps(&s.breakdown, &page);
	sections_steps(&s.breakdown, &page);
	sections_add(&s.sections, &page);
	add_checks(&s.fine, &r->verdicts);
	pf_titles_list(&titles, &s.method);
	add_method(&s.method, &r->parts);
	PF_TRY(pf_timeline_html(&r->timelines,
				r->args.page.max_html_bytes - pf_fill_bytes(&s),
				&s.timeline, &s.data, r->db->err));
	return pf_fill(&s, out, r->db->err);
}
