/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "formats/xspace/args.h"
#include "formats/xspace/shape.h"

#define NAMES_WINDOW    (16u << 10)
#define LINES_NAMED_MAX 65536u
#define EPOCH_NS        INT64_C(1000000000000000)
#define PS              1000

/* An event as it stands there. */
struct raw {
	int64_t meta, offset_ps, duration_ps;
	bool has_offset, has_occurrences;
	struct pf_wire stats[PF_XS_STATS_MAX];
	size_t stat_count;
	int64_t at; /* in the file */
};

/* ---- the batch ---- */

void pf_xs_map_init(struct pf_xs_map *m, struct pf_xs_space *space)
{
	memset(m, 0, sizeof(*m));
	m->space = space;
	pf_parsed_init(&m->parsed);
	m->memos = pf_xs_memos_new();
	if (space->bytes->fd >= 0)
		pf_xs_bytes_init(&m->names, space->bytes->fd,
				 space->bytes->size, NAMES_WINDOW);
	else
		pf_xs_bytes_of_memory(&m->names, space->bytes->data,
				      (size_t)space->bytes->size);
}

void pf_xs_map_release(struct pf_xs_map *m)
{
	pf_parsed_release(&m->parsed);
	pf_xs_memos_free(m->memos);
	pf_xs_bytes_release(&m->names);
	pf_buf_release(&m->line.name);
	pf_buf_release(&m->line.prefix);
	pf_buf_release(&m->text);
	pf_buf_release(&m->track_text);
}

void pf_xs_map_begin(struct pf_xs_map *m)
{
	if (!pf_parsed_begin(&m->parsed) && m->generation)
		return;
	m->generation++;
	m->category_count = 0;
}

static void note(struct pf_xs_map *m, enum pf_repair_kind kind, int64_t at)
{
	pf_repair_note(&m->parsed.batch.repairs, kind, 1, at);
}

static bool is_full(const struct pf_xs_map *m)
{
	const struct pf_parsed *p = &m->parsed;

	return p->batch.count >= m->batch_events ||
	       pf_dict_is_large(&p->args) || pf_dict_is_large(&p->names);
}

/* The word must live as long as the line. */
static uint32_t find_category(struct pf_xs_map *m, const char *word)
{
	const size_t most = sizeof(m->categories) / sizeof(*m->categories);
	uint32_t entry;

	for (size_t i = 0; i < m->category_count; i++)
		if (m->categories[i].word == word)
			return m->categories[i].entry;
	entry = pf_dict_find(&m->parsed.categories, word, strlen(word), 0);
	if (m->category_count < most)
		m->categories[m->category_count++] =
			(struct pf_xs_category){ word, entry };
	return entry;
}

static uint32_t find_track(struct pf_xs_map *m)
{
	if (m->track_generation != m->generation)
		m->track = pf_dict_find(&m->parsed.tracks, m->track_text.data,
					m->track_text.len, 0);
	m->track_generation = m->generation;
	return m->track;
}

/* ---- lines ---- */

/* The text of a track: batch.h. */
static void set_track(struct pf_xs_map *m, char letter, const char *pid,
		      const char *tid, size_t tid_len)
{
	pf_buf_clear(&m->track_text);
	pf_buf_addf(&m->track_text, "%c%08zx%s", letter, strlen(pid), pid);
	pf_buf_add(&m->track_text, tid, tid_len);
	m->track_generation = 0;
}

/*
 * Threads of one name ("python") are told apart by the ids of their lines.
 */
static void set_thread(struct pf_xs_map *m)
{
	const char *host = m->space->host;
	struct pf_buf name = { 0 };
	uint64_t *first = NULL;

	pf_buf_add(&name, m->line.name.data, m->line.name.len);
	if (m->line_ids->count < LINES_NAMED_MAX)
		first = pf_map_at(m->line_ids,
				  pf_dict_hash(name.data, name.len, 0).low);
	if (first && *first == UINT64_MAX)
		*first = (uint64_t)m->line.id;
	else if (!first || *first != (uint64_t)m->line.id)
		pf_buf_addf(&name, "/%" PRId64, m->line.id);
	set_track(m, 'h', *host ? host : m->plane->name, name.data, name.len);
	pf_buf_release(&name);
}

