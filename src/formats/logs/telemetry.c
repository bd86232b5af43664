/* SPDX-License-Identifier: MIT */
/*
 * Rows to events.  Every line that is no header, no line of units and not
 * empty is an event of the file: stored, or skipped and counted.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/stats.h"
#include "formats/logs/telemetry_impl.h"
#include "formats/number.h"

#define NS_PER_DAY (INT64_C(86400) * 1000000000)
#define CLOSE_NS   INT64_C(20000000) /* rows of one tick are as near */

static const char *const event_names[] = {
	[PF_TELE_SMI] = "nvidia-smi",
	[PF_TELE_DMON] = "nvidia-smi dmon",
	[PF_TELE_DCGMI] = "dcgmi dmon",
};

struct pf_tele *pf_tele_new(enum pf_tele_kind kind,
			    const struct pf_tele_options *options)
{
	struct pf_tele *t = pf_calloc(1, sizeof(*t));

	t->kind = kind;
	t->options = options;
	t->device = PF_TELE_NONE;
	for (size_t i = 0; i < PF_TELE_COLUMN_KINDS; i++)
		t->place[i] = PF_TELE_NONE;
	if (options->zone)
		t->has_zone = pf_tele_zone(options->zone, &t->zone_ns);
	return t;
}

void pf_tele_free(struct pf_tele *t)
{
	if (t->has_csv)
		csv_free(&t->csv);
	for (size_t i = 0; i < t->columns; i++)
		free(t->names[i]);
	free(t->header);
	pf_buf_release(&t->text);
	pf_argline_release(&t->args);
	free(t);
}

int pf_tele_check_zone(const char *zone, struct pf_err *err)
{
	int64_t ns;

	if (pf_tele_zone(zone, &ns))
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no zone: as +02:00, -07:00 or Z", zone);
}

int pf_tele_check_start(const char *start, struct pf_err *err)
{
	int64_t ns, zone_ns;
	bool has_zone;

	if (pf_tele_stamp(start, &ns, &has_zone, &zone_ns))
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no instant: as 2026-11-23T12:00:00+01:00",
		       start);
}

/* ---- which GPU ---- */

/* "GPU 0"; what a row says itself, else its turn, else nothing. */
static void name_device(const struct pf_tele *t, char out[96])
{
	const char *own =
		t->device == PF_TELE_NONE ? "" : pf_tele_text(t, t->device);
	bool is_number = *own != '\0';

	for (const char *p = own; *p; p++)
		is_number = is_number && isdigit((unsigned char)*p);
	if (t->device == PF_TELE_NONE && t->options->gpus)
		snprintf(out, 96, "GPU %" PRId64,
			 t->row_count % t->options->gpus);
	else if (is_number)
		snprintf(out, 96, "GPU %.80s", own);
	else
		snprintf(out, 96, "%.90s", *own ? own : "GPU");
}

/*
 * Rows of several GPUs that none names come close together: half of the gaps
 * and more are far shorter than the longest.
 */
static int check_gpus(struct pf_tele *t, struct pf_err *err)
{
	size_t n = t->gap_count, close = 0;

	t->gap_count = 0;
	if (n < 4)
		return 0;
	pf_sort(t->gaps, n, sizeof(*t->gaps), pf_stats_compare);
	for (size_t i = 0; i < n; i++)
		close += t->gaps[i] <= CLOSE_NS &&
			 t->gaps[i] <= t->gaps[n - 1] / 10;
	if (close * 5 < n * 2)
		return 0;
	return pf_fail(err, PF_EDATA,
		       "has rows of several GPUs and no column that says of "
		       "which (index, uuid): profan ingest --gpus says how "
		       "many take turns");
}

static int watch_gaps(struct pf_tele *t, int64_t ns, struct pf_err *err)
{
	bool is_watched = t->device == PF_TELE_NONE && !t->options->gpus &&
			  t->row_count <= PF_TELE_TICKS;
	int rc = 0;

	if (is_watched && t->row_count)
		t->gaps[t->gap_count++] = ns - t->last_ns;
	if (t->gap_count == PF_TELE_TICKS)
		rc = check_gpus(t, err);
	t->last_ns = ns;
	return rc;
}

/* ---- when ---- */

/* The time of a day goes on past midnight. */
static bool clock_time(struct pf_tele *t, int64_t *ns)
{
	int64_t date = 0;

	if (!pf_tele_clock(pf_tele_text(t, t->place[PF_TELE_CLOCK]), ns))
		return false;
	if (t->place[PF_TELE_DATE] != PF_TELE_NONE) {
		if (!pf_tele_date(pf_tele_text(t, t->place[PF_TELE_DATE]),
				  &date))
			return false;
		*ns += date;
		return true;
	}
	if (*ns < t->last_clock_ns - NS_PER_DAY / 2)
		t->midnight_ns += NS_PER_DAY;
	t->last_clock_ns = *ns;
	*ns += t->midnight_ns;
	return true;
}

