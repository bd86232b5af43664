/* SPDX-License-Identifier: MIT */
/*
 * NVTX: ranges of threads and of processes, marks, and the rows that name
 * domains and categories, which are read first.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "formats/nsys/nsys_impl.h"

static const char *const range_columns[] = {
	"start",      "end",         "eventType",  "globalTid",   "text",
	"textId",     "domainId",    "category",   "color",       "uint64Value",
	"int64Value", "uint32Value", "int32Value", "doubleValue", "floatValue",
	"jsonText",   "jsonTextId",
};
enum {
	TYPE = 2,
	TID,
	TEXT,
	TEXT_ID,
	DOMAIN,
	CATEGORY,
	COLOR,
	INTEGERS,
	REALS = INTEGERS + 4,
	JSON = REALS + 2,
	JSON_ID
};

enum event_type { /* ENUM_NSYS_EVENT_TYPE */
		  NAME_CATEGORY = 33,
		  MARK = 34,
		  NAME_THREAD = 39,
		  PUSH_POP = 59,
		  START_END = 60,
		  DOMAIN_CREATE = 75
};

#define LABELS_MAX     4096
#define LABEL_TEXT_MAX (1u << 20)

/* ---- texts ---- */

/* Its own or a registered one: 1, 0 none, -1 a failure. */
static int text_of(struct pf_nsys *n, const struct pf_rows *r, int own, int id,
		   const char **text, size_t *len, struct pf_err *err)
{
	int64_t number;

	if (pf_rows_text(r, own, text, len))
		return 1;
	if (pf_rows_int(r, id, &number) != PF_CELL_INT)
		return 0;
	return pf_nsys_string(n, number, text, len, err);
}

/* ---- names of domains and categories ---- */

static int64_t process_of(struct pf_nsys *n, const struct pf_rows *r)
{
	int64_t id;

	return pf_rows_int(r, TID, &id) == PF_CELL_INT ? pf_nsys_process(n, id)
						       : -1;
}

static const struct pf_nsys_label *find_label(const struct pf_nsys *n,
					      int64_t process, int64_t domain,
					      int64_t category)
{
	const struct pf_nsys_label *l = (const void *)n->labels.data;

	for (size_t i = 0; i < n->label_count; i++)
		if (l[i].domain == domain && l[i].category == category &&
		    l[i].process == process)
			return &l[i];
	return NULL;
}

static int add_label(struct pf_nsys *n, const struct pf_rows *r,
		     int64_t category, struct pf_err *err)
{
	struct pf_nsys_label l = {
		.process = process_of(n, r),
		.domain = pf_rows_int_or(r, DOMAIN, 0),
		.category = category,
		.at = n->label_text.len,
	};
	const char *text;
	int rc;

	if (n->label_count >= LABELS_MAX ||
	    find_label(n, l.process, l.domain, l.category))
		return 0;
	rc = text_of(n, r, TEXT, TEXT_ID, &text, &l.len, err);
	if (rc <= 0)
		return rc;
	if (l.len > LABEL_TEXT_MAX - n->label_text.len)
		return 0;
	pf_buf_add(&n->label_text, text, l.len);
	pf_buf_add(&n->labels, &l, sizeof(l));
	n->label_count++;
	return 0;
}

/* They may stand behind the first range that has one. */
static int read_labels(struct pf_nsys *n, struct pf_err *err)
{
	struct pf_rows r;
	int rc;

	if (n->has_labels)
		return 0;
	n->has_labels = true;
	rc = pf_rows_open(
		&r, n->f, pf_reading_version(&n->reading, &pf_nsys_ranges),
		PF_COLUMNS(range_columns), "\"eventType\" IN (33, 75)", err);
	if (!rc)
		while ((rc = pf_rows_next(&r, err)) == 1) {
			int64_t type = pf_rows_int_or(&r, TYPE, 0);

			if (type == DOMAIN_CREATE)
				rc = add_label(n, &r, -1, err);
			else if (type == NAME_CATEGORY)
				rc = add_label(n, &r,
					       pf_rows_int_or(&r, CATEGORY, 0),
					       err);
			if (rc < 0)
				break;
		}
	pf_rows_close(&r);
	return rc < 0 ? -1 : 0;
}

