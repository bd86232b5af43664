/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "events/collective.h"

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
	struct pf_buf text = { 0 };
	int64_t bytes = -1;

	if (!dtype.p)
		return -1;
	pf_json_text(dtype, &text);
	for (size_t i = 0; text.data && i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i].name, text.data))
			bytes = types[i].bytes;
	pf_buf_release(&text);
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
	struct pf_buf text = { 0 };

	pf_buf_adds(out, "");
	pf_json_text(name, &text);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] != '_')
			pf_buf_addc(out,
				    (char)tolower((unsigned char)text.data[i]));
	pf_buf_release(&text);
}

/* What multiplies (n-1)/n; PLAIN: the bus carries just the data. */
enum shape { UNKNOWN = -1, PLAIN, ONCE, TWICE };

static enum shape shape_of(const struct pf_collective *c)
{
	static const struct {
		const char *part;
		enum shape shape;
	} known[] = {
		{ "allreduce", TWICE },    { "allgather", ONCE },
		{ "reducescatter", ONCE }, { "alltoall", ONCE },
		{ "gather", ONCE },        { "scatter", ONCE },
		{ "broadcast", PLAIN },    { "reduce", PLAIN },
		{ "send", PLAIN },         { "recv", PLAIN },
	};
	struct pf_buf name = { 0 };
	enum shape shape = UNKNOWN;

	plain_name(c->name, &name);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strstr(name.data, known[i].part))
			continue;
		shape = known[i].shape;
		break;
	}
	pf_buf_release(&name);
	return shape;
}

int64_t pf_collective_bytes(const struct pf_collective *c)
{
	return c->out_bytes > c->in_bytes ? c->out_bytes : c->in_bytes;
}

double pf_collective_factor(const struct pf_collective *c)
{
	double n = (double)c->group_size;

	switch (shape_of(c)) {
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

/* A part of a name, and what it says; tables end with NULL. */
struct part {
	const char *text;
	int means;
};

/* The first part that the name has; 0: none. */
static int find_part(struct pf_json name, const struct part *parts)
{
	struct pf_buf text = { 0 };
	int means = 0;

	plain_name(name, &text);
	for (; parts->text && !means; parts++)
		if (strstr(text.data, parts->text))
			means = parts->means;
	pf_buf_release(&text);
	return means;
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