static void add_start(struct pf_tele *t, int64_t *ns)
{
	int64_t start_ns, zone_ns;
	bool has_zone;

	if (!t->options->start ||
	    !pf_tele_stamp(t->options->start, &start_ns, &has_zone, &zone_ns))
		return;
	*ns += start_ns;
	if (!has_zone)
		return;
	t->has_zone = true;
	t->zone_ns = zone_ns;
}

/* A tick ends where the GPU comes again that it began with. */
static void tick_time(struct pf_tele *t, const char *device, int64_t *ns)
{
	if (!t->row_count)
		snprintf(t->first_device, sizeof(t->first_device), "%.63s",
			 device);
	else if (!strncmp(t->first_device, device, sizeof(t->first_device) - 1))
		t->tick++;
	*ns = t->tick > PF_TIME_MAX_NS / t->options->interval_ns
		      ? PF_TIME_MAX_NS
		      : t->tick * t->options->interval_ns;
	add_start(t, ns);
}

static bool find_time(struct pf_tele *t, const char *device, int64_t *ns)
{
	const char *stamp;
	bool has_zone;
	int64_t zone_ns;

	if (t->kind != PF_TELE_SMI) {
		if (t->place[PF_TELE_CLOCK] != PF_TELE_NONE)
			return clock_time(t, ns);
		tick_time(t, device, ns);
		return true;
	}
	stamp = pf_tele_text(t, t->place[PF_TELE_TIME]);
	if (!pf_tele_stamp(stamp, ns, &has_zone, &zone_ns))
		return false;
	if (has_zone && !t->has_first) {
		t->has_zone = true;
		t->zone_ns = zone_ns;
	} else if (has_zone) {
		*ns += t->zone_ns - zone_ns; /* summer time ends */
	}
	return true;
}

/* ---- what ---- */

static bool is_absent(const char *p)
{
	return !*p || *p == '[' || !strcmp(p, "-") || !strcmp(p, "N/A");
}

/*
 * "12.5 W" is 12.5 under "power.draw [W]"; a unit that the header does not
 * have goes to the key, one that differs makes a text of it.
 */
static void add_value(struct pf_tele *t, const char *name, const char *text)
{
	int64_t value;
	const char *end = pf_number_decimal(text, &value);
	char key[160];

	if (is_absent(text))
		return;
	snprintf(key, sizeof(key), "%s", name);
	if (end && *end == ' ' && !strchr(name, '['))
		snprintf(key, sizeof(key), "%s [%.20s]", name, end + 1);
	if (end && *end == ' ' &&
	    (!strchr(key, '[') ||
	     strncmp(strchr(key, '[') + 1, end + 1, strlen(end + 1)) != 0))
		end = NULL;
	for (const char *p = key; *p && end; p++)
		if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ' ||
		    (unsigned char)*p >= 0x7f)
			end = NULL; /* only what is plain is a key */
	if (end && *end && *end != ' ')
		end = NULL;
	if (!end)
		pf_argline_text(&t->args, name, text, strlen(text));
	else if (t->args.generic < PF_SLOT_GENERIC_COUNT)
		pf_argline_slot(
			&t->args, key,
			(enum pf_slot)(PF_SLOT_GENERIC + t->args.generic++),
			value);
	else
		pf_argline_real(&t->args, key, strtod(text, NULL));
}

static uint32_t make_args(struct pf_tele *t, size_t shift,
			  struct pf_parsed *out)
{
	pf_argline_open(&t->args);
	for (size_t i = 0; i < t->columns; i++) {
		bool is_number = true;

		for (int k = PF_TELE_TIME; k < PF_TELE_COLUMN_KINDS; k++)
			is_number = is_number && t->place[k] != i;
		if (is_number)
			add_value(t, t->names[i], pf_tele_text(t, i + shift));
	}
	return pf_argline_close(&t->args, &out->args);
}

/* ---- rows ---- */

static uint32_t find_track(struct pf_parsed *out, const char *device)
{
	struct pf_buf text = { 0 };
	uint32_t track;

	pf_buf_addf(&text, "c%08zx%s", strlen(device), device);
	track = pf_dict_find(&out->tracks, text.data, text.len, 0);
	pf_buf_release(&text);
	return track;
}

static void put(struct pf_tele *t, int64_t ns, const char *device, size_t shift,
		struct pf_parsed *out)
{
	const char *name = event_names[t->kind];
	struct pf_batch *b = &out->batch;
	struct pf_event ev = {
		.start_ns = ns - t->first_ns,
		.ph = 'C',
		.kind = PF_KIND_COUNTER,
		.order = (int32_t)(b->event_count - 1),
	};

	ev.name = pf_dict_find(&out->names, name, strlen(name), 0);
	ev.track = find_track(out, device);
	ev.args = make_args(t, shift, out);
	ev.type = pf_batch_type(
		b, pf_dict_find(&out->categories, "telemetry", 9, 0), 'C',
		PF_KIND_COUNTER);
	b->kind_count[PF_KIND_COUNTER]++;
	pf_batch_put(b, &ev, t->args.mask, t->args.slots);
}

