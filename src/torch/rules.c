/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/event.h"

#define DEFAULT_TORCH 209
/* Releases whose tables are known. */
#define OLDEST    108
#define LAST_OF_1 113
#define NEWEST    215

/* One step of history: what is different from this release on. */
struct change {
	int torch;
	void (*apply)(struct pf_rules *r);
};

static void from_1_13(struct pf_rules *r)
{
	r->candidates = PF_CANDIDATES_ALL;
	r->overhead_claims = true;
	r->unlinked_claims = true;
	r->unlinked_in_tree = true;
}

static void from_2_3(struct pf_rules *r)
{
	r->stack_limit = false;
}

/* Before, tables knew of CUDA, and of devices of plug-ins. */
static void from_2_4(struct pf_rules *r)
{
	r->names_device = true;
	r->candidates = PF_CANDIDATES_UNLINKED;
	if (!r->is_us)
		r->border = PF_BORDER_DOUBLE;
}

static void from_2_5(struct pf_rules *r)
{
	r->annotations_apart = true;
	if (r->is_us)
		return;
	r->narrow_start_ns = 1;
	r->narrow_end_ns = 1;
}

static void from_2_6(struct pf_rules *r)
{
	r->compensated = true;
}

static void from_2_8(struct pf_rules *r)
{
	r->byte_units = true;
	r->xpu_memory = true;
}

static void from_2_9(struct pf_rules *r)
{
	r->hidden_events = true;
}

static void from_2_11(struct pf_rules *r)
{
	r->border = PF_BORDER_EXACT;
}

static void from_2_12(struct pf_rules *r)
{
	r->unfinished_kept = true;
	r->python_in_tree = true;
	r->python_rows = true;
}

static void from_2_14(struct pf_rules *r)
{
	r->python_rows = false;
	r->overhead_claims = false;
}

static void from_2_15(struct pf_rules *r)
{
	r->unlinked_claims = false;
}

static const struct change history[] = {
	{ 113, from_1_13 }, { 203, from_2_3 },  { 204, from_2_4 },
	{ 205, from_2_5 },  { 206, from_2_6 },  { 208, from_2_8 },
	{ 209, from_2_9 },  { 211, from_2_11 }, { 212, from_2_12 },
	{ 214, from_2_14 }, { 215, from_2_15 },
};

static int guess_us(const struct pf_rule_facts *f)
{
	if (f->profiler_event_index)
		return 113;
	if (!f->ev_idx)
		return f->ext_lower ? 110 : 112;
	if (f->link_equal && !f->link_differ)
		return f->rf_id ? 202 : 200;
	return 203;
}

/*
 * The host's name came with 2.12, the line of the caller in Python functions
 * with 2.14, the stream's priority in kernels with 2.15.
 */
static int guess_new(const struct pf_rule_facts *f)
{
	if (f->priority)
		return 215;
	return f->call_from || !f->python_functions ? 214 : 212;
}

static int guess_torch(const struct pf_rule_facts *f)
{
	if (!f->fraction_digits)
		return guess_us(f);
	if (!f->has_base)
		return 203; /* nightlies of early 2024: rules of 2.3, ns */
	/* 2.14 can write traces in Python, which names neither. */
	if (f->has_host_name || f->call_from ||
	    (!f->has_trace_id && f->finished && !f->finished_true))
		return guess_new(f);
	if (f->finished_true)
		return 207;
	if (f->scope)
		return 211; /* compiled graphs have one */
	/* Since 2.8 only memory records and what is unfinished says so. */
	if (f->finished)
		return DEFAULT_TORCH;
	/* 2.6 brought the trace's id; 2.4 writes the same as 2.5. */
	if (!f->link_absent && (!f->has_trace_id || f->link_equal))
		return 205;
	return f->memory_records ? 206 : DEFAULT_TORCH;
}

/*
 * profan's own captures are not torch's: the newest rules, links by
 * containment, and nothing owns kernels by a number that happens to be equal.
 */
#define CAPTURE_TORCH NEWEST

static void for_capture(struct pf_rules *r)
{
	r->links = PF_LINK_LOST;
	r->candidates = PF_CANDIDATES_OPS;
	r->overhead_claims = false;
	r->unlinked_claims = false;
	r->is_capture = true;
}

static enum pf_link_mode guess_links(const struct pf_rule_facts *f)
{
	if (f->ext_lower || f->link_absent)
		return PF_LINK_GIVEN;
	if (f->link_equal && !f->link_differ)
		return PF_LINK_LOST;
	return PF_LINK_MIXED;
}

