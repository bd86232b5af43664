/* SPDX-License-Identifier: MIT */
/*
 * What the containers of a snapshot are, and what their members say.  A
 * dictionary that is a record gathers its members until it is complete; the
 * records of the containers that are open have a place each, by depth.
 */
#include "config.h"

#include "formats/memsnap/snap.h"

#include <errno.h>

#include "base/mem.h"
#include "base/sat.h"

/*
 * The stack holds what has no owner yet.  Invariants: open[] are the
 * containers on the stack that may still grow, in the order of the stack;
 * every other value on it is complete.  A MARK right above an open container
 * begins its items: when there are many, the complete ones are handed over
 * ("folded") and leave the stack.
 */

/* Every opcode of pickle protocols 0 to 5, for messages. */

static const char *const low[128] = {
	['('] = "MARK",
	['.'] = "STOP",
	['0'] = "POP",
	['1'] = "POP_MARK",
	['2'] = "DUP",
	['F'] = "FLOAT",
	['I'] = "INT",
	['J'] = "BININT",
	['K'] = "BININT1",
	['L'] = "LONG",
	['M'] = "BININT2",
	['N'] = "NONE",
	['P'] = "PERSID",
	['Q'] = "BINPERSID",
	['R'] = "REDUCE",
	['S'] = "STRING",
	['T'] = "BINSTRING",
	['U'] = "SHORT_BINSTRING",
	['V'] = "UNICODE",
	['X'] = "BINUNICODE",
	['a'] = "APPEND",
	['b'] = "BUILD",
	['c'] = "GLOBAL",
	['d'] = "DICT",
	['}'] = "EMPTY_DICT",
	['e'] = "APPENDS",
	['g'] = "GET",
	['h'] = "BINGET",
	['i'] = "INST",
	['j'] = "LONG_BINGET",
	['l'] = "LIST",
	[']'] = "EMPTY_LIST",
	['o'] = "OBJ",
	['p'] = "PUT",
	['q'] = "BINPUT",
	['r'] = "LONG_BINPUT",
	['s'] = "SETITEM",
	['t'] = "TUPLE",
	[')'] = "EMPTY_TUPLE",
	['u'] = "SETITEMS",
	['G'] = "BINFLOAT",
	['B'] = "BINBYTES",
	['C'] = "SHORT_BINBYTES",
};

static const char *const high[] = {
	"PROTO",
	"NEWOBJ",
	"EXT1",
	"EXT2",
	"EXT4",
	"TUPLE1",
	"TUPLE2",
	"TUPLE3",
	"NEWTRUE",
	"NEWFALSE",
	"LONG1",
	"LONG4",
	"SHORT_BINUNICODE",
	"BINUNICODE8",
	"BINBYTES8",
	"EMPTY_SET",
	"ADDITEMS",
	"FROZENSET",
	"NEWOBJ_EX",
	"STACK_GLOBAL",
	"MEMOIZE",
	"FRAME",
	"BYTEARRAY8",
	"NEXT_BUFFER",
	"READONLY_BUFFER",
};

/* 0x8b is LONG4, 0x8c to 0x98 follow; 0x8d BINUNICODE8. */
/* The name of an opcode, or NULL. */
static const char *pickle_op_name(unsigned char op)
{
	if (op < 128)
		return low[op];
	op = (unsigned char)(op - 128);
	return op < PF_LEN(high) ? high[op] : NULL;
}

#define BUF_BYTES   (64u << 10)
#define FOLD_COUNT  64u /* values above a mark */
#define FOLD_KEPT   16u
#define OPERAND_MAX 16u /* bytes of an opcode and what has a fixed size */

/* Of what fails from here on, what comes before may be good. */
static void tear(struct pf_pickle *p)
{
	p->is_torn = true;
	p->end = pf_pickle_offset(p);
}

static int fail_at(struct pf_pickle *p, const char *what)
{
	tear(p);
	return pf_fail(p->err, PF_EDATA,
		       "is a pickle that is damaged or no memory snapshot: %s "
		       "at byte %lld",
		       what, (long long)pf_pickle_offset(p));
}

static int fail_cut(struct pf_pickle *p)
{
	tear(p);
	p->end = p->base + (int64_t)p->len;
	return pf_fail(p->err, PF_EDATA,
		       "ends inside its pickle, at byte %lld: its end, which "
		       "holds what all of it is, is missing",
		       (long long)p->end);
}

/* ---- bytes ---- */

/* Have n bytes from p->at on, or all there are. */
static int fill(struct pf_pickle *p, size_t n)
{
	if (p->at) {
		memmove(p->buf, p->buf + p->at, p->len - p->at);
		p->base += (int64_t)p->at;
		p->len -= p->at;
		p->at = 0;
	}
	while (p->len < n && !p->is_last) {
		size_t room = p->buf_cap - p->len;
		int64_t got;

		if (room < BUF_BYTES / 2) {
			p->buf = pf_grow(p->buf, &p->buf_cap,
					 p->buf_cap + BUF_BYTES, 1);
			room = p->buf_cap - p->len;
		}
		got = p->read(p->read_arg, p->buf + p->len, room, p->err);
		PF_TRY(got < 0);
		p->is_last = (size_t)got < room;
		p->len += (size_t)got;
		p->bytes += got;
	}
	return 0;
}

/* n bytes after the opcode must be there. */
static int want(struct pf_pickle *p, size_t n)
{
	if (p->len - p->at >= n)
		return 0;
	PF_TRY(fill(p, n));
	return p->len - p->at < n ? fail_cut(p) : 0;
}

static uint64_t little(const unsigned char *b, size_t n)
{
	uint64_t v = 0;

	for (size_t i = n; i-- > 0;)
		v = v << 8 | b[i];
	return v;
}

/* ---- containers ---- */

static struct pf_pickle_open *innermost(struct pf_pickle *p)
{
	return p->open_count ? &p->open[p->open_count - 1] : NULL;
}

/* The innermost container is complete. */
static int close_innermost(struct pf_pickle *p)
{
	struct pf_pickle_open *c = innermost(p);

	p->stack[c->at] = (struct pf_pickle_val){ .type = PF_PICKLE_THING,
						  .role = c->role,
						  .v = c->number };
	p->open_count--;
	return c->role && !c->is_closed
		       ? p->handler->end(p->handler->arg, c, p->err)
		       : 0;
}

/* Everything from this place of the stack on is complete. */
static int close_from(struct pf_pickle *p, uint32_t at)
{
	while (p->open_count && innermost(p)->at >= at)
		PF_TRY(close_innermost(p));
	return 0;
}

static int give(struct pf_pickle *p, struct pf_pickle_open *c,
		const struct pf_pickle_val *items, uint32_t count)
{
	if (c->is_dict && count % 2)
		return fail_at(p, "a key without a value");
	for (uint32_t i = 0; i < count; i += c->is_dict ? 2 : 1) {
		const struct pf_pickle_handler *h = p->handler;

		c->count++;
		if (!c->role)
			continue;
		PF_TRY(c->is_dict ? h->set(h->arg, c, &items[i], &items[i + 1],
					   p->err)
				  : h->add(h->arg, c, &items[i], p->err));
	}
	return 0;
}

/*
 * Hand over the complete items that wait above the innermost mark, but for the
 * last ones, which may become a tuple.  Where that mark is not the container's
 * what is above its own is not complete, and has marks that must not move.
 */
static int fold(struct pf_pickle *p, struct pf_pickle_open *c)
{
	uint32_t from = c->mark + 1, count = p->depth - from;

	if (count < FOLD_COUNT || p->marks[p->mark_count - 1] != c->mark)
		return 0;
	count = (count - FOLD_KEPT) & ~1u;
	c->has_folded = true;
	PF_TRY(give(p, c, p->stack + from, count));
	memmove(p->stack + from, p->stack + from + count,
		(p->depth - from - count) * sizeof(*p->stack));
	p->depth -= count;
	return 0;
}

/* No opcode takes a container with so much above it and no mark between. */
static bool is_buried(const struct pf_pickle *p, const struct pf_pickle_open *c)
{
	return !c->mark && p->depth - c->at > 8 &&
	       (!p->mark_count || p->marks[p->mark_count - 1] < c->at);
}

static int push(struct pf_pickle *p, struct pf_pickle_val v)
{
	struct pf_pickle_open *c = innermost(p);

	PF_TRY(c && is_buried(p, c) && close_innermost(p));
	c = innermost(p);
	PF_TRY(c && c->mark && fold(p, c));
	/* A text is no item of such a list, but the key that follows it. */
	PF_TRY(c && c->role && !c->is_dict && !c->mark &&
	       v.type == PF_PICKLE_TEXT && c->at == p->depth - 1 &&
	       close_innermost(p));
	if (p->depth == PF_PICKLE_STACK_MAX)
		return fail_at(p, "too many values in wait");
	*PF_ONE_MORE(p->stack, p->depth, p->stack_cap) = v;
	return 0;
}

