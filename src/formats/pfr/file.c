/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "formats/pfr/file.h"
#include "base/order.h"

void pf_pfr_file_release(struct pf_pfr_file *f)
{
	pf_pfr_lines_release(&f->meta);
	pf_pfr_lines_release(&f->info);
	pf_pfr_lines_release(&f->stat);
	pf_pfr_defs_release(&f->defs);
	pf_pfr_clock_release(&f->clock);
}

void pf_pfr_file_add(struct pf_pfr_file *f, const struct pf_pfr_frame *frame)
{
	switch (frame->type) {
	case PF_PFR_META:
		pf_pfr_lines_add(&f->meta, frame->payload, frame->len);
		break;
	case PF_PFR_INFO:
		pf_pfr_lines_add(&f->info, frame->payload, frame->len);
		break;
	case PF_PFR_STAT:
		pf_pfr_lines_add(&f->stat, frame->payload, frame->len);
		break;
	case PF_PFR_DEF:
		pf_pfr_defs_add(&f->defs, frame->payload, frame->len);
		break;
	case PF_PFR_CLOCK:
		pf_pfr_clock_add(&f->clock, frame->payload, frame->len);
		break;
	}
}

int64_t pf_pfr_info_int(const struct pf_pfr_file *f, const char *what,
			uint64_t id, const char *field)
{
	char key[96];
	int64_t v;

	snprintf(key, sizeof(key), "%s.%" PRIu64 ".%s", what, id, field);
	return pf_pfr_line_int(&f->info, key, &v) ? v : -1;
}

void pf_pfr_file_find_base(struct pf_pfr_file *f)
{
	f->has_base = pf_pfr_clock_base(&f->clock, &f->base_ns);
}

/* ---- as Kineto says it ---- */

static void put_base(const struct pf_pfr_file *f, struct pf_batch *out)
{
	struct pf_buf text = { 0 };

	if (!f->has_base)
		return;
	pf_buf_addf(&text, "%" PRId64, f->base_ns);
	pf_batch_member(out, "baseTimeNanoseconds", &text);
	pf_buf_release(&text);
}

/* Global numbers before that of one machine. */
static void put_rank(const struct pf_pfr_file *f, struct pf_batch *out)
{
	static const char *const keys[] = { "RANK", "SLURM_PROCID",
					    "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					    "LOCAL_RANK" };
	struct pf_buf text = { 0 };
	int64_t rank, size;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!pf_pfr_line_int(&f->meta, keys[i], &rank))
			continue;
		pf_buf_addf(&text, "{\"rank\":%" PRId64, rank);
		if (pf_pfr_line_int(&f->meta, "WORLD_SIZE", &size))
			pf_buf_addf(&text, ",\"world_size\":%" PRId64, size);
		pf_buf_addc(&text, '}');
		pf_batch_member(out, "distributedInfo", &text);
		break;
	}
	pf_buf_release(&text);
}

/* Arguments end with NUL each: show them with blanks between. */
static void put_text(struct pf_buf *out, const struct pf_pfr_line *line)
{
	size_t len = line->value_len;
	struct pf_buf copy = { 0 };

	while (len && !line->value[len - 1])
		len--;
	pf_buf_add(&copy, line->value, len);
	for (size_t i = 0; i < len; i++)
		if (!copy.data[i])
			copy.data[i] = ' ';
	pf_jsonw_quote(out, copy.data ? copy.data : "", len, false);
	pf_buf_release(&copy);
}

static void put_meta(const struct pf_pfr_file *f, struct pf_batch *out)
{
	struct pf_buf text = { 0 };

	for (size_t i = 0; i < f->meta.count; i++) {
		int64_t v;

		pf_buf_clear(&text);
		if (pf_pfr_line_int(&f->meta, f->meta.items[i].key, &v))
			pf_buf_addf(&text, "%" PRId64, v);
		else
			put_text(&text, &f->meta.items[i]);
		pf_batch_member(out, f->meta.items[i].key, &text);
	}
	pf_buf_release(&text);
}

/* All lines of INFO or STAT as one object, so that none is lost. */
static void put_lines(const struct pf_pfr_lines *l, const char *name,
		      struct pf_batch *out)
{
	struct pf_buf text = { 0 };
	int64_t v;