/* "GPU 0" of dcgmi are two cells. */
static size_t join_entity(struct pf_tele *t)
{
	if (t->kind != PF_TELE_DCGMI || t->cell_count != t->columns + 1)
		return 0;
	t->cells[0].len = t->cells[1].at + t->cells[1].len - t->cells[0].at;
	t->text.data[t->cells[1].at - 1] = ' ';
	return 1;
}

static int take_row(struct pf_tele *t, const struct pf_text_line *line,
		    struct pf_parsed *out, struct pf_err *err)
{
	struct pf_batch *b = &out->batch;
	size_t shift = join_entity(t);
	char device[96];
	int64_t ns;

	b->event_count++;
	if (t->cell_count != t->columns + shift) {
		pf_repair_note(&b->repairs, PF_SKIP_MALFORMED, 1, line->offset);
		return 0;
	}
	name_device(t, device);
	if (!find_time(t, device, &ns)) {
		pf_repair_note(&b->repairs, PF_SKIP_NO_TIME, 1, line->offset);
		return 0;
	}
	if (!t->has_first) {
		t->has_first = true;
		t->first_ns = ns;
		snprintf(t->first_text, sizeof(t->first_text), "%.63s",
			 t->place[PF_TELE_TIME] == PF_TELE_NONE
				 ? ""
				 : pf_tele_text(t, t->place[PF_TELE_TIME]));
	}
	if (watch_gaps(t, ns, err))
		return -1;
	if (!pf_time_fits(ns - t->first_ns, 0)) {
		pf_repair_note(&b->repairs, PF_SKIP_TIME_RANGE, 1,
			       line->offset);
		return 0;
	}
	put(t, ns, device, shift, out);
	t->row_count++;
	return 0;
}

/* "# Idx  W  C", "ID": units, which become parts of the names. */
static bool take_units(struct pf_tele *t)
{
	const char *first = pf_tele_text(t, 0);
	size_t skip = *first == '#' && !first[1];

	if (*first != '#' && strcmp(first, "ID") != 0)
		return false;
	for (size_t i = 0; i < t->columns && !t->has_units; i++) {
		const char *unit = i + skip < t->cell_count
					   ? pf_tele_text(t, i + skip)
					   : "-";
		struct pf_buf name = { 0 };

		if (t->kind != PF_TELE_DMON || !strcmp(unit, "-") ||
		    i == t->device || *unit == '#' || strlen(unit) > 20 ||
		    strpbrk(unit, "\"\\[]") || !strcmp(unit, "YYYYMMDD") ||
		    !strcmp(unit, "HH:MM:SS"))
			continue;
		pf_buf_addf(&name, "%s [%s]", t->names[i], unit);
		free(t->names[i]);
		t->names[i] = name.data;
	}
	t->has_units = true;
	return true;
}

static bool is_header(const struct pf_tele *t, const struct pf_text_line *line)
{
	return line->len == strlen(t->header) &&
	       !memcmp(line->text, t->header, line->len);
}

static bool is_blank(const struct pf_text_line *line)
{
	for (size_t i = 0; i < line->len; i++)
		if (!isspace((unsigned char)line->text[i]))
			return false;
	return true;
}

int pf_tele_line(struct pf_tele *t, const struct pf_text_line *line,
		 struct pf_parsed *out, struct pf_err *err)
{
	if (is_blank(line))
		return 0;
	if (!t->header) {
		if (pf_tele_header(t, line, err))
			return -1;
		if (!t->options->columns || is_header(t, line))
			return 0;
	}
	if (is_header(t, line))
		return 0; /* once more */
	if (!pf_tele_split(t, line)) {
		out->batch.event_count++;
		pf_repair_note(&out->batch.repairs, PF_SKIP_MALFORMED, 1,
			       line->offset);
		return 0;
	}
	if (t->kind != PF_TELE_SMI && take_units(t))
		return 0;
	return take_row(t, line, out, err);
}

int pf_tele_finish(struct pf_tele *t, struct pf_parsed *out, struct pf_err *err)
{
	bool is_dated =
		t->kind == PF_TELE_SMI ||
		t->place[PF_TELE_DATE] != PF_TELE_NONE ||
		(t->options->start && t->place[PF_TELE_CLOCK] == PF_TELE_NONE);
	struct pf_buf text = { 0 };

	if (!t->header)
		return pf_fail(err, PF_EDATA, "is empty");
	if (check_gpus(t, err))
		return -1;
	if (t->has_first && t->has_zone && is_dated) {
		pf_buf_addf(&text, "%" PRId64, t->first_ns - t->zone_ns);
		pf_batch_member(&out->batch, "baseTimeNanoseconds", &text);
		pf_buf_clear(&text);
	}
	if (*t->first_text) {
		pf_buf_addf(&text, "\"%s\"", t->first_text);
		pf_batch_member(&out->batch, "firstRow", &text);
	}
	pf_buf_release(&text);
	return 0;
}