static void set_device(struct pf_xs_map *m)
{
	const struct pf_plane *plane = &m->plane->what;
	struct pf_xs_line *line = &m->line;
	int64_t stream = line->what.stream;
	char pid[PF_XS_NAME_MAX + 1], tid[24];

	if (plane->kind == PF_PLANE_TPU) {
		/* "/device:TPU:0" */
		snprintf(pid, sizeof(pid), "TPU %s", m->plane->name + 12);
		stream = line->id;
	} else {
		snprintf(pid, sizeof(pid), "%" PRId64, plane->device);
	}
	pf_buf_addf(&line->prefix, "{\"device\":%" PRId64, plane->device);
	if (line->what.kind != PF_ROW_AGAIN)
		pf_buf_addf(&line->prefix, ",\"stream\":%" PRId64, stream);
	if (line->what.kind == PF_ROW_STREAM) {
		snprintf(tid, sizeof(tid), "%" PRId64, stream);
		set_track(m, 'g', pid, tid, strlen(tid));
	} else {
		set_track(m, 'g', pid, line->name.data, line->name.len);
	}
	snprintf(line->tpu_category, sizeof(line->tpu_category), "%.*s",
		 (int)line->name.len, line->name.data);
}

static int line_field(struct pf_xs_map *m, const struct pf_xs_span *f,
		      struct pf_err *err)
{
	struct pf_xs_line *line = &m->line;
	size_t len = (size_t)(f->end - f->at);
	const unsigned char *p;

	if (f->wire == PF_XS_VARINT && f->number == 1)
		line->id = (int64_t)f->value;
	if (f->wire == PF_XS_VARINT && f->number == 3)
		line->timestamp_ns = (int64_t)f->value;
	/* The other name is for lines without one. */
	if (f->wire != PF_XS_LENGTH ||
	    !(f->number == 2 || (f->number == 11 && !line->name.len)))
		return 0;
	if (len > PF_XS_NAME_MAX)
		len = PF_XS_NAME_MAX;
	p = pf_xs_bytes_at(m->space->bytes, f->at, len, err);
	if (!p)
		return -1;
	pf_buf_clear(&line->name);
	pf_buf_add(&line->name, p, len);
	return 0;
}

/*
 * Name and time stand before the events; if one is not there, it may be behind
 * them.
 */
static int read_line_head(struct pf_xs_map *m, const struct pf_xs_piece *piece,
			  struct pf_err *err)
{
	struct pf_xs_cursor c = { m->space->bytes, piece->at, piece->end };
	struct pf_xs_line *line = &m->line;
	struct pf_xs_span f;
	enum pf_xs_got got;

	line->serial++;
	line->id = line->timestamp_ns = 0;
	line->runtime_end_ns = INT64_MIN;
	pf_buf_clear(&line->name);
	pf_buf_clear(&line->prefix);
	pf_buf_adds(&line->name, "");
	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD) {
		if (f.number == 4 && line->name.len && line->timestamp_ns)
			break;
		if (line_field(m, &f, err))
			return -1;
	}
	if (got == PF_XS_ERROR)
		return -1;
	line->what = pf_line_of(m->plane->what.kind, line->name.data,
				line->name.len);
	line->has_steps = line->what.kind == PF_ROW_AGAIN &&
			  pf_line_has_steps(line->name.data, line->name.len);
	line->is_pool = pf_is_pool(line->name.data, line->name.len);
	m->category_count = 0; /* one word is the line's own */
	if (line->what.kind == PF_ROW_HOST)
		set_thread(m);
	else
		set_device(m);
	return 0;
}

/* ---- times ---- */

static __int128 floor_ns(__int128 ps)
{
	return ps >= 0 ? ps / PS : -((PS - 1 - ps) / PS);
}