/*
 * Whose item a container becomes that begins now.  Where a container without
 * items is on top it is not sure that it is complete: its role decides.
 */
static struct pf_pickle_open *find_parent(struct pf_pickle *p,
					  const struct pf_pickle_val **key,
					  bool is_dict)
{
	for (uint32_t i = p->open_count; i-- > 0;) {
		struct pf_pickle_open *c = &p->open[i];
		uint32_t from = c->mark ? c->mark : c->at;
		uint32_t above = p->depth - 1 - from;
		const struct pf_pickle_val *top = &p->stack[p->depth - 1];

		*key = NULL;
		if (c->is_dict) {
			bool has_key = above % 2 && top->type == PF_PICKLE_TEXT;

			*key = has_key ? top : NULL;
			if (has_key && (c->mark || !c->count))
				return c;
		} else if (c->mark ||
			   (!above && p->handler->role(p->handler->arg, c, NULL,
						       is_dict))) {
			return c;
		}
		if (c->mark)
			return c;
	}
	*key = NULL;
	return NULL;
}

static int begin_pickle(struct pf_pickle *p, bool is_dict)
{
	const struct pf_pickle_handler *h = p->handler;
	struct pf_pickle_open *parent, *c;
	struct pf_pickle_open made = { .is_dict = is_dict,
				       .offset = pf_pickle_offset(p) };
	const struct pf_pickle_val *key = NULL;
	int64_t above = 0;

	parent = find_parent(p, &key, is_dict);
	/* What is above the parent is complete. */
	PF_TRY(parent && close_from(p, parent->at + 1));
	if (parent && !key)
		above = parent->count + p->depth - 1 -
			(parent->mark ? parent->mark : parent->at);
	if (!parent || parent->role)
		made.role = h->role(h->arg, parent, key, is_dict);
	if (p->open_count == PF_PICKLE_DEPTH_MAX)
		return fail_at(p, "nested deeper than 100");
	PF_TRY(made.role && h->begin(h->arg, &made, parent, above, p->err));
	if (push(p, (struct pf_pickle_val){ .type = PF_PICKLE_OPEN }))
		return -1;
	/* push() may have closed a list below */
	c = &p->open[p->open_count];
	*c = made;
	c->at = p->depth - 1;
	p->stack[c->at].at = p->open_count++;
	return 0;
}

/* ---- items ---- */

static int mark(struct pf_pickle *p)
{
	struct pf_pickle_open *c = innermost(p);
	bool is_items = c && !c->mark && c->at == p->depth - 1;

	PF_TRY(!is_items && c && c->mark && fold(p, c));
	if (p->depth == PF_PICKLE_STACK_MAX)
		return fail_at(p, "too many values in wait");
	*PF_ONE_MORE(p->marks, p->mark_count, p->mark_cap) = p->depth;
	if (is_items)
		c->mark = p->depth;
	*PF_ONE_MORE(p->stack, p->depth, p->stack_cap) =
		(struct pf_pickle_val){ .type = PF_PICKLE_MARK };
	return 0;
}

/* The items above "from" go to the container at "at". */
static int give_items(struct pf_pickle *p, uint32_t at, uint32_t from,
		      bool is_dict, bool is_all)
{
	struct pf_pickle_open *c;
	const struct pf_pickle_val *v = &p->stack[at];

	PF_TRY(close_from(p, at + 1));
	v = &p->stack[at];
	if (v->type == PF_PICKLE_THING && !v->role) {
		p->depth = at + 1;
		return 0;
	}
	if (v->type != PF_PICKLE_OPEN || p->open[v->at].is_dict != is_dict)
		return fail_at(p, is_dict ? "members of what is no dictionary"
					  : "items of what is no list");
	c = &p->open[v->at];
	PF_TRY(give(p, c, p->stack + from, p->depth - from));
	p->depth = at + 1;
	c->mark = 0;
	c->has_folded = false;
	/* A dictionary that someone wants is a record, and has few members. */
	if (is_all && is_dict && c->role)
		return close_innermost(p);
	return 0;
}

/* SETITEMS, APPENDS */
static int put_marked(struct pf_pickle *p, bool is_dict)
{
	uint32_t at;

	if (!p->mark_count)
		return fail_at(p, "no mark");
	at = p->marks[--p->mark_count];
	if (!at)
		return fail_at(p, "no container");
	return give_items(p, at - 1, at + 1, is_dict, true);
}

/* The values that one opcode takes must be above the last mark. */
static int need(struct pf_pickle *p, uint32_t count)
{
	uint32_t floor = p->mark_count ? p->marks[p->mark_count - 1] + 1 : 0;

	return p->depth - floor < count ? fail_at(p, "too few values") : 0;
}

static int put_one(struct pf_pickle *p, bool is_dict)
{
	uint32_t items = is_dict ? 2 : 1;

	PF_TRY(need(p, items + 1));
	return give_items(p, p->depth - items - 1, p->depth - items, is_dict,
			  false);
}

static int make_tuple(struct pf_pickle *p, uint32_t from)
{
	struct pf_pickle_val *items = p->stack + from,
			     out = { .type = PF_PICKLE_OTHER };

	PF_TRY(close_from(p, from));
	if (p->depth - from == 2 && items[0].type == PF_PICKLE_INT &&
	    items[1].type == PF_PICKLE_INT && !(items[0].v >> 31) &&
	    !(items[1].v >> 31)) {
		out.type = PF_PICKLE_PAIR;
		out.v = items[0].v << 32 | items[1].v;
	}
	p->depth = from;
	return push(p, out);
}

static int tuple_of(struct pf_pickle *p, uint32_t count)
{
	return need(p, count) ? -1 : make_tuple(p, p->depth - count);
}

static int tuple_marked(struct pf_pickle *p)
{
	uint32_t at;

	if (!p->mark_count)
		return fail_at(p, "no mark");
	at = p->marks[--p->mark_count];
	for (uint32_t i = p->open_count; i-- > 0;) {
		struct pf_pickle_open *c = &p->open[i];

		if (c->mark != at)
			continue;
		if (c->has_folded && c->role)
			return fail_at(p, "a tuple where items should be");
		c->mark = 0;
	}
	PF_TRY(make_tuple(p, at + 1));
	/* the mark goes, too */
	p->stack[at] = p->stack[p->depth - 1];
	p->depth = at + 1;
	return 0;
}

static int pop(struct pf_pickle *p)
{
	PF_TRY(need(p, 1));
	PF_TRY(close_from(p, p->depth - 1));
	p->depth--;
	return 0;
}

/* ---- the memo ---- */

#define WIDE 0x80u /* of the type: v is a place in wide[] */

/* type 8, role 8, 48 bits of v */
static uint64_t pack(struct pf_pickle *p, const struct pf_pickle_val *v)
{
	struct pf_pickle_val x = *v;

	if (x.type == PF_PICKLE_OPEN)
		x = (struct pf_pickle_val){ .type = PF_PICKLE_THING,
					    .role = p->open[v->at].role,
					    .v = p->open[v->at].number };
	if (x.v < 0 || x.v >> 48) {
		*PF_ONE_MORE(p->wide, p->wide_count, p->wide_cap) = x.v;
		x.type |= WIDE;
		x.v = (int64_t)p->wide_count - 1;
	}
	return (uint64_t)x.type << 56 | (uint64_t)x.role << 48 | (uint64_t)x.v;
}

static int put_memo(struct pf_pickle *p, uint64_t i)
{
	if (!p->depth || p->stack[p->depth - 1].type == PF_PICKLE_MARK)
		return fail_at(p, "nothing to remember");
	/* Writers number entries one by one, and none is alone in its bytes. */
	if (i > PF_PICKLE_MEMO_FREE +
			(uint64_t)pf_pickle_offset(p) / PF_PICKLE_MEMO_SIZE)
		return fail_at(p, "a memo index out of order");
	if (i >= p->memo_count) {
		PF_ROOM(p->memo, p->memo_cap, i + 1);
		memset(p->memo + p->memo_count, 0,
		       (i + 1 - p->memo_count) * sizeof(*p->memo));
		p->memo_count = i + 1;
	}
	p->memo[i] = pack(p, &p->stack[p->depth - 1]);
	return 0;
}

