/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "file.h"
#include "bytes.h"
#include "crc32c.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define LOWEST_FD 100 /* out of the way of programs that count on theirs */

static int fail(struct pf_file *f, struct pf_counts *c, enum pf_truncated why)
{
	f->failed = 1;
	atomic_store_explicit(&c->truncated, why, memory_order_relaxed);
	return -1;
}

bool pf_file_ours(const struct pf_file *f)
{
	struct stat st;

	return f->fd >= 0 && !fstat(f->fd, &st) && st.st_dev == f->device &&
	       st.st_ino == f->inode;
}

/* What there is that is not a file may be written to: a pipe, /dev/full. */
static int open_existing(const char *path)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		errno = EEXIST;
		return -1;
	}
	return open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

static int create(struct pf_file *f)
{
	size_t len = strlen(f->path);
	int fd, flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY;

	fd = open(f->path, flags, 0666);
	if (fd < 0 && errno == EEXIST)
		fd = open_existing(f->path);
	for (int i = 1; fd < 0 && errno == EEXIST && i < 1000; i++) {
		snprintf(f->path + len, sizeof(f->path) - len, ".%d", i);
		fd = open(f->path, flags, 0666);
	}
	if (fd >= 0 && fd < LOWEST_FD) {
		int high = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
		if (high >= 0) {
			close(fd);
			fd = high;
		}
	}
	return fd;
}

/* Write it all, or cut off what was written of it. */
static int write_all(struct pf_file *f, struct pf_counts *c, struct iovec *v,
		     int count)
{
	uint64_t total = 0, done = 0;

	for (int i = 0; i < count; i++)
		total += v[i].iov_len;
	if (!pf_file_ours(f))
		return fail(f, c, PF_TRUNCATED_CLOSED);
	while (done < total) {
		ssize_t n = writev(f->fd, v, count);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (uint64_t)n;
		for (int i = 0; i < count; i++) {
			size_t step = (size_t)n < v[i].iov_len ? (size_t)n
							       : v[i].iov_len;
			v[i].iov_base = (uint8_t *)v[i].iov_base + step;
			v[i].iov_len -= step;
			n -= (ssize_t)step;
		}
	}
	if (done == total) {
		f->bytes += total;
		return 0;
	}
	if (!f->warned++)
		pf_warn("'%s': %s, the capture ends here", f->path,
			strerror(errno));
	if (done && f->regular &&
	    (ftruncate(f->fd, (off_t)f->bytes) ||
	     lseek(f->fd, (off_t)f->bytes, SEEK_SET) < 0))
		pf_note("'%s': %s", f->path, strerror(errno));
	return fail(f, c, PF_TRUNCATED_WRITE);
}

int pf_file_open(struct pf_file *f, struct pf_counts *counts)
{
	static const uint8_t head[16] = { 0x89, 'P', 'F', 'R', 13, 10,
					  26,   10,  1,   0,   0,  0 };
	struct iovec v = { (void *)(uintptr_t)head, sizeof(head) };
	struct stat st;
	int fd = create(f);

	if (fd < 0 || fstat(fd, &st)) {
		pf_warn("'%s': %s, nothing is captured", f->path,
			strerror(errno));
		return fail(f, counts, PF_TRUNCATED_WRITE);
	}
	f->device = st.st_dev;
	f->inode = st.st_ino;
	f->regular = S_ISREG(st.st_mode);
	f->fd = fd;
	pf_note("writing '%s'", f->path);
	return write_all(f, counts, &v, 1);
}

int pf_file_frame(struct pf_file *f, struct pf_counts *counts,
		  enum pf_frame type, unsigned flags, const void *payload,
		  uint32_t len)
{
	static const uint8_t zeros[8];
	uint8_t head[24], *p = head;
	struct iovec v[3];

	if (f->failed || f->fd < 0)
		return -1;
	memcpy(p, "PFRM", 4);
	p[4] = (uint8_t)type;
	p[5] = 0;
	p[6] = (uint8_t)flags;
	p[7] = 0;
	p = pf_put_u32(p + 8, f->frames);
	p = pf_put_u32(p, len);
	p = pf_put_u32(p, pf_crc32c(payload, len));
	pf_put_u32(p, pf_crc32c(head, 20));
	v[0] = (struct iovec){ head, sizeof(head) };
	v[1] = (struct iovec){ (void *)(uintptr_t)payload, len };
	v[2] = (struct iovec){ (void *)(uintptr_t)zeros, (8 - len % 8) % 8 };
	if (write_all(f, counts, v, 3))
		return -1;
	f->frames++;
	return 0;
}

/* The most bytes of a log, at most `most`, that end with a whole part. */
static size_t whole_lines(const uint8_t *p, size_t len, size_t most)
{
	if (len <= most)
		return len;
	while (most && p[most - 1] != '\n')
		most--;
	return most;
}

static size_t whole_entries(const uint8_t *p, size_t len, size_t most)
{
	size_t at = 0;

	while (at < len) {
		size_t next = at + 1, body = 0;
		for (int shift = 0; shift < 35; shift += 7) {
			body |= (size_t)(p[next] & 127) << shift;
			if (!(p[next++] & 128))
				break;
		}
		next += body;
		if (next > most || next > len)
			break;
		at = next;
	}
	return at;
}

int pf_file_log(struct pf_file *f, struct pf_counts *counts, enum pf_frame type,
		const struct pf_log *log, size_t *written)
{
	size_t end = pf_log_length(log);

	while (*written < end) {
		const uint8_t *p = log->data + *written;
		size_t n = end - *written;
		n = type == PF_FRAME_DEF ? whole_entries(p, n, PF_FRAME_MOST)
					 : whole_lines(p, n, PF_FRAME_MOST);
		if (!n || pf_file_frame(f, counts, type, 0, p, (uint32_t)n))
			return -1;
		*written += n;
	}
	return 0;
}
