/* SPDX-License-Identifier: MIT */
/*
 * Rows to events.  Every line that is no header, no line of units and not
 * empty is an event of the file: stored, or skipped and counted.
 */
#include "config.h"

#include "formats/logs/telemetry.h"

#include <csv.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/stats.h"
#include "formats/number.h"
#include "formats/sink.h"

/* What the parts of reading logs share.  Not for others. */

#define PF_TELE_COLUMNS 128
#define PF_TELE_TICKS   64 /* rows by which several GPUs are found out */
#define PF_TELE_NONE    SIZE_MAX

struct pf_tele_cell {
	size_t at, len; /* in the text of the row, a NUL behind it */
};

/* What a column says, apart from a number of the GPU. */
enum pf_tele_column {
	PF_TELE_VALUE,
	PF_TELE_TIME,
	PF_TELE_DATE,
	PF_TELE_CLOCK, /* time of the day */
	PF_TELE_UUID,  /* these name the GPU: the first that is there does */
	PF_TELE_BUS,
	PF_TELE_INDEX,
	PF_TELE_COLUMN_KINDS
};

struct pf_tele {
	enum pf_tele_kind kind;
	const struct pf_tele_options *options;
	struct csv_parser csv;
	bool has_csv;
	/* the row at hand */
	struct pf_buf text;
	struct pf_tele_cell cells[PF_TELE_COLUMNS];
	size_t cell_count;
	bool is_too_wide;
	/* columns: names with units, "power.draw [W]" */
	char *names[PF_TELE_COLUMNS];
	size_t columns;
	size_t place[PF_TELE_COLUMN_KINDS]; /* PF_TELE_NONE: it has none */
	size_t device;                      /* column, or PF_TELE_NONE */
	bool has_units; /* the line of units has been read */
	char *header;   /* as it was, to know it again */
	/* times */
	bool has_first, has_zone;
	int64_t first_ns, zone_ns; /* UTC is the time of day minus the zone */
	char first_text[64];
	char first_device[64]; /* that a tick began with */
	int64_t tick, row_count, midnight_ns, last_clock_ns;
	/* rows without a GPU: how far apart they are */
	int64_t gaps[PF_TELE_TICKS], last_ns;
	size_t gap_count;
	struct pf_argline args;
};

static inline const char *pf_tele_text(const struct pf_tele *t, size_t cell)
{
	return t->text.data + t->cells[cell].at;
}

/* Times of day, to integers; nothing depends on the machine that reads. */

#define NS_PER_S INT64_C(1000000000)

/* Exactly "digits" digits, from "least" to "most". */
static bool take(const char **p, int digits, int least, int most, int *out)
{
	*out = 0;
	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)(*p)[i]))
			return false;
		*out = *out * 10 + ((*p)[i] - '0');
	}
	*p += digits;
	return *out >= least && *out <= most;
}

static bool is_leap(int y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static int days_of(int y, int m)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30,
				    31, 31, 30, 31, 30, 31 };

	return days[m - 1] + (m == 2 && is_leap(y));
}

/* Of years from 1970 on. */
static int64_t day_number(int y, int m, int d)
{
	int64_t n = d - 1;

	for (int i = 1970; i < y; i++)
		n += 365 + is_leap(i);
	for (int i = 1; i < m; i++)
		n += days_of(y, i);
	return n;
}

static bool take_date(const char **p, int64_t *ns)
{
	int y, m, d;
	char mark;

	if (!take(p, 4, 1970, 2200, &y))
		return false;
	mark = **p;
	*p += mark == '/' || mark == '-';
	if (!take(p, 2, 1, 12, &m))
		return false;
	if ((mark == '/' || mark == '-') && *(*p)++ != mark)
		return false;
	if (!take(p, 2, 1, 31, &d) || d > days_of(y, m))
		return false;
	*ns = day_number(y, m, d) * 86400 * NS_PER_S;
	return true;
}

static bool take_clock(const char **p, int64_t *ns)
{
	int64_t unit = NS_PER_S;
	int h, m, s;

	if (!take(p, 2, 0, 23, &h) || *(*p)++ != ':' ||
	    !take(p, 2, 0, 59, &m) || *(*p)++ != ':' || !take(p, 2, 0, 60, &s))
		return false;
	*ns = (h * INT64_C(3600) + m * 60 + s) * NS_PER_S;
	if (**p != '.' && **p != ',')
		return true;
	for (++*p; isdigit((unsigned char)**p); ++*p)
		*ns += (**p - '0') * (unit /= 10);
	return true;
}