static int get_memo(struct pf_pickle *p, uint64_t i)
{
	uint64_t m = i < p->memo_count ? p->memo[i] : 0;
	struct pf_pickle_val v = { .type = (uint8_t)(m >> 56),
				   .role = (uint8_t)(m >> 48),
				   .v = (int64_t)(m & 0xffffffffffff) };

	if (!m)
		return fail_at(p, "a memo entry that was never set");
	if (v.type & WIDE) {
		v.type &= (uint8_t)~WIDE;
		v.v = p->wide[v.v];
	}
	return push(p, v);
}

/* ---- values ---- */

static int push_int(struct pf_pickle *p, int64_t n)
{
	return push(p, (struct pf_pickle_val){ .type = PF_PICKLE_INT, .v = n });
}

/* Little-endian, in two's complement. */
static int push_long(struct pf_pickle *p, const unsigned char *b, size_t n)
{
	bool is_negative = n && b[n - 1] & 0x80;
	struct pf_pickle_val out = { .type = PF_PICKLE_INT };
	uint64_t v = little(b, n > 8 ? 8 : n);

	if (n < 8 && is_negative)
		v |= UINT64_MAX << (8 * n);
	out.v = (int64_t)v;
	if (is_negative && !(v >> 63))
		out.type = PF_PICKLE_BIG;
	else if (!is_negative && v >> 63)
		out.type = PF_PICKLE_UINT;
	/* beyond 8 bytes only the sign may follow */
	for (size_t i = 8; i < n; i++)
		if (b[i] != (is_negative ? 0xff : 0))
			out.type = PF_PICKLE_BIG;
	return push(p, out);
}

/* LONG1, LONG4: the length, then the number.  Adds its bytes to *size. */
static int run_long(struct pf_pickle *p, size_t *size)
{
	size_t n = (size_t)little(p->buf + p->at + 1, *size - 1);

	if (n > PF_PICKLE_TEXT_MAX)
		return fail_at(p, "a number of more than 16 MiB");
	PF_TRY(want(p, *size + n) || push_long(p, p->buf + p->at + *size, n));
	*size += n;
	return 0;
}

/* Is it the value of a key that nobody asks for? */
static bool is_ignored(struct pf_pickle *p)
{
	const struct pf_pickle_open *c = innermost(p);
	const struct pf_pickle_val *top;

	if (!c || !c->mark || !c->role)
		return c && !c->role;
	top = &p->stack[p->depth - 1];
	return c->is_dict && (p->depth - c->mark - 1) % 2 &&
	       top->type == PF_PICKLE_TEXT &&
	       p->handler->ignores(p->handler->arg, (uint32_t)top->v);
}

/* A text of len bytes, "head" bytes after the opcode. */
static int push_text(struct pf_pickle *p, size_t head, uint64_t len)
{
	uint32_t known = p->texts.count, i;
	const char *text;

	if (len > PF_PICKLE_TEXT_MAX)
		return fail_at(p, "a text of more than 16 MiB");
	PF_TRY(want(p, head + (size_t)len));
	text = (const char *)p->buf + p->at + head;
	/*
	 * The memo may give it back where it is asked for (a file name that
	 * user_metadata had first), so it is a text as long as there is room.
	 */
	if (is_ignored(p) && p->texts.bytes_len + len > PF_PICKLE_IDLE_MAX) {
		if (push(p, (struct pf_pickle_val){ .type = PF_PICKLE_OTHER }))
			return -1;
		p->at += head + (size_t)len;
		return 0;
	}
	if (p->texts.bytes_len + len > PF_PICKLE_TEXTS_MAX)
		return fail_at(p, "more than 256 MiB of different texts");
	i = pf_intern_add(&p->texts, text, (size_t)len);
	if (i == known)
		p->handler->text(p->handler->arg, i, text, (size_t)len);
	if (push(p, (struct pf_pickle_val){ .type = PF_PICKLE_TEXT, .v = i }))
		return -1;
	p->at += head + (size_t)len;
	return 0;
}

/* ---- opcodes ---- */

/* What GLOBAL names, for the message. */
static int refuse_global(struct pf_pickle *p)
{
	char name[128];
	size_t n = 0;

	PF_TRY(fill(p, sizeof(name)));
	for (size_t i = p->at + 1, lines = 0;
	     i < p->len && lines < 2 && n < sizeof(name) - 1; i++) {
		if (p->buf[i] == '\n' && ++lines == 2)
			break;
		name[n++] = p->buf[i] == '\n' ? '.' : (char)p->buf[i];
	}
	name[n] = '\0';
	return pf_fail(p->err, PF_EDATA,
		       "is a pickle that is no memory snapshot: opcode GLOBAL "
		       "(%s) at byte %lld, which is not run",
		       name, (long long)pf_pickle_offset(p));
}

static int refuse(struct pf_pickle *p, unsigned char op)
{
	const char *name = pickle_op_name(op);

	if (op == 'c')
		return refuse_global(p);
	if (!name)
		tear(p);
	if (!name)
		return pf_fail(p->err, PF_EDATA,
			       "is a damaged pickle: byte %lld (0x%02x) is no "
			       "opcode",
			       (long long)pf_pickle_offset(p), op);
	return pf_fail(p->err, PF_EDATA,
		       "is a pickle that is no memory snapshot: opcode %s at "
		       "byte %lld%s",
		       name, (long long)pf_pickle_offset(p),
		       op == 'P' || op == 'Q'
			       ? " (a torch.save file, or part of one?)"
			       : "");
}

/* Bytes of an opcode and its fixed operands. */
static const uint8_t sizes[256] = {
	[0x80] = 2, [0x95] = 9, ['h'] = 2, ['q'] = 2,  ['j'] = 5,  ['r'] = 5,
	['J'] = 5,  ['K'] = 2,  ['M'] = 3, [0x8a] = 2, [0x8b] = 5, [0x8c] = 2,
	['X'] = 5,  [0x8d] = 9, ['G'] = 9, ['('] = 1,  ['}'] = 1,  [']'] = 1,
	['u'] = 1,  ['s'] = 1,  ['e'] = 1, ['a'] = 1,  [0x94] = 1, [0x88] = 1,
	[0x89] = 1, ['N'] = 1,  [')'] = 1, ['t'] = 1,  [0x85] = 1, [0x86] = 1,
	[0x87] = 1, ['0'] = 1,  ['.'] = 1,
};

static int push_real(struct pf_pickle *p, const unsigned char *b)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | b[i];
	return push(p, (struct pf_pickle_val){ .type = PF_PICKLE_REAL,
					       .v = (int64_t)v });
}

static int run_number(struct pf_pickle *p, unsigned char op,
		      const unsigned char *b)
{
	switch (op) {
	case 'K':
		return push_int(p, b[0]);
	case 'M':
		return push_int(p, (int64_t)little(b, 2));
	case 'J':
		return push_int(p, (int32_t)little(b, 4));
	case 'G':
		return push_real(p, b);
	case 0x88:
	case 0x89:
		return push(p, (struct pf_pickle_val){ .type = PF_PICKLE_BOOL,
						       .v = op == 0x88 });
	case 'N':
		return push(p,
			    (struct pf_pickle_val){ .type = PF_PICKLE_NONE });
	case ')':
		return push(p,
			    (struct pf_pickle_val){ .type = PF_PICKLE_OTHER });
	case 0x85:
	case 0x86:
	case 0x87:
		return tuple_of(p, op - 0x84u);
	case 't':
		return tuple_marked(p);
	default:
		return refuse(p, op);
	}
}

static int run(struct pf_pickle *p, unsigned char op, const unsigned char *b)
{
	switch (op) {
	case 'h':
		return get_memo(p, b[0]);
	case 'j':
		return get_memo(p, little(b, 4));
	case 0x94:
		return put_memo(p, p->memo_count);
	case 'q':
		return put_memo(p, b[0]);
	case 'r':
		return put_memo(p, little(b, 4));
	case '(':
		return mark(p);
	case '}':
		return begin_pickle(p, true);
	case ']':
		return begin_pickle(p, false);
	case 'u':
		return put_marked(p, true);
	case 'e':
		return put_marked(p, false);
	case 's':
		return put_one(p, true);
	case 'a':
		return put_one(p, false);
	case '0':
		return pop(p);
	case 0x80:
		return b[0] >= 2 && b[0] <= 5
			       ? 0
			       : fail_at(p, "a protocol that is not 2 to 5");
	case 0x95:
		return 0;
	default:
		return run_number(p, op, b);
	}
}

