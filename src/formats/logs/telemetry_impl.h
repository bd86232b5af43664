/* SPDX-License-Identifier: MIT */
/* What the parts of reading logs share.  Not for others. */
#ifndef PF_TELEMETRY_IMPL_H
#define PF_TELEMETRY_IMPL_H

#include <csv.h>

#include "base/buf.h"
#include "formats/logs/telemetry.h"
#include "formats/argline.h"

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

/*
 * stamp.c: "2025/11/21 02:45:01.123", "2025-09-08T17:26:50+08:00".  False if
 * it is no instant.  *has_zone: *zone_ns is set.
 */
bool pf_tele_stamp(const char *text, int64_t *ns, bool *has_zone,
		   int64_t *zone_ns);
/* "20250908" or "2025/09/08", and "14:14:37" of any day. */
bool pf_tele_date(const char *text, int64_t *ns);
bool pf_tele_clock(const char *text, int64_t *ns);
bool pf_tele_zone(const char *text, int64_t *zone_ns);

/* columns.c: what the first line says; the cells of a row by its commas. */
int pf_tele_header(struct pf_tele *t, const struct pf_text_line *line,
		   struct pf_err *err);
int pf_tele_columns(struct pf_tele *t, struct pf_err *err);
bool pf_tele_split(struct pf_tele *t, const struct pf_text_line *line);
static inline const char *pf_tele_text(const struct pf_tele *t, size_t cell)
{
	return t->text.data + t->cells[cell].at;
}

#endif
