/* SPDX-License-Identifier: MIT */
/*
 * Plans.  idxNum is the enum pf_group_key (+ DESCENDING); idxStr holds one letter for each
 * constraint that xFilter gets the value of, in order, a colon, and the used
 * columns in hexadecimal.  SQLite checks every constraint again itself, so a
 * plan may let too much pass, never too little.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "store/vtab_impl.h"

#define DESCENDING 16 /* in idxNum */
#define EQ         SQLITE_INDEX_CONSTRAINT_EQ
#define GE         SQLITE_INDEX_CONSTRAINT_GE
#define GT         SQLITE_INDEX_CONSTRAINT_GT
#define LE         SQLITE_INDEX_CONSTRAINT_LE
#define LT         SQLITE_INDEX_CONSTRAINT_LT

static const struct use {
	int column;
	unsigned char ops[2];
	char code;
	bool is_text;
	double share; /* of the events that pass, a guess */
} event_uses[] = {
	{ EV_ID, { EQ, EQ }, 'i', false, 1e-6 },
	{ EV_ID, { GE, GT }, '>', false, 0.3 },
	{ EV_ID, { LE, LT }, '<', false, 0.3 },
	{ EV_TRACE_ID, { EQ, EQ }, 't', false, 0.5 },
	{ EV_TRACK_ID, { EQ, EQ }, 'k', false, 0.1 },
	{ EV_START_NS, { EQ, EQ }, 's', false, 0.001 },
	{ EV_START_NS, { GE, GT }, 'g', false, 0.3 },
	{ EV_START_NS, { LE, LT }, 'l', false, 0.3 },
	{ EV_END_NS, { GE, GT }, 'e', false, 0.6 },
	{ EV_NAME, { EQ, EQ }, 'n', true, 0.02 },
	{ EV_NAME_ID, { EQ, EQ }, 'm', false, 0.02 },
	{ EV_KIND, { EQ, EQ }, 'd', false, 0.2 },
	{ EV_CATEGORY, { EQ, EQ }, 'c', true, 0.2 },
}, arg_uses[] = {
	{ ARG_EVENT_ID, { EQ, EQ }, 'i', false, 1e-6 },
	{ ARG_EVENT_ID, { GE, GT }, '>', false, 0.3 },
	{ ARG_EVENT_ID, { LE, LT }, '<', false, 0.3 },
	{ ARG_KEY, { EQ, EQ }, 'y', true, 0.1 },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* ---- xBestIndex ---- */

static const struct use *find_use(const struct pf_vtab *v,
				  sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *k = info->aConstraint + i;
	const struct use *uses = v->shape->is_arg ? arg_uses : event_uses;
	size_t count = v->shape->is_arg ? COUNT(arg_uses) : COUNT(event_uses);

	for (size_t u = 0; u < count; u++) {
		if (uses[u].column != k->iColumn ||
		    (uses[u].ops[0] != k->op && uses[u].ops[1] != k->op))
			continue;
		if (uses[u].is_text &&
		    strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			continue;
		return uses + u;
	}
	return NULL;
}

/* Fields for the used columns; false if one cannot be gathered. */
static bool gather_fields(uint64_t used, unsigned *fields)
{
	static const unsigned of[EV_COLUMN_COUNT] = {
		[EV_ID] = 1u << PF_FIELD_ID,
		[EV_TRACE_ID] = 1u << PF_FIELD_ID,
		[EV_TRACK_ID] = 1u << PF_FIELD_ID,
		[EV_SEQ] = 1u << PF_FIELD_ID,
		[EV_PH] = 1u << PF_FIELD_TYPE,
		[EV_CATEGORY] = 1u << PF_FIELD_TYPE,
		[EV_KIND] = 1u << PF_FIELD_TYPE,
		[EV_NAME] = 1u << PF_FIELD_NAME,
		[EV_NAME_ID] = 1u << PF_FIELD_NAME,
		[EV_START_NS] = 1u << PF_FIELD_START,
		[EV_DUR_NS] = 1u << PF_FIELD_DUR,
		[EV_END_NS] = 1u << PF_FIELD_START | 1u << PF_FIELD_DUR,
		[EV_PARENT_ID] = 1u << PF_FIELD_ID | 1u << PF_FIELD_PARENT,
		[EV_FILE_ORDER] = 1u << PF_FIELD_ORDER,
	};

	*fields = 0;
	for (int c = 0; c < EV_COLUMN_COUNT; c++) {
		if (!(used >> c & 1))
			continue;
		if (!of[c])
			return false;
		*fields |= of[c];
	}
	return true;
}

/*
 * Groups always come sorted, even where sqlite3_vtab_distinct() says that
 * "together" is enough: SQLite 3.40 says so also when it then leaves out the
 * sorting for an equal ORDER BY.
 */
static enum pf_group_key order_key(struct pf_vtab *v, sqlite3_index_info *info)
{
	unsigned fields;

	if (v->shape->is_arg || info->nOrderBy != 1 || v->lexicon->has_inline ||
	    !gather_fields(info->colUsed, &fields))
		return PF_GROUP_NONE;
	switch (info->aOrderBy[0].iColumn) {
	case EV_NAME:
		return PF_GROUP_NAME;
	case EV_NAME_ID:
		return PF_GROUP_NAME_ID;
	case EV_CATEGORY:
		return PF_GROUP_CATEGORY;
	case EV_KIND:
		return PF_GROUP_KIND;
	default:
		return PF_GROUP_NONE;
	}
}

/* Rows come in order of id, and so of track within one group of them. */
static bool is_natural_order(struct pf_vtab *v, sqlite3_index_info *info)
{
	int column;

	if (info->nOrderBy != 1 || info->aOrderBy[0].desc)
		return false;
	column = info->aOrderBy[0].iColumn;
	return v->shape->is_arg ? column == ARG_EVENT_ID
				: column == EV_ID || column == EV_TRACK_ID;
}

/*
 * Is the constraint's value the same for the whole statement?  If it is not,
 * xFilter may be called for each row of another table: nothing to prepare
 * groups for.
 */
static bool is_known(sqlite3_index_info *info, int i)
{
	sqlite3_value *value;

	return sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK;
}

int pf_vtab_plan(struct pf_vtab *v, sqlite3_index_info *info)
{
	double rows = v->shape->is_arg ? 4e7 : 5e6;
	char codes[COUNT(event_uses) * 4 + 1];
	enum pf_group_key key = PF_GROUP_NONE;
	bool is_joined = false;
	int count = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct use *u = find_use(v, info, i);

		if (!u || !info->aConstraint[i].usable ||
		    (size_t)count + 1 >= sizeof(codes))
			continue;
		codes[count++] = u->code;
		info->aConstraintUsage[i].argvIndex = count;
		rows *= u->share;
		is_joined |= !is_known(info, i);
	}
	codes[count] = '\0';
	if (is_natural_order(v, info))
		info->orderByConsumed = 1;
	else if (!is_joined)
		key = order_key(v, info);
	if (key != PF_GROUP_NONE)
		info->orderByConsumed = 1;
	info->idxNum = (int)key;
	if (key != PF_GROUP_NONE && info->aOrderBy[0].desc)
		info->idxNum |= DESCENDING;
	info->idxStr = sqlite3_mprintf("%s:%llx", codes, info->colUsed);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + 100;
	if (strchr(codes, 'i') && !v->shape->is_arg)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- xFilter ---- */

static void raise(int64_t *limit, int64_t v)
{
	if (v > *limit)
		*limit = v;
}

static void lower(int64_t *limit, int64_t v)
{
	if (v < *limit)
		*limit = v;
}

static void apply_integer(struct pf_filter *f, char code, int64_t v)
{
	switch (code) {
	case 'i':
		raise(&f->id_low, v);
		lower(&f->id_high, v);
		break;
	case '>':
		raise(&f->id_low, v);
		break;
	case '<':
		lower(&f->id_high, v);
		break;
	case 't':
		f->trace_id = v < 0 ? INT64_MAX : v;
		break;
	case 'k':
		v = v < 0 ? -1 : v > INT32_MAX ? INT32_MAX : v;
		raise(&f->id_low, v < 0 ? INT64_MAX : v << 32);
		lower(&f->id_high, v < 0 ? -1 : v << 32 | UINT32_MAX);
		break;
	case 's':
		raise(&f->start_low, v);
		lower(&f->start_high, v);
		break;
	case 'g':
		raise(&f->start_low, v);
		break;
	case 'l':
		lower(&f->start_high, v);
		break;
	case 'e':
		raise(&f->end_low, v);
		break;
	case 'm':
		f->is_none |= v < 0 || v > UINT32_MAX;
		f->name = v;
		f->name_is_exact = true;
		break;
	case 'd':
		f->kinds &= v < 0 || v >= PF_KIND_COUNT ? 0 : 1u << v;
		break;
	default:
		break;
	}
}

static int apply_text(struct pf_vtab_cursor *c, char code, const char *text,
		      int len, struct pf_err *err)
{
	struct pf_filter *f = &c->scan.filter;
	const struct pf_lexicon *d = c->scan.lexicon;

	if (code == 'y' && !c->has_wanted_key) {
		pf_buf_clear(&c->wanted_key);
		pf_buf_add(&c->wanted_key, text, (size_t)len);
		c->has_wanted_key = true;
	} else if (code == 'n' && f->name == -1) {
		int64_t id =
			pf_lexicon_find_string(c->scan.lexicon, text, len, err);

		if (id == -2)
			return -1;
		f->name = id >= 0 ? id : PF_ID_INLINE;
		f->is_none |= id < 0 && !d->has_inline;
	} else if (code == 'c') {
		f->category_rank = INT64_MAX; /* unless it is found */
		for (size_t i = 0; i < d->type_count; i++)
			if (d->type[i].ph && !strcmp(d->type[i].category, text))
				f->category_rank = d->type[i].category_rank;
	}
	return 0;
}

/* Nothing compares with NULL; values of other types are left to SQLite. */
static int apply(struct pf_vtab_cursor *c, char code, sqlite3_value *value,
		 struct pf_err *err)
{
	bool is_text = code == 'n' || code == 'c' || code == 'y';
	int type = sqlite3_value_type(value);
	const unsigned char *text;

	c->scan.filter.is_none |= type == SQLITE_NULL;
	if (!is_text && type == SQLITE_INTEGER)
		apply_integer(&c->scan.filter, code,
			      sqlite3_value_int64(value));
	if (!is_text || type != SQLITE_TEXT)
		return 0;
	text = sqlite3_value_text(value);
	if (!text)
		return 0;
	return apply_text(c, code, (const char *)text,
			  sqlite3_value_bytes(value), err);
}

static uint64_t wanted_columns(const struct pf_vtab *v, uint64_t used)
{
	static const uint64_t of[EV_COLUMN_COUNT] = {
		[EV_PH] = PF_COLBIT(PF_COL_TYPE),
		[EV_CATEGORY] = PF_COLBIT(PF_COL_TYPE),
		[EV_KIND] = PF_COLBIT(PF_COL_TYPE),
		[EV_NAME] = PF_COLBIT(PF_COL_NAME),
		[EV_NAME_ID] = PF_COLBIT(PF_COL_NAME),
		[EV_START_NS] = PF_COLBIT(PF_COL_START),
		[EV_DUR_NS] = PF_COLBIT(PF_COL_DUR),
		[EV_END_NS] = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR),
		[EV_PARENT_ID] = PF_COLBIT(PF_COL_PARENT),
		[EV_EXTERNAL_ID] = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID),
		[EV_CORRELATION] = PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		[EV_ARGS] = PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK),
		[EV_FLOW_ID] = PF_COLBIT(PF_COL_SLOT + PF_SLOT_FLOW_ID),
		[EV_FILE_ORDER] = PF_COLBIT(PF_COL_ORDER),
	};
	uint64_t columns = 0;

	if (v->shape->is_arg)
		return PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK);
	for (int c = 0; c < EV_COLUMN_COUNT; c++)
		if (used >> c & 1)
			columns |= of[c];
	return columns;
}

int pf_vtab_apply(struct pf_vtab_cursor *c, int plan, const char *codes,
		  sqlite3_value **values, struct pf_err *err)
{
	const struct pf_vtab *v = (const struct pf_vtab *)c->base.pVtab;
	uint64_t used;
	unsigned fields;

	pf_filter_init(&c->scan.filter);
	c->scan.filter.kinds = v->shape->kinds;
	c->has_wanted_key = false;
	for (; *codes && *codes != ':'; codes++, values++)
		if (apply(c, *codes, *values, err))
			return -1;
	used = *codes ? strtoull(codes + 1, NULL, 16) : UINT64_MAX;
	pf_vtab_group_release(&c->group);
	if (plan != PF_GROUP_NONE && gather_fields(used, &fields)) {
		c->group.key = (enum pf_group_key)(plan & ~DESCENDING);
		c->group.is_descending = plan & DESCENDING;
		return pf_vtab_group_start(&c->group, &c->scan, fields, err);
	}
	c->scan.wanted = wanted_columns(v, used);
	pf_scan_start(&c->scan);
	return 0;
}