/* 1 at STOP. */
static int next(struct pf_pickle *p)
{
	unsigned char op;
	size_t size;

	PF_TRY(p->len - p->at < OPERAND_MAX && fill(p, OPERAND_MAX));
	if (p->at == p->len)
		return fail_cut(p);
	op = p->buf[p->at];
	size = sizes[op];
	if (!size)
		return refuse(p, op);
	PF_TRY(want(p, size));
	if (op == '.')
		return 1;
	if (op == 0x8c || op == 'X' || op == 0x8d)
		return push_text(p, size, little(p->buf + p->at + 1, size - 1));
	PF_TRY(op == 0x8a || op == 0x8b ? run_long(p, &size)
					: run(p, op, p->buf + p->at + 1));
	p->at += size;
	return 0;
}

/* What follows the pickle is counted, and no more. */
static int finish(struct pf_pickle *p, struct pf_pickle_val *top)
{
	p->end = pf_pickle_offset(p);
	if (p->mark_count || p->depth != 1)
		return fail_at(p, "STOP before the end");
	PF_TRY(close_from(p, 0));
	*top = p->stack[0];
	p->at++;
	do {
		p->trailing += (int64_t)(p->len - p->at);
		p->at = p->len;
		PF_TRY(fill(p, 1));
	} while (p->len > p->at);
	return 0;
}

/*
 * Read all of it.  PF_EDATA, with the byte, if it is cut off, damaged or has
 * an opcode that is not read.  *top: what the pickle is.
 */
static int pickle_load(struct pf_pickle *p,
		       const struct pf_pickle_handler *handler,
		       pf_pickle_read_fn *read, void *arg,
		       struct pf_pickle_val *top, struct pf_err *err)
{
	int rc;

	memset(p, 0, sizeof(*p));
	p->handler = handler;
	p->read = read;
	p->read_arg = arg;
	p->err = err;
	p->buf = pf_alloc(BUF_BYTES);
	p->buf_cap = BUF_BYTES;
	do
		rc = next(p);
	while (!rc);
	return rc == 1 ? finish(p, top) : -1;
}

static void pickle_release(struct pf_pickle *p)
{
	free(p->stack);
	free(p->marks);
	free(p->memo);
	free(p->wide);
	free(p->buf);
	pf_intern_release(&p->texts);
	memset(p, 0, sizeof(*p));
}

#define PF_SNAP_SPOOL_BYTES (8u << 20)

/*
 * Levels are worked out as entries come, from an unknown base.  What the
 * history lacks raises the base: a free of what was not allocated in it, and a
 * block in use that was not.  The final state says what is reserved at the
 * end, and so what it was at the start.
 */

#define GONE UINT64_MAX       /* of pf_map: nothing is allocated here */
#define SEEN (UINT64_MAX - 1) /* it is an active block of the end */

/* The device of a number, made if it is new; -1: too many. */
static int snap_device(struct pf_snap *s, int64_t number)
{
	for (size_t i = 0; i < s->device_count; i++)
		if (s->devices[i].number == number)
			return (int)i;
	if (s->device_count == PF_SNAP_DEVICES_MAX || number < 0)
		return -1;
	*PF_ONE_MORE(s->devices, s->device_count, s->device_cap) =
		(struct pf_snap_device){ .number = number };
	return (int)s->device_count - 1;
}

static void alloc(struct pf_snap_device *d, const struct pf_snap_entry *e)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)e->address);

	if (*size != GONE)
		d->twice_count++;
	else
		d->open_count++;
	*size = (uint64_t)e->size;
	d->level = pf_sat_add(d->level, e->size);
}

static void release(struct pf_snap_device *d, const struct pf_snap_entry *e)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)e->address);
	int64_t bytes = e->size;

	if (*size == GONE) {
		d->early_count++;
		d->before_count++;
		d->base = pf_sat_add(d->base, bytes);
	} else {
		d->open_count--;
		d->differ_count += *size != (uint64_t)bytes;
		bytes = (int64_t)*size;
		*size = GONE;
	}
	d->level = pf_sat_sub(d->level, bytes);
}

static void settle_time(struct pf_snap *s, struct pf_snap_device *d,
			struct pf_snap_entry *e, bool has_time)
{
	if (!has_time) {
		e->time_us = d->timed_count ? d->last_us : d->entry_count;
		return;
	}
	if (d->timed_count++ && e->time_us < d->last_us) {
		d->late_count++;
		e->time_us = d->last_us;
	}
	if (d->timed_count == 1)
		d->first_us = e->time_us;
	d->last_us = e->time_us;
	if (!s->has_times || d->first_us < s->first_us)
		s->first_us = d->first_us;
	s->has_times = true;
}

/* An entry whose members are right: its time, its levels. */
static int snap_replay(struct pf_snap *s, struct pf_snap_entry *e,
		       bool has_time, struct pf_err *err)
{
	struct pf_snap_device *d = &s->devices[e->device];

	settle_time(s, d, e, has_time);
	d->entry_count++;
	switch ((enum pf_snap_action)e->action) {
	case PF_SNAP_ALLOC:
		alloc(d, e);
		break;
	case PF_SNAP_FREE:
		release(d, e);
		break;
	case PF_SNAP_SEGMENT_ALLOC:
	case PF_SNAP_SEGMENT_MAP:
		d->reserved = pf_sat_add(d->reserved, e->size);
		break;
	case PF_SNAP_SEGMENT_FREE:
	case PF_SNAP_SEGMENT_UNMAP:
		d->reserved = pf_sat_sub(d->reserved, e->size);
		break;
	default:
		break;
	}
	e->level = d->level;
	e->reserved = d->reserved;
	return pf_spool_add(s->entries, e, err);
}

/* ---- the final state ---- */

/* A block's address: "at" bytes, 0 or more, behind that of its segment. */
static void snap_place_block(struct pf_snap_block *b,
			     const struct pf_snap_segment *g, int64_t at)
{
	uint64_t from = (uint64_t)g->address, to = from + (uint64_t)at;

	b->address_is = g->address_is;
	if (g->address < 0 && !(g->address_is & PF_SNAP_UNSIGNED)) {
		b->address = g->address + at;
		return;
	}
	b->address = (int64_t)(to < from ? UINT64_MAX : to);
	if (b->address < 0)
		b->address_is |= PF_SNAP_UNSIGNED;
}

static void meet(struct pf_snap_device *d, const struct pf_snap_block *b)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)b->address);

	if (*size == GONE || *size == SEEN) {
		if (!b->is_in_use)
			return;
		d->before_count++;
		d->base = pf_sat_add(d->base, b->requested);
		return;
	}
	d->open_count--;
	d->differ_count += *size != (uint64_t)b->requested;
	*size = SEEN;
}

static int meet_all(struct pf_snap *s, struct pf_err *err)
{
	for (uint64_t i = 0; i < pf_spool_count(s->blocks); i++) {
		const struct pf_snap_block *b = pf_spool_at(s->blocks, i, err);
		const struct pf_snap_segment *g;
		struct pf_snap_block block;
		int device;

		PF_TRY(!b);
		block = *b;
		g = pf_spool_at(s->segments, (uint64_t)block.segment, err);
		PF_TRY(!g);
		device = snap_device(s, g->device);
		if (device >= 0 && block.is_active && block.address_is &&
		    !s->devices[device].is_cut)
			meet(&s->devices[device], &block);
	}
	return 0;
}

/* All has been read: bases, and what does not agree. */
static int snap_settle(struct pf_snap *s, struct pf_err *err)
{
	PF_TRY(meet_all(s, err));
	for (size_t i = 0; i < s->device_count; i++) {
		struct pf_snap_device *d = &s->devices[i];

		if (d->is_cut)
			continue;
		d->no_block_count = d->open_count;
		d->reserved_base = pf_sat_sub(d->segment_total, d->reserved);
		d->has_reserved_base = true;
	}
	for (uint64_t i = 0; i < pf_spool_count(s->entries); i++) {
		const struct pf_snap_entry *e = pf_spool_at(s->entries, i, err);
		struct pf_snap_device *d;

		PF_TRY(!e);
		d = &s->devices[e->device];
		if (pf_sat_add(d->reserved_base, e->reserved) < 0)
			d->has_reserved_base = false;
	}
	return 0;
}

int64_t pf_snap_exceptions(const struct pf_snap_device *d)
{
	return d->twice_count + d->differ_count + d->no_block_count +
	       d->late_count + (!d->has_reserved_base && !d->is_cut);
}

/* ---- stacks ---- */

#define OMIT_FILE 1u
#define OMIT_NAME 2u

/* memory_viz's lists, as they stand in every release since torch 2.1 */
static const char *const omitted_names[] = {
	"unwind::unwind",    "CapturedTraceback::gather",
	"gather_with_cpp",   "_start",
	"__libc_start_main", "PyEval_",
	"PyObject_",         "PyFunction_",
};
static const char *const omitted_files[] = {
	"core/boxing",
	"/Register",
	"/Redispatch",
	"pythonrun.c",
	"Modules/main.c",
	"Objects/call.c",
	"Objects/methodobject.c",
	"pycore_ceval.h",
	"ceval.c",
	"cpython/abstract.h",
};

