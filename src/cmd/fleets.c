/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/fleets.h"
#include "compare/fleet.h"
#include "events/window.h"
#include "compare/fleet_show.h"

#define LIMIT_TEXT 10 /* people read a page, however many ranks there are */

bool pf_is_fleet(const char *path)
{
	return pf_db_peek(path) == PF_FLEET_APPLICATION_ID;
}

/* ---- options ---- */

static const struct pf_opt *find_opt(const struct pf_cmd *cmd, const char *name)
{
	for (const struct pf_opt *o = cmd->opts; o && o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

static size_t bytes_of(const struct pf_opt *o)
{
	switch (o->kind) {
	case PF_OPT_FLAG:
		return sizeof(bool);
	case PF_OPT_CHOICE:
		return sizeof(int);
	case PF_OPT_STRING:
		return sizeof(const char *);
	case PF_OPT_LIST:
		return sizeof(struct pf_opt_list);
	default:
		return sizeof(int64_t);
	}
}

static bool is_set(const struct pf_cmd *cmd, const struct pf_opt *o,
		   const void *args)
{
	static const char zero[sizeof(struct pf_opt_list)];
	const char *was =
		cmd->defaults ? (const char *)cmd->defaults + o->off : zero;

	return memcmp((const char *)args + o->off, was, bytes_of(o)) != 0;
}

static int64_t value_of(const struct pf_opt *o, const void *args)
{
	int64_t value;

	memcpy(&value, (const char *)args + o->off, sizeof(value));
	return value;
}

/* The one that --rank names, as a number or as a list of numbers. */
static int rank_of(const struct pf_opt *o, const void *args, int64_t *rank,
		   struct pf_err *err)
{
	const char *list, *at;
	int64_t last;

	if (o->kind == PF_OPT_INT) {
		*rank = value_of(o, args);
		return 0;
	}
	memcpy(&list, (const char *)args + o->off, sizeof(list));
	at = list;
	if (pf_window_range(&at, rank, &last) != 1 || *rank != last || *at)
		return pf_fail(err, PF_EUSAGE,
			       "'--rank %s': of a fleet name one rank, whose "
			       "database is read",
			       list);
	return 0;
}

static int check_options(const struct pf_cmd *cmd, const void *args,
			 struct pf_err *err)
{
	for (const struct pf_opt *o = cmd->opts; o && o->name; o++)
		if (strcmp(o->name, "limit") != 0 && is_set(cmd, o, args))
			return pf_fail(err, PF_EUSAGE,
				       "'--%s' is of the events of one rank, "
				       "which a fleet does not have: choose it "
				       "with --rank",
				       o->name);
	return 0;
}

int64_t pf_fleet_limit(const struct pf_cmd *cmd, const struct pf_ctx *cx,
		       const void *args, bool is_limited)
{
	const struct pf_opt *own = find_opt(cmd, "limit");

	if (is_limited)
		return cx->limit;
	if (own && is_set(cmd, own, args))
		return value_of(own, args);
	return cx->wide ? -1 : LIMIT_TEXT;
}

/* ---- which database ---- */

int pf_fleet_choose(const struct pf_cmd *cmd, const void *args, char **path,
		    struct pf_err *err)
{
	const struct pf_opt *rank = find_opt(cmd, "rank");
	int64_t number;
	char *own;

	if (rank && is_set(cmd, rank, args)) {
		if (rank_of(rank, args, &number, err) ||
		    pf_fleet_rank_take(*path, number, &own, err))
			return -1;
		free(*path);
		*path = own;
		return 0;
	}
	if (cmd->fleet && !check_options(cmd, args, err))
		return 1;
	if (cmd->fleet)
		return -1;
	if (cmd->needs & PF_TAKES_FLEET)
		return 1;
	if (rank)
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is a fleet database, which has no events: "
			       "'profan %s %s --rank N' reads the database of "
			       "a rank",
			       *path, cmd->name, *path);
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is a fleet database, which has no events: name "
		       "the database of a rank, which 'profan query %s "
		       "\"SELECT rank, db FROM rank\"' lists",
		       *path, *path);
}
