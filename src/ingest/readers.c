/* SPDX-License-Identifier: MIT */
/*
 * Two passes.  The first finds the good frames, gathers what they define and
 * remembers where the EVENTS are; the second makes events of them, when every
 * name is known.  What cannot be read twice (a pipe, compressed data) is kept
 * in an unlinked file between the passes.
 */
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sat.h"
#include "base/tempfile.h"
#include "formats/logs/telemetry.h"
#include "formats/nsys/nsys.h"
#include "formats/pfr/map.h"
#include "formats/rocm/rocm.h"
#include "formats/xspace/map.h"
#include "ingest/impl.h"
#include "store/db.h"

#define INDEX_BYTES (4u << 20)

/* An EVENTS frame for the second pass. */
struct kept {
	uint64_t at; /* of its payload in the file that is read again */
	int64_t offset;
	uint32_t len;
	uint16_t flags, after_a_gap;
};

struct reading {
	struct pf_ingest *in;
	struct pf_headed from; /* behind the file's header */
	struct pf_pfr_file file;
	struct pf_pfr_map map;
	struct pf_spool *index;
	int fd, temp_fd; /* what to read again; ours to close, or -1 */
	uint64_t kept_bytes;
	struct pf_ingest_batcher batcher;
};

/* ---- the first pass ---- */

static int keep(struct reading *r, const struct pf_pfr_frame *f,
		struct pf_err *err)
{
	struct kept k = {
		.at = (uint64_t)f->offset + PF_PFR_FRAME_BYTES,
		.offset = f->offset,
		.len = f->len,
		.flags = f->flags,
		.after_a_gap = f->after_a_gap,
	};

	if (r->temp_fd >= 0) {
		k.at = r->kept_bytes;
		r->kept_bytes += f->len;
		PF_TRY(pf_tempfile_write(r->temp_fd, f->payload, f->len, k.at,
					 err));
	}
	return pf_spool_add(r->index, &k, err);
}

static int scan(struct reading *r, struct pf_pfr_scan *s, struct pf_err *err)
{
	struct pf_pfr_frame f;
	bool gap = false;
	int rc;

	while ((rc = pf_pfr_scan_next(s, &f, err)) == 1) {
		/* The gap is torn by the next events, whatever is between. */
		gap |= f.after_a_gap;
		if (f.type != PF_PFR_EVENTS) {
			pf_pfr_file_add(&r->file, &f);
			continue;
		}
		f.after_a_gap = gap;
		gap = false;
		PF_TRY(keep(r, &f, err));
	}
	pf_pfr_defs_seal(&r->file.defs);
	r->in->json_bytes = s->offset + (int64_t)s->have;
	r->in->found_list = true;
	if (!rc && !s->loss.good_frames)
		return pf_fail(err, PF_EDATA,
			       "is a .pfr file without a whole frame");
	return rc;
}

/* ---- what the file says of itself ---- */

static void note_loss(struct pf_ingest *in, const struct pf_pfr_loss *loss)
{
	const struct {
		enum pf_repair_kind kind;
		int64_t count, first;
	} counts[] = {
		{ PF_REPAIR_BAD_FRAME, loss->bad_frames, loss->first_bad },
		{ PF_REPAIR_SKIPPED_BYTES, loss->skipped_bytes,
		  loss->first_skipped },
		{ PF_REPAIR_MISSING_FRAMES, loss->missing_frames,
		  loss->first_missing },
		{ PF_REPAIR_NO_END, !loss->has_end, in->json_bytes },
	};

	for (size_t i = 0; i < PF_LEN(counts); i++)
		if (counts[i].count)
			pf_repair_note(&in->repairs, counts[i].kind,
				       counts[i].count, counts[i].first);
	pf_ingest_note_fact(in, "pfr_frames", loss->good_frames);
	pf_ingest_note_fact(in, "pfr_bad_frames", loss->bad_frames);
	pf_ingest_note_fact(in, "pfr_skipped_bytes", loss->skipped_bytes);
	pf_ingest_note_fact(in, "pfr_missing_frames", loss->missing_frames);
	pf_ingest_note_fact(in, "pfr_end", loss->has_end);
}