static bool take_zone(const char **p, int64_t *zone_ns)
{
	int h, m, sign = **p == '-' ? -1 : 1;

	*zone_ns = 0;
	if (**p == 'Z') {
		++*p;
		return true;
	}
	if (*(*p)++ == '\0' || !take(p, 2, 0, 14, &h))
		return false;
	*p += **p == ':';
	if (!take(p, 2, 0, 59, &m))
		return false;
	*zone_ns = sign * (h * INT64_C(3600) + m * 60) * NS_PER_S;
	return true;
}

static bool tele_zone(const char *text, int64_t *zone_ns)
{
	if (*text != 'Z' && *text != '+' && *text != '-')
		return false;
	return take_zone(&text, zone_ns) && !*text;
}

/* "20250908" or "2025/09/08", and "14:14:37" of any day. */
static bool tele_date(const char *text, int64_t *ns)
{
	return take_date(&text, ns) && !*text;
}

static bool tele_clock(const char *text, int64_t *ns)
{
	return take_clock(&text, ns) && !*text;
}

/*
 * "2025/11/21 02:45:01.123", "2025-09-08T17:26:50+08:00".  False if
 * it is no instant.  *has_zone: *zone_ns is set.
 */
static bool tele_stamp(const char *text, int64_t *ns, bool *has_zone,
		       int64_t *zone_ns)
{
	int64_t clock;

	*has_zone = false;
	if (!take_date(&text, ns) || (*text != ' ' && *text != 'T'))
		return false;
	text++;
	if (!take_clock(&text, &clock))
		return false;
	*ns += clock;
	*has_zone = *text == 'Z' || *text == '+' || *text == '-';
	return *has_zone ? take_zone(&text, zone_ns) && !*text : !*text;
}

/* What columns are called, and what tells logs of others apart from ours. */

/* ---- which file it is ---- */

static bool begins_with_date(const char *head, size_t len)
{
	static const char form[] = "dddd/dd/dd dd:dd";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (i >= len ||
		    (form[i] == 'd' ? !isdigit((unsigned char)head[i])
				    : head[i] != form[i]))
			return false;
	return true;
}

bool pf_tele_claims(enum pf_tele_kind kind, const char *head, size_t len)
{
	switch (kind) {
	case PF_TELE_SMI:
		return pf_begins(head, len, "timestamp,") ||
		       pf_begins(head, len, "elapsed_sec") ||
		       begins_with_date(head, len);
	case PF_TELE_DMON:
		return pf_begins(head, len, "# gpu") ||
		       pf_begins(head, len, "#Date") ||
		       pf_begins(head, len, "#Time");
	case PF_TELE_DCGMI:
		return pf_begins(head, len, "#Entity") ||
		       pf_begins(head, len, "# Entity");
	}
	return false;
}

/* ---- cells ---- */

static void add_cell(struct pf_tele *t, const char *p, size_t len)
{
	if (t->cell_count == PF_TELE_COLUMNS) {
		t->is_too_wide = true;
		return;
	}
	while (len && (*p == ' ' || *p == '\t')) {
		p++;
		len--;
	}
	while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	t->cells[t->cell_count++] = (struct pf_tele_cell){ t->text.len, len };
	pf_buf_add(&t->text, p, len);
	pf_buf_addc(&t->text, '\0');
}

static void take_cell(void *text, size_t len, void *arg)
{
	add_cell(arg, text ? text : "", len);
}

static bool split_commas(struct pf_tele *t, const struct pf_text_line *line)
{
	if (!t->has_csv && csv_init(&t->csv, CSV_STRICT | CSV_STRICT_FINI))
		return false;
	t->has_csv = true;
	if (csv_parse(&t->csv, line->text, line->len, take_cell, NULL, t) !=
		    line->len ||
	    csv_fini(&t->csv, take_cell, NULL, t)) {
		csv_free(&t->csv);
		t->has_csv = false;
		return false;
	}
	return true;
}

static void split_blanks(struct pf_tele *t, const struct pf_text_line *line)
{
	const char *p = line->text, *end = p + line->len;

	while (p < end) {
		const char *from;

		while (p < end && isspace((unsigned char)*p))
			p++;
		for (from = p; p < end && !isspace((unsigned char)*p);)
			p++;
		if (p > from)
			add_cell(t, from, (size_t)(p - from));
	}
}

