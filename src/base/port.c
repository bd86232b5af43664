/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/port.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DIGITS "0123456789"

void *pf_memrchr(const void *p, int c, size_t len)
{
	const unsigned char *bytes = p;

	while (len--)
		if (bytes[len] == (unsigned char)c)
			return (void *)(uintptr_t)(bytes + len);
	return NULL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int pf_strverscmp(const char *a, const char *b)
{
	size_t same = 0, number, a_digits, b_digits;

	while (a[same] && a[same] == b[same])
		same++;
	for (number = same; number && is_digit(a[number - 1]);)
		number--;
	a_digits = strspn(a + number, DIGITS);
	b_digits = strspn(b + number, DIGITS);
	if (a_digits && b_digits && a[number] != '0' && b[number] != '0') {
		if (a_digits != b_digits)
			return a_digits < b_digits ? -1 : 1;
	} else if (number < same && strspn(a + number, "0") >= same - number &&
		   is_digit(a[same]) != is_digit(b[same])) {
		return is_digit(a[same]) ? -1 : 1;
	}
	return (unsigned char)a[same] - (unsigned char)b[same];
}

bool pf_path_of_fd(int fd, char path[PATH_MAX])
{
#ifdef __APPLE__
	return fcntl(fd, F_GETPATH, path) >= 0;
#else
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return true;
#endif
}