/* The agent's own counts, and what they say was never written. */
static void note_stat(struct reading *r)
{
	static const char *const dropped[] = { "dropped_cupti", "dropped_queue",
					       "dropped_nvtx", "discarded" };
	const struct pf_pfr_lines *stat = &r->file.stat;
	const struct pf_pfr_line *cut = pf_pfr_line_of(stat, "truncated");
	int64_t v, sum = 0;

	for (size_t i = 0; i < stat->count; i++) {
		char key[320];

		if (!pf_pfr_line_int(stat, stat->items[i].key, &v))
			continue;
		snprintf(key, sizeof(key), "stat_%s", stat->items[i].key);
		pf_ingest_note_fact(r->in, key, v);
	}
	for (size_t i = 0; i < PF_LEN(dropped); i++)
		if (pf_pfr_line_int(stat, dropped[i], &v))
			pf_sat_sum(&sum, v);
	/* Before its last STAT the agent wrote so many events. */
	if (pf_pfr_line_int(stat, "events", &v)) {
		v -= r->in->event_count - r->in->metadata_count +
		     r->map.untimed;
		if (v > 0)
			pf_repair_note(&r->in->repairs, PF_REPAIR_LOST_EVENTS,
				       v, PF_OFFSET_UNKNOWN);
		pf_ingest_note_fact(r->in, "pfr_lost_events", v > 0 ? v : 0);
	}
	if (sum)
		pf_repair_note(&r->in->repairs, PF_REPAIR_NOT_RECORDED, sum,
			       PF_OFFSET_UNKNOWN);
	if (cut || (pf_pfr_line_int(stat, "takeover", &v) && v))
		pf_repair_note(&r->in->repairs, PF_REPAIR_STOPPED, 1,
			       PF_OFFSET_UNKNOWN);
	v = r->file.defs.bad + r->file.defs.past_cap + r->file.meta.left_out +
	    r->file.info.left_out + stat->left_out;
	if (v)
		pf_repair_note(&r->in->repairs, PF_REPAIR_BAD_DEFINITION, v,
			       PF_OFFSET_UNKNOWN);
}

/*
 * All processes of one boot have one monotonic clock: so that their events
 * fit exactly, the first file says what its zero is for all of them.
 */
static void share_base(struct reading *r)
{
	const struct pf_pfr_line *boot =
		pf_pfr_line_of(&r->file.meta, "boot_id");
	struct pf_ingest *in = r->in;

	pf_pfr_file_find_base(&r->file);
	if (!boot || !*boot->value || !r->file.has_base)
		return;
	for (size_t i = 0; i < in->boot_count; i++)
		if (!strcmp(in->boots[i].id, boot->value)) {
			r->file.base_ns = in->boots[i].base_ns;
			return;
		}
	in->boots = pf_grow(in->boots, &in->boots_cap, in->boot_count + 1,
			    sizeof(*in->boots));
	in->boots[in->boot_count].id = pf_strdup(boot->value);
	in->boots[in->boot_count++].base_ns = r->file.base_ns;
}

/* ---- the second pass ---- */

static int settle(struct reading *r, struct pf_err *err)
{
	PF_TRY(pf_ingest_batcher_put(&r->batcher, &r->map.sink.parsed, err));
	pf_pfr_map_begin(&r->map);
	return 0;
}

static int map_frame(struct reading *r, const struct kept *k,
		     struct pf_buf *payload, struct pf_err *err)
{
	const struct pf_pfr_frame f = {
		.payload = (const unsigned char *)payload->data,
		.len = k->len,
		.type = PF_PFR_EVENTS,
		.flags = k->flags,
		.offset = k->offset,
		.after_a_gap = k->after_a_gap,
	};

	if (pf_tempfile_read(r->fd, payload->data, k->len, k->at, err))
		return pf_while(err, "the second time");
	pf_pfr_map_frame(&r->map, &f);
	if (r->in->options->progress)
		r->in->options->progress(r->in->bytes_before + k->offset,
					 r->in->events_before +
						 r->in->event_count);
	return 0;
}

static int map_all(struct reading *r, struct pf_err *err)
{
	size_t most = pf_ingest_batch_events(r->in);
	PF_AUTO(pf_buf_release) struct pf_buf payload = { 0 };

	pf_buf_reserve(&payload, PF_PFR_EVENTS_MAX);
	pf_pfr_map_begin(&r->map);
	pf_pfr_file_describe(&r->file, &r->map.sink);
	for (uint64_t i = 0; i < pf_spool_count(r->index); i++) {
		const struct kept *k = pf_spool_at(r->index, i, err);

		if (!k)
			return -1;
		PF_TRY(map_frame(r, k, &payload, err));
		if (pf_sink_is_full(&r->map.sink, most))
			PF_TRY(settle(r, err));
	}
	pf_pfr_map_finish(&r->map);
	return settle(r, err);
}

