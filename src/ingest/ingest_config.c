/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#define PF_SCAN_SIMD 0
#include "base/utf8.h"
#include "events/args.h"
#include "ingest/ingest_impl.h"
#include "formats/json/scan.h"

/* Column no. (1 is the id) of the value under a key of the arguments. */
static const struct {
	const char *key;
	int column, values;
} config_keys[] = {
	{ "device", 2, 1 },         { "stream", 3, 1 },
	{ "context", 4, 1 },        { "grid", 5, 3 },
	{ "block", 8, 3 },          { "registers per thread", 11, 1 },
	{ "shared memory", 12, 1 }, { "blocks per SM", 13, 1 },
	{ "warps per SM", 14, 1 },  { "est. achieved occupancy %", 15, 1 },
};
#define CONFIG_KEYS  (sizeof(config_keys) / sizeof(*config_keys))
#define REAL_COLUMNS 13 /* from here on */
#define NAME_COLUMN  16

/*
 * What TensorFlow, JAX and XLA call the operator of GPU work, the best first;
 * a tf_op that says nothing is none.
 */
static const char *const name_keys[] = { "name", "tf_op", "level 0", "hlo_op" };
#define NAME_KEYS  (sizeof(name_keys) / sizeof(*name_keys))
#define NO_NAME    "XlaModule:"
#define NAME_BYTES 1024

int pf_config_prepare(struct pf_ingest *in, struct pf_err *err)
{
	in->put_config = pf_db_prepare(
		in->db,
		"INSERT INTO gpu_config VALUES"
		"(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,"
		"?16)",
		err);
	return in->put_config ? 0 : -1;
}

/*
 * Bind a number: as an integer in the columns of integers, which have NULL
 * for any that is none, such as a stream 7.5.
 */
static void bind_real(sqlite3_stmt *st, int column, double value)
{
	if (column >= REAL_COLUMNS)
		sqlite3_bind_double(st, column, value);
	else if (value >= -9e15 && value <= 9e15 &&
		 value == (double)(int64_t)value)
		sqlite3_bind_int64(st, column, (int64_t)value);
}

/* Other values than numbers stay NULL. */
static const char *bind_number(sqlite3_stmt *st, int column, const char *p,
			       const char *end)
{
	char text[PF_JSON_MAX_NUMBER + 1];
	size_t len = 0;
	bool real = false;

	while (p + len < end && len < PF_JSON_MAX_NUMBER && p[len] &&
	       strchr("0123456789+-.eE", p[len])) {
		real |= !(p[len] == '-' || (p[len] >= '0' && p[len] <= '9'));
		text[len] = p[len];
		len++;
	}
	text[len] = '\0';
	if (len && (real || column >= REAL_COLUMNS))
		bind_real(st, column, strtod(text, NULL));
	else if (len && len < 19)
		sqlite3_bind_int64(st, column, strtoll(text, NULL, 10));
	return p + len;
}

static void bind_value(sqlite3_stmt *st, size_t k, const char *p,
		       const char *end)
{
	int column = config_keys[k].column;

	if (config_keys[k].values == 1) {
		bind_number(st, column, p, end);
		return;
	}
	for (int i = 0; i < 3 && p < end && (*p == '[' || *p == ','); i++)
		p = bind_number(st, column + i, p + 1, end);
}

struct name {
	const char *value, *end; /* its text in quotes */
	size_t rank;             /* of its key */
};

static void take_name(struct name *name, const char *key, size_t key_len,
		      const char *p, const char *end)
{
	size_t rank = 0;

	while (rank < NAME_KEYS && (strlen(name_keys[rank]) != key_len ||
				    memcmp(name_keys[rank], key, key_len) != 0))
		rank++;
	if (rank >= name->rank || p == end || *p != '"')
		return;
	if ((size_t)(end - p) > sizeof(NO_NAME) &&
	    !memcmp(p + 1, NO_NAME "\"", sizeof(NO_NAME)))
		return;
	*name = (struct name){ p, end, rank };
}

static void bind_name(sqlite3_stmt *st, const struct name *name)
{
	struct pf_json text = { name->value,
				(size_t)(name->end - name->value) };
	struct pf_buf plain = { 0 };

	pf_json_text(text, &plain);
	if (plain.len)
		sqlite3_bind_text(
			st, NAME_COLUMN, plain.data,
			(int)pf_utf8_head(plain.data, plain.len, NAME_BYTES),
			SQLITE_TRANSIENT);
	pf_buf_release(&plain);
}

int pf_config_put(struct pf_ingest *in, uint32_t id, const char *text,
		  size_t len, struct pf_err *err)
{
	sqlite3_stmt *st = in->put_config;
	const char *p = text, *end = text + len, *key, *value;
	struct name name = { .rank = NAME_KEYS };
	bool has_stream = false;
	size_t key_len;
	int rc;

	if (!memmem(text, len, "\"stream\":", 9))
		return 0;
	sqlite3_clear_bindings(st);
	sqlite3_bind_int64(st, 1, id);
	while ((p = pf_next_member(p, end, &key, &key_len, &value))) {
		take_name(&name, key, key_len, value, p);
		for (size_t k = 0; k < CONFIG_KEYS; k++) {
			if (strlen(config_keys[k].key) != key_len ||
			    memcmp(config_keys[k].key, key, key_len))
				continue;
			bind_value(st, k, value, end);
			has_stream |= config_keys[k].column == 3;
		}
	}
	if (!has_stream)
		return 0;
	if (name.rank < NAME_KEYS)
		bind_name(st, &name);
	rc = pf_db_step(in->db, st, err);
	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}