/* False: it cannot be stored, and has been counted. */
static bool set_times(struct pf_xs_map *m, struct raw *raw, struct pf_event *ev)
{
	int64_t base = m->line.timestamp_ns;
	__int128 start, end;

	if (raw->has_occurrences && !raw->has_offset) {
		note(m, PF_SKIP_UNTIMED, raw->at);
		return false;
	}
	if (base > EPOCH_NS && m->space->has_base)
		base -= m->space->base_ns;
	if (raw->duration_ps < 0) {
		note(m, PF_REPAIR_NEGATIVE_DURATION, raw->at);
		raw->duration_ps = 0;
	}
	start = (__int128)base * PS + raw->offset_ps;
	end = floor_ns(start + raw->duration_ps);
	start = floor_ns(start);
	if (start < -PF_TIME_MAX_NS || end > PF_TIME_MAX_NS) {
		note(m, PF_SKIP_TIME_RANGE, raw->at);
		return false;
	}
	ev->start_ns = (int64_t)start;
	ev->dur_ns = (int64_t)(end - start);
	return true;
}

/* ---- arguments ---- */

/* "GPU_4_bfc" is device 4's; others' memory is the host's. */
static void arg_allocator(struct pf_xs_map *m, const char *text, size_t len)
{
	int64_t device = 0;
	size_t i = 4;

	for (; i < len && i < 13 && text[i] >= '0' && text[i] <= '9'; i++)
		device = device * 10 + (text[i] - '0');
	if (len < 6 || memcmp(text, "GPU_", 4) != 0 || i == 4 || i == len ||
	    text[i] != '_') {
		pf_xs_arg_fixed(m, "Device Type", 0);
		return;
	}
	pf_xs_arg_fixed(m, "Device Type", 1);
	pf_xs_arg_fixed(m, "Device Id", device);
}

static bool is_number(const struct pf_xs_stat *stat)
{
	return stat->kind == 4 || (stat->kind == 3 && stat->value <= INT64_MAX);
}

/* What an allocation says in its own words; false: as any statistic. */
static bool memory_stat(struct pf_xs_map *m, enum pf_xs_role role,
			const struct pf_xs_stat *stat,
			const struct pf_xs_made *made)
{
	int64_t value = (int64_t)stat->value;

	if (!is_number(stat))
		return false;
	switch (role) {
	case PF_XS_ALLOCATED:
		if (value < 0)
			return false;
		pf_xs_arg_slot(m, "Bytes", PF_SLOT_BYTES,
			       made->is_freed ? -value : value);
		return true;
	case PF_XS_IN_USE:
		pf_xs_arg_slot(m, "Total Allocated", PF_SLOT_ALLOCATED, value);
		return true;
	case PF_XS_ADDRESS:
		pf_xs_arg_slot(m, "Addr", PF_SLOT_ADDR, value);
		return true;
	case PF_XS_ALLOCATOR_INDEX:
		pf_xs_arg_fixed(m, "Device Type", 9); /* as torch: XLA */
		pf_xs_arg_fixed(m, "Device Id", value);
		return true;
	default:
		return false;
	}
}

static int details(struct pf_xs_map *m, enum pf_xs_role role,
		   const struct pf_xs_stat *stat, struct pf_err *err)
{
	const char *text;
	size_t len;

	if (pf_xs_stat_text(m, stat, &text, &len, err))
		return -1;
	if (role == PF_XS_KERNEL_DETAILS)
		pf_xs_arg_kernel(m, text, len);
	else if (role == PF_XS_ALLOCATOR)
		arg_allocator(m, text, len);
	else
		pf_xs_arg_copy(m, text, len);
	return 0;
}