/* ---- all of it ---- */

static int open_again(struct reading *r, struct pf_err *err)
{
	r->fd = pf_input_plain_fd(r->from.input);
	r->temp_fd = -1;
	if (r->fd >= 0)
		return 0;
	r->fd = r->temp_fd = pf_tempfile_open(r->in->directory, err);
	return r->fd < 0 ? -1 : 0;
}

static int read_pfr(struct pf_ingest *in, struct pf_input *input,
		    const struct pf_buf *head, struct pf_err *err)
{
	struct reading r = { .in = in,
			     .from = { input, head, PF_PFR_HEADER_BYTES } };
	struct pf_pfr_scan s;
	int rc = -1;

	PF_TRY(pf_pfr_check_header(head->data, head->len, err));
	PF_TRY(open_again(&r, err));
	r.index = pf_spool_new(sizeof(struct kept), INDEX_BYTES, in->directory);
	pf_ingest_batcher_init(&r.batcher, in);
	pf_pfr_scan_init(&s, pf_headed_read, &r.from, in->options->chunk_bytes);
	if (!scan(&r, &s, err)) {
		share_base(&r);
		pf_pfr_map_init(&r.map, &r.file);
		rc = map_all(&r, err);
		note_loss(in, &s.loss);
		note_stat(&r);
		pf_ingest_note_fact(in, "pfr_left_mangled", r.map.left_mangled);
		pf_pfr_map_release(&r.map);
	}
	pf_pfr_scan_release(&s);
	pf_ingest_batcher_release(&r.batcher);
	pf_spool_free(r.index);
	pf_pfr_file_release(&r.file);
	if (r.temp_fd >= 0)
		close(r.temp_fd);
	return rc;
}

static bool claims(const char *head, size_t len)
{
	return pf_pfr_claims(head, len);
}

PF_INGEST_FORMAT(10, pfr) = { "pfr", claims, read_pfr, NULL, false };

/*
 * XSpace files (*.xplane.pb): planes are found first, then each is read twice,
 * what it defines and its lines.  What cannot be read anywhere (a pipe,
 * compressed data) is kept in an unlinked file.
 */

#define PIECE_BYTES  (256u << 10)
#define WINDOW_BYTES (512u << 10)

struct xspace_reading {
	struct pf_ingest *in;
	struct pf_xs_space space;
	struct pf_xs_map map;
	struct pf_ingest_batcher batcher;
	int64_t at; /* where the plane at hand ends */
};

static void xspace_settle(void *arg)
{
	struct xspace_reading *r = arg;
	struct pf_ingest *in = r->in;

	if (r->space.err->code ||
	    pf_ingest_batcher_put(&r->batcher, &r->map.parsed, r->space.err))
		return;
	pf_xs_map_begin(&r->map);
	if (in->options->progress)
		in->options->progress(in->bytes_before + r->space.bytes->at,
				      in->events_before + in->event_count);
}

static void map_planes(struct xspace_reading *r)
{
	struct pf_xs_map *m = &r->map;

	m->batch_events = pf_ingest_batch_events(r->in);
	m->settle = xspace_settle;
	m->settle_arg = r;
	pf_xs_map_begin(m);
	pf_xs_map_describe(m);
	for (size_t i = 0; i < r->space.plane_count; i++)
		pf_xs_map_plane(m, &r->space.planes[i]);
	xspace_settle(r);
}

static int read_space(struct xspace_reading *r, struct pf_xs_bytes *bytes,
		      struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	int rc = pf_xs_space_read(&r->space, bytes, in->directory, err);

	if (!rc) {
		pf_xs_map_init(&r->map, &r->space);
		map_planes(r);
		pf_xs_map_release(&r->map);
		rc = err->code ? -1 : 0;
	}
	if (!rc && !r->space.whole && !in->event_count)
		rc = pf_fail(err, PF_EDATA,
			     "is cut off before its first event");
	pf_repairs_add(&in->repairs, &r->space.repairs);
	pf_xs_space_release(&r->space);
	return rc;
}

