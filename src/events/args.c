/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/args.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"

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

/* ---- collectives ---- */

/* Bytes of a dtype as PyTorch writes it ("BFloat16"), or -1. */
static int64_t dtype_bytes(struct pf_json dtype)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} types[] = {
		{ "Bool", 1 },
		{ "Byte", 1 },
		{ "Char", 1 },
		{ "Float8_e4m3fn", 1 },
		{ "Float8_e5m2", 1 },
		{ "Float8_e4m3fnuz", 1 },
		{ "Float8_e5m2fnuz", 1 },
		{ "Half", 2 },
		{ "BFloat16", 2 },
		{ "Short", 2 },
		{ "UInt16", 2 },
		{ "Float", 4 },
		{ "Int", 4 },
		{ "UInt32", 4 },
		{ "ComplexHalf", 4 },
		{ "Double", 8 },
		{ "Long", 8 },
		{ "UInt64", 8 },
		{ "ComplexFloat", 8 },
		{ "ComplexDouble", 16 },
	};
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int64_t bytes = -1;

	if (!dtype.p)
		return -1;
	pf_json_text(dtype, &text);
	for (size_t i = 0; text.data && i < PF_LEN(types); i++)
		if (!strcmp(types[i].name, text.data))
			bytes = types[i].bytes;
	return bytes;
}

static int64_t data_bytes(struct pf_json elements, struct pf_json dtype)
{
	int64_t n, bytes = dtype_bytes(dtype);

	if (bytes < 0 || !elements.p || !pf_json_int(elements, &n) || n < 0 ||
	    __builtin_mul_overflow(n, bytes, &n))
		return -1;
	return n;
}

bool pf_collective_read(const char *args, size_t len, struct pf_collective *out)
{
	struct pf_json object = { args, len };

	*out = (struct pf_collective){
		.name = pf_json_get(object, "Collective name"),
		.group = pf_json_get(object, "Process Group Name"),
		.description = pf_json_get(object, "Process Group Description"),
		.dtype = pf_json_get(object, "dtype"),
		.group_size = -1,
	};
	if (!out->name.p)
		return false;
	if (!out->group.p)
		out->group = pf_json_get(object, "Process Group ID");
	if (!pf_json_int(pf_json_get(object, "Group size"), &out->group_size) ||
	    out->group_size < 1)
		out->group_size = -1;
	out->in_bytes =
		data_bytes(pf_json_get(object, "In msg nelems"), out->dtype);
	out->out_bytes =
		data_bytes(pf_json_get(object, "Out msg nelems"), out->dtype);
	return true;
}

/* A name in small letters without "_": "_allgather_base" is "allgatherbase". */
static void plain_name(struct pf_json name, struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_adds(out, "");
	pf_json_text(name, &text);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] != '_')
			pf_buf_addc(out,
				    (char)tolower((unsigned char)text.data[i]));
}

/* A part of a name, and what it says; tables end with NULL. */
struct part {
	const char *text;
	int means;
};

/* The first part that the name has; 0: none. */
static int find_part(struct pf_json name, const struct part *parts)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int means = 0;

	plain_name(name, &text);
	for (; parts->text && !means; parts++)
		if (strstr(text.data, parts->text))
			means = parts->means;
	return means;
}

/* What multiplies (n-1)/n; PLAIN: the bus carries just the data. */
enum shape { UNKNOWN, PLAIN, ONCE, TWICE };

int64_t pf_collective_bytes(const struct pf_collective *c)
{
	return c->out_bytes > c->in_bytes ? c->out_bytes : c->in_bytes;
}

double pf_collective_factor(const struct pf_collective *c)
{
	static const struct part parts[] = {
		/* in this order */
		{ "allreduce", TWICE },
		{ "allgather", ONCE },
		{ "reducescatter", ONCE },
		{ "alltoall", ONCE },
		{ "gather", ONCE },
		{ "scatter", ONCE },
		{ "broadcast", PLAIN },
		{ "reduce", PLAIN },
		{ "send", PLAIN },
		{ "recv", PLAIN },
		{ 0 },
	};
	double n = (double)c->group_size;

	switch ((enum shape)find_part(c->name, parts)) {
	case PLAIN:
		return 1;
	case ONCE:
		return c->group_size > 0 ? (n - 1) / n : -1;
	case TWICE:
		return c->group_size > 0 ? 2 * (n - 1) / n : -1;
	default:
		return -1;
	}
}

enum pf_sync pf_collective_sync(struct pf_json name)
{
	static const struct part parts[] = {
		{ "allreduce", PF_SYNC_ALL_REDUCE },
		{ "allgather", PF_SYNC_ALL_GATHER },
		{ "reducescatter", PF_SYNC_REDUCE_SCATTER },
		{ "alltoall", PF_SYNC_ALL_TO_ALL },
		{ "barrier", PF_SYNC_BARRIER },
		{ 0 },
	};

	return (enum pf_sync)find_part(name, parts);
}

enum pf_p2p pf_collective_p2p(struct pf_json name)
{
	static const struct part parts[] = {
		/* in this order */
		{ "sendrecv", PF_P2P_SEVERAL }, { "coalesc", PF_P2P_SEVERAL },
		{ "send", PF_P2P_SEND },        { "recv", PF_P2P_RECEIVE },
		{ "receive", PF_P2P_RECEIVE },  { 0 },
	};

	return (enum pf_p2p)find_part(name, parts);
}

/* "Rank" is the other one's place among the ranks of the group. */
int64_t pf_collective_peer(const char *args, size_t len, enum pf_p2p way)
{
	struct pf_json object = { args, len };
	struct pf_json direct = pf_json_get(
		object, way == PF_P2P_SEND ? "Dst Rank" : "Src Rank");
	struct pf_dims ranks;
	int64_t place, peer;

	if (direct.p && pf_json_int(direct, &peer))
		return peer < 0 ? -1 : peer;
	if (!pf_json_int(pf_json_get(object, "Rank"), &place) || place < 0 ||
	    !pf_json_dims(pf_json_get(object, "Process Group Ranks"), &ranks) ||
	    (uint64_t)place >= ranks.count || ranks.size[place] > INT32_MAX)
		return -1;
	return (int64_t)ranks.size[place];
}