static bool tele_split(struct pf_tele *t, const struct pf_text_line *line)
{
	bool ok = true;

	pf_buf_clear(&t->text);
	t->cell_count = 0;
	t->is_too_wide = false;
	if (line->is_too_long || memchr(line->text, '\0', line->len))
		return false;
	if (t->kind == PF_TELE_SMI)
		ok = split_commas(t, line);
	else
		split_blanks(t, line);
	/* numbers are read with bytes behind them */
	pf_buf_reserve(&t->text, t->text.len + 16);
	memset(t->text.data + t->text.len, 0, 16);
	return ok && !t->is_too_wide;
}

/* ---- names ---- */

/* What nvidia-smi --help-query-gpu lists is one of these, or begins so. */
static const char *const smi_columns[] = {
	"name",
	"gpu_name",
	"index",
	"uuid",
	"gpu_uuid",
	"serial",
	"gpu_serial",
	"count",
	"pstate",
	"fan.speed",
	"gom.current",
	"gom.pending",
	"compute_mode",
	"compute_cap",
	"vbios_version",
	"driver_version",
	"persistence_mode",
	"display_mode",
	"display_active",
	"display_attached",
	"reset_status",
	"addressing_mode",
	"gpu_recovery_action",
};
static const char *const smi_starts[] = {
	"pci.",
	"pcie.",
	"memory.",
	"utilization.",
	"power.",
	"clocks.",
	"temperature.",
	"enforced.",
	"encoder.",
	"ecc.",
	"mig.",
	"clocks_throttle_reasons.",
	"clocks_event_reasons",
	"retired_pages.",
	"accounting.",
	"inforom.",
	"protected_memory.",
	"fabric.",
	"driver_model.",
	"module.",
	"total_energy_consumption",
	"gpu_operation_mode.",
	"dramEncryption.",
	"platform.",
	"hostname",
	"remapped_rows.",
	"row_remapper.",
};

static bool is_of_smi(const char *name)
{
	size_t n = strcspn(name, " [");

	for (size_t i = 0; i < PF_LEN(smi_columns); i++)
		if (n == strlen(smi_columns[i]) &&
		    !memcmp(name, smi_columns[i], n))
			return true;
	for (size_t i = 0; i < PF_LEN(smi_starts); i++)
		if (!strncmp(name, smi_starts[i], strlen(smi_starts[i])))
			return true;
	return false;
}

static const struct {
	const char *name;
	enum pf_tele_column what;
} known[] = {
	{ "timestamp", PF_TELE_TIME }, { "uuid", PF_TELE_UUID },
	{ "gpu_uuid", PF_TELE_UUID },  { "pci.bus_id", PF_TELE_BUS },
	{ "gpu_bus_id", PF_TELE_BUS }, { "index", PF_TELE_INDEX },
	{ "gpu", PF_TELE_INDEX },      { "Date", PF_TELE_DATE },
	{ "Time", PF_TELE_CLOCK },     { "Entity", PF_TELE_INDEX },
};

static void place(struct pf_tele *t, size_t column)
{
	for (size_t i = 0; i < PF_LEN(known); i++)
		if (!strcmp(t->names[column], known[i].name) &&
		    t->place[known[i].what] == PF_TELE_NONE)
			t->place[known[i].what] = column;
}

/* Only what these tools write: no name needs escapes anywhere. */
static bool is_name(const char *p)
{
	for (; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-/%[]() ", *p))
			return false;
	return true;
}

static int check_names(const struct pf_tele *t, struct pf_err *err)
{
	for (size_t i = 0; i < t->columns; i++) {
		const char *name = t->names[i];

		if (!*name || strlen(name) > 100 || !is_name(name))
			return pf_fail(err, PF_EDATA,
				       "is no log of nvidia-smi: column %zu of "
				       "its first line has no name that "
				       "nvidia-smi writes",
				       i + 1);
		if (t->kind == PF_TELE_SMI && i && !is_of_smi(name))
			return pf_fail(err, PF_EDATA,
				       "is no log of nvidia-smi: it has a "
				       "column '%s', which nvidia-smi does not "
				       "write",
				       name);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(t->names[k], name))
				return pf_fail(err, PF_EDATA,
					       "has two columns '%s'", name);
	}
	return 0;
}