/* ---- the bytes ---- */

/* All of the input in a file without a name. */
static int64_t xspace_keep(struct pf_input *input, const struct pf_buf *head,
			   int fd, struct pf_err *err)
{
	PF_OWN char *piece = pf_alloc(PIECE_BYTES);
	int64_t at = (int64_t)head->len, n = 0;
	int rc = pf_tempfile_write(fd, head->data, head->len, 0, err);

	while (!rc && (n = pf_input_read(input, piece, PIECE_BYTES, err)) > 0) {
		rc = pf_tempfile_write(fd, piece, (size_t)n, (uint64_t)at, err);
		at += n;
	}
	return rc || n < 0 ? -1 : at;
}

static int read_xspace(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct xspace_reading r = { .in = in };
	int fd = pf_input_plain_fd(input), temp_fd = -1;
	int64_t size = pf_input_size(input);
	struct pf_xs_bytes bytes;
	int rc = -1;

	if (fd < 0) {
		fd = temp_fd = pf_tempfile_open(in->directory, err);
		size = fd < 0 ? -1 : xspace_keep(input, head, fd, err);
	}
	if (size >= 0) {
		pf_xs_bytes_init(&bytes, fd, size, WINDOW_BYTES);
		pf_ingest_batcher_init(&r.batcher, in);
		in->json_bytes = size;
		in->found_list = true;
		rc = read_space(&r, &bytes, err);
		pf_ingest_batcher_release(&r.batcher);
		pf_xs_bytes_release(&bytes);
	}
	if (temp_fd >= 0)
		close(temp_fd);
	return rc;
}

PF_INGEST_FORMAT(15, xspace) = { "xspace", pf_xs_claims, read_xspace, NULL,
				 false };

/* Logs of nvidia-smi and dcgmi, line by line. */

#define LOOK_BYTES 8192u

static int read_lines(struct pf_ingest_sink *s, struct pf_tele *t,
		      struct pf_err *err)
{
	struct pf_lines lines = { .read = pf_ingest_sink_read, .arg = s };
	struct pf_text_line line;
	int rc;

	while ((rc = pf_lines_next(&lines, &line, err)) == 1)
		if (pf_tele_line(t, &line, &s->parsed, err) ||
		    pf_ingest_sink_offer(s, err) < 0) {
			rc = -1;
			break;
		}
	pf_lines_release(&lines);
	return rc;
}

static int read_log(enum pf_tele_kind kind, struct pf_ingest *in,
		    struct pf_input *input, const struct pf_buf *head,
		    struct pf_err *err)
{
	struct pf_tele *t = pf_tele_new(kind, &in->options->telemetry);
	PF_AUTO(pf_ingest_sink_release) struct pf_ingest_sink s = { 0 };
	int rc;

	pf_ingest_sink_init(&s, in, input, head);
	rc = read_lines(&s, t, err);
	if (!rc)
		rc = pf_tele_finish(t, &s.parsed, err);
	if (!rc)
		rc = pf_ingest_sink_flush(&s, err) < 0 ? -1 : 0;
	pf_tele_free(t);
	return rc;
}

/* Folders hold tables of every kind: the first line says which it is. */
static int look_at(enum pf_tele_kind kind, struct pf_input *input,
		   struct pf_buf *head, struct pf_seen *seen,
		   struct pf_err *err)
{
	static const struct pf_tele_options unknown = { 0 };
	struct pf_tele *t = pf_tele_new(kind, &unknown);
	struct pf_text_line line = { 0 };
	struct pf_err why = { 0 };
	PF_AUTO(pf_parsed_release) struct pf_parsed parsed = { 0 };
	int64_t n;
	char *end;

	pf_parsed_init(&parsed);
	n = pf_input_append(input, head, LOOK_BYTES, err);
	end = memchr(head->data, '\n', head->len);
	line.text = head->data;
	line.len = end ? (size_t)(end - head->data) : head->len;
	if (line.len && line.text[line.len - 1] == '\r')
		line.len--;
	if (n >= 0)
		pf_tele_line(t, &line, &parsed, &why);
	seen->needs_interval = why.code == PF_EUSAGE;
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	pf_tele_free(t);
	return n < 0 ? -1 : !why.code || seen->needs_interval;
}