/* ---- arguments ---- */

static void arg_label(struct pf_nsys *n, const char *key, int64_t process,
		      int64_t domain, int64_t category)
{
	const struct pf_nsys_label *l =
		find_label(n, process, domain, category);

	if (l)
		pf_argline_text(&n->sink.args, key, n->label_text.data + l->at,
				l->len);
	else
		pf_argline_fixed(&n->sink.args, key,
				 category < 0 ? domain : category);
}

static int arg_payload(struct pf_nsys *n, const struct pf_rows *r,
		       struct pf_err *err)
{
	const char *text;
	double real;
	int64_t v;
	size_t len;
	int rc;

	for (int i = 0; i < 4; i++) {
		if (pf_rows_int(r, INTEGERS + i, &v) != PF_CELL_INT)
			continue;
		if (v >= 0)
			pf_argline_number(&n->sink.args, "payload",
					  (uint64_t)v);
		else
			pf_argline_fixed(&n->sink.args, "payload", v);
		return 0;
	}
	for (int i = 0; i < 2; i++)
		if (pf_rows_real(r, REALS + i, &real)) {
			pf_argline_real(&n->sink.args, "payload", real);
			return 0;
		}
	rc = text_of(n, r, JSON, JSON_ID, &text, &len, err);
	if (rc == 1)
		pf_argline_text(&n->sink.args, "payload", text, len);
	return rc < 0 ? -1 : 0;
}

static int arg_common(struct pf_nsys *n, const struct pf_rows *r,
		      struct pf_err *err)
{
	int64_t domain = pf_rows_int_or(r, DOMAIN, 0);
	int64_t category = pf_rows_int_or(r, CATEGORY, 0);
	int64_t color = pf_rows_int_or(r, COLOR, 0);

	if ((domain || category > 0) && read_labels(n, err))
		return -1;
	if (domain)
		arg_label(n, "domain", process_of(n, r), domain, -1);
	if (category > 0)
		arg_label(n, "category", process_of(n, r), domain, category);
	if (color) {
		pf_argline_key(&n->sink.args, "color");
		pf_buf_addf(&n->sink.args.text, "\"#%08" PRIx32 "\"",
			    (uint32_t)color);
	}
	return arg_payload(n, r, err);
}

/* ---- ranges ---- */

/* Nothing but a name, and numbers that torch put there: as most. */
static bool is_bare(const struct pf_rows *r)
{
	int64_t v;

	for (int i = DOMAIN; i <= COLOR; i++)
		if (pf_rows_int_or(r, i, 0))
			return false;
	for (int i = INTEGERS; i <= JSON_ID; i++)
		if (pf_rows_int(r, i, &v) != PF_CELL_NULL)
			return false;
	return true;
}

/* Then the text of their arguments is known, and only slots differ. */
static bool bare_args(struct pf_nsys *n, const struct pf_rows *r,
		      const struct pf_pfr_torch_name *torch, uint32_t **memo)
{
	const int64_t most = INT64_C(1) << 58; /* of a number's slot */
	uint64_t key = 0;

	*memo = NULL;
	if (torch && (torch->sizes || torch->op_id >= most))
		return false;
	if (!is_bare(r))
		return false;
	if (torch)
		key = 1 | (uint64_t)torch->has_sequence << 1 |
		      (uint64_t)torch->has_op_id << 2;
	if (!pf_nsys_memo(n, PF_NSYS_MEMO_RANGE_ARGS, 0, key, memo))
		return false;
	pf_argline_set(&n->sink.args, PF_SLOT_EXTERNAL_ID, n->range_count);
	if (key & 2)
		pf_argline_set(&n->sink.args, PF_SLOT_SEQUENCE,
			       torch->sequence);
	if (key & 4)
		pf_argline_set(&n->sink.args, PF_SLOT_GENERIC,
			       torch->op_id << 4);
	return true;
}

