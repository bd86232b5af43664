/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/num.h"
#include "analysis/graphs/graphs.h"
#include "analysis/path/path.h"
#include "base/order.h"
#include "show/rows.h"

#define ROW(member, key, title, kind)                                          \
	PF_FIELD(struct pf_path_row, member, key, title, kind)
#define ITEM(member, key, title, kind)                                         \
	PF_FIELD(struct pf_path_item, member, key, title, kind)

/* ---- the sentence ---- */

/* Parts of the path, as sentences name them. */
struct part {
	const char *is, *others;
	int64_t ns;
};

PF_ORDER(by_time, struct part, PF_DOWN(ns))

static void add_most(const struct pf_path *p, struct pf_buf *out)
{
	const struct pf_path_row *r = p->row_count ? &p->rows[0] : NULL;
	const struct pf_path_row *c = &p->categories[0];
	char share[PF_NUM_MAX];

	pf_buf_addf(out, "; most is %s (%s)", c->category,
		    pf_num_show_ratio(share, c->share));
	if (!r || !r->category || !r->name)
		return;
	pf_buf_addf(out, ", and of one name %s %s (%s)", r->category,
		    r->short_name, pf_num_show_ratio(share, r->share));
}

static void add_finding(const struct pf_path *p, struct pf_doc *doc)
{
	struct part parts[] = {
		{ "The host decides ", "the host", p->host_ns },
		{ "GPU work decides ", "GPU work", p->gpu_ns },
		{ "Launches and waits between host and GPU decide ",
		  "launches and waits", p->between_ns },
		{ "Nothing recorded explains ", "nothing recorded",
		  p->unexplained_ns },
	};
	struct pf_buf text = { 0 };
	char share[PF_NUM_MAX];

	doc->is_nothing = !p->category_count;
	if (doc->is_nothing) {
		pf_doc_finding(
			doc, "%s",
			p->window.has_unread ? pf_window_no_work(&p->window)
			: !p->recorded.has_work && p->recorded.has_calls
				? "No GPU work was recorded, so what "
				  "decides how long it takes is not known"
				: "There is nothing whose end could be "
				  "explained");
		return;
	}
	pf_sort(parts, sizeof(parts) / sizeof(*parts), sizeof(*parts), by_time);
	/* a GPU that nobody recorded may decide, too */
	pf_buf_adds(&text, p->recorded.has_work ? parts[0].is
			   : p->window.has_unread
				   ? "No GPU work could be read; the host has "
				   : "No GPU work was recorded; the host has ");
	pf_window_say_part(&p->window, &text, parts[0].ns, p->window_ns,
			   p->step_count);
	if (parts[1].ns)
		pf_buf_addf(
			&text, ", %s %s", parts[1].others,
			pf_num_show_ratio(share, pf_num_share(parts[1].ns,
							      p->window_ns)));
	add_most(p, &text);
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&text);
}

/* How sure it is. */
static void add_doubt(const struct pf_path *p, struct pf_doc *doc)
{
	char links[PF_NUM_MAX], inferred[PF_NUM_MAX], of[PF_NUM_MAX];
	char share[PF_NUM_MAX], open[PF_NUM_MAX], behind[PF_NUM_MAX];
	char others[PF_NUM_MAX];

	if (!p->step_count && p->behind_ns) {
		pf_num_show_ns(behind, p->behind_ns);
		pf_doc_note(doc,
			    "the path ends %s before the last step does: "
			    "behind it nothing is recorded that the step "
			    "waits for",
			    behind);
	}

	pf_doc_note(doc,
		    "%s of the %s links of the path are inferred (%s of its "
		    "time), and %s of its time is unexplained",
		    pf_num_show_count(inferred, p->inferred_count),
		    pf_num_show_count(links, p->link_count),
		    pf_num_show_ratio(
			    share, pf_num_share(p->inferred_ns - p->others_ns,
						p->window_ns)),
		    pf_num_show_ratio(open, pf_num_share(p->unexplained_ns,
							 p->window_ns)));
	if (p->others_ns)
		pf_doc_note(doc,
			    "%s of it are taken for a wait for threads that "
			    "communicate: nothing else is recorded of the "
			    "thread then",
			    pf_num_show_ns(others, p->others_ns));
	if (p->queue_length != PF_NO_INT)
		pf_doc_note(doc,
			    "the launch queue was full at times: it holds %s "
			    "calls",
			    pf_num_show_count(of, p->queue_length));
}

