/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void support_no_error(const struct pf_err *err)
{
	if (err->code != PF_OK)
		fail_msg("unexpected error %d: %s", (int)err->code, err->text);
}

void support_error(const struct pf_err *err, enum pf_code code,
		   const char *text)
{
	if (err->code == PF_OK)
		fail_msg("no error, expected '%s'", text);
	if (err->code != code || !strstr(err->text, text))
		fail_msg("error %d '%s', expected %d '%s'", (int)err->code,
			 err->text, (int)code, text);
}

char *support_tmp_take(void)
{
	const char *base = getenv("TEST_TMPDIR");
	struct pf_buf b = { 0 };

	pf_buf_addf(&b, "%s/profan-unit-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(b.data))
		fail_msg("mkdtemp '%s': %s", b.data, strerror(errno));
	return b.data;
}

void support_tmp_release(char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = support_path_take(dir, e->d_name);

		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlink(path);
		free(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
	free(dir);
}

char *support_path_take(const char *dir, const char *name)
{
	struct pf_buf b = { 0 };

	pf_buf_addf(&b, "%s/%s", dir, name);
	return b.data;
}

void support_write(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f)
		fail_msg("open '%s': %s", path, strerror(errno));
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

void support_read(const char *path, struct pf_buf *out)
{
	FILE *f = fopen(path, "rb");
	size_t got;

	if (!f)
		fail_msg("open '%s': %s", path, strerror(errno));
	do {
		pf_buf_reserve(out, 65536);
		got = fread(out->data + out->len, 1, 65536, f);
		out->len += got;
		out->data[out->len] = '\0';
	} while (got > 0);
	assert_int_equal(ferror(f), 0);
	fclose(f);
}

uint64_t support_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}