static int one_stat(struct pf_xs_map *m, const struct pf_xs_stat *stat,
		    bool is_memory, struct pf_xs_made *made, struct pf_err *err)
{
	const struct pf_xs_key *found = pf_xs_find_key(m, stat->id, err);
	struct pf_xs_key key;

	if (!found)
		return -1;
	key = *found;
	made->is_operator |= key.role == PF_XS_OPERATOR;
	made->is_of_runtime |= key.role == PF_XS_RUNTIME ||
			       key.role == PF_XS_CORRELATION ||
			       key.role == PF_XS_KERNEL_DETAILS;
	made->has_kernel |= key.role == PF_XS_KERNEL_DETAILS;
	made->has_copy |= key.role == PF_XS_COPY_DETAILS;
	made->has_fill |= key.role == PF_XS_FILL_DETAILS;
	if (key.role == PF_XS_CORRELATION && is_number(stat)) {
		pf_xs_arg_slot(m, "correlation_id", PF_SLOT_CORRELATION,
			       (int64_t)stat->value);
		return 0;
	}
	if (key.role == PF_XS_STEP && is_number(stat) &&
	    (int64_t)stat->value >= 0 && stat->value < UINT64_C(1) << 58) {
		made->has_step = true;
		pf_xs_arg_slot(m, "step_num", PF_SLOT_STEP,
			       (int64_t)stat->value * 16);
		return 0;
	}
	if (is_memory && memory_stat(m, key.role, stat, made))
		return 0;
	if (pf_xs_arg_stat(m, &key, stat, err))
		return -1;
	if ((is_memory && key.role == PF_XS_ALLOCATOR) ||
	    (key.role >= PF_XS_KERNEL_DETAILS &&
	     key.role <= PF_XS_FILL_DETAILS &&
	     m->line.what.kind == PF_ROW_STREAM))
		return details(m, key.role, stat, err);
	return 0;
}

/* What the metadata says, unless the event says it itself. */
static void add_more(struct pf_xs_map *m, const struct pf_xs_name *name,
		     const int64_t *ids, size_t count)
{
	const char *p = m->memos->text.data + name->stats_at;
	const char *end = p + name->stats_len;
	struct pf_xs_more more;

	while (p < end) {
		bool is_said = false;

		memcpy(&more, p, sizeof(more));
		p += sizeof(more);
		for (size_t i = 0; i < count; i++)
			is_said |= ids[i] == more.id;
		if (!is_said) {
			size_t at = m->text.len;

			pf_buf_add(&m->text, p, more.len);
			if (!at)
				m->text.data[0] = '{';
		}
		p += more.len;
	}
}

/*
 * All arguments as a text.  A shape can be made of them if each number took a
 * slot of its own and nothing else did: 1, else 0.
 */
static int set_args(struct pf_xs_map *m, const struct pf_xs_stat *stats,
		    size_t count, const struct pf_xs_name *name,
		    const struct pf_xs_shape_key *key,
		    struct pf_xs_shape *shape, struct pf_xs_made *made,
		    struct pf_err *err)
{
	bool is_memory = m->line.what.kind == PF_ROW_HOST &&
			 name->host_kind == PF_KIND_MEMORY;
	int64_t ids[PF_XS_STATS_MAX];
	unsigned numbers = 0;
	bool is_plain = true;

	pf_xs_open_args(m, &m->line.prefix);
	for (size_t i = 0; i < count; i++) {
		const int is_number = (int)(key->numbers >> i & 1);
		uint32_t before = m->mask, taken;
		int filled = m->filled;

		ids[i] = stats[i].id;
		if (one_stat(m, &stats[i], is_memory, made, err))
			return -1;
		taken = m->mask & ~before;
		is_plain &= m->filled - filled == is_number &&
			    __builtin_popcount(taken) == is_number;
		if (is_plain && taken)
			shape->slots[numbers++] = (uint8_t)__builtin_ctz(taken);
	}
	if (name->stats_len)
		add_more(m, name, ids, count);
	return is_plain;
}

/* Those that can be read; the others are noted. */
static size_t read_stats(struct pf_xs_map *m, const struct raw *raw,
			 struct pf_xs_stat *stats)
{
	size_t count = 0;