static int range_args(struct pf_nsys *n, const struct pf_rows *r,
		      const struct pf_pfr_torch_name *torch, bool is_open,
		      uint32_t *entry, struct pf_err *err)
{
	uint32_t *memo = NULL;

	n->range_count++;
	pf_argline_open(&n->sink.args);
	if (!is_open && bare_args(n, r, torch, &memo)) {
		*entry = *memo;
		return 0;
	}
	pf_argline_slot(&n->sink.args, "External id", PF_SLOT_EXTERNAL_ID,
			n->range_count);
	if (torch)
		pf_kineto_torch(&n->sink.args, torch);
	if (arg_common(n, r, err))
		return -1;
	if (is_open)
		pf_argline_text(&n->sink.args, "end", "open", 4);
	*entry = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	if (memo)
		*memo = *entry;
	return 0;
}

static int put_range(struct pf_nsys *n, const struct pf_rows *r,
		     struct pf_sink_put *put, bool is_async, bool is_open,
		     struct pf_err *err)
{
	struct pf_pfr_torch_name torch;
	const char *text = "";
	size_t len = 0;
	bool split;
	int64_t id;

	if (text_of(n, r, TEXT, TEXT_ID, &text, &len, err) < 0)
		return -1;
	put->ph = 'X';
	put->category = PF_NSYS_CAT_NVTX;
	put->kind = PF_KIND_CPU_OP;
	split = pf_pfr_split_torch_name(text, len, &torch);
	if (split)
		put->category = PF_NSYS_CAT_OP;
	put->name = pf_sink_text(&n->sink, text, split ? torch.name_len : len);
	if (is_async) {
		put->kind = PF_KIND_ASYNC;
		id = pf_rows_int_or(r, TID, 0);
		put->track = pf_nsys_lane(n, 'a', id, "ranges");
	} else {
		put->track = pf_nsys_host_track(n, r, TID);
		if (pf_pfr_is_step(text, len)) {
			put->kind = PF_KIND_ANNOTATION;
			put->category = PF_NSYS_CAT_STEP;
		}
	}
	if (range_args(n, r, split ? &torch : NULL, is_open, &put->args, err))
		return -1;
	pf_sink_store(&n->sink, put);
	return 0;
}

static int map_range(struct pf_nsys *n, const struct pf_rows *r, bool is_async,
		     struct pf_err *err)
{
	struct pf_sink_put put = { 0 };
	int64_t ns;

	if ((r->has & 2) && pf_rows_int(r, 1, &ns) == PF_CELL_NULL &&
	    pf_rows_int(r, 0, &ns) == PF_CELL_INT) {
		/* Its end is known when all times are. */
		n->sink.parsed.batch.event_count--;
		n->open_count++;
		return 0;
	}
	if (!pf_reading_times(&n->reading, r, &put))
		return 0;
	return put_range(n, r, &put, is_async, false, err);
}

static int map_mark(struct pf_nsys *n, const struct pf_rows *r,
		    struct pf_err *err)
{
	struct pf_sink_put put = { .category = PF_NSYS_CAT_NVTX,
				   .kind = PF_KIND_INSTANT,
				   .ph = 'i' };
	const char *text = "";
	size_t len = 0;
	int64_t ns;

	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT) {
		pf_sink_note(&n->sink, PF_SKIP_NO_TIME);
		return 0;
	}
	if (!pf_sink_times(&n->sink, ns, ns, &put))
		return 0;
	if (text_of(n, r, TEXT, TEXT_ID, &text, &len, err) < 0)
		return -1;
	put.name = pf_sink_text(&n->sink, text, len);
	put.track = pf_nsys_host_track(n, r, TID);
	pf_argline_open(&n->sink.args);
	if (arg_common(n, r, err))
		return -1;
	put.args = pf_argline_close(&n->sink.args, &n->sink.parsed.args);
	pf_sink_store(&n->sink, &put);
	return 0;
}

