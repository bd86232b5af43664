/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/inside.h"
#include "base/mem.h"

/* Invariant: buf[at, len) has been read and not been given out. */

#define BUFFER_BYTES (2u * PF_LINES_MAX)

static int fill(struct pf_lines *l, struct pf_err *err)
{
	int64_t n;

	if (!l->buf)
		l->buf = pf_alloc(BUFFER_BYTES);
	memmove(l->buf, l->buf + l->at, l->len - l->at);
	l->offset += (int64_t)l->at;
	l->len -= l->at;
	l->at = 0;
	n = l->read(l->arg, l->buf + l->len, BUFFER_BYTES - l->len, err);
	PF_TRY(n < 0);
	l->is_end = (size_t)n < BUFFER_BYTES - l->len;
	l->len += (size_t)n;
	return 0;
}

static void give(struct pf_lines *l, size_t len, size_t used,
		 struct pf_text_line *out)
{
	out->text = l->buf + l->at;
	out->len = len;
	out->offset = l->offset + (int64_t)l->at;
	out->is_too_long = len < used && used - len > 1;
	l->at += used;
	if (len && out->text[len - 1] == '\r')
		out->len--;
}

/* Of a line that is too long: its beginning now, the rest is passed over. */
static int cut(struct pf_lines *l, struct pf_text_line *out)
{
	bool is_first = !l->is_in_rest;

	l->is_in_rest = true;
	give(l, PF_LINES_MAX, l->len - l->at, out);
	out->is_too_long = true;
	return is_first;
}

int pf_lines_next(struct pf_lines *l, struct pf_text_line *out,
		  struct pf_err *err)
{
	for (;;) {
		size_t have = l->len - l->at;
		char *end = have ? memchr(l->buf + l->at, '\n', have) : NULL;
		size_t len = end ? (size_t)(end - l->buf) - l->at : have;

		if (l->is_in_rest && (end || l->is_end)) {
			l->at += len + (end != NULL);
			l->is_in_rest = false;
		} else if (end || (l->is_end && have)) {
			give(l, len < PF_LINES_MAX ? len : PF_LINES_MAX,
			     len + (end != NULL), out);
			return 1;
		} else if (l->is_end) {
			return 0;
		} else if (have >= PF_LINES_MAX) {
			if (cut(l, out))
				return 1;
		} else if (fill(l, err)) {
			return -1;
		}
	}
}