/* Whose operators evidence names, and how sure those are. */
static void add_replayed(const struct pf_path *p, struct pf_doc *doc)
{
	char share[PF_NUM_MAX], all[PF_NUM_MAX];
	struct pf_buf parts = { 0 };
	int64_t ns = 0;

	for (size_t h = 0; h < PF_HOWS; h++)
		ns += p->how_ns[h];
	pf_graphs_say_how(p->how_ns, ns, &parts);
	if (ns)
		pf_doc_note(doc,
			    "%s of the path is GPU work that graphs replay: %s",
			    pf_num_show_ratio(share,
					      pf_num_share(ns, p->window_ns)),
			    parts.data);
	else if (p->category_count)
		pf_doc_note(doc, "no GPU work on the path is replayed by "
				 "graphs");
	if (p->graphs->past_count)
		pf_doc_note(doc,
			    "%s GPU events of graphs are past the limit of "
			    "nodes, and are not looked at",
			    pf_num_show_count(all, p->graphs->past_count));
	pf_buf_release(&parts);
}

/* ---- tables ---- */

#define ANSWER(member, key, title, kind)                                       \
	PF_FIELD(struct pf_path_answer, member, key, title, kind)
static const struct pf_field answer_fields[] = {
	ANSWER(saved_ns, "saved_ns", "Saving", PF_NS | PF_MAYBE),
	ANSWER(saved_share, "saved_share", "Of all", PF_RATIO),
	ANSWER(least_ns, "least_ns", "At least", PF_NS | PF_MAYBE),
	ANSWER(bound_ns, "bound_ns", "On path", PF_NS | PF_MAYBE),
	ANSWER(question, "question", "What if", PF_TEXT),
	ANSWER(ns, "ns", "Window", PF_NS | PF_MAYBE | PF_FULL),
	ANSWER(pessimistic_ns, "pessimistic_ns", "Window at most",
	       PF_NS | PF_MAYBE | PF_FULL),
};

static const struct pf_field category_fields[] = {
	ROW(category, "category", "On the path", PF_TEXT | PF_OURS),
	ROW(ns, "ns", "Time", PF_NS),
	ROW(share, "share", "Of all", PF_RATIO),
	ROW(count, "count", "Times", PF_COUNT),
	ROW(longest_ns, "longest_ns", "Longest", PF_NS),
};

static const struct pf_field item_fields[] = {
	ITEM(start_ns, "start_ns", "From", PF_NS),
	ITEM(ns, "ns", "Time", PF_NS),
	ITEM(category, "category", "On the path", PF_TEXT | PF_OURS),
	ITEM(short_name, "short_name", "Name", PF_TEXT | PF_BRIEF),
	ITEM(name, "name", "Name", PF_TEXT | PF_FULL),
	ITEM(kind, "kind", "Kind", PF_TEXT | PF_OURS | PF_FULL),
	ITEM(op, "op", "Op", PF_TEXT | PF_FULL),
	ITEM(frame, "frame", "Line", PF_PATH | PF_FULL),
	ITEM(module, "module", "Module", PF_TEXT | PF_FULL),
	ITEM(thread, "thread", "Thread", PF_TEXT | PF_FULL),
	ITEM(device, "device", "GPU", PF_INT | PF_KNOWN | PF_FULL),
	ITEM(stream, "stream", "Stream", PF_INT | PF_KNOWN | PF_FULL),
	ITEM(is_inferred, "is_inferred", "Inferred", PF_INT | PF_FULL),
};

static const char *const titles[] = {
	[PF_PATH_BY_NAME] = "What is on the path",
	[PF_PATH_BY_OP] = "The path by operator",
	[PF_PATH_BY_KERNEL] = "The path by kernel",
	[PF_PATH_BY_MODULE] = "The path by module",
	[PF_PATH_BY_LINE] = "The path by line",
	[PF_PATH_BY_STEP] = "The path by step",
};

static void add_rows(const struct pf_path *p, int group, struct pf_doc *doc)
{
	const bool by_step = group == PF_PATH_BY_STEP;
	const bool has_name = !by_step;
	const bool has_category = by_step || group == PF_PATH_BY_NAME ||
				  group == PF_PATH_BY_KERNEL;
	const int name_kind = group == PF_PATH_BY_LINE ? PF_PATH : PF_TEXT;
	const struct pf_field fields[] = {
		ROW(step, "step", "Step",
		    by_step ? PF_INT | PF_MAYBE : PF_ABSENT),
		ROW(ns, "ns", "Time", PF_NS),
		ROW(share, "share", "Of all", PF_RATIO),
		ROW(count, "count", "Times", PF_COUNT),
		ROW(longest_ns, "longest_ns", "Longest", PF_NS),
		ROW(replayed_ns, "replayed_ns", "Replayed",
		    p->graphs ? PF_NS : PF_ABSENT),
		ROW(category, "category", "On the path",
		    has_category ? PF_TEXT | PF_OURS : PF_ABSENT),
		ROW(short_name, "short_name", "Name",
		    has_name ? name_kind | PF_BRIEF : PF_ABSENT),
		ROW(name, "name", "Name",
		    has_name ? name_kind | PF_FULL : PF_ABSENT),
	};

	if (group == PF_PATH_BY_CATEGORY)
		return;
	PF_ROWS(doc, "rows", titles[group], fields, p->rows, p->row_count);
}

