/* SPDX-License-Identifier: MIT */
/*
 * Command-line options as rows of a table.  Parsing, --help, the man-page
 * check and shell completion all read the same rows.
 *
 *	struct gaps_args { int64_t min_ns, limit; bool all; };
 *	static const struct gaps_args gaps_defaults = { .limit = 20 };
 *	static const struct pf_opt gaps_opts[] = {
 *		{ 'm', "min", "DURATION", "leave out shorter gaps",
 *		  PF_OPT_NS, offsetof(struct gaps_args, min_ns), 0, 0 },
 *		{ 'n', "limit", "N", "print at most N rows",
 *		  PF_OPT_INT, offsetof(struct gaps_args, limit), 1, 1000 },
 *		{ 0, "all", NULL, "print every gap",
 *		  PF_OPT_FLAG, offsetof(struct gaps_args, all), 0, 0 },
 *		{ 0 }
 *	};
 *
 * Spellings: -n 5, -n5, --limit 5, --limit=5, --lim 5 (an unambiguous
 * beginning), -am5 (flags in a row), --no-all, --no-limit (back to the
 * default).  Options and other arguments may be mixed; "--" ends options and
 * "-" alone is an argument, as is a word that begins with "-- " (SQL with a
 * comment).  Strings are borrowed from argv.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pf_opt_kind {
	PF_OPT_FLAG,   /* bool */
	PF_OPT_INT,    /* int64_t within min..max (both 0: 0..INT64_MAX) */
	PF_OPT_STRING, /* const char *, never empty unless min is -1 */
	PF_OPT_LIST,   /* struct pf_opt_list; the option may be repeated */
	PF_OPT_NS,     /* int64_t ns, written "250us", "1.5ms", "2s", "0" */
	PF_OPT_CHOICE, /* int, index of the word in arg: "text|csv|json" */
};

struct pf_opt_list {
	const char **items; /* owned; the strings are borrowed */
	size_t count, cap;
};

/* A table ends with a row whose name is NULL. */
struct pf_opt {
	char c;           /* short form, or 0 */
	const char *name; /* long form without "--" */
	const char *arg;  /* what the value is called in help; NULL: a flag */
	const char *help; /* one line, lower case, no full stop */
	enum pf_opt_kind kind;
	size_t off; /* of the field in the struct the set points to */
	int64_t min, max;
};

/* Rows, the struct they write to and what it held at first. */
struct pf_opt_set {
	const struct pf_opt *opts; /* NULL: none */
	void *args;
	const void *defaults; /* for --no-NAME; NULL: all zero */
};

/*
 * Parse argv[0..*argc) (without program and command name) with "count" sets;
 * earlier sets win.  On return argv[0..*argc) are the other arguments, and
 * argv[*argc] is NULL if argv[] had one there before.  is_head: the first that
 * is no option, or what follows "--", and all behind it are another program's.
 * PF_EUSAGE, with a suggestion, for anything that does not fit.
 */
int pf_opt_parse(const struct pf_opt_set *sets, size_t count, bool is_head,
		 int *argc, char **argv, struct pf_err *err);

/*
 * The first option that is not as it was (defaults NULL: zero) and none of
 * these words, which have a space between them; NULL: there is none.
 */
const char *pf_opt_other(const struct pf_opt *opts, const void *args,
			 const void *defaults, const char *words);
bool pf_opt_is_set(const struct pf_opt *opt, const void *args,
		   const void *defaults);

/* Free the lists that parsing filled in. */
void pf_opt_release(const struct pf_opt_set *sets, size_t count);

/* Length of the word no. "n" of "a|b|c" and where it begins; NULL past it. */
const char *pf_opt_choice(const char *words, int n, size_t *len);

/*
 * "Did you mean ...?": offer candidates, keep the nearest to a word.  Words
 * are compared by edit distance, cut to 63 bytes; nothing that differs in
 * more than a third of its letters is suggested.
 */

struct pf_suggest {
	const char *word; /* set by the caller, not NULL */
	const char *best; /* borrowed from the offers, or NULL */
	size_t distance;
};

void pf_suggest_offer(struct pf_suggest *s, const char *candidate);
