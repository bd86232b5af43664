/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idle/sync_sites.h"
#include "idle/syncs.h"
#include "events/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "store/named.h"

#define ALLOW_BYTES (1u << 20)

#define COLS(c) c, sizeof(c) / sizeof(*(c))

struct texts {
	char *call, *op, *outer_op, *frame; /* NULL: none */
};

struct syncs {
	struct pf_sites sites;
	struct texts *texts; /* of each site */
	const struct pf_syncs_args *args;
	int64_t count, blocked_ns, useful_ns, idle_ns, drained_ns;
	int64_t window_steps;
	bool is_default;          /* the window was not asked for */
	struct pf_buf allow_text; /* of the file; its lines end with NUL */
	struct pf_opt_list allow;
	int64_t most_per_step, new_count, allowed_count;
};

/* ---- texts ---- */

static int take_text(struct pf_names *names, uint32_t name, char **out,
		     struct pf_err *err)
{
	*out = NULL;
	if (name == PF_ID_NONE)
		return 0;
	*out = pf_names_frame_take(names, name, err);
	return *out ? 0 : -1;
}

static int take_texts(struct syncs *s, struct pf_err *err)
{
	size_t count = pf_sites_count(&s->sites);

	s->texts = pf_calloc(count + 1, sizeof(*s->texts));
	for (size_t i = 0; i < count; i++) {
		const struct pf_place *p = &s->sites.items[i].place;
		uint32_t frame = p->frame != PF_ID_NONE ? p->frame : p->note;
		struct texts *t = &s->texts[i];

		if (take_text(s->sites.names, p->name, &t->call, err) < 0 ||
		    take_text(s->sites.names, p->op, &t->op, err) < 0 ||
		    take_text(s->sites.names, p->outer_op, &t->outer_op, err) <
			    0 ||
		    take_text(s->sites.names, frame, &t->frame, err) < 0)
			return -1;
	}
	return 0;
}

static void release(struct syncs *s)
{
	for (size_t i = 0; s->texts && i < pf_sites_count(&s->sites); i++) {
		free(s->texts[i].call);
		free(s->texts[i].op);
		free(s->texts[i].outer_op);
		free(s->texts[i].frame);
	}
	free(s->texts);
	free(s->allow.items);
	pf_buf_release(&s->allow_text);
	pf_sites_release(&s->sites);
}

/* ---- checks ---- */

static bool has(const char *text, const char *part)
{
	return text && strstr(text, part);
}

static bool is_listed(const struct pf_opt_list *allow, const struct texts *t)
{
	for (size_t i = 0; i < allow->count; i++)
		if (has(t->call, allow->items[i]) ||
		    has(t->op, allow->items[i]) ||
		    has(t->outer_op, allow->items[i]) ||
		    has(t->frame, allow->items[i]))
			return true;
	return false;
}

static int read_all(FILE *f, struct pf_buf *out)
{
	char part[4096];
	size_t got;

	while ((got = fread(part, 1, sizeof(part), f)) > 0) {
		if (out->len > ALLOW_BYTES)
			return -1;
		pf_buf_add(out, part, got);
	}
	pf_buf_add(out, "", 1);
	return ferror(f) ? -1 : 0;
}

/* One part of a name a line; '#' begins a comment. */
static int load_allowed(struct syncs *s, struct pf_err *err)
{
	const char *path = s->args->allow_file;
	size_t cap = 0;
	FILE *f;
	int rc;

	if (!path)
		return 0;
	f = fopen(path, "r");
	if (!f)
		return pf_fail_errno(err, "'%s'", path);
	rc = read_all(f, &s->allow_text);
	fclose(f);
	if (rc)
		return pf_fail(err, PF_EDATA, "'%s' cannot be read", path);
	for (char *line = s->allow_text.data, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "#\r")] = '\0';
		line += strspn(line, " \t");
		for (size_t n = strlen(line);
		     n && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
			line[n - 1] = '\0';
		if (!*line)
			continue;
		s->allow.items =
			pf_grow(s->allow.items, &cap, s->allow.count + 1,
				sizeof(*s->allow.items));
		s->allow.items[s->allow.count++] = line;
	}
	return 0;
}

