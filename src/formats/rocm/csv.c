/* SPDX-License-Identifier: MIT */
/*
 * CSV of rocprofv3: a file a domain, whose first line names the columns; which
 * there are differs from release to release, so all are found by name.
 */
#include "config.h"

#include <csv.h>
#include <inttypes.h>

#include "base/mem.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"

#define PIECE_BYTES    (64u << 10)
#define CELL_BYTES_MAX (1u << 20)
#define COLUMNS_MAX    64u

enum column {
	GUID,
	KIND,
	DOMAIN,
	FUNCTION,
	OPERATION,
	DIRECTION,
	AGENT,
	QUEUE,
	STREAM,
	THREAD,
	PROCESS,
	KERNEL_NAME,
	LINK,
	START,
	END,
	REGISTERS,
	MORE_REGISTERS,
	SHAPE,
	FROM = SHAPE + PF_ROCM_SHAPE,
	TO,
	SIZE,
	ADDRESS,
	COLUMNS
};

static const struct {
	const char *name;
	unsigned column;
} names[] = {
	{ "Guid", GUID },
	{ "Kind", KIND },
	{ "Domain", DOMAIN },
	{ "Function", FUNCTION },
	{ "Operation", OPERATION },
	{ "Direction", DIRECTION },
	{ "Agent_Id", AGENT },
	{ "Queue_Id", QUEUE },
	{ "Stream_Id", STREAM },
	{ "Thread_Id", THREAD },
	{ "Process_Id", PROCESS },
	{ "Kernel_Name", KERNEL_NAME },
	{ "Correlation_Id", LINK },
	{ "Start_Timestamp", START },
	{ "End_Timestamp", END },
	{ "Private_Segment_Size", SHAPE },
	{ "Scratch_Size", SHAPE },
	{ "Group_Segment_Size", SHAPE + 1 },
	{ "LDS_Block_Size", SHAPE + 1 },
	{ "VGPR_Count", REGISTERS },
	{ "Accum_VGPR_Count", MORE_REGISTERS },
	{ "Workgroup_Size_X", SHAPE + 2 },
	{ "Workgroup_Size_Y", SHAPE + 3 },
	{ "Workgroup_Size_Z", SHAPE + 4 },
	{ "Grid_Size_X", SHAPE + 5 },
	{ "Grid_Size_Y", SHAPE + 6 },
	{ "Grid_Size_Z", SHAPE + 7 },
	{ "Source_Agent_Id", FROM },
	{ "Destination_Agent_Id", TO },
	{ "Allocation_Size", SIZE },
	{ "Address", ADDRESS },
};

struct csv {
	struct pf_reader base;
	struct pf_rocm map;
	struct pf_rocm_stream from;
	struct csv_parser parser;
	int column_of[COLUMNS]; /* -1: the file lacks it */
	bool has_header, is_end;
	bool is_last; /* the row at hand ends with the file, without an end */
	char last_byte;
	/* the row at hand: its cells, each with a NUL behind it */
	struct pf_buf text;
	size_t at[COLUMNS_MAX], len[COLUMNS_MAX];
	size_t cell_count, header_count;
	int64_t offset, cell_offset; /* read; where the last cell ended */
	int64_t line_offset;         /* where the line at hand begins */
	char *piece;
};

bool pf_rocm_csv_claims(const char *head, size_t len)
{
	static const char *const starts[] = {
		"\"Kind\",\"Agent_Id\",",  "\"Kind\",\"Direction\",",
		"\"Kind\",\"Operation\",", "\"Domain\",\"Function\",",
		"\"Guid\",\"Domain\",",    "\"Guid\",\"Kind\",",
	};

	for (size_t i = 0; i < PF_LEN(starts); i++)
		if (pf_begins(head, len, starts[i]))
			return true;
	return false;
}

/* ---- cells ---- */

/* Never NULL; "" where there is none. */
static const char *cell(const struct csv *r, unsigned column, size_t *len)
{
	int i = r->column_of[column];

	*len = 0;
	if (i < 0 || (size_t)i >= r->cell_count)
		return "";
	*len = r->len[i];
	return r->text.data + r->at[i];
}

/* A whole number, also behind "Agent "; -1: none. */
static int64_t number(const struct csv *r, unsigned column)
{
	size_t len;
	const char *p = cell(r, column, &len);
	int64_t v = 0;

	if (pf_begins(p, len, "Agent ")) {
		p += 6;
		len -= 6;
	}
	if (!len)
		return -1;
	for (size_t i = 0; i < len; i++)
		if (p[i] < '0' || p[i] > '9' ||
		    __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, p[i] - '0', &v))
			return -1;
	return v;
}

/* ---- rows ---- */

static void note(struct csv *r, enum pf_repair_kind kind)
{
	pf_repair_note(&r->map.sink.parsed.batch.repairs, kind, 1,
		       r->line_offset);
}

