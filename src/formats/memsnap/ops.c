/* SPDX-License-Identifier: MIT */
/* Every opcode of pickle protocols 0 to 5, for messages. */
#include "config.h"

#include "formats/memsnap/pickle.h"

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
const char *pf_pickle_op_name(unsigned char op)
{
	if (op < 128)
		return low[op];
	op = (unsigned char)(op - 128);
	return op < sizeof(high) / sizeof(*high) ? high[op] : NULL;
}