/* ---- names ---- */

/* Names of domains and categories are metadata, those of threads theirs. */
static int map_label(struct pf_nsys *n, const struct pf_rows *r, int64_t type,
		     struct pf_err *err)
{
	struct pf_batch *b = &n->sink.parsed.batch;
	const char *text = "";
	size_t len = 0;
	int64_t id = pf_rows_int_or(r, TID, 0);

	if (text_of(n, r, TEXT, TEXT_ID, &text, &len, err) < 0)
		return -1;
	if (len > LABEL_TEXT_MAX)
		len = 0;
	if (type == NAME_THREAD) {
		*pf_map_at(&n->threads, (uint64_t)id) = PF_NSYS_NAMED;
		pf_batch_name(b, "thread_name", pf_nsys_pid(id),
			      (uint64_t)pf_nsys_tid(id), text, len);
		b->event_count--; /* the row is counted by the caller */
		return 0;
	}
	pf_buf_clear(&n->clean);
	pf_buf_addf(&n->clean,
		    "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRId64
		    ",\"args\":{\"domain\":%" PRId64 ",\"category\":%" PRId64
		    ",\"name\":",
		    type == DOMAIN_CREATE ? "nvtx_domain" : "nvtx_category",
		    pf_nsys_pid(id), pf_rows_int_or(r, DOMAIN, 0),
		    pf_rows_int_or(r, CATEGORY, 0));
	pf_jsonw_quote(&n->clean, text, len, false);
	pf_buf_adds(&n->clean, "}}");
	pf_batch_metadata(b, &n->clean);
	return 0;
}

static int map_nvtx(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	int64_t type = pf_rows_int_or(r, TYPE, 0);

	switch (type) {
	case PUSH_POP:
	case START_END:
		return map_range(n, r, type == START_END, err);
	case MARK:
		return map_mark(n, r, err);
	case NAME_CATEGORY:
	case NAME_THREAD:
	case DOMAIN_CREATE:
		return map_label(n, r, type, err);
	default:
		pf_sink_note(&n->sink, PF_SKIP_RECORD_TYPE);
		return 0;
	}
}

const struct pf_reading_table pf_nsys_ranges = {
	.name = "NVTX_EVENTS",
	PF_COLUMNS(range_columns),
	.map = map_nvtx,
	.must = TEXT,
};

/* ---- those that stayed open end with the file ---- */

static int map_open(void *reader, const struct pf_rows *r, struct pf_err *err)
{
	struct pf_nsys *n = reader;
	struct pf_sink_put put = { 0 };
	int64_t ns, type = pf_rows_int_or(r, TYPE, 0);

	/* The others have been met. */
	if (pf_rows_int(r, 0, &ns) != PF_CELL_INT) {
		n->sink.parsed.batch.event_count--;
		return 0;
	}
	if (!pf_sink_times(&n->sink, ns,
			   n->sink.last_ns > ns ? n->sink.last_ns : ns, &put))
		return 0;
	pf_sink_note(&n->sink, PF_REPAIR_OPEN_RANGE);
	return put_range(n, r, &put, type == START_END, true, err);
}

static bool has_open(const void *reader)
{
	const struct pf_nsys *n = reader;

	return n->open_count > 0;
}

const struct pf_reading_table pf_nsys_open_ranges = {
	.name = "NVTX_EVENTS",
	PF_COLUMNS(range_columns),
	.where = "\"end\" IS NULL AND \"eventType\" IN (59, 60)",
	.map = map_open,
	.wanted = has_open,
	.must = TEXT,
};