static int64_t process_of(struct csv *r)
{
	/* kernels do not say it; files of one run are of one process */
	const int64_t pid = r->from.has_next ? 0 : number(r, PROCESS);
	size_t len;
	const char *guid = cell(r, GUID, &len);

	return pf_sink_process(&r->map.sink,
			       pf_dict_hash(guid, len, (uint32_t)pid).low);
}

static int64_t pid_of(const struct csv *r)
{
	int64_t pid = number(r, PROCESS);

	return pid < 0 ? 0 : pid;
}

static struct pf_work_place place_of(struct csv *r)
{
	return pf_rocm_place(process_of(r), pid_of(r), number(r, AGENT),
			     number(r, QUEUE), number(r, STREAM),
			     number(r, LINK));
}

static void put_kernel(struct csv *r, struct pf_sink_put *put)
{
	struct pf_work_place place = place_of(r);
	int64_t shape[PF_ROCM_SHAPE];
	struct pf_work_launch l;
	const char *name;
	size_t len;

	for (unsigned i = 0; i < PF_ROCM_SHAPE; i++)
		shape[i] = number(r, SHAPE + i);
	l = pf_rocm_launch(shape);
	l.registers = pf_rocm_registers(number(r, REGISTERS),
					number(r, MORE_REGISTERS));
	name = cell(r, KERNEL_NAME, &len);
	put->name = pf_sink_text(&r->map.sink, name, len);
	pf_work_kernel(&r->map.sink, &place, &l, put);
}

/* Of a copy's two processors one or both are GPUs, by its direction. */
static void put_copy(struct csv *r, struct pf_sink_put *put)
{
	struct pf_work_place place = place_of(r);
	struct pf_rocm_copy copy = { .bytes = -1, .from = -1, .to = -1 };

	copy.name = cell(r, DIRECTION, &copy.name_len);
	if (memmem(copy.name, copy.name_len, "DEVICE_TO_", 10))
		copy.from = number(r, FROM);
	if (memmem(copy.name, copy.name_len, "_TO_DEVICE", 10))
		copy.to = number(r, TO);
	pf_rocm_put_copy(&r->map, &place, &copy, put);
}

static struct pf_rocm_call call_of(struct csv *r, unsigned domain)
{
	struct pf_rocm_call c = {
		.process = process_of(r),
		.pid = pid_of(r),
		.tid = number(r, THREAD) < 0 ? 0 : number(r, THREAD),
		.id = number(r, LINK),
	};
	const char *text;
	size_t len;

	text = cell(r, domain, &len);
	c.domain = pf_rocm_domain(text, len);
	return c;
}

static void put_memory(struct csv *r, struct pf_sink_put *put)
{
	static const char scratch[] = "SCRATCH_MEMORY_";
	const size_t n = strlen(scratch);
	struct pf_rocm_call c = call_of(r, KIND);
	struct pf_rocm_memory m = {
		.is_scratch = c.domain->category == PF_CAT_SCRATCH,
		.device = number(r, AGENT),
		.bytes = number(r, SIZE),
	};
	const char *address;
	size_t len;

	address = cell(r, ADDRESS, &len);
	if (len)
		m.address = strtoull(address, NULL, 0);
	m.what = cell(r, OPERATION, &m.what_len);
	if (m.what_len > n && pf_begins(m.what, m.what_len, scratch)) {
		m.what += n;
		m.what_len -= n;
	}
	pf_rocm_put_memory(&r->map, &c, &m, put);
}

/* A range's text is its function; one without length is a mark. */
static void put_call(struct csv *r, struct pf_sink_put *put)
{
	static const char mark[] = "roctxMarkA";
	struct pf_rocm_call c = call_of(r, DOMAIN);

	c.name = cell(r, FUNCTION, &c.name_len);
	if (!put->dur_ns) {
		c.function = mark;
		c.function_len = sizeof(mark) - 1;
	}
	pf_rocm_put_call(&r->map, &c, put);
}

/* Cut off, as far as a row can show it: what it has is less, or no number. */
static bool is_cut(const struct csv *r, int64_t start, int64_t end)
{
	return r->is_last &&
	       (r->cell_count != r->header_count ||
		!r->len[r->cell_count - 1] || (end >= 0 && end < start));
}

static void put_row(struct csv *r)
{
	struct pf_sink_put put = { 0 };
	int64_t start = number(r, START), end = number(r, END);
	size_t len;

	cell(r, START, &len);
	if (is_cut(r, start, end))
		note(r, PF_REPAIR_CUT_OFF);
	if (is_cut(r, start, end) || (start < 0 && len) ||
	    (start >= 0 && end < 0)) {
		note(r, PF_SKIP_MALFORMED);
		return;
	}
	if (start < 0) {
		note(r, PF_SKIP_NO_TIME);
		return;
	}
	if (!pf_sink_times(&r->map.sink, start, end, &put))
		return;
	if (r->column_of[KERNEL_NAME] >= 0)
		put_kernel(r, &put);
	else if (r->column_of[DIRECTION] >= 0)
		put_copy(r, &put);
	else if (r->column_of[FUNCTION] >= 0)
		put_call(r, &put);
	else
		put_memory(r, &put);
}