static void snap_stacks_release(struct pf_snap_stacks *s)
{
	pf_intern_release(&s->frames);
	pf_intern_release(&s->nodes);
	free(s->omits);
	free(s->frame_of);
	free(s->stack_of);
}

static bool has_any(const char *const *list, size_t count, const char *p,
		    size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (memmem(p, len, list[i], strlen(list[i])))
			return true;
	return false;
}

/* A text that is new, by its number. */
static void snap_stacks_text(struct pf_snap_stacks *s, uint32_t number,
			     const char *p, size_t len)
{
	uint8_t bits = 0;

	if (has_any(omitted_files, PF_LEN(omitted_files), p, len))
		bits |= OMIT_FILE;
	if (has_any(omitted_names, PF_LEN(omitted_names), p, len))
		bits |= OMIT_NAME;
	s->omits = pf_grow(s->omits, &s->omits_cap, (size_t)number + 1, 1);
	s->omits[number] = bits;
}

/* Numbers for the next dictionary of a frame and the next list of frames. */
static uint32_t snap_new_frame(struct pf_snap_stacks *s)
{
	*PF_ONE_MORE(s->frame_of, s->frame_count, s->frame_cap) =
		PF_SNAP_DROPPED;
	return (uint32_t)s->frame_count - 1;
}

static uint32_t snap_new_list(struct pf_snap_stacks *s)
{
	*PF_ONE_MORE(s->stack_of, s->list_count, s->list_cap) = 0;
	return (uint32_t)s->list_count - 1;
}

static void snap_set_frame(struct pf_snap_stacks *s, uint32_t number,
			   const struct pf_snap_frame *frame)
{
	if (s->omits[frame->file] & OMIT_FILE ||
	    s->omits[frame->name] & OMIT_NAME)
		return;
	s->frame_of[number] =
		pf_intern_add(&s->frames, (const char *)frame, sizeof(*frame));
}

/* Frames by number of dictionary, the innermost first. */
static void snap_set_list(struct pf_snap_stacks *s, uint32_t number,
			  const uint32_t *frames, size_t count)
{
	struct pf_snap_stack node = { 0 };

	for (size_t i = count; i-- > 0;) {
		node.frame = s->frame_of[frames[i]];
		if (node.frame == PF_SNAP_DROPPED) {
			s->dropped_count++;
			continue;
		}
		node.parent = pf_intern_add(&s->nodes, (const char *)&node,
					    sizeof(node)) +
			      1;
	}
	s->stack_of[number] = node.parent;
}

/* The id of a list's stack; 0: it has no frames, or is not complete yet. */
static uint32_t snap_stack_id(const struct pf_snap_stacks *s, uint32_t list)
{
	return list < s->list_count ? s->stack_of[list] : 0;
}

/*
 * What is left of a snapshot that is cut off or damaged.  Torch writes the
 * segments first, then the histories, one device after the other: so the final
 * state is often whole where a history is not.
 */

/* Spools of segments and blocks. */
static void snap_new_state(struct pf_snap *s, const char *dir)
{
	s->segments = pf_spool_new(sizeof(struct pf_snap_segment),
				   PF_SNAP_SPOOL_BYTES, dir);
	s->blocks = pf_spool_new(sizeof(struct pf_snap_block),
				 PF_SNAP_SPOOL_BYTES, dir);
	s->pasts = pf_spool_new(sizeof(struct pf_snap_past),
				PF_SNAP_SPOOL_BYTES, dir);
}

/* Segments without those that are lost add up to nothing that is true. */
static void drop_segments(struct pf_snap *s, const char *dir)
{
	int64_t count = (int64_t)pf_spool_count(s->segments);

	s->lost_count += count + 1; /* the one at hand, or to come */
	if (count)
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_PART, count,
			       PF_OFFSET_UNKNOWN);
	pf_spool_free(s->segments);
	pf_spool_free(s->blocks);
	pf_spool_free(s->pasts);
	snap_new_state(s, dir);
	s->bad_sum_count = s->bad_order_count = 0;
	for (size_t i = 0; i < s->device_count; i++)
		s->devices[i].segment_total = s->devices[i].in_use =
			s->devices[i].active = 0;
}

/* Entries that were begun and did not end. */
static void count_lost(struct pf_snap *s)
{
	int64_t lost = s->entry_count + s->mark_count -
		       (int64_t)pf_spool_count(s->entries) -
		       (int64_t)pf_spool_count(s->marks) -
		       s->repairs.of[PF_SKIP_MALFORMED].count -
		       s->repairs.of[PF_SKIP_TIME_RANGE].count;

	if (lost)
		pf_repair_note(&s->repairs, PF_SKIP_MALFORMED, lost,
			       s->pickle.end);
}

static int advise(struct pf_err *err)
{
	struct pf_err why = *err;

	return pf_fail(err, why.code, "%s; --salvage keeps what is before that",
		       why.text);
}

static bool snap_in_segments(struct pf_snap *s);
static int64_t snap_in_history(struct pf_snap *s);

/*
 * Reading failed with err.  0: what was read is kept; -1: it is not, because
 * nobody asked (the message says how) or there is nothing.
 */
static int snap_keep(struct pf_snap *s, const char *dir, bool salvage,
		     struct pf_err *err)
{
	bool is_whole = pf_spool_count(s->segments) && !snap_in_segments(s);
	int64_t cut = snap_in_history(s);

	if (!s->pickle.is_torn || (!is_whole && !pf_spool_count(s->entries)))
		return -1;
	if (!salvage)
		return advise(err);
	memset(err, 0, sizeof(*err));
	if (!is_whole)
		drop_segments(s, dir);
	for (size_t i = 0; i < s->device_count; i++)
		s->devices[i].is_cut = !is_whole || cut == (int64_t)i;
	count_lost(s);
	pf_repair_note(&s->repairs, PF_REPAIR_CUT_SNAPSHOT, 1, s->pickle.end);
	return snap_settle(s, err);
}

enum role {
	NOTHING,
	TOP,
	SEGMENTS,
	SEGMENT,
	BLOCKS,
	BLOCK,
	HISTORY,
	PAST, /* an element of a block's history */
	TRACES,
	TRACE,
	ENTRY,
	FRAMES,
	FRAME,
	SETTINGS,
	ANNOTATIONS,
	ANNOTATION,
	ANYTHING, /* may hold frames that others refer to */
};

enum member {
	M_NONE, /* a key that nobody asks for */
	M_SEGMENTS,
	M_TRACES,
	M_SETTINGS,
	M_ANNOTATIONS,
	M_BLOCKS,
	M_HISTORY,
	M_FRAMES,
	M_DEVICE,
	M_ADDRESS,
	M_TOTAL,
	M_SIZE,
	M_REQUESTED,
	M_REAL_SIZE,
	M_STREAM,
	M_TYPE,
	M_POOL,
	M_EXPANDABLE,
	M_STATE,
	M_ACTION,
	M_ADDR,
	M_DEVICE_FREE,
	M_TIME,
	M_FILENAME,
	M_LINE,
	M_NAME,
	M_STAGE,
	MEMBERS
};

/* Allowed types of values, as bits; a container is allowed by its role. */
#define BIT(type)   (1u << (type))
#define INT         BIT(PF_PICKLE_INT)
#define TEXT        BIT(PF_PICKLE_TEXT)
#define KEY         (INT | BIT(PF_PICKLE_UINT)) /* or a text of digits */
#define HOLDS(role) ((unsigned)(role) << 16)

static const struct {
	const char *key;
	unsigned types;
} members[MEMBERS] = {
	[M_SEGMENTS] = { "segments", HOLDS(SEGMENTS) },
	[M_TRACES] = { "device_traces", HOLDS(TRACES) },
	[M_SETTINGS] = { "allocator_settings", HOLDS(SETTINGS) },
	[M_ANNOTATIONS] = { "external_annotations", HOLDS(ANNOTATIONS) },
	[M_BLOCKS] = { "blocks", HOLDS(BLOCKS) },
	[M_HISTORY] = { "history", HOLDS(HISTORY) },
	[M_FRAMES] = { "frames", HOLDS(FRAMES) },
	[M_DEVICE] = { "device", INT },
	[M_ADDRESS] = { "address", KEY },
	[M_TOTAL] = { "total_size", INT },
	[M_SIZE] = { "size", INT },
	[M_REQUESTED] = { "requested_size", INT },
	[M_REAL_SIZE] = { "real_size", INT },
	[M_STREAM] = { "stream", KEY },
	[M_TYPE] = { "segment_type", TEXT },
	[M_POOL] = { "segment_pool_id", BIT(PF_PICKLE_PAIR) },
	[M_EXPANDABLE] = { "is_expandable", BIT(PF_PICKLE_BOOL) },
	[M_STATE] = { "state", TEXT },
	[M_ACTION] = { "action", TEXT },
	[M_ADDR] = { "addr", KEY },
	[M_DEVICE_FREE] = { "device_free", INT },
	[M_TIME] = { "time_us", INT },
	[M_FILENAME] = { "filename", TEXT },
	[M_LINE] = { "line", INT },
	[M_NAME] = { "name", TEXT },
	[M_STAGE] = { "stage", TEXT },
};