	for (size_t i = 0; i < l->count; i++) {
		const struct pf_pfr_line *line = &l->items[i];

		pf_buf_adds(&text, i ? ",\"" : "{\"");
		pf_buf_adds(&text, line->key);
		pf_buf_adds(&text, "\":");
		if (pf_pfr_line_int(l, line->key, &v))
			pf_buf_addf(&text, "%" PRId64, v);
		else
			put_text(&text, line);
	}
	if (!l->count)
		return;
	pf_buf_addc(&text, '}');
	pf_batch_member(out, name, &text);
	pf_buf_release(&text);
}

/* ---- devices ---- */

static const struct {
	const char *field, *key;
} device_fields[] = {
	{ "memSize", "totalGlobalMem" },
	{ "ccMajor", "computeMajor" },
	{ "ccMinor", "computeMinor" },
	{ "regsPerSM", "regsPerMultiprocessor" },
	{ "warp", "warpSize" },
	{ "smemPerSM", "sharedMemPerMultiprocessor" },
	{ "SMs", "numSms" },
};

static void put_device(const struct pf_pfr_file *f, uint64_t id,
		       struct pf_buf *text)
{
	const struct pf_pfr_line *name;
	int64_t v, warp;
	char key[64];

	pf_buf_addf(text, "%s{\"id\":%" PRIu64, text->len > 1 ? "," : "", id);
	snprintf(key, sizeof(key), "device.%" PRIu64 ".name", id);
	name = pf_pfr_line_of(&f->info, key);
	if (name) {
		pf_buf_adds(text, ",\"name\":");
		pf_jsonw_quote(text, name->value, name->value_len, false);
	}
	for (size_t i = 0; i < sizeof(device_fields) / sizeof(*device_fields);
	     i++) {
		v = pf_pfr_info_int(f, "device", id, device_fields[i].field);
		if (v >= 0)
			pf_buf_addf(text, ",\"%s\":%" PRId64,
				    device_fields[i].key, v);
	}
	v = pf_pfr_info_int(f, "device", id, "warpsPerSM");
	warp = pf_pfr_info_int(f, "device", id, "warp");
	if (v >= 0 && v < 1 << 16 && warp > 0 && warp < 1 << 16)
		pf_buf_addf(text, ",\"maxThreadsPerMultiprocessor\":%" PRId64,
			    v * warp);
	pf_buf_addc(text, '}');
}

PF_ORDER(compare_ids, uint64_t, PF_UP_VALUE)

static void put_devices(const struct pf_pfr_file *f, struct pf_batch *out)
{
	uint64_t ids[256];
	struct pf_buf text = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < f->info.count && count < 256; i++) {
		uint64_t id;
		int end = 0;

		if (sscanf(f->info.items[i].key, "device.%9" SCNu64 ".%n", &id,
			   &end) != 1 ||
		    !end || strchr(f->info.items[i].key, '-'))
			continue;
		for (size_t k = 0; k < count; k++)
			if (ids[k] == id)
				end = 0;
		if (end)
			ids[count++] = id;
	}
	if (!count)
		return;
	pf_sort(ids, count, sizeof(*ids), compare_ids);
	pf_buf_addc(&text, '[');
	for (size_t i = 0; i < count; i++)
		put_device(f, ids[i], &text);
	pf_buf_addc(&text, ']');
	pf_batch_member(out, "deviceProperties", &text);
	pf_buf_release(&text);
}

/* ---- names of process and threads ---- */

static void put_names(const struct pf_pfr_file *f, struct pf_batch *out)
{
	const struct pf_pfr_line *exe = pf_pfr_line_of(&f->meta, "exe");
	const char *slash;
	int64_t pid;

	if (!pf_pfr_line_int(&f->meta, "pid", &pid))
		return;
	if (exe && *exe->value) {
		slash = strrchr(exe->value, '/');
		slash = slash ? slash + 1 : exe->value;
		pf_batch_name(out, "process_name", pid, 0, slash,
			      strlen(slash));
	}
	for (size_t i = 0; i < f->defs.keyed_count; i++) {
		const struct pf_pfr_keyed *k = &f->defs.keyed[i];

		if (k->table == PF_PFR_THREAD && k->key <= INT64_MAX)
			pf_batch_name(out, "thread_name", pid, k->key,
				      f->defs.text.data + k->at, k->len);
	}
}

void pf_pfr_file_describe(const struct pf_pfr_file *f, struct pf_batch *out)
{
	put_base(f, out);
	put_rank(f, out);
	put_devices(f, out);
	put_meta(f, out);
	put_lines(&f->info, "captureInfo", out);
	put_lines(&f->stat, "captureCounts", out);
	put_names(f, out);
}