static void take_header(struct csv *r)
{
	for (size_t i = 0; i < COLUMNS; i++)
		r->column_of[i] = -1;
	for (size_t i = 0; i < r->cell_count; i++)
		for (size_t k = 0; k < PF_LEN(names); k++)
			if (r->column_of[names[k].column] < 0 &&
			    pf_is(r->text.data + r->at[i], r->len[i],
				  names[k].name))
				r->column_of[names[k].column] = (int)i;
	r->header_count = r->cell_count;
	r->has_header = true;
}

static void take_cell(void *p, size_t len, void *arg)
{
	struct csv *r = arg;

	r->cell_offset = r->offset;
	if (r->cell_count == COLUMNS_MAX)
		return;
	r->at[r->cell_count] = r->text.len;
	r->len[r->cell_count++] = len;
	pf_buf_add(&r->text, p, len);
	pf_buf_addc(&r->text, '\0');
}

static void end_row(int c, void *arg)
{
	struct csv *r = arg;

	(void)c;
	if (!r->has_header) {
		take_header(r);
	} else if (r->cell_count) {
		put_row(r);
		r->map.sink.parsed.batch.event_count++;
	}
	r->cell_count = 0;
	pf_buf_clear(&r->text);
}

/* ---- reading ---- */

/* A quoted text that the file ends in is no whole cell. */
static void drop_row(struct csv *r)
{
	note(r, PF_REPAIR_CUT_OFF);
	note(r, PF_SKIP_MALFORMED);
	r->map.sink.parsed.batch.event_count++;
	csv_set_opts(&r->parser, 0);
	csv_fini(&r->parser, NULL, NULL, NULL);
	r->cell_count = 0;
	pf_buf_clear(&r->text);
}

/*
 * A last line without an end is a row if it has all of its cells.  Behind a
 * file may be another, with a first line of its own.
 */
static int finish(struct csv *r, struct pf_err *err)
{
	int rc;

	r->is_last = r->last_byte != '\n';
	csv_set_opts(&r->parser, CSV_STRICT | CSV_STRICT_FINI);
	if (csv_fini(&r->parser, take_cell, end_row, r))
		drop_row(r);
	csv_set_opts(&r->parser, 0);
	rc = r->from.has_next ? r->from.next(r->from.arg, err) : 0;
	r->is_end = !rc;
	r->is_last = r->has_header = false;
	return rc < 0 ? -1 : 0;
}

/* Line by line, so that it is known where each is. */
static int parse(struct csv *r, const char *bytes, size_t len,
		 struct pf_err *err)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end + 1 - bytes) : len;

		if (csv_parse(&r->parser, bytes, n, take_cell, end_row, r) != n)
			return pf_fail(err, PF_EDATA, "is no CSV: %s",
				       csv_strerror(csv_error(&r->parser)));
		r->offset += (int64_t)n;
		if (end)
			r->line_offset = r->offset;
		r->last_byte = bytes[n - 1];
		bytes += n;
		len -= n;
	}
	return 0;
}

static int read_piece(struct csv *r, size_t len, struct pf_err *err)
{
	int64_t n = r->from.read(r->from.arg, r->piece, len, err);

	PF_TRY(n < 0 || parse(r, r->piece, (size_t)n, err));
	if (r->offset - r->cell_offset > CELL_BYTES_MAX)
		return pf_fail(err, PF_EDATA,
			       "has a cell of more than 1 MB before byte "
			       "%" PRId64,
			       r->offset);
	return n < (int64_t)len ? finish(r, err) : 0;
}

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct csv *r = (struct csv *)base;

	pf_sink_begin(&r->map.sink);
	while (!r->is_end && !pf_sink_is_full(&r->map.sink, most))
		PF_TRY(read_piece(r, most < 1000 ? 512 : PIECE_BYTES, err));
	return !r->is_end;
}

static void free_reader(struct pf_reader *base)
{
	PF_OWN struct csv *r = (struct csv *)base;

	pf_rocm_release(&r->map);
	pf_buf_release(&r->text);
	csv_free(&r->parser);
	free(r->piece);
}

struct pf_reader *pf_rocm_csv_new(const struct pf_rocm_stream *from)
{
	struct csv *r = pf_calloc(1, sizeof(*r));

	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, NULL,
				      free_reader };
	pf_rocm_init(&r->map);
	r->from = *from;
	r->piece = pf_calloc(1, PIECE_BYTES);
	csv_init(&r->parser, 0);
	return &r->base;
}