static const char *const actions[] = {
	[PF_SNAP_ALLOC] = "alloc",
	[PF_SNAP_FREE_REQUESTED] = "free_requested",
	[PF_SNAP_FREE] = "free_completed",
	[PF_SNAP_SEGMENT_ALLOC] = "segment_alloc",
	[PF_SNAP_SEGMENT_FREE] = "segment_free",
	[PF_SNAP_SEGMENT_MAP] = "segment_map",
	[PF_SNAP_SEGMENT_UNMAP] = "segment_unmap",
	[PF_SNAP_TAKEN] = "snapshot",
	[PF_SNAP_OOM] = "oom",
};

struct record {
	int64_t of[MEMBERS];
	uint32_t has, bad; /* by member */
	uint32_t is_unsigned;
	uint32_t device; /* of a trace or an entry */
};

/* A place in the list of blocks that goes to the spool with its segment. */
struct pf_snap_work {
	struct record records[PF_PICKLE_DEPTH_MAX];
	uint8_t *member_of, *action_of; /* by text */
	size_t member_cap, action_cap;
	struct pf_snap_block *blocks; /* of the segment at hand */
	size_t block_count, block_cap;
	struct pf_snap_past *pasts; /* of these blocks */
	size_t past_count, past_cap;
	int64_t past_bytes; /* of the first element; -1: none */
	uint32_t past_frames;
	bool has_past_frames;
	uint32_t *frames; /* of the list at hand */
	size_t frame_count, frame_cap;
	bool in_frames, has_segments;
};

/* Is the member there, and of its type? */
static bool has(const struct record *r, enum member m)
{
	return (r->has & ~r->bad) >> m & 1;
}

/* enum pf_snap_is of a key */
static uint8_t key_is(const struct record *r, enum member m)
{
	if (!has(r, m))
		return 0;
	return r->is_unsigned >> m & 1 ? PF_SNAP_KNOWN | PF_SNAP_UNSIGNED
				       : PF_SNAP_KNOWN;
}

static void count(struct pf_snap *s, enum pf_repair_kind kind,
		  const struct pf_pickle_open *c)
{
	pf_repair_note(&s->repairs, kind, 1, c->offset);
}

static struct record *record_of(struct pf_snap *s,
				const struct pf_pickle_open *c)
{
	return &s->work->records[c->record];
}

/* ---- texts ---- */

static void note_text(void *arg, uint32_t number, const char *p, size_t len)
{
	struct pf_snap *s = arg;
	struct pf_snap_work *w = s->work;

	w->member_of =
		pf_grow(w->member_of, &w->member_cap, (size_t)number + 1, 1);
	w->action_of =
		pf_grow(w->action_of, &w->action_cap, (size_t)number + 1, 1);
	w->member_of[number] = M_NONE;
	w->action_of[number] = PF_SNAP_OTHER_ACTION;
	for (int m = M_NONE + 1; m < MEMBERS; m++)
		if (strlen(members[m].key) == len &&
		    !memcmp(members[m].key, p, len))
			w->member_of[number] = (uint8_t)m;
	for (int a = 0; a < PF_SNAP_OTHER_ACTION; a++)
		if (strlen(actions[a]) == len && !memcmp(actions[a], p, len))
			w->action_of[number] = (uint8_t)a;
	snap_stacks_text(&s->stacks, number, p, len);
}

static enum member member_of(const struct pf_snap *s,
			     const struct pf_pickle_val *key)
{
	return key && key->type == PF_PICKLE_TEXT
		       ? (enum member)s->work->member_of[key->v]
		       : M_NONE;
}

static bool ignores(void *arg, uint32_t key)
{
	const struct pf_snap *s = arg;
	const struct pf_pickle_open *c =
		&s->pickle.open[s->pickle.open_count - 1];

	return c->role != SETTINGS && s->work->member_of[key] == M_NONE;
}

static bool says(const struct pf_snap *s, int64_t number, const char *text)
{
	size_t len;
	const char *p = pf_snap_text(s, (uint32_t)number, &len);

	return p && pf_is(p, len, text);
}

const char *pf_snap_text(const struct pf_snap *s, uint32_t number, size_t *len)
{
	return number == PF_SNAP_NO_TEXT
		       ? NULL
		       : pf_intern_text(&s->pickle.texts, number, len);
}

/* ---- roles ---- */

/* parent, key, is it a dictionary: role.  M_NONE: an item of a list. */
static const struct {
	uint8_t parent, key, is_dict, role;
} roles[] = {
	{ TOP, M_SEGMENTS, 0, SEGMENTS },
	{ TOP, M_TRACES, 0, TRACES },
	{ TOP, M_SETTINGS, 1, SETTINGS },
	{ TOP, M_ANNOTATIONS, 0, ANNOTATIONS },
	{ SEGMENTS, M_NONE, 1, SEGMENT },
	{ SEGMENT, M_BLOCKS, 0, BLOCKS },
	{ SEGMENT, M_FRAMES, 0, FRAMES },
	{ BLOCKS, M_NONE, 1, BLOCK },
	{ BLOCK, M_HISTORY, 0, HISTORY },
	{ BLOCK, M_FRAMES, 0, FRAMES },
	{ HISTORY, M_NONE, 1, PAST },
	{ PAST, M_FRAMES, 0, FRAMES },
	{ TRACES, M_NONE, 0, TRACE },
	{ TRACE, M_NONE, 1, ENTRY },
	{ ENTRY, M_FRAMES, 0, FRAMES },
	{ FRAMES, M_NONE, 1, FRAME },
	{ ANNOTATIONS, M_NONE, 1, ANNOTATION },
	{ ANYTHING, M_FRAMES, 0, FRAMES },
};

static uint8_t role_of(void *arg, const struct pf_pickle_open *parent,
		       const struct pf_pickle_val *key, bool is_dict)
{
	struct pf_snap *s = arg;
	enum member m = member_of(s, key);

	if (!parent)
		return is_dict ? TOP : SEGMENTS;
	if (parent->is_dict && !key)
		return NOTHING;
	for (size_t i = 0; i < PF_LEN(roles); i++)
		if (roles[i].parent == parent->role && roles[i].key == m &&
		    roles[i].is_dict == is_dict)
			return roles[i].role == FRAMES && s->work->in_frames
				       ? NOTHING
				       : roles[i].role;
	if (parent->role == SETTINGS && is_dict && key)
		return SETTINGS;
	/* an item that its list does not hold is none of it */
	if (parent->role == FRAME ||
	    (!parent->is_dict && !is_dict && parent->role != ANYTHING))
		return NOTHING;
	return parent->is_dict || parent->role == ANYTHING ? ANYTHING : NOTHING;
}

static int begin_trace(struct pf_snap *s, struct record *r, int64_t above,
		       struct pf_err *err)
{
	int device = above < PF_SNAP_DEVICES_MAX ? snap_device(s, above) : -1;

	if (device < 0)
		return pf_fail(err, PF_EDATA,
			       "has histories of more than %u "
			       "devices",
			       PF_SNAP_DEVICES_MAX);
	s->devices[device].has_history = true;
	r->device = (uint32_t)device;
	return 0;
}

static int begin(void *arg, struct pf_pickle_open *c,
		 const struct pf_pickle_open *parent, int64_t above,
		 struct pf_err *err)
{
	struct pf_snap *s = arg;
	struct pf_snap_work *w = s->work;
	struct record *r;

