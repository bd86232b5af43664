/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/outfile.h"

#define GZIP_WINDOW (15 + 16) /* largest window, gzip's header */
#define GZIP_LEVEL  6
#define GZIP_OS     255 /* unknown */
#define CHUNK_BYTES 65536

struct pf_outfile {
	FILE *file;
	char *path, *partial; /* NULL: standard output */
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

static int open_partial(struct pf_outfile *f, bool replace, struct pf_err *err)
{
	struct stat info;

	if (!lstat(f->path, &info) && (!replace || !S_ISREG(info.st_mode)))
		return pf_fail(err, PF_EIO, "'%s' exists", f->path);
	if (unlink(f->partial) && errno != ENOENT)
		return pf_fail_errno(err, "cannot remove '%s'", f->partial);
	f->file = fopen(f->partial, "wxe");
	if (!f->file)
		return pf_fail_errno(err, "cannot write '%s'", f->partial);
	return 0;
}

struct pf_outfile *pf_outfile_open(const char *path, bool replace, FILE *out,
				   struct pf_err *err)
{
	struct pf_outfile *f = pf_calloc(1, sizeof(*f));
	struct pf_buf partial = { 0 };
	size_t len = strlen(path);
	int rc = 0;

	if (!strcmp(path, "-")) {
		f->file = out;
		return f;
	}
	pf_buf_addf(&partial, "%s.partial", path);
	f->path = pf_strdup(path);
	f->partial = partial.data;
	f->is_gzip = len > 3 && !strcmp(path + len - 3, ".gz");
	rc = open_partial(f, replace, err);
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
			     f->path ? f->path : "standard output");
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
	if (!f->path)
		return 0;
	if (fflush(f->file) || fclose(f->file)) {
		f->file = NULL;
		return pf_fail_errno(err, "cannot write '%s'", f->path);
	}
	f->file = NULL;
	if (rename(f->partial, f->path))
		return pf_fail_errno(err, "cannot write '%s'", f->path);
	free(f->partial);
	f->partial = NULL;
	return 0;
}

void pf_outfile_free(struct pf_outfile *f)
{
	if (!f)
		return;
	if (f->is_zlib_ready)
		deflateEnd(&f->zlib);
	if (f->path && f->file)
		fclose(f->file);
	if (f->partial)
		unlink(f->partial);
	free(f->partial);
	free(f->path);
	free(f);
}