static int check_places(struct pf_tele *t, struct pf_err *err)
{
	if (t->kind == PF_TELE_SMI && t->place[PF_TELE_TIME])
		return pf_fail(err, PF_EDATA,
			       "is a log of nvidia-smi whose first column is "
			       "no timestamp");
	if (t->kind != PF_TELE_SMI && t->place[PF_TELE_CLOCK] == PF_TELE_NONE &&
	    !t->options->interval_ns)
		return pf_fail(err, PF_EUSAGE,
			       "has no times: profan ingest --interval says "
			       "how far apart "
			       "its rows are");
	for (int i = PF_TELE_UUID;
	     i <= PF_TELE_INDEX && t->device == PF_TELE_NONE; i++)
		t->device = t->place[i];
	return 0;
}

/* The cells of the row at hand are the names of the columns. */
static int tele_columns(struct pf_tele *t, struct pf_err *err)
{
	for (size_t i = 0; i < t->cell_count; i++) {
		const char *name = pf_tele_text(t, i);

		/* "#Date", or "#" alone, which is no column */
		if (t->kind != PF_TELE_SMI && !i && *name == '#' && !*++name)
			continue;
		t->names[t->columns++] = pf_strdup(name);
		place(t, t->columns - 1);
	}
	return check_names(t, err) || check_places(t, err) ? -1 : 0;
}

/* What the first line says; the cells of a row by its commas. */
static int tele_header(struct pf_tele *t, const struct pf_text_line *line,
		       struct pf_err *err)
{
	struct pf_text_line own = { .text = t->options->columns };

	if (pf_begins(line->text, line->len, "elapsed_sec"))
		return pf_fail(
			err, PF_EDATA,
			"is a log of a program of its own (elapsed_sec), "
			"not of nvidia-smi");
	if (t->kind == PF_TELE_SMI && begins_with_date(line->text, line->len)) {
		if (!own.text)
			return pf_fail(
				err, PF_EDATA,
				"is a log of nvidia-smi without its first "
				"line: profan ingest --columns says what its "
				"columns "
				"are, as --query-gpu did");
		own.len = strlen(own.text);
		line = &own;
	}
	if (!tele_split(t, line))
		return pf_fail(err, PF_EDATA,
			       "is no log of nvidia-smi: its first line cannot "
			       "be read");
	t->header = pf_memdup0(line->text, line->len);
	return tele_columns(t, err);
}

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
		t->has_zone = tele_zone(options->zone, &t->zone_ns);
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

	if (tele_zone(zone, &ns))
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no zone: as +02:00, -07:00 or Z", zone);
}

int pf_tele_check_start(const char *start, struct pf_err *err)
{
	int64_t ns, zone_ns;
	bool has_zone;

	if (tele_stamp(start, &ns, &has_zone, &zone_ns))
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

	if (!tele_clock(pf_tele_text(t, t->place[PF_TELE_CLOCK]), ns))
		return false;
	if (t->place[PF_TELE_DATE] != PF_TELE_NONE) {
		if (!tele_date(pf_tele_text(t, t->place[PF_TELE_DATE]), &date))
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
	    !tele_stamp(t->options->start, &start_ns, &has_zone, &zone_ns))
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
	if (!tele_stamp(stamp, ns, &has_zone, &zone_ns))
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

static void put(struct pf_tele *t, int64_t ns, const char *device, size_t shift,
		struct pf_parsed *out)
{
	struct pf_event ev = {
		.start_ns = ns - t->first_ns,
		.ph = 'C',
		.kind = PF_KIND_COUNTER,
		.name = pf_dict_word(&out->names, event_names[t->kind]),
		.track = pf_parsed_track(out, 'c', device, ""),
		.args = make_args(t, shift, out),
		.order = (int32_t)(out->batch.event_count - 1),
	};

	pf_batch_store(&out->batch, &ev,
		       pf_dict_word(&out->categories, "telemetry"),
		       t->args.mask, t->args.slots);
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
	PF_TRY(watch_gaps(t, ns, err));
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
		PF_TRY(tele_header(t, line, err));
		if (!t->options->columns || is_header(t, line))
			return 0;
	}
	if (is_header(t, line))
		return 0; /* once more */
	if (!tele_split(t, line)) {
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
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (!t->header)
		return pf_fail(err, PF_EDATA, "is empty");
	PF_TRY(check_gpus(t, err));
	if (t->has_first && t->has_zone && is_dated)
		pf_batch_base(&out->batch, t->first_ns - t->zone_ns);
	if (*t->first_text) {
		pf_buf_addf(&text, "\"%s\"", t->first_text);
		pf_batch_member(&out->batch, "firstRow", &text);
	}
	return 0;
}
