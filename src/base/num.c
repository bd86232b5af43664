/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/num.h"

#include "base/mem.h"

int pf_num_int(const char *s, int64_t *out)
{
	bool negative = *s == '-';
	int64_t n = 0;

	s += negative;
	if (!*s)
		return -1;
	for (; *s; s++) {
		int digit = *s - '0';

		if (digit < 0 || digit > 9 ||
		    __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_sub_overflow(n, digit, &n))
			return -1;
	}
	/* Counted downwards, so that INT64_MIN fits. */
	if (!negative && __builtin_sub_overflow(0, n, &n))
		return -1;
	*out = n;
	return 0;
}

bool pf_num_range(const char *s, size_t len, int64_t *first, int64_t *last)
{
	PF_OWN char *own = pf_memdup0(s, len);
	char *dots = strstr(own, "..");
	bool bad;

	if (dots)
		*dots = '\0';
	bad = pf_num_int(own, first) || pf_num_int(dots ? dots + 2 : own, last);
	return !bad && *first <= *last;
}

int64_t pf_num_or_none(const char *s)
{
	int64_t n;

	return pf_num_int(s, &n) || n < 0 ? -1 : n;
}

double pf_num_share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

int64_t pf_num_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct unit {
	const char *name;
	int64_t ns;
};

static const struct unit time_units[] = {
	{ "ns", 1 },       { "us", 1000 },      { "\xc2\xb5s", 1000 },
	{ "ms", 1000000 }, { "s", 1000000000 }, { "min", INT64_C(60000000000) },
};

static int unit_of(const char *name, int64_t *ns)
{
	for (size_t i = 0; i < PF_LEN(time_units); i++) {
		if (!strcmp(time_units[i].name, name)) {
			*ns = time_units[i].ns;
			return 0;
		}
	}
	return -1;
}

/* Digits into *n; the number of digits, or -1 on overflow. */
static int read_digits(const char **s, int64_t *n)
{
	int count = 0;

	for (; **s >= '0' && **s <= '9'; (*s)++, count++) {
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, **s - '0', n))
			return -1;
	}
	return count;
}

int pf_num_ns(const char *s, int64_t *out)
{
	int64_t n = 0, unit;
	int whole = read_digits(&s, &n), fraction = 0;

	if (whole < 0)
		return -1;
	if (*s == '.') {
		s++;
		fraction = read_digits(&s, &n);
	}
	if (fraction < 0 || whole + fraction == 0)
		return -1;
	if (!*s && n == 0) {
		*out = 0;
		return 0;
	}
	if (unit_of(s, &unit) < 0)
		return -1;
	/* n * unit / 10^fraction, exactly: take the tens from where they are */
	for (; fraction > 0; fraction--) {
		if (unit % 10 == 0)
			unit /= 10;
		else if (n % 10 == 0)
			n /= 10;
		else
			return -1;
	}
	return __builtin_mul_overflow(n, unit, out) ? -1 : 0;
}

/* A comma between each three of the digits that a number begins with. */
static char *group(char out[PF_NUM_MAX])
{
	char *digits = out + (*out == '-');

	for (size_t left = strspn(digits, "0123456789"); left > 3;) {
		char *at = digits + (left -= 3);

		memmove(at + 1, at, strlen(at) + 1);
		*at = ',';
	}
	return out;
}

char *pf_num_show_count(char out[PF_NUM_MAX], int64_t n)
{
	snprintf(out, PF_NUM_MAX, "%" PRId64, n);
	return group(out);
}

#define BYTE_UNITS 7
static const char *const byte_units[BYTE_UNITS] = { "B",   "KiB", "MiB", "GiB",
						    "TiB", "PiB", "EiB" };

char *pf_num_show_bytes(char out[PF_NUM_MAX], int64_t n)
{
	double value = fabs((double)n) / 1024;
	size_t i = 0;

	if (n > -1024 && n < 1024) {
		snprintf(out, PF_NUM_MAX, "%d %s", (int)n, byte_units[0]);
		return out;
	}
	for (; value >= 1024 - 0.005 && i + 2 < BYTE_UNITS; i++)
		value /= 1024;
	snprintf(out, PF_NUM_MAX, "%s%.2f %s", n < 0 ? "-" : "", value,
		 byte_units[i + 1]);
	return group(out);
}

const char *const pf_num_time_units[PF_NUM_TIME_UNITS] = { "ns", "us", "ms",
							   "s" };

char *pf_num_show_ns(char out[PF_NUM_MAX], int64_t ns)
{
	double value = fabs((double)ns) / 1000;
	size_t i = 1;
	const char *sign = ns < 0 ? "-" : "";

	if (ns > -1000 && ns < 1000) {
		snprintf(out, PF_NUM_MAX, "%d %s", (int)ns,
			 pf_num_time_units[0]);
		return out;
	}
	for (; value >= 999.9995 && i + 1 < PF_NUM_TIME_UNITS; i++)
		value /= 1000;
	snprintf(out, PF_NUM_MAX, "%s%.3f %s", sign, value,
		 pf_num_time_units[i]);
	return group(out);
}

char *pf_num_option_ns(char out[PF_NUM_MAX], int64_t ns)
{
	size_t i = 0;

	for (; ns && ns % 1000 == 0 && i + 1 < PF_NUM_TIME_UNITS; i++)
		ns /= 1000;
	snprintf(out, PF_NUM_MAX, "%" PRId64 "%s", ns,
		 ns ? pf_num_time_units[i] : "");
	return out;
}

char *pf_num_show_ratio(char out[PF_NUM_MAX], double r)
{
	double percent = 100 * r;

	if (!isfinite(r) || fabs(r) > 1e15)
		return pf_num_show_real(out, r);
	/* Nothing and all are said of nothing and all only. */
	if (percent > 0 && percent < 0.005)
		snprintf(out, PF_NUM_MAX, "<0.01 %%");
	else if (percent < 0 && percent > -0.005)
		snprintf(out, PF_NUM_MAX, "> -0.01 %%");
	else if (percent > 99.995 && percent < 100)
		snprintf(out, PF_NUM_MAX, ">99.99 %%");
	else
		snprintf(out, PF_NUM_MAX, "%.2f %%", percent);
	return group(out);
}

char *pf_num_show_real(char out[PF_NUM_MAX], double d)
{
	/* fabs: no "-nan" */
	snprintf(out, PF_NUM_MAX,
		 fabs(d) >= 9999.5 && fabs(d) < 1e15 ? "%.0f" : "%.4g",
		 isnan(d) ? fabs(d) : d);
	return group(out);
}

char *pf_num_exact(char out[PF_NUM_MAX], double d)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, PF_NUM_MAX, "%.*g", digits, d);
		if (strtod(out, NULL) == d)
			break;
	}
	return out;
}

static bool is_among(const char *const *units, size_t count, const char *s,
		     size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(units[i]) == len && !memcmp(units[i], s, len))
			return true;
	return false;
}

bool pf_num_parts_unit(const char *s, size_t gap, size_t len)
{
	static const char *const percent[] = { "%" };
	size_t end = gap + 1;

	if (!gap || gap >= len || s[gap - 1] < '0' || s[gap - 1] > '9')
		return false;
	while (end < len && !strchr(" ,.;:)", s[end]))
		end++;
	s += gap + 1;
	len = end - gap - 1;
	return is_among(percent, 1, s, len) ||
	       is_among(pf_num_time_units, PF_NUM_TIME_UNITS, s, len) ||
	       is_among(byte_units, BYTE_UNITS, s, len);
}
