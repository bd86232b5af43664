/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/num.h"
#include "store/vtab_impl.h"

/* ---- texts ---- */

static int give_text(struct pf_vtab_cursor *c, sqlite3_context *out,
		     uint32_t id, struct pf_err *err)
{
	const char *text;
	uint32_t len;
	int rc;

	if (id == PF_ID_INLINE && c->group.key == PF_GROUP_NONE) {
		if (pf_scan_inline(&c->scan, 0, &text, &len, err))
			return -1;
		sqlite3_result_text(out, text, (int)len, SQLITE_TRANSIENT);
		return 0;
	}
	rc = pf_lexicon_string(c->scan.lexicon, id, &text, &len, err);
	if (rc > 0)
		sqlite3_result_text(out, text, (int)len,
				    rc == 1 ? SQLITE_STATIC : SQLITE_TRANSIENT);
	return rc < 0 ? -1 : 0;
}

static int fill_slots(struct pf_vtab_cursor *c, int64_t *slots,
		      struct pf_err *err)
{
	struct pf_scan *s = &c->scan;

	if (pf_scan_need(s, PF_COLBIT(PF_COL_MASK), err))
		return -1;
	for (uint32_t m = s->block.mask[s->at]; m; m &= m - 1) {
		int slot = __builtin_ctz(m);

		if (pf_scan_slot(s, slot, &slots[slot], err) < 0)
			return -1;
	}
	return 0;
}

/* The argument text with slots in place: 1 in "out", 0 no arguments, -1. */
static int build_args(struct pf_vtab_cursor *c, struct pf_buf *out,
		      struct pf_err *err)
{
	struct pf_scan *s = &c->scan;
	int64_t slots[PF_SLOT_COUNT] = { 0 };
	uint64_t all_slots = ~(PF_COLBIT(PF_COL_SLOT) - 1);
	const char *text;
	uint32_t id, inline_len;
	size_t len;

	if (pf_scan_need(s, PF_COLBIT(PF_COL_ARGS), err))
		return -1;
	id = s->block.args[s->at];
	if (id == PF_ID_NONE)
		return 0;
	if (pf_scan_need(s, all_slots & ((PF_COLBIT(PF_COL_COUNT)) - 1), err) ||
	    fill_slots(c, slots, err))
		return -1;
	if (id == PF_ID_INLINE) {
		if (pf_scan_inline(s, 1, &text, &inline_len, err))
			return -1;
		len = inline_len;
	} else {
		int rc = pf_lexicon_args_text(s->lexicon, id, &text, &len, err);

		if (rc <= 0)
			return rc;
	}
	pf_buf_clear(out);
	pf_argtext_build(text, len, s->block.mask[s->at], slots, out);
	return 1;
}

/* ---- event, op, frame ---- */

static int give_slot(struct pf_vtab_cursor *c, sqlite3_context *out, int slot,
		     struct pf_err *err)
{
	int64_t value;
	int rc = pf_scan_slot(&c->scan, slot, &value, err);

	if (rc > 0)
		sqlite3_result_int64(out, value);
	return rc < 0 ? -1 : 0;
}

static int give_type(struct pf_vtab_cursor *c, sqlite3_context *out, int column,
		     int64_t id)
{
	const struct pf_lexicon *d = c->scan.lexicon;
	const struct pf_lexicon_type *t;

	if (id < 0 || (uint64_t)id >= d->type_count || !d->type[id].ph)
		return 0;
	t = d->type + id;
	if (column == EV_KIND)
		sqlite3_result_int64(out, t->kind);
	else
		sqlite3_result_text(out, column == EV_PH ? t->ph : t->category,
				    -1, SQLITE_STATIC);
	return 0;
}

static int give_parent(struct pf_vtab_cursor *c, sqlite3_context *out,
		       int64_t id, struct pf_err *err)
{
	int64_t distance;

	if (pf_vtab_group_field(&c->group, &c->scan, PF_FIELD_PARENT, &distance,
				err))
		return -1;
	if (distance && distance <= (id & UINT32_MAX))
		sqlite3_result_int64(out, id - distance);
	return 0;
}

/* Which field a column is made from; PF_FIELD_COUNT: none. */
static enum pf_field column_field(int column)
{
	switch (column) {
	case EV_PH:
	case EV_CATEGORY:
	case EV_KIND:
		return PF_FIELD_TYPE;
	case EV_NAME:
	case EV_NAME_ID:
		return PF_FIELD_NAME;
	case EV_START_NS:
	case EV_END_NS:
		return PF_FIELD_START;
	case EV_DUR_NS:
		return PF_FIELD_DUR;
	case EV_FILE_ORDER:
		return PF_FIELD_ORDER;
	case EV_EXTERNAL_ID:
	case EV_CORRELATION:
	case EV_FLOW_ID:
	case EV_ARGS:
		return PF_FIELD_COUNT;
	default:
		return PF_FIELD_ID;
	}
}

static int give_other(struct pf_vtab_cursor *c, sqlite3_context *out,
		      int column, struct pf_err *err)
{
	int rc;

	switch (column) {
	case EV_EXTERNAL_ID:
		return give_slot(c, out, PF_SLOT_EXTERNAL_ID, err);
	case EV_CORRELATION:
		return give_slot(c, out, PF_SLOT_CORRELATION, err);
	case EV_FLOW_ID:
		return give_slot(c, out, PF_SLOT_FLOW_ID, err);
	default:
		rc = build_args(c, &c->text, err);
		if (rc > 0)
			sqlite3_result_text64(out, c->text.data, c->text.len,
					      SQLITE_TRANSIENT, SQLITE_UTF8);
		return rc < 0 ? -1 : 0;
	}
}