	c->record = s->pickle.open_count;
	r = record_of(s, c);
	r->has = r->bad = r->is_unsigned = 0;
	switch ((enum role)c->role) {
	case FRAMES:
		w->in_frames = true;
		w->frame_count = 0;
		c->number = snap_new_list(&s->stacks);
		return 0;
	case FRAME:
		c->number = snap_new_frame(&s->stacks);
		return 0;
	case SEGMENT:
		w->block_count = w->past_count = 0;
		return 0;
	case BLOCK:
		w->past_bytes = -1;
		w->has_past_frames = false;
		return 0;
	case PAST:
		r->device = above > 0; /* the first is the block's own */
		return 0;
	case TRACE:
		return begin_trace(s, r, above, err);
	case ENTRY:
		r->device = record_of(s, parent)->device;
		s->entry_count++;
		return 0;
	case ANNOTATION:
		s->mark_count++;
		return 0;
	case SETTINGS:
		r->of[M_NAME] = PF_SNAP_NO_TEXT;
		if (parent->role == SETTINGS)
			r->of[M_NAME] = s->pickle.stack[s->pickle.depth - 1].v;
		return 0;
	default:
		return 0;
	}
}

/* ---- members ---- */

static void add_setting(struct pf_snap *s, const struct pf_pickle_open *c,
			const struct pf_pickle_val *key,
			const struct pf_pickle_val *value)
{
	if (key->type != PF_PICKLE_TEXT || value->type < PF_PICKLE_NONE ||
	    value->type > PF_PICKLE_TEXT || s->setting_count >= 4096)
		return;
	*PF_ONE_MORE(s->settings, s->setting_count, s->setting_cap) =
		(struct pf_snap_setting){
			.prefix = (uint32_t)record_of(s, c)->of[M_NAME],
			.key = (uint32_t)key->v,
			.value = *value,
		};
}

static bool is_allowed(enum member m, const struct pf_pickle_val *v)
{
	unsigned types = members[m].types;

	if (types >> 16)
		return v->type == PF_PICKLE_THING && v->role == types >> 16;
	return types >> v->type & 1;
}

/* A key that is a text: decimal digits, or hexadecimal ones behind 0x. */
static struct pf_pickle_val key_of_text(const struct pf_snap *s,
					const struct pf_pickle_val *v)
{
	size_t len;
	const char *p = pf_snap_text(s, (uint32_t)v->v, &len);
	bool is_hex = len > 2 && p[0] == '0' && p[1] == 'x';
	const char *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	struct pf_pickle_val out = *v;
	uint64_t n;

	p += is_hex ? 2 : 0;
	len -= is_hex ? 2 : 0;
	if (!len || strspn(p, digits) != len)
		return out;
	errno = 0;
	n = strtoull(p, NULL, is_hex ? 16 : 10);
	if (errno)
		return out;
	out.type = n >> 63 ? PF_PICKLE_UINT : PF_PICKLE_INT;
	out.v = (int64_t)n;
	return out;
}

static int set(void *arg, struct pf_pickle_open *c,
	       const struct pf_pickle_val *key,
	       const struct pf_pickle_val *value, struct pf_err *err)
{
	struct pf_snap *s = arg;
	struct record *r = record_of(s, c);
	enum member m = member_of(s, key);
	struct pf_pickle_val number;

	if (c->role == SETTINGS) {
		add_setting(s, c, key, value);
		return 0;
	}
	if (m == M_NONE || c->role == ANYTHING || value->type == PF_PICKLE_NONE)
		return 0;
	if (c->role == TOP && m == M_SEGMENTS && !is_allowed(m, value))
		return pf_fail(err, PF_EDATA,
			       "is no memory snapshot: its segments are no "
			       "list");
	if (members[m].types == KEY && value->type == PF_PICKLE_TEXT) {
		number = key_of_text(s, value);
		value = &number;
	}
	r->has |= 1u << m;
	if (value->type == PF_PICKLE_UINT)
		r->is_unsigned |= 1u << m;
	if (!is_allowed(m, value))
		r->bad |= 1u << m;
	r->of[m] = value->v;
	return 0;
}

static int add(void *arg, struct pf_pickle_open *c,
	       const struct pf_pickle_val *value, struct pf_err *err)
{
	static const uint8_t items[] = {
		[SEGMENTS] = SEGMENT,
		[BLOCKS] = BLOCK,
		[HISTORY] = PAST,
		[TRACES] = TRACE,
		[TRACE] = ENTRY,
		[FRAMES] = FRAME,
		[ANNOTATIONS] = ANNOTATION,
		[ANYTHING] = NOTHING,
	};
	struct pf_snap *s = arg;
	struct pf_snap_work *w = s->work;

	(void)err;
	if (c->role == ANYTHING)
		return 0;
	if (value->type != PF_PICKLE_THING || value->role != items[c->role]) {
		if (c->role == TRACE) {
			s->entry_count++;
			count(s, PF_SKIP_MALFORMED, c);
		} else {
			s->lost_count += c->role == SEGMENTS;
			count(s, PF_REPAIR_BAD_PART, c);
		}
	} else if (c->role == FRAMES) {
		*PF_ONE_MORE(w->frames, w->frame_count, w->frame_cap) =
			(uint32_t)value->v;
	}
	return 0;
}

/* ---- records ---- */

static bool is_size(const struct record *r, enum member m)
{
	return has(r, m) && r->of[m] >= 0 && r->of[m] <= PF_SNAP_SIZE_MAX;
}

static uint32_t stack_of(const struct pf_snap *s, const struct record *r)
{
	return has(r, M_FRAMES)
		       ? snap_stack_id(&s->stacks, (uint32_t)r->of[M_FRAMES])
		       : 0;
}

static void end_frame(struct pf_snap *s, struct pf_pickle_open *c,
		      const struct record *r)
{
	const struct pf_snap_frame frame = {
		.file = (uint32_t)r->of[M_FILENAME],
		.name = (uint32_t)r->of[M_NAME],
		.line = has(r, M_LINE) ? r->of[M_LINE] : -1,
	};

	if (has(r, M_FILENAME) && has(r, M_NAME))
		snap_set_frame(&s->stacks, c->number, &frame);
	else
		count(s, PF_REPAIR_BAD_PART, c);
}

static void end_past(struct pf_snap *s, const struct record *r)
{
	struct pf_snap_work *w = s->work;

	if (r->device && is_size(r, M_REAL_SIZE)) {
		*PF_ONE_MORE(w->pasts, w->past_count, w->past_cap) =
			(struct pf_snap_past){ (int64_t)w->block_count,
					       r->of[M_REAL_SIZE],
					       stack_of(s, r) };
	}
	if (r->device)
		return;
	if (is_size(r, M_REAL_SIZE))
		w->past_bytes = r->of[M_REAL_SIZE];
	w->has_past_frames = has(r, M_FRAMES);
	w->past_frames = (uint32_t)r->of[M_FRAMES];
}

/* Torch 2.0 has neither frames nor requested sizes, but a history of each. */
static void end_block(struct pf_snap *s, const struct pf_pickle_open *c,
		      struct record *r)
{
	struct pf_snap_work *w = s->work;
	struct pf_snap_block *b;
	bool is_inactive;

	if (!is_size(r, M_SIZE) || !has(r, M_STATE) ||
	    (has(r, M_REQUESTED) && !is_size(r, M_REQUESTED))) {
		count(s, PF_REPAIR_BAD_PART, c);
		while (w->past_count && w->pasts[w->past_count - 1].block ==
						(int64_t)w->block_count)
			w->past_count--;
		return;
	}
	is_inactive = says(s, r->of[M_STATE], "inactive");
	if (!has(r, M_FRAMES) && w->has_past_frames) {
		r->has |= 1u << M_FRAMES;
		r->of[M_FRAMES] = w->past_frames;
	}
	b = PF_ONE_MORE(w->blocks, w->block_count, w->block_cap);
	*b = (struct pf_snap_block){
		.address = r->of[M_ADDRESS],
		.size = r->of[M_SIZE],
		.state = (uint32_t)r->of[M_STATE],
		.stack = stack_of(s, r),
		.address_is = key_is(r, M_ADDRESS),
		.is_active = !is_inactive,
		.is_in_use = says(s, r->of[M_STATE], "active_allocated"),
	};
	b->requested = has(r, M_REQUESTED)  ? r->of[M_REQUESTED]
		       : w->past_bytes >= 0 ? w->past_bytes
					    : b->size;
}

/* Blocks lie one after the other and fill their segment. */
static int put_blocks(struct pf_snap *s, const struct pf_snap_segment *g,
		      struct pf_snap_device *d, struct pf_err *err)
{
	struct pf_snap_work *w = s->work;
	int64_t at = 0, first = (int64_t)pf_spool_count(s->blocks);

