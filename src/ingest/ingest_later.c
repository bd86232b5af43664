/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "ingest/ingest_later.h"

#define BUFFER_BYTES (256u << 10)

struct head {
	int64_t a, b;
	uint32_t first_len, second_len;
};

void pf_later_release(struct pf_later *l)
{
	if (l->has_file)
		close(l->fd);
	pf_buf_release(&l->buf);
	memset(l, 0, sizeof(*l));
}

static int flush(struct pf_later *l, const char *dir, struct pf_err *err)
{
	if (!l->has_file) {
		l->fd = pf_tempfile_open(dir, err);
		if (l->fd < 0)
			return -1;
		l->has_file = true;
	}
	if (pf_tempfile_write(l->fd, l->buf.data, l->buf.len, l->written, err))
		return -1;
	l->written += l->buf.len;
	pf_buf_clear(&l->buf);
	return 0;
}

int pf_later_put(struct pf_later *l, const char *dir,
		 const struct pf_later_row *row, struct pf_err *err)
{
	const struct head h = { row->a, row->b, row->first_len,
				row->second_len };

	pf_buf_add(&l->buf, &h, sizeof(h));
	pf_buf_add(&l->buf, row->first, row->first_len);
	pf_buf_add(&l->buf, row->second, row->second_len);
	return l->buf.len < BUFFER_BYTES ? 0 : flush(l, dir, err);
}

/* Reads the rows back: from the file, then from the buffer. */
struct reading {
	struct pf_later *l;
	uint64_t at; /* of the next byte in file and buffer together */
	struct pf_buf text;
};

static int read_bytes(struct reading *r, void *to, size_t len,
		      struct pf_err *err)
{
	struct pf_later *l = r->l;
	size_t from_file = 0;

	if (r->at < l->written) {
		uint64_t left = l->written - r->at;

		from_file = left < len ? (size_t)left : len;
		if (pf_tempfile_read(l->fd, to, from_file, r->at, err))
			return -1;
	}
	if (len > from_file)
		memcpy((char *)to + from_file,
		       l->buf.data + (r->at + from_file - l->written),
		       len - from_file);
	r->at += len;
	return 0;
}

static int read_row(struct reading *r, struct pf_later_row *row,
		    struct pf_err *err)
{
	struct head h;

	if (read_bytes(r, &h, sizeof(h), err))
		return -1;
	pf_buf_clear(&r->text);
	pf_buf_reserve(&r->text, (size_t)h.first_len + h.second_len);
	if (read_bytes(r, r->text.data, (size_t)h.first_len + h.second_len,
		       err))
		return -1;
	*row = (struct pf_later_row){
		h.a,          h.b,          h.first_len,
		h.second_len, r->text.data, r->text.data + h.first_len
	};
	return 0;
}

int pf_later_each(struct pf_later *l,
		  int (*call)(void *arg, const struct pf_later_row *row,
			      struct pf_err *err),
		  void *arg, struct pf_err *err)
{
	struct reading r = { .l = l };
	struct pf_later_row row;
	int rc = 0;

	while (!rc && r.at < l->written + l->buf.len)
		rc = read_row(&r, &row, err) || call(arg, &row, err);
	pf_buf_release(&r.text);
	pf_later_release(l);
	return rc ? -1 : 0;
}