static void mark_allowed(struct syncs *s)
{
	for (size_t i = 0; i < pf_sites_count(&s->sites); i++) {
		const struct texts *t = &s->texts[i];
		struct pf_site *site = &s->sites.items[i];

		site->is_allowed = is_listed(&s->args->allow, t) ||
				   is_listed(&s->allow, t);
		s->allowed_count += site->is_allowed;
	}
}

/* What a site is called in every trace: lines move, so no line number. */
static void add_key(struct pf_buf *key, const struct texts *t)
{
	const char *frame = t->frame ? t->frame : "";
	const char *parts[] = { t->call, t->op, t->outer_op };
	const char *colon = strrchr(frame, ':');

	for (size_t i = 0; i < 3; i++) {
		if (parts[i])
			pf_buf_add(key, parts[i], strlen(parts[i]));
		pf_buf_add(key, "\n", 1);
	}
	if (colon) {
		pf_buf_add(key, frame, (size_t)(colon - frame));
		frame = colon + 1 + strspn(colon + 1, "0123456789");
	}
	pf_buf_add(key, frame, strlen(frame));
}

static uint32_t intern_site(struct pf_intern *known, const struct texts *t)
{
	struct pf_buf key = { 0 };
	uint32_t n;

	add_key(&key, t);
	n = pf_intern_add(known, key.data, key.len);
	pf_buf_release(&key);
	return n;
}

/* Every site of the other database, by its text. */
static int load_baseline(const char *path, struct pf_intern *known,
			 struct pf_err *err)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct pf_window window = { 0 };
	struct syncs other = { 0 };
	struct pf_steps none = { 0 };
	struct pf_db db = { 0 };
	int rc = pf_db_open(&db, path, false, err);

	if (!rc)
		rc = pf_window_resolve(&db, &all, &window, err);
	if (!rc)
		rc = pf_sites_load(&db, &window, &none, false, &other.sites,
				   err);
	if (!rc)
		rc = take_texts(&other, err);
	for (size_t i = 0; !rc && i < pf_sites_count(&other.sites); i++)
		intern_site(known, &other.texts[i]);
	release(&other);
	pf_window_release(&window);
	pf_db_close(&db);
	return rc < 0 ? pf_while(err, "'%s'", path) : 0;
}

static int mark_new(struct syncs *s, struct pf_err *err)
{
	struct pf_intern known;
	uint32_t listed;
	int rc;

	if (!s->args->baseline)
		return 0;
	pf_intern_init(&known);
	rc = load_baseline(s->args->baseline, &known, err);
	listed = known.count;
	for (size_t i = 0; !rc && i < pf_sites_count(&s->sites); i++) {
		struct pf_site *site = &s->sites.items[i];

		if (!site->count || site->is_stream_wait)
			continue;
		site->is_new = intern_site(&known, &s->texts[i]) >= listed;
		s->new_count += site->is_new && !site->is_allowed;
	}
	pf_intern_release(&known);
	return rc;
}

/* The most calls in one step; without steps the whole is one. */
static void count_per_step(struct syncs *s)
{
	size_t steps = s->sites.steps.count;
	int64_t *count = pf_calloc(steps + 1, sizeof(*count));

	for (size_t i = 0; i < s->sites.call_count; i++) {
		const struct pf_site_call *c = &s->sites.calls[i];

		if (!s->sites.items[c->site].is_allowed &&
		    !s->sites.items[c->site].is_stream_wait)
			count[c->step]++;
	}
	for (size_t i = 0; i < (steps ? steps : 1); i++)
		if (count[i] > s->most_per_step)
			s->most_per_step = count[i];
	free(count);
}

/* ---- output ---- */