struct pf_rules pf_rules_for(const struct pf_rule_facts *facts, int torch,
			     int python)
{
	struct pf_rules r = { .stack_limit = true };

	if (!torch && facts->is_capture)
		torch = CAPTURE_TORCH;
	if (!torch)
		torch = facts->torch ? facts->torch : guess_torch(facts);
	if (!python)
		python = facts->python;
	r.torch = torch;
	r.python = python;
	r.is_us = !facts->fraction_digits;
	r.links = guess_links(facts);
	r.narrow_start_ns = 1000;
	r.narrow_end_ns = r.is_us ? 0 : 1000;
	for (size_t i = 0; i < PF_LEN(history); i++)
		if (torch >= history[i].torch)
			history[i].apply(&r);
	if (facts->is_capture)
		for_capture(&r);
	/* No table of torch has its lines of derived times and waits. */
	r.waits_apart = facts->is_npu;
	r.annotations_apart |= facts->is_npu;
	r.device = r.names_device && facts->device ? facts->device : "CUDA";
	if (facts->is_npu)
		r.device = "NPU";
	r.is_rounded = r.is_us && torch >= 113 && torch < 204;
	if (python)
		r.compensated = python >= 12;
	return r;
}

/* ---- what a trace says about itself ---- */

/* "2.6" at s -> 206; 0 if there is no release there. */
static int read_release(const char *s, const char **end)
{
	char *e;
	long major, minor;

	if (*s < '0' || *s > '9')
		return 0;
	major = strtol(s, &e, 10);
	if (*e != '.' || e[1] < '0' || e[1] > '9')
		return 0;
	minor = strtol(e + 1, &e, 10);
	if (end)
		*end = e;
	if (major < 1 || major > 99 || minor < 0 || minor > 99)
		return 0;
	return (int)(major * 100 + minor);
}

/* The release behind the first "mark" in the text, 0 if none. */
static int release_after(const char *json, const char *mark)
{
	const char *s = json;

	while ((s = strstr(s, mark))) {
		int release;

		s += strlen(mark);
		s += strspn(s, " \"\\:");
		release = read_release(s, NULL);
		if (release)
			return release;
	}
	return 0;
}

/*
 * "torch_version" and "python_version" or "torch==" in the JSON text of a
 * metadata member; leaves the numbers alone if it does not say.
 */
static void rules_scan_metadata(const char *json, int *torch, int *python)
{
	int release = release_after(json, "\"torch_version\"");

	if (!release)
		release = release_after(json, "\"torch==");
	if (release)
		*torch = release;
	release = release_after(json, "\"python_version\"");
	if (release / 100 == 3)
		*python = release % 100;
}

int pf_rules_parse(const char *text, int *torch, int *python,
		   struct pf_err *err)
{
	const char *end = text;
	int release = read_release(text, &end);

	if (release < OLDEST || (release > LAST_OF_1 && release < 200) ||
	    release > NEWEST)
		release = 0;
	*torch = release;
	*python = 0;
	if (release && *end == '/') {
		release = read_release(end + 1, &end);
		*python = release / 100 == 3 ? release % 100 : 0;
		if (!*python)
			release = 0;
	} else if (release && *end == '.') {
		end += 1 + strspn(end + 1, "0123456789");
	}
	if (!release || *end)
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is no torch release that is known: 1.8 to "
			       "1.13 and 2.0 to 2.15 (2.6/3.12 names Python's, "
			       "too)",
			       text);
	return 0;
}

static void set_fact(struct pf_rule_facts *f, const char *key, int64_t value)
{
	char memory[16], python[16];
	const struct {
		const char *key;
		int64_t *field;
	} known[] = {
		{ memory, &f->memory_records },
		{ python, &f->python_functions },
		{ "ts_fraction_digits", &f->fraction_digits },
		{ "link_equal", &f->link_equal },
		{ "link_differ", &f->link_differ },
		{ "link_absent", &f->link_absent },
		{ "ext_lower", &f->ext_lower },
		{ "key_ev_idx", &f->ev_idx },
		{ "key_profiler_event_index", &f->profiler_event_index },
		{ "key_record_function_id", &f->rf_id },
		{ "key_input_strides", &f->input_strides },
		{ "key_concrete_inputs", &f->concrete_inputs },
		{ "key_finished", &f->finished },
		{ "key_finished_true", &f->finished_true },
		{ "key_call_from", &f->call_from },
		{ "key_call_stack", &f->call_stack },
		{ "key_priority", &f->priority },
		{ "key_scope", &f->scope },
	};

	snprintf(memory, sizeof(memory), "kind_%d", PF_KIND_MEMORY);
	snprintf(python, sizeof(python), "kind_%d", PF_KIND_PYTHON);
	for (size_t i = 0; i < PF_LEN(known); i++)
		if (!strcmp(key, known[i].key))
			*known[i].field = value;
}