void pf_lines_release(struct pf_lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

#ifdef PF_NO_ISAL /* for the program of a wheel: it has no static library */
#undef HAVE_ISAL
#endif
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#define RAW_BYTES (256u << 10)

enum coding { CODING_NONE, CODING_ZLIB, CODING_ISAL, CODING_ZSTD };

struct pf_input {
	int fd;
	int64_t size, consumed, produced;
	enum coding coding;
	bool at_eof;    /* the file has no more bytes */
	bool ended;     /* nothing more will come out */
	bool in_member; /* inside a compressed member */
	bool damaged;
	struct pf_xxh128 *digest; /* of the bytes of the file */
	bool is_named;      /* not standard input, which may begin anywhere */
	unsigned char *raw; /* bytes of the file not yet decoded */
	size_t raw_at, raw_len;
	z_stream zlib;
#ifdef HAVE_ISAL
	struct inflate_state isal;
#endif
	ZSTD_DStream *zstd;
};

/* ---- the file ---- */

static int64_t read_file(struct pf_input *in, void *buf, size_t len,
			 struct pf_err *err)
{
	size_t got = 0;

	while (got < len && !in->at_eof) {
		ssize_t n = read(in->fd, (char *)buf + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pf_fail_errno(err, "cannot read");
		in->at_eof = n == 0;
		pf_xxh128_add(in->digest, (char *)buf + got, (size_t)n);
		got += (size_t)n;
	}
	in->consumed += (int64_t)got;
	return (int64_t)got;
}

static int refill(struct pf_input *in, struct pf_err *err)
{
	int64_t n;

	if (in->raw_at < in->raw_len)
		return 0;
	n = read_file(in, in->raw, RAW_BYTES, err);
	PF_TRY(n < 0);
	in->raw_at = 0;
	in->raw_len = (size_t)n;
	return 0;
}

/* ---- decoders: one step from raw bytes to out ---- */

struct step {
	size_t took, gave;
	bool member_done, bad;
};

static struct step step_zlib(struct pf_input *in, unsigned char *out,
			     size_t len)
{
	struct step s = { 0 };
	int rc;

	in->zlib.next_in = in->raw + in->raw_at;
	in->zlib.avail_in = (uInt)(in->raw_len - in->raw_at);
	in->zlib.next_out = out;
	in->zlib.avail_out = (uInt)(len > (1u << 30) ? 1u << 30 : len);
	rc = inflate(&in->zlib, Z_NO_FLUSH);
	s.took = (size_t)(in->zlib.next_in - (in->raw + in->raw_at));
	s.gave = (size_t)(in->zlib.next_out - out);
	s.member_done = rc == Z_STREAM_END;
	s.bad = rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR;
	if (s.member_done)
		inflateReset(&in->zlib);
	return s;
}

#ifdef HAVE_ISAL
static struct step step_isal(struct pf_input *in, unsigned char *out,
			     size_t len)
{
	struct inflate_state *st = &in->isal;
	struct step s = { 0 };
	int rc;

	st->next_in = in->raw + in->raw_at;
	st->avail_in = (uint32_t)(in->raw_len - in->raw_at);
	st->next_out = out;
	st->avail_out = (uint32_t)(len > (1u << 30) ? 1u << 30 : len);
	rc = isal_inflate(st);
	s.took = (size_t)(st->next_in - (in->raw + in->raw_at));
	s.gave = (size_t)(st->next_out - out);
	s.bad = rc < 0;
	s.member_done = !s.bad && st->block_state == ISAL_BLOCK_FINISH;
	if (s.member_done) {
		isal_inflate_reset(st);
		st->crc_flag = ISAL_GZIP;
	}
	return s;
}
#endif

static struct step step_zstd(struct pf_input *in, unsigned char *out,
			     size_t len)
{
	ZSTD_inBuffer from = { in->raw + in->raw_at, in->raw_len - in->raw_at,
			       0 };
	ZSTD_outBuffer to = { out, len, 0 };
	size_t rc = ZSTD_decompressStream(in->zstd, &to, &from);

	return (struct step){ .took = from.pos,
			      .gave = to.pos,
			      .bad = ZSTD_isError(rc) != 0,
			      .member_done = rc == 0 };
}

static struct step step(struct pf_input *in, unsigned char *out, size_t len)
{
	switch (in->coding) {
#ifdef HAVE_ISAL
	case CODING_ISAL:
		return step_isal(in, out, len);
#endif
	case CODING_ZSTD:
		return step_zstd(in, out, len);
	default:
		return step_zlib(in, out, len);
	}
}

/* Behind a member: another one, or zeros and junk that gzip too ignores. */
static bool next_member_follows(const struct pf_input *in)
{
	const unsigned char *p = in->raw + in->raw_at;
	size_t len = in->raw_len - in->raw_at;

	if (in->coding == CODING_ZSTD)
		return len > 0;
	return len > 0 && p[0] == 0x1f && (len < 2 || p[1] == 0x8b);
}

static void stop(struct pf_input *in, bool damaged)
{
	in->ended = true;
	in->damaged |= damaged;
}

static int64_t read_coded(struct pf_input *in, unsigned char *buf, size_t len,
			  struct pf_err *err)
{
	size_t got = 0;

	while (got < len && !in->ended) {
		struct step s;

		PF_TRY(refill(in, err));
		if (!in->in_member && !next_member_follows(in)) {
			stop(in, false);
			break;
		}
		s = step(in, buf + got, len - got);
		in->raw_at += s.took;
		got += s.gave;
		in->in_member = !s.member_done;
		if (s.bad)
			stop(in, true);
		else if (!s.took && !s.gave && in->at_eof &&
			 in->raw_at == in->raw_len)
			stop(in, in->in_member);
	}
	in->produced += (int64_t)got;
	if (in->ended && in->damaged && !in->produced)
		return pf_fail(err, PF_EDATA, "the %s data is damaged",
			       pf_input_compression(in));
	return (int64_t)got;
}

/* ---- opening ---- */

static int open_decoder(struct pf_input *in, struct pf_err *err)
{
	const unsigned char *p = in->raw;
	const char *forced = getenv("PROFAN_INFLATE");

	if (in->raw_len >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f &&
	    p[3] == 0xfd) {
		in->coding = CODING_ZSTD;
		in->zstd = ZSTD_createDStream();
		if (!in->zstd)
			return pf_fail(err, PF_EIO, "out of memory");
		ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, 27);
		return 0;
	}
	if (in->raw_len < 2 || p[0] != 0x1f || p[1] != 0x8b)
		return 0;
#ifdef HAVE_ISAL
	if (!forced || strcmp(forced, "zlib")) {
		in->coding = CODING_ISAL;
		isal_inflate_init(&in->isal);
		in->isal.crc_flag = ISAL_GZIP;
		return 0;
	}
#endif
	(void)forced;
	in->coding = CODING_ZLIB;
	if (inflateInit2(&in->zlib, 15 + 16) != Z_OK)
		return pf_fail(err, PF_EIO, "out of memory");
	return 0;
}

static int open_fd(struct pf_input *in, const char *path, struct pf_err *err)
{
	struct stat st;

	in->size = -1;
	in->is_named = strcmp(path, "-") != 0;
	in->fd = in->is_named ? pf_inside_open(path, O_RDONLY | O_CLOEXEC, 0)
			      : dup(0);
	if (in->fd < 0 || fstat(in->fd, &st))
		return pf_fail_open(err, "cannot open");
	if (S_ISDIR(st.st_mode))
		return pf_fail(err, PF_EOPEN, "is a directory");
	if (S_ISREG(st.st_mode))
		in->size = st.st_size;
#ifdef HAVE_POSIX_FADVISE
	posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
	return 0;
}

struct pf_input *pf_input_open(const char *path, struct pf_err *err)
{
	struct pf_input *in = pf_calloc(1, sizeof(*in));

	in->raw = pf_alloc(RAW_BYTES);
	in->digest = pf_xxh128_new();
	if (open_fd(in, path, err) || refill(in, err) ||
	    open_decoder(in, err)) {
		pf_input_close(in);
		return NULL;
	}
	return in;
}

void pf_input_close(struct pf_input *in)
{
	if (!in)
		return;
	if (in->fd >= 0)
		close(in->fd);
	if (in->coding == CODING_ZLIB)
		inflateEnd(&in->zlib);
	ZSTD_freeDStream(in->zstd);
	pf_xxh128_free(in->digest);
	free(in->raw);
	free(in);
}

int64_t pf_input_read(struct pf_input *in, void *buf, size_t len,
		      struct pf_err *err)
{
	size_t held = in->raw_len - in->raw_at;
	int64_t n;

	if (in->coding != CODING_NONE)
		return read_coded(in, buf, len, err);
	PF_AT_MOST(held, len);
	memcpy(buf, in->raw + in->raw_at, held);
	in->raw_at += held;
	n = read_file(in, (char *)buf + held, len - held, err);
	return n < 0 ? -1 : n + (int64_t)held;
}

int64_t pf_input_append(struct pf_input *in, struct pf_buf *out, size_t len,
			struct pf_err *err)
{
	int64_t n;

	pf_buf_reserve(out, out->len + len);
	n = pf_input_read(in, out->data + out->len, len, err);
	out->len += n < 0 ? 0 : (size_t)n;
	return n;
}

int64_t pf_headed_read(void *headed, void *buf, size_t len, struct pf_err *err)
{
	struct pf_headed *h = headed;
	size_t rest = h->head->len - h->head_at;
	int64_t n = 0;

	PF_AT_MOST(rest, len);
	if (rest)
		memcpy(buf, h->head->data + h->head_at, rest);
	h->head_at += rest;
	if (h->input)
		n = pf_input_read(h->input, (char *)buf + rest, len - rest,
				  err);
	return n < 0 ? -1 : n + (int64_t)rest;
}

int64_t pf_input_size(const struct pf_input *in)
{
	return in->size;
}

int64_t pf_input_consumed(const struct pf_input *in)
{
	return in->consumed - (int64_t)(in->raw_len - in->raw_at);
}

const char *pf_input_compression(const struct pf_input *in)
{
	switch (in->coding) {
	case CODING_ZLIB:
	case CODING_ISAL:
		return "gzip";
	case CODING_ZSTD:
		return "zstd";
	default:
		return "none";
	}
}

int pf_input_plain_fd(const struct pf_input *in)
{
	return in->is_named && in->size >= 0 && in->coding == CODING_NONE
		       ? in->fd
		       : -1;
}

bool pf_input_damaged(const struct pf_input *in)
{
	return in->damaged;
}

int pf_input_finish(struct pf_input *in, struct pf_err *err)
{
	while (!in->at_eof)
		PF_TRY(read_file(in, in->raw, RAW_BYTES, err) < 0);
	return 0;
}

void pf_input_digest(const struct pf_input *in, char out[PF_XXH128_TEXT])
{
	pf_xxh128_text(in->digest, out);
}
