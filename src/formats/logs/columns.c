/* SPDX-License-Identifier: MIT */
/* What columns are called, and what tells logs of others apart from ours. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/logs/telemetry_impl.h"

/* ---- which file it is ---- */

static bool begins(const char *head, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(head, with, n);
}

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
		return begins(head, len, "timestamp,") ||
		       begins(head, len, "elapsed_sec") ||
		       begins_with_date(head, len);
	case PF_TELE_DMON:
		return begins(head, len, "# gpu") ||
		       begins(head, len, "#Date") || begins(head, len, "#Time");
	case PF_TELE_DCGMI:
		return begins(head, len, "#Entity") ||
		       begins(head, len, "# Entity");
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

bool pf_tele_split(struct pf_tele *t, const struct pf_text_line *line)
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

	for (size_t i = 0; i < sizeof(smi_columns) / sizeof(*smi_columns); i++)
		if (n == strlen(smi_columns[i]) &&
		    !memcmp(name, smi_columns[i], n))
			return true;
	for (size_t i = 0; i < sizeof(smi_starts) / sizeof(*smi_starts); i++)
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
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
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
int pf_tele_columns(struct pf_tele *t, struct pf_err *err)
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

int pf_tele_header(struct pf_tele *t, const struct pf_text_line *line,
		   struct pf_err *err)
{
	struct pf_text_line own = { .text = t->options->columns };

	if (begins(line->text, line->len, "elapsed_sec"))
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
	if (!pf_tele_split(t, line))
		return pf_fail(err, PF_EDATA,
			       "is no log of nvidia-smi: its first line cannot "
			       "be read");
	t->header = pf_memdup0(line->text, line->len);
	return pf_tele_columns(t, err);
}