struct ranked {
	size_t n;
	const struct pf_site *site;
};

static int by_cost(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->site->idle_ns != y->site->idle_ns)
		return x->site->idle_ns > y->site->idle_ns ? -1 : 1;
	if (x->site->blocked_ns != y->site->blocked_ns)
		return x->site->blocked_ns > y->site->blocked_ns ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* Sites that were called in the window, the dearest first. */
static struct ranked *rank_take(struct syncs *s, size_t *count)
{
	size_t all = pf_sites_count(&s->sites);
	struct ranked *list = pf_calloc(all + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < all; i++) {
		const struct pf_site *site = &s->sites.items[i];

		if (site->is_stream_wait ||
		    (!site->count && !site->drained_count))
			continue;
		list[(*count)++] = (struct ranked){ i, site };
		s->count += site->count;
		s->blocked_ns += site->blocked_ns;
		s->useful_ns += site->useful_ns;
		s->idle_ns += site->idle_ns;
		s->drained_ns += site->drained_ns;
	}
	if (*count)
		qsort(list, *count, sizeof(*list), by_cost);
	return list;
}

static void put_rest(struct syncs *s, struct pf_table *t,
		     const struct pf_site *site, const struct texts *texts)
{
	int64_t steps = s->sites.step_count;

	pf_table_string(t, texts->outer_op);
	pf_table_string(t, pf_cause_name((enum pf_cause)site->place.cause));
	if (steps) {
		pf_table_real(t, (double)site->count / (double)steps);
		pf_table_int(t, site->step_count);
		pf_table_int(t, site->step_count >= steps);
	} else {
		pf_table_null(t);
		pf_table_null(t);
		pf_table_null(t);
	}
	pf_table_int(t, site->median_ns);
	pf_table_int(t, site->max_ns);
	pf_table_int(t, site->useful_ns);
	pf_table_int(t, site->drained_count);
	pf_table_int(t, site->drained_ns);
	pf_table_real(t, pf_num_share(site->idle_ns, s->sites.window_ns));
	pf_table_int(t, site->is_allowed);
	if (s->args->baseline)
		pf_table_int(t, site->is_new);
	else
		pf_table_null(t);
}

static void add_sites(struct syncs *s, const struct ranked *list, size_t count,
		      struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "idle_ns", "GPU idle", PF_NS },
		{ "blocked_ns", "Blocked", PF_NS },
		{ "count", "Calls", PF_COUNT },
		{ "call", "Call", PF_TEXT },
		{ "op", "Op", PF_TEXT },
		{ "frame", "Line or annotation", PF_PATH },
		{ "outer_op", "Outermost op", PF_TEXT | PF_FULL },
		{ "kind", "Kind", PF_TEXT | PF_FULL },
		{ "per_step", "Per step", PF_REAL | PF_FULL },
		{ "step_count", "In steps", PF_COUNT | PF_FULL },
		{ "is_every_step", "In every step", PF_INT | PF_FULL },
		{ "median_ns", "Median", PF_NS | PF_FULL },
		{ "max_ns", "Longest", PF_NS | PF_FULL },
		{ "useful_ns", "GPU busy", PF_NS | PF_FULL },
		{ "drained_count", "Gaps", PF_COUNT | PF_FULL },
		{ "drained_ns", "In them", PF_NS | PF_FULL },
		{ "idle_share", "Of time", PF_RATIO | PF_FULL },
		{ "is_allowed", "Allowed", PF_INT | PF_FULL },
		{ "is_new", "New", PF_INT | PF_FULL },
	};
	struct pf_table *t =
		pf_doc_table(doc, "sites", "Calls that wait for the GPU", cols,
			     sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < count; i++) {
		const struct pf_site *site = list[i].site;
		const struct texts *texts = &s->texts[list[i].n];

		pf_table_int(t, site->idle_ns);
		pf_table_int(t, site->blocked_ns);
		pf_table_int(t, site->count);
		pf_table_string(t, texts->call);
		pf_table_string(t, texts->op);
		pf_table_string(t, texts->frame);
		put_rest(s, t, site, texts);
	}
}

