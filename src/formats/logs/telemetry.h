/* SPDX-License-Identifier: MIT */
/*
 * What tools of NVIDIA log of GPUs while programs run: nvidia-smi
 * --query-gpu=... --format=csv, nvidia-smi dmon, dcgmi dmon.  A row is a
 * counter event of its GPU, which has the numbers of the row as arguments,
 * under the names and units that the log gives them.
 *
 * Logs have the time of day of a machine, without its zone, or no time at all:
 * nothing is guessed.  Without a zone the times of the events are right and
 * the base is not known.
 */
#pragma once

#include <stdbool.h>

#include "formats/batch.h"
#include "formats/input.h"

enum pf_tele_kind { PF_TELE_SMI, PF_TELE_DMON, PF_TELE_DCGMI };

/* What the log does not say, or NULL, 0. */
struct pf_tele_options {
	const char *columns; /* of a log without its first line */
	const char *zone;    /* "+02:00", "Z" */
	int64_t gpus;        /* rows of a tick, where none names its GPU */
	int64_t interval_ns; /* between rows that have no time */
	const char *start;   /* when the first of these was written */
};

/* Does a text begin as one of these, or as another that is refused by name? */
bool pf_tele_claims(enum pf_tele_kind kind, const char *head, size_t len);

/* PF_EUSAGE: the zone is none. */
int pf_tele_check_zone(const char *zone, struct pf_err *err);
/* PF_EUSAGE: it is no instant. */
int pf_tele_check_start(const char *start, struct pf_err *err);

struct pf_tele;
struct pf_tele *pf_tele_new(enum pf_tele_kind kind,
			    const struct pf_tele_options *options);
void pf_tele_free(struct pf_tele *t);

/* Take in a line; its event, if it is a row, is added to the batch of "out". */
int pf_tele_line(struct pf_tele *t, const struct pf_text_line *line,
		 struct pf_parsed *out, struct pf_err *err);

/* All lines are there: what is known of the base goes to "out". */
int pf_tele_finish(struct pf_tele *t, struct pf_parsed *out,
		   struct pf_err *err);