	for (size_t i = 0; i < raw->stat_count; i++)
		if (pf_xs_stat_read(raw->stats[i], &stats[count]))
			count++;
		else
			note(m, PF_REPAIR_BAD_MESSAGE, raw->at);
	return count;
}

static int find_args(struct pf_xs_map *m, const struct raw *raw,
		     const struct pf_xs_name *name, struct pf_xs_made *made,
		     uint32_t *args, struct pf_err *err)
{
	struct pf_xs_stat stats[PF_XS_STATS_MAX];
	size_t count = read_stats(m, raw, stats);
	struct pf_xs_shape none, *shape = &none;
	struct pf_xs_shape_key key;
	bool is_known = false;
	int rc;

	if (pf_xs_shape_key(m, name, raw->meta, stats, count, &key))
		shape = pf_xs_shape_find(m, &key, &is_known);
	if (is_known) {
		pf_xs_shape_slots(m, shape, &key);
		*made = shape->made;
		*args = shape->args;
		return 0;
	}
	rc = set_args(m, stats, count, name, &key, shape, made, err);
	if (rc < 0)
		return -1;
	if (m->line.has_steps && name->has_number) {
		m->mask |= UINT32_C(1) << PF_SLOT_STEP;
		m->slots[PF_SLOT_STEP] = name->number * 16;
	}
	*args = pf_xs_close_args(m);
	shape->args = *args;
	shape->mask = m->mask;
	shape->made = *made;
	shape->generation = rc ? m->generation : 0;
	return 0;
}

/* ---- events ---- */

static void host_type(struct pf_xs_map *m, const struct pf_xs_name *name,
		      const struct pf_xs_made *made, struct pf_event *ev,
		      const char **category)
{
	enum pf_kind kind = name->host_kind;

	if (kind == PF_KIND_HOST || kind == PF_KIND_ANNOTATION)
		kind = pf_range_kind(kind, name->is_tf_data, made->has_step,
				     made->is_operator || name->is_operator,
				     made->is_of_runtime || m->line.is_pool);
	kind = pf_range_in(kind, name->is_tf_data || made->has_step,
			   ev->start_ns, ev->start_ns + ev->dur_ns,
			   &m->line.runtime_end_ns);
	ev->kind = (uint8_t)kind;
	*category = name->is_hip && kind == PF_KIND_RUNTIME
			    ? "hip_runtime"
			    : pf_host_category(kind, "", 0);
}

static void set_type(struct pf_xs_map *m, const struct pf_xs_name *name,
		     const struct pf_xs_made *made, struct pf_event *ev)
{
	static const char *const work[] = { "kernel", "gpu_memcpy",
					    "gpu_memset" };
	const char *category = m->line.tpu_category;

	switch (m->line.what.kind) {
	case PF_ROW_HOST:
		host_type(m, name, made, ev, &category);
		break;
	case PF_ROW_STREAM:
		ev->kind = made->has_kernel                  ? PF_KIND_KERNEL
			   : made->has_copy || name->is_copy ? PF_KIND_MEMCPY
			   : made->has_fill || name->is_fill ? PF_KIND_MEMSET
							     : PF_KIND_KERNEL;
		category = work[ev->kind - PF_KIND_KERNEL];
		break;
	case PF_ROW_AGAIN:
		ev->kind = PF_KIND_GPU_ANNOTATION;
		category = "gpu_user_annotation";
		break;
	default:
		ev->kind = PF_KIND_GPU_OTHER;
	}
	ev->ph = ev->kind == PF_KIND_MEMORY ? 'i' : 'X';
	ev->type = pf_batch_type(&m->parsed.batch, find_category(m, category),
				 (char)ev->ph, (enum pf_kind)ev->kind);
}