static void add_finding(struct syncs *s, const struct ranked *list,
			size_t count, struct pf_doc *doc)
{
	char calls[PF_NUM_MAX], blocked[PF_NUM_MAX], idle[PF_NUM_MAX];
	char part[PF_NUM_MAX];
	struct pf_buf text = { 0 };
	const struct texts *t;

	if (!count) {
		pf_doc_finding(doc, "No call waits for a GPU");
		return;
	}
	t = &s->texts[list[0].n];
	pf_num_show_count(calls, s->count);
	pf_num_show_ns(blocked, s->blocked_ns);
	pf_num_show_ns(idle, s->idle_ns);
	pf_num_show_ratio(part, pf_num_share(s->idle_ns, s->sites.window_ns));
	pf_buf_addf(&text, "%s %s for a GPU and block%s the host for %s; ",
		    calls, s->count == 1 ? "call waits" : "calls wait",
		    s->count == 1 ? "s" : "", blocked);
	if (s->idle_ns)
		pf_buf_addf(&text,
			    "%s the GPU idle for %s (%s of its time), most in "
			    "or after ",
			    s->count == 1 ? "it leaves" : "they leave", idle,
			    part);
	else
		pf_buf_addf(&text, "no idle time of a GPU is due to that; %s",
			    s->count == 1 ? "it is " : "the longest is ");
	pf_buf_addf(&text, "%s%s%s%s%s", t->call, t->op ? " in " : "",
		    t->op ? t->op : "", t->frame ? ", " : "",
		    t->frame ? t->frame : "");
	pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
	pf_buf_release(&text);
}

static void add_scalars(struct syncs *s, struct pf_doc *doc)
{
	pf_doc_int(doc, "count", "Blocking calls", PF_COUNT, s->count);
	pf_doc_int(doc, "blocked_ns", "Host blocked", PF_NS, s->blocked_ns);
	pf_doc_int(doc, "useful_ns", "GPU busy meanwhile", PF_NS, s->useful_ns);
	pf_doc_int(doc, "idle_ns", "GPU idle due to them", PF_NS, s->idle_ns);
	pf_doc_int(doc, "drained_ns", "Gaps that they began", PF_NS,
		   s->drained_ns);
	pf_doc_int(doc, "max_per_step", "Most in one step", PF_COUNT,
		   s->most_per_step);
	if (s->args->baseline)
		pf_doc_int(doc, "new_count", "Sites not in the baseline",
			   PF_COUNT, s->new_count);
}

/* Calls and records by which streams wait, those of most waits first. */
static int by_count(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->site->count != y->site->count)
		return x->site->count > y->site->count ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static void add_wait_calls(struct syncs *s, struct pf_table *t)
{
	size_t all = pf_sites_count(&s->sites), count = 0;
	struct ranked *list = pf_calloc(all + 1, sizeof(*list));

	for (size_t i = 0; i < all; i++)
		if (s->sites.items[i].is_stream_wait)
			list[count++] =
				(struct ranked){ i, &s->sites.items[i] };
	if (count)
		qsort(list, count, sizeof(*list), by_count);
	for (size_t i = 0; i < count; i++) {
		pf_table_string(t, s->texts[list[i].n].call);
		pf_table_string(t, "call");
		pf_table_int(t, list[i].site->count);
		pf_table_int(t, list[i].site->blocked_ns);
		pf_table_string(t, s->texts[list[i].n].op);
		pf_table_string(t, s->texts[list[i].n].frame);
	}
	free(list);
}