	for (size_t i = 0; i < w->past_count; i++) {
		w->pasts[i].block += first;
		PF_TRY(pf_spool_add(s->pasts, &w->pasts[i], err));
	}
	for (size_t i = 0; i < w->block_count; i++) {
		struct pf_snap_block *b = &w->blocks[i];

		int64_t said = b->address;
		bool is_said = g->address_is && b->address_is;

		b->segment = (int64_t)pf_spool_count(s->segments);
		/* as memory_viz has it: by the sizes before it */
		snap_place_block(b, g, at);
		s->bad_order_count += is_said && said != b->address;
		at = pf_sat_add(at, b->size);
		if (b->is_active)
			d->active = pf_sat_add(d->active, b->requested);
		if (b->is_in_use)
			d->in_use = pf_sat_add(d->in_use, b->requested);
		PF_TRY(pf_spool_add(s->blocks, b, err));
	}
	s->bad_sum_count += at != g->total;
	return 0;
}

static int end_segment(struct pf_snap *s, const struct pf_pickle_open *c,
		       const struct record *r, struct pf_err *err)
{
	struct pf_snap_work *w = s->work;
	struct pf_snap_segment g = {
		.device = r->of[M_DEVICE],
		.address = has(r, M_ADDRESS) ? r->of[M_ADDRESS] : 0,
		.total = r->of[M_TOTAL],
		.stream = r->of[M_STREAM],
		.block_count = (int64_t)w->block_count,
		.pool_a = PF_SNAP_NO_TEXT,
		.pool_b = PF_SNAP_NO_TEXT,
		.stack = stack_of(s, r),
		.is_expandable = -1,
		.is_large = -1,
		.address_is = key_is(r, M_ADDRESS),
		.stream_is = key_is(r, M_STREAM),
	};
	int device = has(r, M_DEVICE) ? snap_device(s, g.device) : -1;

	/* SnapViewer writes pools as lists */
	if (device < 0 || !is_size(r, M_TOTAL) || r->bad & ~(1u << M_POOL)) {
		count(s, PF_REPAIR_BAD_PART, c);
		s->lost_count++;
		w->block_count = 0;
		return 0;
	}
	if (has(r, M_POOL)) {
		g.pool_a = (uint32_t)(r->of[M_POOL] >> 32);
		g.pool_b = (uint32_t)r->of[M_POOL];
	}
	if (has(r, M_EXPANDABLE))
		g.is_expandable = r->of[M_EXPANDABLE] != 0;
	if (has(r, M_TYPE))
		g.is_large = says(s, r->of[M_TYPE], "large")   ? 1
			     : says(s, r->of[M_TYPE], "small") ? 0
							       : -1;
	s->devices[device].segment_total =
		pf_sat_add(s->devices[device].segment_total, g.total);
	PF_TRY(put_blocks(s, &g, &s->devices[device], err));
	w->block_count = 0;
	return pf_spool_add(s->segments, &g, err);
}

static int end_entry(struct pf_snap *s, const struct pf_pickle_open *c,
		     const struct record *r, struct pf_err *err)
{
	struct pf_snap_entry e = {
		.time_us = r->of[M_TIME],
		.address = r->of[M_ADDR],
		.size = r->of[M_SIZE],
		.stream = has(r, M_STREAM) ? r->of[M_STREAM] : 0,
		.device_free =
			is_size(r, M_DEVICE_FREE) ? r->of[M_DEVICE_FREE] : -1,
		.stack = stack_of(s, r),
		.name = (uint32_t)r->of[M_ACTION],
		.device = (uint16_t)r->device,
		.address_is = key_is(r, M_ADDR),
		.stream_is = key_is(r, M_STREAM),
	};
	const int64_t last_us = PF_SNAP_TIME_MAX_US;

	e.action = has(r, M_ACTION) ? s->work->action_of[r->of[M_ACTION]] : 0;
	if (!has(r, M_ACTION) || r->bad || !is_size(r, M_SIZE) ||
	    ((e.action == PF_SNAP_ALLOC || e.action == PF_SNAP_FREE) &&
	     !e.address_is)) {
		count(s, PF_SKIP_MALFORMED, c);
		return 0;
	}
	if (has(r, M_TIME) && (e.time_us < 0 || e.time_us > last_us)) {
		count(s, PF_SKIP_TIME_RANGE, c);
		return 0;
	}
	return snap_replay(s, &e, has(r, M_TIME), err);
}

static int end_annotation(struct pf_snap *s, const struct pf_pickle_open *c,
			  const struct record *r, struct pf_err *err)
{
	struct pf_snap_mark m = {
		.time_us = r->of[M_TIME],
		.device = r->of[M_DEVICE],
		.name = (uint32_t)r->of[M_NAME],
		.has_device = has(r, M_DEVICE),
	};

	if (!has(r, M_NAME) || !has(r, M_STAGE) || !has(r, M_TIME) ||
	    m.time_us < 0 || m.time_us > PF_SNAP_TIME_MAX_US) {
		count(s, PF_SKIP_MALFORMED, c);
		return 0;
	}
	m.is_start = says(s, r->of[M_STAGE], "START");
	if (!s->has_times || m.time_us < s->first_us)
		s->first_us = m.time_us;
	s->has_times = true;
	return pf_spool_add(s->marks, &m, err);
}

static int end(void *arg, struct pf_pickle_open *c, struct pf_err *err)
{
	struct pf_snap *s = arg;
	struct record *r = record_of(s, c);

	switch ((enum role)c->role) {
	case FRAMES:
		s->work->in_frames = false;
		snap_set_list(&s->stacks, c->number, s->work->frames,
			      s->work->frame_count);
		return 0;
	case FRAME:
		end_frame(s, c, r);
		return 0;
	case PAST:
		end_past(s, r);
		return 0;
	case BLOCK:
		end_block(s, c, r);
		return 0;
	case SEGMENT:
		return end_segment(s, c, r, err);
	case ENTRY:
		return end_entry(s, c, r, err);
	case ANNOTATION:
		return end_annotation(s, c, r, err);
	case TOP:
		s->work->has_segments = has(r, M_SEGMENTS);
		return 0;
	default:
		return 0;
	}
}

/* ---- the whole ---- */

/* Is a container of this role not complete?  Its record, or NULL. */
static const struct record *open_of(struct pf_snap *s, enum role role)
{
	for (uint32_t i = 0; i < s->pickle.open_count; i++)
		if (s->pickle.open[i].role == role)
			return record_of(s, &s->pickle.open[i]);
	return NULL;
}

/* Is reading in the list of segments?  In the history of which device, or -1. */
static bool snap_in_segments(struct pf_snap *s)
{
	return open_of(s, SEGMENTS) != NULL;
}

static int64_t snap_in_history(struct pf_snap *s)
{
	const struct record *r = open_of(s, TRACE);

	return r ? (int64_t)r->device : -1;
}

int pf_snap_load(struct pf_snap *s, const char *dir, bool salvage,
		 pf_pickle_read_fn *read, void *arg, struct pf_err *err)
{
	const struct pf_pickle_handler handler = {
		.arg = s,
		.role = role_of,
		.begin = begin,
		.set = set,
		.add = add,
		.end = end,
		.text = note_text,
		.ignores = ignores,
	};
	struct pf_pickle_val top;

	memset(s, 0, sizeof(*s));
	s->work = pf_calloc(1, sizeof(*s->work));
	s->entries = pf_spool_new(sizeof(struct pf_snap_entry),
				  PF_SNAP_SPOOL_BYTES, dir);
	snap_new_state(s, dir);
	s->marks = pf_spool_new(sizeof(struct pf_snap_mark),
				PF_SNAP_SPOOL_BYTES, dir);
	if (pickle_load(&s->pickle, &handler, read, arg, &top, err))
		return snap_keep(s, dir, salvage, err);
	s->is_list = top.type == PF_PICKLE_THING && top.role == SEGMENTS;
	if (!s->is_list && !s->work->has_segments)
		return pf_fail(err, PF_EDATA,
			       "is a pickle, but no memory snapshot: it has no "
			       "\"segments\"");
	if (s->pickle.trailing)
		pf_repair_note(&s->repairs, PF_REPAIR_TRAILING_BYTES,
			       s->pickle.trailing, s->pickle.end + 1);
	return snap_settle(s, err);
}

void pf_snap_release(struct pf_snap *s)
{
	for (size_t i = 0; i < s->device_count; i++)
		pf_map_release(&s->devices[i].open);
	free(s->devices);
	free(s->settings);
	pf_spool_free(s->entries);
	pf_spool_free(s->segments);
	pf_spool_free(s->blocks);
	pf_spool_free(s->marks);
	pf_spool_free(s->pasts);
	snap_stacks_release(&s->stacks);
	pickle_release(&s->pickle);
	if (s->work) {
		free(s->work->member_of);
		free(s->work->action_of);
		free(s->work->blocks);
		free(s->work->pasts);
		free(s->work->frames);
	}
	free(s->work);
	memset(s, 0, sizeof(*s));
}