/* One format for each kind of log. */
#define LOG(kind, word)                                                        \
	static int read_##word(struct pf_ingest *in, struct pf_input *input,   \
			       const struct pf_buf *head, struct pf_err *err)  \
	{                                                                      \
		return read_log(kind, in, input, head, err);                   \
	}                                                                      \
	static int look_##word(struct pf_input *input, struct pf_buf *head,    \
			       struct pf_seen *seen, struct pf_err *err)       \
	{                                                                      \
		return look_at(kind, input, head, seen, err);                  \
	}                                                                      \
	static bool claims_##word(const char *head, size_t len)                \
	{                                                                      \
		return pf_tele_claims(kind, head, len);                        \
	}

LOG(PF_TELE_SMI, smi)
LOG(PF_TELE_DMON, dmon)
LOG(PF_TELE_DCGMI, dcgmi)

PF_INGEST_FORMAT(30, smi) = { "smi", claims_smi, read_smi, look_smi, false };
PF_INGEST_FORMAT(31, dmon) = { "dmon", claims_dmon, read_dmon, look_dmon,
			       false };
PF_INGEST_FORMAT(32, dcgmi) = { "dcgmi", claims_dcgmi, read_dcgmi, look_dcgmi,
				false };

/* JSON and CSV of rocprofv3. */

/* A file, and those of the same run that are read behind it. */
struct stream {
	struct pf_ingest *in;
	struct pf_headed from;
	struct pf_input *part; /* the one at hand, if it is not the first */
	size_t part_count;     /* that were opened */
};

static int64_t read_input(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct stream *s = arg;
	int64_t n = s->part ? pf_input_read(s->part, buf, len, err)
			    : pf_headed_read(&s->from, buf, len, err);

	if (n > 0)
		s->in->json_bytes += n;
	return n;
}

static int close_part(struct stream *s, struct pf_err *err)
{
	int rc = s->part ? pf_ingest_add_part(s->in, s->part, err) : 0;

	pf_input_close(s->part);
	s->part = NULL;
	return rc;
}

static int next_part(void *arg, struct pf_err *err)
{
	struct stream *s = arg;
	const char *path;
	int rc = close_part(s, err);

	if (rc || s->part_count == s->in->part_count)
		return rc;
	path = s->in->parts[s->part_count++];
	s->part = pf_input_open(path, err);
	return s->part ? 1 : pf_while(err, "'%s'", path);
}

/* {"rocprofiler-sdk-tool": ... */
static bool is_json(const char *head, size_t len)
{
	static const char key[] = "\"rocprofiler-sdk-tool\"";
	size_t at = 1;

	if (!len || *head != '{')
		return false;
	while (at < len && strchr(" \t\r\n", head[at]))
		at++;
	return len - at >= sizeof(key) - 1 &&
	       !memcmp(head + at, key, sizeof(key) - 1);
}

static bool rocm_claims(const char *head, size_t len)
{
	return is_json(head, len) || pf_rocm_csv_claims(head, len);
}

static int read_stream(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	struct stream s = { .in = in, .from = { input, head, 0 } };
	const struct pf_rocm_stream from = { read_input, next_part,
					     in->part_count > 0, &s };
	const struct pf_reader_options options = { .dir = in->directory };
	struct pf_reader *reader = is_json(head->data, head->len)
					   ? pf_rocprofv3_new(&from, &options)
					   : pf_rocm_csv_new(&from);
	int rc = pf_ingest_drain(in, reader, err);

	reader->free(reader);
	pf_input_close(s.part);
	return rc;
}

PF_INGEST_FORMAT(30, rocprofv3) = { "rocprofv3", rocm_claims, read_stream, NULL,
				    false };

/*
 * Databases of other programs: which they are is said by their tables.  Those
 * of the list are read, in the order of their tables and rows; others are
 * refused by name.
 */

#define NAMED 10 /* tables of a database that nobody knows */

static const struct source {
	const char *format; /* trace.format */
	bool (*claims)(struct pf_foreign *f);
	struct pf_reader *(*open)(struct pf_foreign *f,
				  const struct pf_reader_options *options);
} sources[] = {
	{ "nsys", pf_nsys_claims, pf_nsys_new },
	{ "rpd", pf_rpd_claims, pf_rpd_new },
	{ "rocpd", pf_rocpd_claims, pf_rocpd_new },
};