/* What cuda_sync records say, of one trace. */
static int add_records(struct pf_db *db, const struct pf_window *window,
		       struct pf_table *t, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "sync_waits", err);
	int rc = stmt ? 0 : -1;

	for (size_t i = 0; !rc && i < window->count; i++) {
		const struct pf_window_trace *w = &window->traces[i];

		sqlite3_reset(stmt);
		sqlite3_bind_int64(stmt, 1, w->trace_id);
		sqlite3_bind_int64(stmt, 2, w->from_ns);
		sqlite3_bind_int64(stmt, 3, w->to_ns);
		while ((rc = pf_db_step(db, stmt, err)) == 1) {
			pf_named_add_row(stmt, t);
			pf_table_null(t);
			pf_table_null(t);
		}
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int add_waits(struct syncs *s, struct pf_db *db,
		     const struct pf_window *window, struct pf_doc *doc,
		     struct pf_err *err)
{
	static const struct pf_col cols[] = {
		{ "name", "Wait", PF_TEXT },
		{ "source", "Said by", PF_TEXT },
		{ "count", "Times", PF_COUNT },
		{ "ns", "Time", PF_NS },
		{ "op", "Op", PF_TEXT | PF_FULL },
		{ "frame", "Line or annotation", PF_PATH },
	};
	struct pf_table *t = pf_doc_table(
		doc, "waits", "Waits of streams, and recorded waits",
		COLS(cols));

	add_wait_calls(s, t);
	return add_records(db, window, t, err);
}

static void check(struct syncs *s, struct pf_doc *doc, bool *is_failed)
{
	const struct pf_syncs_args *a = s->args;

	*is_failed = false;
	if (a->max_per_step >= 0 && s->most_per_step > a->max_per_step) {
		*is_failed = true;
		pf_doc_note(doc,
			    "failed: %lld blocking calls in one step are more "
			    "than %lld",
			    (long long)s->most_per_step,
			    (long long)a->max_per_step);
	}
	if (a->fail_on >= 0 && s->new_count) {
		*is_failed = true;
		pf_doc_note(doc, "failed: %lld sites are not in '%s'",
			    (long long)s->new_count, a->baseline);
	}
	if (s->allowed_count)
		pf_doc_note(doc, "%lld sites are allowed",
			    (long long)s->allowed_count);
	if (s->sites.outside_count && s->is_default)
		pf_doc_note(doc,
			    "calls that wait for a GPU outside of the steps: "
			    "%lld",
			    (long long)s->sites.outside_count);
	if (!s->sites.device_count)
		pf_doc_note(doc, "there is no GPU work: what the calls cost "
				 "a GPU is not known");
}

int pf_syncs(struct pf_db *db, const struct pf_syncs_args *args,
	     struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	struct syncs s = { .args = args };
	struct pf_window window = { 0 };
	struct pf_steps steps = { 0 };
	struct ranked *list;
	size_t count;
	int rc;

	if (args->fail_on >= 0 && !args->baseline)
		return pf_fail(err, PF_EUSAGE,
			       "--fail-on new needs --baseline");
	rc = pf_window_resolve(db, &args->window, &window, err);
	s.is_default = !window.is_restricted;
	if (!rc)
		rc = pf_window_to_steps(db, &window, &s.window_steps, &steps,
					err);
	if (!rc)
		rc = load_allowed(&s, err);
	if (!rc)
		rc = pf_sites_load(db, &window, &steps, true, &s.sites, err);
	if (!rc)
		rc = take_texts(&s, err);
	if (!rc) {
		mark_allowed(&s);
		rc = mark_new(&s, err);
	}
	if (!rc) {
		count_per_step(&s);
		list = rank_take(&s, &count);
		add_finding(&s, list, count, doc);
		add_scalars(&s, doc);
		add_sites(&s, list, count, doc);
		free(list);
		rc = add_waits(&s, db, &window, doc, err);
		check(&s, doc, is_failed);
	}
	if (!rc)
		rc = pf_trust_note(db, &window,
				   PF_TRUST_WORK | PF_TRUST_LINKS |
					   PF_TRUST_STACKS,
				   doc, err);
	release(&s);
	pf_steps_release(&steps);
	pf_window_release(&window);
	return rc;
}
