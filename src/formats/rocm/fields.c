/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "formats/rocm/fields.h"

#define KEY_MAX   32
#define DEPTH_MAX 8

void pf_json_fields_init(struct pf_json_fields *f,
			 const struct pf_json_field *list, unsigned count)
{
	*f = (struct pf_json_fields){ .list = list, .count = count };
	for (unsigned i = 0; i < count; i++)
		f->key_len[i] = (uint8_t)strlen(list[i].key);
}

void pf_json_fields_release(struct pf_json_fields *f)
{
	pf_buf_release(&f->texts);
}

static bool is_field(const struct pf_json_fields *f, unsigned i,
		     const char *under, const char *key, size_t len)
{
	const struct pf_json_field *field = &f->list[i];

	return f->key_len[i] == len && !memcmp(field->key, key, len) &&
	       !strcmp(field->under ? field->under : "", under);
}

/* Its number, or count; records repeat the order of their members. */
static unsigned find_field(struct pf_json_fields *f, unsigned last,
			   const char *under, const char *key, size_t len)
{
	unsigned i = f->behind[last];

	if (i < f->count && is_field(f, i, under, key, len))
		return i;
	for (i = 0; i < f->count; i++)
		if (is_field(f, i, under, key, len)) {
			f->behind[last] = (uint8_t)i;
			return i;
		}
	return f->count;
}

static void take(struct pf_json_fields *f, unsigned i, enum pf_token token,
		 const struct pf_tokens *t)
{
	struct pf_json_value *v = &f->values[i];

	if (token == PF_TOKEN_TEXT) {
		v->is = PF_JSON_TEXT;
		v->at = f->texts.len;
		v->len = t->text_len;
		pf_buf_add(&f->texts, t->text, t->text_len);
	} else {
		v->is = token == PF_TOKEN_NUMBER && pf_tokens_int(t, &v->number)
				? PF_JSON_INT
				: PF_JSON_OTHER;
	}
}

struct where {
	char under[DEPTH_MAX][KEY_MAX]; /* keys of what is open */
	unsigned depth;
	unsigned last; /* field + 1 */
	unsigned now;
};

static void enter(struct where *w, const char *key, size_t len)
{
	char *under = w->under[++w->depth];

	if (len >= KEY_MAX)
		len = KEY_MAX - 1;
	memcpy(under, key, len);
	under[len] = '\0';
}

/* The value behind a key. */
static bool read_value(struct pf_json_fields *f, struct pf_tokens *t,
		       struct where *w, const char *key, size_t key_len,
		       struct pf_err *err)
{
	enum pf_token token = pf_tokens_next(t, err);

	if (token == PF_TOKEN_OBJECT && w->depth + 1 < DEPTH_MAX) {
		enter(w, key, key_len);
		return true;
	}
	if (w->now < f->count && token != PF_TOKEN_END &&
	    token != PF_TOKEN_FAILURE) {
		take(f, w->now, token, t);
		w->last = w->now + 1;
	}
	return pf_tokens_skip(t, token, err);
}

bool pf_json_fields_read(struct pf_json_fields *f, struct pf_tokens *t,
			 struct pf_err *err)
{
	struct where w = { .last = 0 };
	char key[KEY_MAX];
	size_t len;

	memset(f->values, 0, f->count * sizeof(*f->values));
	pf_buf_clear(&f->texts);
	for (;;) {
		enum pf_token token = pf_tokens_next(t, err);

		if (token == PF_TOKEN_OBJECT_END) {
			if (!w.depth--)
				return true;
			continue;
		}
		if (token != PF_TOKEN_KEY) {
			if (!pf_tokens_skip(t, token, err))
				return false;
			continue;
		}
		len = t->text_len < KEY_MAX ? t->text_len : KEY_MAX - 1;
		memcpy(key, t->text, len);
		w.now = t->text_len < KEY_MAX
				? find_field(f, w.last, w.under[w.depth], key,
					     len)
				: f->count;
		if (!read_value(f, t, &w, key, len, err))
			return false;
	}
}

int64_t pf_json_field_int(const struct pf_json_fields *f, unsigned field,
			  int64_t instead)
{
	const struct pf_json_value *v = &f->values[field];

	return v->is == PF_JSON_INT ? v->number : instead;
}

bool pf_json_field_text(const struct pf_json_fields *f, unsigned field,
			const char **text, size_t *len)
{
	const struct pf_json_value *v = &f->values[field];

	if (v->is != PF_JSON_TEXT)
		return false;
	*text = f->texts.data ? f->texts.data + v->at : "";
	*len = v->len;
	return true;
}
