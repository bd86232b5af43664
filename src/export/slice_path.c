/* SPDX-License-Identifier: MIT */
/* The critical path as a track of its own, tile behind tile. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "export/slice_impl.h"
#include "analysis/path/path.h"

#define TRACK "critical path"

static void put_text(struct pf_buf *out, const char *key, const char *text,
		     const char *separator)
{
	if (!text)
		return;
	pf_buf_addf(out, "%s\"%s\":", separator, key);
	pf_jsonw_quote(out, text, strlen(text), false);
}

static void put_args(struct pf_buf *out, const struct pf_path_item *t,
		     int64_t start_ns, int64_t end_ns)
{
	put_text(out, "on the path", t->category, ",\"args\":{");
	put_text(out, "kind", t->kind, ",");
	put_text(out, "op", t->op, ",");
	put_text(out, "line", t->frame, ",");
	put_text(out, "module", t->module, ",");
	put_text(out, "thread", t->thread, ",");
	if (t->device >= 0)
		pf_buf_addf(out, ",\"GPU\":%" PRId64, t->device);
	if (t->stream >= 0)
		pf_buf_addf(out, ",\"stream\":%" PRId64, t->stream);
	if (t->is_inferred)
		pf_buf_adds(out, ",\"inferred\":true");
	if (end_ns - start_ns < t->ns)
		pf_buf_addf(out,
			    ",\"profan cut\":{\"start_ns\":%" PRId64
			    ",\"dur_ns\":%" PRId64 "}",
			    t->start_ns, t->ns);
	pf_buf_addc(out, '}');
}

/* Times of tiles count from the trace's first event. */
static void put_tile(const struct pf_slice_writer *w,
		     const struct pf_path_item *t, int64_t first_ns,
		     int64_t start_ns, int64_t end_ns, struct pf_buf *out)
{
	pf_buf_clear(out);
	pf_buf_adds(out, "{\"ph\":\"X\",\"cat\":\"critical_path\",\"name\":");
	pf_jsonw_quote(out, t->name ? t->name : t->category,
		       strlen(t->name ? t->name : t->category), false);
	pf_buf_adds(out,
		    ",\"pid\":\"" TRACK "\",\"tid\":\"" TRACK "\",\"ts\":");
	pf_slice_put_time(out, first_ns + start_ns - w->shift_ns,
			  w->is_whole_us);
	pf_buf_adds(out, ",\"dur\":");
	pf_slice_put_time(out, end_ns - start_ns, w->is_whole_us);
	put_args(out, t, start_ns, end_ns);
	pf_buf_addc(out, '}');
}

static int put_all(struct pf_slice_writer *w, const struct pf_path *path,
		   const struct pf_slice_args *args, struct pf_slice_result *r,
		   struct pf_err *err)
{
	const int64_t first_ns = path->window.traces[0].first_ns;
	struct pf_buf text = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < path->item_count; i++) {
		const struct pf_path_item *t = &path->items[i];
		int64_t start = t->start_ns, end = t->start_ns + t->ns;

		if (end <= r->from_ns || start >= r->to_ns)
			continue;
		if (!args->whole) {
			start = start > r->from_ns ? start : r->from_ns;
			end = end < r->to_ns ? end : r->to_ns;
		}
		put_tile(w, t, first_ns, start, end, &text);
		rc = pf_slice_raw(w, text.data, text.len, err);
		r->tile_count++;
	}
	pf_buf_release(&text);
	return rc;
}

int pf_slice_path(struct pf_slice_writer *w, struct pf_db *db,
		  const struct pf_slice_args *args, struct pf_slice_result *r,
		  struct pf_err *err)
{
	static const char name[] =
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"" TRACK
		"\",\"args\":{\"name\":\"" TRACK "\"}}";
	const struct pf_path_args asked = { .window = args->window,
					    .list = true,
					    .is_bare = true };
	struct pf_path path = { 0 };
	int rc = pf_path_find(db, &asked, &path, err);

	if (!rc)
		rc = put_all(w, &path, args, r, err);
	if (!rc && r->tile_count)
		rc = pf_slice_raw(w, name, sizeof(name) - 1, err);
	pf_path_release(&path);
	return rc;
}