static int store(struct pf_xs_map *m, struct raw *raw, struct pf_err *err)
{
	struct pf_batch *b = &m->parsed.batch;
	const struct pf_xs_name *name;
	struct pf_xs_made made = { 0 };
	struct pf_event ev = { .order = (int32_t)b->event_count };

	if (!set_times(m, raw, &ev))
		return 0;
	pf_xs_memos_trim(m->memos);
	name = pf_xs_find_name(m, raw->meta, err);
	if (!name)
		return -1;
	if (!name->is_known)
		note(m, PF_REPAIR_LOST_NAME, raw->at);
	made.is_freed = name->is_freed;
	if (find_args(m, raw, name, &made, &ev.args, err))
		return -1;
	ev.name = name->entry;
	ev.track = find_track(m);
	set_type(m, name, &made, &ev);
	b->kind_count[ev.kind]++;
	pf_batch_put(b, &ev, m->mask, m->slots);
	return 0;
}

/* False: it is no event that can be read. */
static bool read_event(struct pf_wire message, struct raw *raw)
{
	struct pf_xs_field f;
	enum pf_xs_got got;

	while ((got = pf_xs_next(&message, &f)) == PF_XS_FIELD) {
		if (f.number == 4 && f.wire == PF_XS_LENGTH) {
			if (raw->stat_count < PF_XS_STATS_MAX)
				raw->stats[raw->stat_count++] = f.text;
			continue;
		}
		if (f.wire != PF_XS_VARINT)
			continue;
		if (f.number == 1)
			raw->meta = (int64_t)f.value;
		else if (f.number == 2)
			raw->offset_ps = (int64_t)f.value,
			raw->has_offset = true;
		else if (f.number == 3)
			raw->duration_ps = (int64_t)f.value;
		else if (f.number == 5)
			raw->has_occurrences = true;
	}
	return got == PF_XS_END;
}

static int one_event(struct pf_xs_map *m, const struct pf_xs_span *f,
		     struct pf_err *err)
{
	size_t len = (size_t)(f->end - f->at);
	const unsigned char *p;
	struct raw raw;
	int rc = 0;

	raw.meta = raw.offset_ps = raw.duration_ps = 0;
	raw.has_offset = raw.has_occurrences = false;
	raw.stat_count = 0;
	raw.at = f->at;
	if (len > PF_XS_PIECE_MAX) {
		note(m, PF_SKIP_TOO_LARGE, f->at);
	} else if (m->plane->what.kind == PF_PLANE_OTHER) {
		note(m, PF_SKIP_PLANE, f->at);
	} else {
		p = pf_xs_bytes_at(m->space->bytes, f->at, len, err);
		if (!p)
			return -1;
		if (read_event((struct pf_wire){ p, p + len }, &raw))
			rc = store(m, &raw, err);
		else
			note(m, PF_SKIP_MALFORMED, f->at);
	}
	m->parsed.batch.event_count++;
	m->parsed.batch.ts_fraction_digits = 3; /* nanoseconds */
	if (rc)
		return -1;
	return is_full(m) ? m->settle(m->settle_arg, err) : 0;
}

/* Is the end here that of a file that was cut off? */
static bool is_cut_here(const struct pf_xs_map *m, int64_t end)
{
	return end == m->space->bytes->size &&
	       m->space->repairs.of[PF_REPAIR_CUT_OFF].count;
}

static int map_line(struct pf_xs_map *m, const struct pf_xs_piece *piece,
		    struct pf_err *err)
{
	struct pf_xs_cursor c = { m->space->bytes, piece->at, piece->end };
	struct pf_xs_span f;
	enum pf_xs_got got;

	if (read_line_head(m, piece, err))
		return -1;
	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD)
		if (f.number == 4 && f.wire == PF_XS_LENGTH &&
		    one_event(m, &f, err))
			return -1;
	if (got == PF_XS_ERROR)
		return -1;
	if (got != PF_XS_END && !is_cut_here(m, piece->end))
		note(m, PF_REPAIR_BAD_MESSAGE, c.at);
	return 0;
}

int pf_xs_map_plane(struct pf_xs_map *m, const struct pf_xs_plane *plane,
		    struct pf_err *err)
{
	struct pf_map line_ids;
	int rc;