static int read_rows(struct pf_db *db, const char *sql, int64_t trace_id,
		     int (*row)(sqlite3_stmt *st, struct pf_rule_facts *f),
		     struct pf_rule_facts *out, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(db, sql, err);
	int rc;

	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, err)) == 1)
		row(st, out);
	pf_db_keep(db, st);
	return rc;
}

static int fact_row(sqlite3_stmt *st, struct pf_rule_facts *f)
{
	const char *key = pf_sqlite_text(st, 0);

	if (key)
		set_fact(f, key, sqlite3_column_int64(st, 1));
	return 0;
}

static int text_row(sqlite3_stmt *st, struct pf_rule_facts *f)
{
	f->input_dims = sqlite3_column_int64(st, 0);
	f->has_overloads = sqlite3_column_int(st, 1);
	f->has_collections = sqlite3_column_int(st, 2);
	return 0;
}

static int device_row(sqlite3_stmt *st, struct pf_rule_facts *f)
{
	static const char *const devices[] = { NULL, "MTIA", "XPU", "HPU" };

	f->device = devices[sqlite3_column_int(st, 0) & 3];
	f->is_npu = sqlite3_column_int(st, 1);
	return 0;
}

static int base_row(sqlite3_stmt *st, struct pf_rule_facts *f)
{
	f->has_base = sqlite3_column_type(st, 0) != SQLITE_NULL;
	f->is_capture = sqlite3_column_int(st, 1);
	f->is_foreign = sqlite3_column_int(st, 2);
	return 0;
}

static int host_row(sqlite3_stmt *st, struct pf_rule_facts *f)
{
	f->has_host_name = sqlite3_column_int(st, 0);
	f->has_trace_id = sqlite3_column_int(st, 1);
	return 0;
}

static int metadata_row(sqlite3_stmt *st, struct pf_rule_facts *f)
{
	const char *json = pf_sqlite_text(st, 0);

	if (json)
		rules_scan_metadata(json, &f->torch, &f->python);
	return 0;
}

int pf_rules_read_facts(struct pf_db *db, int64_t trace_id,
			struct pf_rule_facts *out, struct pf_err *err)
{
	memset(out, 0, sizeof(*out));
	PF_TRY(read_rows(
		db,
		"SELECT EXISTS(SELECT 1 FROM argset WHERE"
		" instr(text, '\"Input Dims\"')),"
		" EXISTS(SELECT 1 FROM string WHERE"
		" text GLOB 'aten::[A-Za-z_]*.[A-Za-z]*'), "
		" EXISTS(SELECT 1 FROM string WHERE text = 'Python GC'),"
		" ?1",
		trace_id, text_row, out, err));
	PF_TRY(read_rows(db,
			 "SELECT CASE WHEN max(category GLOB 'cuda_*'"
			 " OR category = 'Runtime') THEN 0"
			 " WHEN max(category GLOB 'mtia_*') THEN 1"
			 " WHEN max(category GLOB 'xpu_*') THEN 2"
			 " WHEN max(category = 'hpu_op') THEN 3 ELSE 0 END,"
			 " EXISTS(SELECT 1 FROM process WHERE trace_id = ?1"
			 " AND name = 'Ascend Hardware')"
			 " FROM event_type WHERE ?1",
			 trace_id, device_row, out, err));
	PF_TRY(read_rows(
		db, "SELECT key, value FROM trace_fact WHERE trace_id = ?1",
		trace_id, fact_row, out, err));
	PF_TRY(read_rows(db,
			 "SELECT max(key = 'host_name'), max(key = 'trace_id')"
			 " FROM trace_meta WHERE trace_id = ?1",
			 trace_id, host_row, out, err));
	PF_TRY(read_rows(
		db,
		"SELECT base_ns, format IN ('pfr', 'nsys', 'rocpd',"
		" 'rpd', 'rocprofv3'), format IN ('xspace', 'tf-json', "
		"'memsnap')"
		" OR format IN ('nsys', 'rocpd', 'rpd', 'rocprofv3') AND"
		" NOT EXISTS(SELECT 1 FROM event_type"
		" WHERE category = 'cpu_op')"
		" FROM trace WHERE id = ?1",
		trace_id, base_row, out, err));
	PF_TRY(read_rows(db,
			 "SELECT value FROM trace_meta WHERE trace_id = ?1"
			 " AND key = 'metadata'",
			 trace_id, metadata_row, out, err));
	return 0;
}