/* Was the host recorded, and what leads from it to the GPU? */
static bool has_host(const struct pf_recorded *r)
{
	return r->has_calls || ((r->has_ops || r->has_ranges) && !r->has_work);
}

/* Without a path, and of what nobody recorded, times are not known. */
static void hide_unknown(struct pf_path *p)
{
	const struct pf_recorded *r = &p->recorded;

	if (!p->category_count)
		p->window_ns = p->unexplained_ns = -1;
	if (!p->host_ns && !(p->category_count && has_host(r)))
		p->host_ns = -1;
	if (!p->gpu_ns && !(p->category_count && r->has_work))
		p->gpu_ns = -1;
	if (!p->between_ns && !(p->category_count && r->has_work))
		p->between_ns = -1;
}

static void add_scalars(const struct pf_path *p, struct pf_doc *doc)
{
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_path, member, key, title, kind)
	static const struct pf_field fields[] = {
		FIELD(window_ns, "window_ns", "Window", PF_NS | PF_KNOWN),
		FIELD(host_ns, "host_ns", "Host", PF_NS | PF_KNOWN),
		FIELD(gpu_ns, "gpu_ns", "GPU work", PF_NS | PF_KNOWN),
		FIELD(between_ns, "between_ns", "Launches and waits",
		      PF_NS | PF_KNOWN),
		FIELD(unexplained_ns, "unexplained_ns", "Unexplained",
		      PF_NS | PF_KNOWN),
		FIELD(start_ns, "start_ns", "Begin", PF_NS | PF_FULL),
		FIELD(inferred_ns, "inferred_ns", "Inferred", PF_NS | PF_FULL),
		FIELD(inferred_count, "inferred_count", "Inferred links",
		      PF_COUNT | PF_FULL),
		FIELD(link_count, "link_count", "Links", PF_COUNT | PF_FULL),
		FIELD(return_count, "return_count", "Calls that waited",
		      PF_COUNT | PF_FULL),
		FIELD(handoff_count, "handoff_count", "Handoffs",
		      PF_COUNT | PF_FULL),
		FIELD(work_count, "work_count", "GPU work", PF_COUNT | PF_FULL),
		FIELD(launch_floor_ns, "launch_floor_ns", "Least launch",
		      PF_NS | PF_MAYBE | PF_FULL),
		FIELD(gap_floor_ns, "gap_floor_ns", "Least gap",
		      PF_NS | PF_MAYBE | PF_FULL),
		FIELD(queue_length, "queue_length", "Launch queue",
		      PF_COUNT | PF_MAYBE | PF_FULL),
		FIELD(queue_floor_ns, "queue_floor_ns", "Least return of it",
		      PF_NS | PF_MAYBE | PF_FULL),
		FIELD(replay_ns, "replay_ns", "Replay less window",
		      PF_NS | PF_SIGNED | PF_FULL),
	};
#undef FIELD
	struct pf_path shown = *p;

	hide_unknown(&shown);
	PF_SCALARS(doc, fields, shown);
}

/* Of a host that nobody recorded, or its calls, it is not known what it would save. */
static void add_answers(const struct pf_path *p, struct pf_doc *doc)
{
	const bool is_known = has_host(&p->recorded);
	struct pf_table *t = pf_doc_fields(doc, "what_if", "What it would save",
					   PF_FIELDS(answer_fields));

	for (size_t i = 0; i < p->answer_count; i++) {
		struct pf_path_answer a = p->answers[i];

		if (!is_known && a.of_host && !a.saved_ns) {
			a.ns = a.saved_ns = a.bound_ns = PF_NO_INT;
			a.pessimistic_ns = a.least_ns = PF_NO_INT;
			a.saved_share = NAN;
		}
		PF_PUT(t, answer_fields, a);
	}
}

void pf_path_show(const struct pf_path *p, const struct pf_path_args *args,
		  struct pf_doc *doc)
{
	add_finding(p, doc);
	add_scalars(p, doc);
	if (args->list)
		PF_ROWS(doc, "tiles", "The path", item_fields, p->items,
			p->item_count);
	PF_ROWS(doc, "categories", "What the path is made of", category_fields,
		p->categories, p->category_count);
	add_rows(p, args->group, doc);
	if (!args->is_bare)
		add_answers(p, doc);
	if (p->category_count)
		add_doubt(p, doc);
	if (p->graphs)
		add_replayed(p, doc);
	if (p->answer_count && p->begins_cold && !args->what_if.count)
		pf_doc_note(doc,
			    "\"as in one GPU graph\" takes with it what "
			    "runs before the first GPU work, which no graph "
			    "makes shorter");
	if (p->answer_count)
		pf_doc_note(doc,
			    "savings do not know of contention for "
			    "multiprocessors, memory and CPU cores, of "
			    "clocks, nor of what other ranks do meanwhile");
}