static const struct source *find_source(struct pf_foreign *f)
{
	if (f->application_id == PF_APPLICATION_ID)
		return NULL;
	for (size_t i = 0; i < PF_LEN(sources); i++)
		if (sources[i].claims(f))
			return &sources[i];
	return NULL;
}

/* ---- what it is ---- */

static int refuse_unknown(const struct pf_foreign *f, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf names = { 0 };

	for (size_t i = 0; i < f->table_count && i < NAMED; i++)
		pf_buf_addf(&names, "%s%.40s", i ? ", " : "", f->tables[i]);
	if (f->table_count > NAMED)
		pf_buf_adds(&names, ", ...");
	pf_fail(err, PF_EDATA,
		"is an SQLite database without a trace that profan knows; its "
		"tables: %s",
		f->table_count ? names.data : "none");
	return -1;
}

static int refuse(const struct pf_foreign *f, struct pf_err *err)
{
	if (f->application_id == PF_APPLICATION_ID)
		return pf_fail(err, PF_EDATA,
			       "is a database of profan and no trace; commands "
			       "take it as it is");
	if (pf_foreign_table(f, "read_only_ops") &&
	    pf_foreign_table(f, "db_version"))
		return pf_fail(err, PF_EDATA,
			       "is a database of DLProf, which has no trace; "
			       "the report of Nsight Systems that it was made "
			       "of has: 'nsys export --type sqlite REPORT'");
	if (pf_foreign_table(f, "KERN"))
		return pf_fail(err, PF_EDATA,
			       "is a database of rocprof (version 1), which "
			       "profan does not read: trace with 'rocprofv3 "
			       "--runtime-trace --output-format rocpd -- "
			       "PROGRAM'");
	return refuse_unknown(f, err);
}

/* Does a file begin as a database of SQLite does? */
static bool ingest_is_sqlite(const char *head, size_t len)
{
	static const char magic[] = "SQLite format 3";

	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

const char *pf_ingest_foreign(int fd, struct pf_err *why)
{
	const struct source *source;
	struct pf_foreign f;

	if (pf_foreign_open(&f, fd, why))
		return NULL;
	source = find_source(&f);
	if (!source)
		refuse(&f, why);
	pf_foreign_close(&f);
	return source ? source->format : NULL;
}

static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input);
	struct pf_err why = { 0 };

	(void)head;
	if (fd < 0)
		pf_fail(&why, PF_EDATA, "is an SQLite database that is packed");
	else
		seen->format = pf_ingest_foreign(fd, &why);
	if (why.code && !pf_err_is_of_input(&why)) {
		*err = why;
		return -1;
	}
	snprintf(seen->why, sizeof(seen->why), "%s", why.text);
	return seen->format != NULL;
}

/* ---- reading ---- */

static int read_database(struct pf_ingest *in, struct pf_foreign *f,
			 struct pf_err *err)
{
	const struct source *source = find_source(f);
	const struct pf_reader_options options = {
		.os_calls = in->options->os_calls,
		.dir = in->directory,
	};
	struct pf_reader *reader;
	int rc;

	if (!source)
		return refuse(f, err);
	in->format_name = source->format;
	reader = source->open(f, &options);
	if (!reader)
		return -1;
	rc = pf_ingest_drain(in, reader, err);
	reader->free(reader);
	return rc;
}

static int read_sqlite(struct pf_ingest *in, struct pf_input *input,
		       const struct pf_buf *head, struct pf_err *err)
{
	int fd = pf_input_plain_fd(input), rc;
	struct pf_foreign f;

	(void)head;
	if (strcmp(pf_input_compression(input), "none") != 0)
		return pf_fail(err, PF_EDATA,
			       "is an SQLite database inside %s: unpack it "
			       "first",
			       pf_input_compression(input));
	if (fd < 0)
		return pf_fail(err, PF_EDATA,
			       "an SQLite database cannot be read from a pipe: "
			       "give the name of the file");
	PF_TRY(pf_foreign_open(&f, fd, err));
	rc = read_database(in, &f, err);
	pf_foreign_close(&f);
	in->json_bytes = pf_input_size(input);
	return rc;
}

PF_INGEST_FORMAT(20, sqlite) = { "sqlite", ingest_is_sqlite, read_sqlite, look,
				 false };
