/* SPDX-License-Identifier: MIT */
/*
 * What rocpd says of itself: versions, devices, names.  Nothing else of these
 * tables is read: they hold environments and command lines.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rocm/rocpd_impl.h"

#define NAME_MAX_BYTES 1024

/* ---- versions ---- */

static const char *const meta_columns[] = { "tag", "value" };

static int meta_row(void *reader, const struct pf_rows *row, struct pf_err *err)
{
	static const char key[] = "schema_version";
	struct pf_rocpd *r = reader;
	const char *tag, *value;
	size_t len, n;

	(void)err;
	if (!pf_rows_text(row, 0, &tag, &len) || len != sizeof(key) - 1 ||
	    memcmp(tag, key, len) != 0 || !pf_rows_text(row, 1, &value, &n) ||
	    !n || n > 20 || strspn(value, "0123456789.") != n)
		return 0;
	pf_argline_open(&r->map.sink.args);
	pf_argline_text(&r->map.sink.args, key, value, n);
	pf_buf_addc(&r->map.sink.args.text, '}');
	pf_batch_member(&r->map.sink.parsed.batch, "rocpd",
			&r->map.sink.args.text);
	return 1;
}

/* ---- agents ---- */

static const char *const agent_columns[] = {
	"id", "nid", "type", "type_index", "product_name", "name", "extdata",
};
enum { ID, NODE, TYPE, ORDINAL, PRODUCT, ARCHITECTURE, MORE };

/* A number behind a key of an object's text, 0 if there is none. */
static int64_t number_of(const char *json, size_t len, const char *key)
{
	const char *p = memmem(json, len, key, strlen(key)), *end = json + len;
	int64_t v = 0;

	if (!p)
		return 0;
	for (p += strlen(key); p < end && *p == ' ';)
		p++;
	for (; p < end && *p >= '0' && *p <= '9' && v < INT64_MAX / 16; p++)
		v = v * 10 + (*p - '0');
	return v;
}

static int agent_row(void *reader, const struct pf_rows *row,
		     struct pf_err *err)
{
	struct pf_rocpd *r = reader;
	struct pf_rocm_agent agent = { .set = (int64_t)r->run, .ordinal = -1 };
	struct pf_rocm_gpu gpu = { 0 };
	const char *type, *more;
	size_t len, n;

	(void)err;
	if (pf_rows_int(row, ID, &agent.id) != PF_CELL_INT)
		return 0;
	agent.node = pf_rows_int_or(row, NODE, 0);
	if (pf_rows_text(row, TYPE, &type, &n) && n == 3 &&
	    !memcmp(type, "GPU", 3))
		agent.ordinal = pf_rows_int_or(row, ORDINAL, -1);
	if (!pf_rows_text(row, PRODUCT, &gpu.name, &gpu.name_len) ||
	    !gpu.name_len)
		pf_rows_text(row, ARCHITECTURE, &gpu.name, &gpu.name_len);
	if (pf_rows_text(row, MORE, &more, &len)) {
		gpu.units = number_of(more, len, "\"cu_count\":");
		gpu.wave = number_of(more, len, "\"wave_front_size\":");
		gpu.waves_per_unit =
			number_of(more, len, "\"max_waves_per_cu\":");
		gpu.bytes = number_of(more, len, "\"size_in_bytes\":");
	}
	pf_rocm_add_agent(&r->map, &agent, &gpu);
	return 0;
}

static const char *const guid_columns[] = { "guid" };

/* Tables without a run in their names hold one. */
static int guid_row(void *reader, const struct pf_rows *row, struct pf_err *err)
{
	struct pf_rocpd *r = reader;
	const char *guid;
	size_t len;

	if (!pf_rows_text(row, 0, &guid, &len))
		return 0;
	if (r->text.len &&
	    (r->text.len != len || memcmp(r->text.data, guid, len) != 0))
		return pf_fail(err, PF_EDATA,
			       "the rocpd database holds several runs in one "
			       "set of tables, whose rows cannot be told "
			       "apart: give the files that it was made of");
	pf_buf_clear(&r->text);
	pf_buf_add(&r->text, guid, len);
	return 0;
}

int pf_rocpd_describe(struct pf_rocpd *r, struct pf_err *err)
{
	struct pf_reading *g = &r->reading;

	for (r->run = 0; r->run < r->run_count; r->run++) {
		g->suffix = r->runs[r->run];
		pf_buf_clear(&r->text);
		if ((!r->run && pf_reading_each(g, "rocpd_metadata",
						PF_COLUMNS(meta_columns),
						meta_row, err)) ||
		    pf_reading_each(g, "rocpd_info_agent",
				    PF_COLUMNS(agent_columns), agent_row,
				    err) ||
		    (!*g->suffix &&
		     pf_reading_each(g, "rocpd_info_process",
				     PF_COLUMNS(guid_columns), guid_row, err)))
			return -1;
	}
	r->run = 0;
	pf_rocm_put_devices(&r->map);
	return 0;
}

/* ---- names ---- */

static const char *const thread_columns[] = { "id", "pid", "tid", "name" };

/* Of those that have events. */
static int thread_row(void *reader, const struct pf_rows *row,
		      struct pf_err *err)
{
	struct pf_rocpd *r = reader;
	int64_t id, process, pid;
	const char *name;
	uint64_t key;
	size_t len;

	if (pf_rows_int(row, 0, &id) != PF_CELL_INT ||
	    !pf_rows_text(row, 3, &name, &len) || !len || len > NAME_MAX_BYTES)
		return 0;
	process = pf_rows_int_or(row, 1, 0);
	key = pf_rocpd_thread_key(r, process, id);
	if (!pf_map_has(&r->threads, key) ||
	    pf_rocpd_pid(r, process, &pid, err))
		return err->code ? -1 : 0;
	pf_batch_name(&r->map.sink.parsed.batch, "thread_name", pid,
		      (uint64_t)pf_rows_int_or(row, 2, id), name, len);
	return 0;
}

int pf_rocpd_name_all(struct pf_rocpd *r, struct pf_err *err)
{
	return pf_reading_each(&r->reading, "rocpd_info_thread",
			       PF_COLUMNS(thread_columns), thread_row, err);
}
