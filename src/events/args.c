/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/args.h"
#include "base/json.h"

#include <string.h>

bool pf_json_is(struct pf_json v, const char *text)
{
	return v.p && v.len == strlen(text) && !memcmp(v.p, text, v.len);
}

static void advance(struct pf_json *v, size_t n)
{
	v->p += n;
	v->len -= n;
}

static void skip_space(struct pf_json *v)
{
	while (v->len && (*v->p == ' ' || *v->p == '\t' || *v->p == '\n' ||
			  *v->p == '\r' || *v->p == ','))
		advance(v, 1);
}

/* Length of the string at the start of v with its quotes; 0: unfinished. */
static size_t string_len(struct pf_json v)
{
	for (size_t i = 1; i < v.len; i++) {
		if (v.p[i] == '\\')
			i++;
		else if (v.p[i] == '"')
			return i + 1;
	}
	return 0;
}

/* Length of the list or object at the start of v; 0: unfinished. */
static size_t nested_len(struct pf_json v)
{
	size_t depth = 0;

	for (size_t i = 0; i < v.len; i++) {
		struct pf_json at = { v.p + i, v.len - i };
		char c = v.p[i];

		if (c == '"') {
			size_t len = string_len(at);

			if (!len)
				return 0;
			i += len - 1;
		} else if (c == '[' || c == '{') {
			depth++;
		} else if ((c == ']' || c == '}') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

static size_t plain_len(struct pf_json v)
{
	size_t i = 0;

	while (i < v.len && !strchr(",]} \t\r\n", v.p[i]) && v.p[i])
		i++;
	return i;
}

/* Take one value of any type off the front; false if there is none. */
static bool take_value(struct pf_json *rest, struct pf_json *value)
{
	size_t len = 0;

	skip_space(rest);
	if (!rest->len)
		return false;
	if (*rest->p == '"')
		len = string_len(*rest);
	else if (*rest->p == '[' || *rest->p == '{')
		len = nested_len(*rest);
	else
		len = plain_len(*rest);
	if (!len)
		return false;
	value->p = rest->p;
	value->len = len;
	advance(rest, len);
	return true;
}

bool pf_json_member(struct pf_json *rest, struct pf_json *key,
		    struct pf_json *value)
{
	skip_space(rest);
	if (rest->len && *rest->p == '{') {
		advance(rest, 1);
		skip_space(rest);
	}
	if (!rest->len || *rest->p != '"')
		return false;
	key->len = string_len(*rest);
	if (key->len < 2)
		return false;
	key->p = rest->p + 1;
	advance(rest, key->len);
	key->len -= 2;
	skip_space(rest);
	if (!rest->len || *rest->p != ':')
		return false;
	advance(rest, 1);
	return take_value(rest, value);
}

struct pf_json pf_json_get(struct pf_json object, const char *key)
{
	struct pf_json name, value;

	while (object.p && pf_json_member(&object, &name, &value))
		if (pf_json_is(name, key))
			return value;
	return (struct pf_json){ NULL, 0 };
}

bool pf_json_item(struct pf_json *rest, struct pf_json *value)
{
	/* A list that was not begun yet still has its outer bracket. */
	if (!rest->p || !rest->len)
		return false;
	return take_value(rest, value);
}

/* The inside of a list; p NULL if v is no list. */
static struct pf_json inside(struct pf_json v)
{
	if (!v.p || v.len < 2 || v.p[0] != '[')
		return (struct pf_json){ NULL, 0 };
	return (struct pf_json){ v.p + 1, v.len - 2 };
}

struct pf_json pf_json_at(struct pf_json list, size_t n)
{
	struct pf_json rest = inside(list), value;

	while (pf_json_item(&rest, &value))
		if (n-- == 0)
			return value;
	return (struct pf_json){ NULL, 0 };
}

bool pf_json_int(struct pf_json v, int64_t *out)
{
	int64_t n = 0;
	bool negative;
	size_t i = 0;

	if (v.p && v.len >= 2 && *v.p == '"')
		v = (struct pf_json){ v.p + 1, v.len - 2 };
	negative = v.len && *v.p == '-';
	if (negative)
		i++;
	if (!v.p || i >= v.len)
		return false;
	for (; i < v.len; i++) {
		int digit = v.p[i] - '0';

		if (digit < 0 || digit > 9 ||
		    __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, negative ? -digit : digit, &n))
			return false;
	}
	*out = n;
	return true;
}

bool pf_json_dims(struct pf_json v, struct pf_dims *out)
{
	struct pf_json rest, item;

	out->count = 0;
	if (v.p && v.len >= 2 && *v.p == '"')
		v = (struct pf_json){ v.p + 1, v.len - 2 };
	rest = inside(v);
	if (!rest.p)
		return false;
	while (pf_json_item(&rest, &item)) {
		int64_t size;

		if (out->count == PF_DIMS_MAX || !pf_json_int(item, &size))
			return false;
		out->size[out->count++] = (uint64_t)size;
	}
	return true;
}

void pf_json_text(struct pf_json v, struct pf_buf *out)
{
	if (v.p && v.len >= 2 && *v.p == '"')
		pf_json_unescape(v.p + 1, v.len - 2, out);
	else if (v.p)
		pf_buf_add(out, v.p, v.len);
}