int pf_vtab_event_column(struct pf_vtab_cursor *c, sqlite3_context *out,
			 int column, struct pf_err *err)
{
	enum pf_field field = column_field(column);
	int64_t v, dur;

	if (field == PF_FIELD_COUNT)
		return give_other(c, out, column, err);
	if (pf_vtab_group_field(&c->group, &c->scan, field, &v, err))
		return -1;
	switch (column) {
	case EV_TRACE_ID:
		v = pf_lexicon_trace(c->scan.lexicon, (uint32_t)(v >> 32));
		break;
	case EV_TRACK_ID:
		v >>= 32;
		break;
	case EV_SEQ:
		v &= UINT32_MAX;
		break;
	case EV_PH:
	case EV_CATEGORY:
	case EV_KIND:
		return give_type(c, out, column, v);
	case EV_NAME:
		return give_text(c, out, (uint32_t)v, err);
	case EV_NAME_ID:
		if (v >= PF_ID_INLINE)
			return 0;
		break;
	case EV_END_NS:
		if (pf_vtab_group_field(&c->group, &c->scan, PF_FIELD_DUR, &dur,
					err))
			return -1;
		v = pf_num_wrap_add(v, dur);
		break;
	case EV_PARENT_ID:
		return give_parent(c, out, v, err);
	default:
		break;
	}
	sqlite3_result_int64(out, v);
	return 0;
}

/* ---- arg ---- */

static bool key_is_wanted(struct pf_vtab_cursor *c)
{
	if (!c->has_wanted_key ||
	    memchr(c->member.key, '\\', c->member.key_len))
		return true;
	return c->member.key_len == c->wanted_key.len &&
	       !memcmp(c->member.key, c->wanted_key.data, c->member.key_len);
}

int pf_vtab_next_arg(struct pf_vtab_cursor *c, struct pf_err *err)
{
	for (;;) {
		int rc;

		while (pf_argtext_next(&c->walk, &c->member))
			if (key_is_wanted(c))
				return 1;
		rc = pf_scan_next(&c->scan, err);
		if (rc <= 0)
			return rc;
		rc = build_args(c, &c->args, err);
		if (rc < 0)
			return -1;
		c->walk = (struct pf_argtext){
			.text = c->args.data,
			.len = rc ? c->args.len : 0,
		};
	}
}

static const char *json_type(const struct pf_arg *m)
{
	switch (m->value_len ? m->value[0] : 0) {
	case '"':
		return "text";
	case '{':
		return "object";
	case '[':
		return "array";
	case 't':
		return "true";
	case 'f':
		return "false";
	case 'n':
	case 0:
		return "null";
	default:
		break;
	}
	for (size_t i = 0; i < m->value_len; i++)
		if (strchr(".eEIN", m->value[i]))
			return "real";
	return "integer";
}

/* Numbers become numbers; an integer past 64 bits becomes a real one. */
static void give_number(sqlite3_context *out, const struct pf_arg *m,
			bool is_integer)
{
	char text[80];
	size_t len = m->value_len < sizeof(text) ? m->value_len : 79;
	const char *digits = text;
	int64_t v = 0;
	bool fits = is_integer, negative;

	memcpy(text, m->value, len);
	text[len] = '\0';
	negative = text[0] == '-';
	for (digits += negative; fits && *digits; digits++)
		fits = *digits >= '0' && *digits <= '9' &&
		       !__builtin_mul_overflow(v, 10, &v) &&
		       !__builtin_sub_overflow(v, *digits - '0', &v);
	if (fits && !negative)
		fits = !__builtin_sub_overflow(0, v, &v);
	if (fits)
		sqlite3_result_int64(out, v);
	else
		sqlite3_result_double(out, strtod(text, NULL));
}

static void give_value(struct pf_vtab_cursor *c, sqlite3_context *out)
{
	const struct pf_arg *m = &c->member;
	const char *type = json_type(m);

	if (!strcmp(type, "text")) {
		pf_buf_clear(&c->text);
		pf_buf_reserve(&c->text, 1);
		if (m->value_len > 2)
			pf_json_unescape(m->value + 1, m->value_len - 2,
					 &c->text);
		sqlite3_result_text64(out, c->text.data, c->text.len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	} else if (!strcmp(type, "object") || !strcmp(type, "array")) {
		sqlite3_result_text64(out, m->value, m->value_len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	} else if (!strcmp(type, "integer") || !strcmp(type, "real")) {
		give_number(out, m, type[0] == 'i');
	} else if (strcmp(type, "null")) {
		sqlite3_result_int(out, type[0] == 't');
	}
}

int pf_vtab_arg_column(struct pf_vtab_cursor *c, sqlite3_context *out,
		       int column, struct pf_err *err)
{
	(void)err;
	switch (column) {
	case ARG_EVENT_ID:
		sqlite3_result_int64(out, pf_scan_id(&c->scan));
		break;
	case ARG_KEY:
		pf_buf_clear(&c->text);
		pf_buf_reserve(&c->text, 1);
		pf_json_unescape(c->member.key, c->member.key_len, &c->text);
		sqlite3_result_text64(out, c->text.data, c->text.len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case ARG_VALUE:
		give_value(c, out);
		break;
	default:
		sqlite3_result_text(out, json_type(&c->member), -1,
				    SQLITE_STATIC);
	}
	return 0;
}
