/* SPDX-License-Identifier: MIT */
/*
 * The stack holds what has no owner yet.  Invariants: open[] are the
 * containers on the stack that may still grow, in the order of the stack;
 * every other value on it is complete.  A MARK right above an open container
 * begins its items: when there are many, the complete ones are handed over
 * ("folded") and leave the stack.
 */
#include "config.h"

#include "formats/memsnap/pickle.h"

#include "base/mem.h"

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

#define BUF_BYTES   (1u << 20)
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
		if (got < 0)
			return -1;
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
		if (c->is_dict ? h->set(h->arg, c, &items[i], &items[i + 1],
					p->err)
			       : h->add(h->arg, c, &items[i], p->err))
			return -1;
	}
	return 0;
}

/*
 * Hand over the complete items that wait above the innermost mark, but for the
 * last ones, which may become a tuple.
 */
static int fold(struct pf_pickle *p, struct pf_pickle_open *c)
{
	uint32_t from = c->mark + 1, count = p->depth - from;

	if (count < FOLD_COUNT)
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

	if (c && is_buried(p, c) && close_innermost(p))
		return -1;
	c = innermost(p);
	if (c && c->mark && fold(p, c))
		return -1;
	/* A text is no item of such a list, but the key that follows it. */
	if (c && c->role && !c->is_dict && !c->mark &&
	    v.type == PF_PICKLE_TEXT && c->at == p->depth - 1 &&
	    close_innermost(p))
		return -1;
	if (p->depth == PF_PICKLE_STACK_MAX)
		return fail_at(p, "too many values in wait");
	p->stack = pf_grow(p->stack, &p->stack_cap, p->depth + 1u,
			   sizeof(*p->stack));
	p->stack[p->depth++] = v;
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

static int begin(struct pf_pickle *p, bool is_dict)
{
	const struct pf_pickle_handler *h = p->handler;
	struct pf_pickle_open *parent, *c;
	struct pf_pickle_open made = { .is_dict = is_dict,
				       .offset = pf_pickle_offset(p) };
	const struct pf_pickle_val *key = NULL;
	int64_t above = 0;

	parent = find_parent(p, &key, is_dict);
	/* What is above the parent is complete. */
	if (parent && close_from(p, parent->at + 1))
		return -1;
	if (parent && !key)
		above = parent->count + p->depth - 1 -
			(parent->mark ? parent->mark : parent->at);
	if (!parent || parent->role)
		made.role = h->role(h->arg, parent, key, is_dict);
	if (p->open_count == PF_PICKLE_DEPTH_MAX)
		return fail_at(p, "nested deeper than 100");
	if (made.role && h->begin(h->arg, &made, parent, above, p->err))
		return -1;
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

	if (!is_items && c && c->mark && fold(p, c))
		return -1;
	if (p->depth == PF_PICKLE_STACK_MAX)
		return fail_at(p, "too many values in wait");
	p->stack = pf_grow(p->stack, &p->stack_cap, p->depth + 1u,
			   sizeof(*p->stack));
	*PF_ONE_MORE(p->marks, p->mark_count, p->mark_cap) = p->depth;
	if (is_items)
		c->mark = p->depth;
	p->stack[p->depth++] = (struct pf_pickle_val){ .type = PF_PICKLE_MARK };
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
		p->wide = pf_grow(p->wide, &p->wide_cap, p->wide_count + 1,
				  sizeof(*p->wide));
		p->wide[p->wide_count] = x.v;
		x.type |= WIDE;
		x.v = (int64_t)p->wide_count++;
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
		p->memo =
			pf_grow(p->memo, &p->memo_cap, i + 1, sizeof(*p->memo));
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
	if (want(p, *size + n) || push_long(p, p->buf + p->at + *size, n))
		return -1;
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
		return begin(p, true);
	case ']':
		return begin(p, false);
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

	if (p->len - p->at < OPERAND_MAX && fill(p, OPERAND_MAX))
		return -1;
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
	if (op == 0x8a || op == 0x8b ? run_long(p, &size)
				     : run(p, op, p->buf + p->at + 1))
		return -1;
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

int pf_pickle_load(struct pf_pickle *p, const struct pf_pickle_handler *handler,
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

void pf_pickle_release(struct pf_pickle *p)
{
	free(p->stack);
	free(p->marks);
	free(p->memo);
	free(p->wide);
	free(p->buf);
	pf_intern_release(&p->texts);
	memset(p, 0, sizeof(*p));
}
