/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/outfile.h"

#define GZIP_WINDOW (15 + 16) /* largest window, gzip's header */
#define GZIP_LEVEL  6
#define GZIP_OS     255 /* unknown */
#define CHUNK_BYTES 65536

struct pf_outfile {
	FILE *file;
	struct pf_outplace place; /* of no path: standard output */
	bool is_gzip, is_zlib_ready;
	z_stream zlib;
	gz_header header;
	unsigned char chunk[CHUNK_BYTES];
};

static int start_gzip(struct pf_outfile *f, struct pf_err *err)
{
	if (deflateInit2(&f->zlib, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return pf_fail(err, PF_EIO, "zlib cannot begin");
	f->is_zlib_ready = true;
	f->header.os = GZIP_OS;
	if (deflateSetHeader(&f->zlib, &f->header) != Z_OK)
		return pf_fail(err, PF_EIO, "zlib cannot write a header");
	return 0;
}

struct pf_outfile *pf_outfile_open(const char *path,
				   const struct pf_outrule *rule, FILE *out,
				   struct pf_err *err)
{
	struct pf_outfile *f = pf_calloc(1, sizeof(*f));
	size_t len = strlen(path);
	int rc = 0;

	if (!strcmp(path, "-")) {
		f->file = out;
		return f;
	}
	f->is_gzip = len > 3 && !strcmp(path + len - 3, ".gz");
	rc = pf_outplace_open(&f->place, path, rule, err);
	if (!rc) {
		/* The lock stays with the descriptor of the place. */
		int fd = fcntl(f->place.fd, F_DUPFD_CLOEXEC, 0);

		f->file = fd < 0 ? NULL : fdopen(fd, "w");
		if (!f->file)
			rc = pf_fail_errno(err, "cannot write '%s'", path);
	}
	if (!rc && f->is_gzip)
		rc = start_gzip(f, err);
	if (!rc)
		return f;
	pf_outfile_free(f);
	return NULL;
}

static int put(struct pf_outfile *f, const void *data, size_t len,
	       struct pf_err *err)
{
	if (fwrite(data, 1, len, f->file) == len)
		return 0;
	return pf_fail_errno(err, "cannot write '%s'",
			     f->place.path ? f->place.path : "standard output");
}

static int deflate_some(struct pf_outfile *f, int flush, struct pf_err *err)
{
	int rc;

	do {
		f->zlib.next_out = f->chunk;
		f->zlib.avail_out = CHUNK_BYTES;
		rc = deflate(&f->zlib, flush);
		if (rc == Z_STREAM_ERROR)
			return pf_fail(err, PF_EIO, "zlib failed");
		if (put(f, f->chunk, CHUNK_BYTES - f->zlib.avail_out, err) < 0)
			return -1;
	} while (f->zlib.avail_out == 0);
	return 0;
}

int pf_outfile_write(struct pf_outfile *f, const void *data, size_t len,
		     struct pf_err *err)
{
	const unsigned char *p = data;

	if (!f->is_gzip)
		return put(f, data, len, err);
	while (len) {
		unsigned part = len < 1u << 30 ? (unsigned)len : 1u << 30;

		f->zlib.next_in = (unsigned char *)p;
		f->zlib.avail_in = part;
		if (deflate_some(f, Z_NO_FLUSH, err) < 0)
			return -1;
		p += part;
		len -= part;
	}
	return 0;
}

int pf_outfile_commit(struct pf_outfile *f, struct pf_err *err)
{
	if (f->is_gzip && deflate_some(f, Z_FINISH, err) < 0)
		return -1;
	if (!f->place.path)
		return 0;
	if (fflush(f->file) || fclose(f->file)) {
		f->file = NULL;
		return pf_fail_errno(err, "cannot write '%s'", f->place.path);
	}
	f->file = NULL;
	return pf_outplace_commit(&f->place, err);
}

void pf_outfile_free(struct pf_outfile *f)
{
	if (!f)
		return;
	if (f->is_zlib_ready)
		deflateEnd(&f->zlib);
	if (f->place.path && f->file)
		fclose(f->file);
	if (f->place.path)
		pf_outplace_release(&f->place);
	free(f);
}