	m->plane = plane;
	pf_xs_memos_forget(m->memos);
	pf_map_init(&line_ids);
	m->line_ids = &line_ids;
	rc = pf_xs_defs_read(&m->defs, m->space, plane, err);
	for (uint64_t i = 0; !rc && i < pf_spool_count(m->defs.lines); i++) {
		const struct pf_xs_piece *p =
			pf_spool_at(m->defs.lines, i, err);
		struct pf_xs_piece piece;

		if (!p) {
			rc = -1;
			break;
		}
		piece = *p;
		rc = map_line(m, &piece, err);
	}
	pf_xs_defs_release(&m->defs);
	pf_map_release(&line_ids);
	return rc;
}

/* ---- what the file says of itself ---- */

struct device {
	char vendor[64], type[64];
	int64_t cores, memory, major, minor;
};

static void take_device(void *arg, const char *name,
			const struct pf_xs_stat *stat, const char *text,
			size_t len)
{
	struct device *d = arg;
	const struct {
		const char *name;
		int64_t *value;
	} numbers[] = {
		{ "core_count", &d->cores },
		{ "memory_size", &d->memory },
		{ "compute_cap_major", &d->major },
		{ "compute_cap_minor", &d->minor },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(name, numbers[i].name) && is_number(stat))
			*numbers[i].value = (int64_t)stat->value;
	if (!strcmp(name, "device_vendor"))
		snprintf(d->vendor, sizeof(d->vendor), "%.*s", (int)len, text);
	if (!strcmp(name, "device_type_string"))
		snprintf(d->type, sizeof(d->type), "%.*s", (int)len, text);
}

static void put_device(struct pf_buf *out, int64_t id, const struct device *d)
{
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = {
		{ "totalGlobalMem", d->memory },
		{ "computeMajor", d->major },
		{ "computeMinor", d->minor },
		{ "numSms", d->cores },
	};
	const char *name = *d->type ? d->type : d->vendor;

	pf_buf_addf(out, "%c{\"id\":%" PRId64, out->len ? ',' : '[', id);
	if (*name) {
		pf_buf_adds(out, ",\"name\":");
		pf_xs_quote(out, name, strlen(name));
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].value > 0 ||
		    (numbers[i].value == 0 && i == 2 && d->major > 0))
			pf_buf_addf(out, ",\"%s\":%" PRId64, numbers[i].key,
				    numbers[i].value);
	pf_buf_addc(out, '}');
}

static int describe_device(struct pf_xs_map *m, const struct pf_xs_plane *plane,
			   struct pf_buf *out, struct pf_err *err)
{
	struct device d = {
		.cores = -1, .memory = -1, .major = -1, .minor = -1
	};
	struct pf_repairs before = m->space->repairs;
	int rc = pf_xs_defs_read(&m->defs, m->space, plane, err);

	if (!rc)
		rc = pf_xs_plane_stats(&m->defs, m->space, take_device, &d,
				       err);
	m->space->repairs = before; /* they are noted with the events */
	pf_xs_defs_release(&m->defs);
	if (!rc)
		put_device(out, plane->what.device, &d);
	return rc;
}

int pf_xs_map_describe(struct pf_xs_map *m, struct pf_err *err)
{
	struct pf_batch *b = &m->parsed.batch;
	struct pf_buf text = { 0 };
	int rc = 0;

	if (m->space->has_base) {
		pf_buf_addf(&text, "%" PRId64, m->space->base_ns);
		pf_batch_member(b, "baseTimeNanoseconds", &text);
		pf_buf_clear(&text);
	}
	for (size_t i = 0; i < m->space->plane_count && !rc; i++)
		if (m->space->planes[i].what.device >= 0)
			rc = describe_device(m, &m->space->planes[i], &text,
					     err);
	if (!rc && text.len) {
		pf_buf_addc(&text, ']');
		pf_batch_member(b, "deviceProperties", &text);
	}
	pf_buf_release(&text);
	return rc;
}
