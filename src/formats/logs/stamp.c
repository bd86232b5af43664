/* SPDX-License-Identifier: MIT */
/* Times of day, to integers; nothing depends on the machine that reads. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "formats/logs/telemetry_impl.h"

#define NS_PER_S INT64_C(1000000000)

/* Exactly "digits" digits, from "least" to "most". */
static bool take(const char **p, int digits, int least, int most, int *out)
{
	*out = 0;
	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)(*p)[i]))
			return false;
		*out = *out * 10 + ((*p)[i] - '0');
	}
	*p += digits;
	return *out >= least && *out <= most;
}

static bool is_leap(int y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static int days_of(int y, int m)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30,
				    31, 31, 30, 31, 30, 31 };

	return days[m - 1] + (m == 2 && is_leap(y));
}

/* Of years from 1970 on. */
static int64_t day_number(int y, int m, int d)
{
	int64_t n = d - 1;

	for (int i = 1970; i < y; i++)
		n += 365 + is_leap(i);
	for (int i = 1; i < m; i++)
		n += days_of(y, i);
	return n;
}

static bool take_date(const char **p, int64_t *ns)
{
	int y, m, d;
	char mark;

	if (!take(p, 4, 1970, 2200, &y))
		return false;
	mark = **p;
	*p += mark == '/' || mark == '-';
	if (!take(p, 2, 1, 12, &m))
		return false;
	if ((mark == '/' || mark == '-') && *(*p)++ != mark)
		return false;
	if (!take(p, 2, 1, 31, &d) || d > days_of(y, m))
		return false;
	*ns = day_number(y, m, d) * 86400 * NS_PER_S;
	return true;
}

static bool take_clock(const char **p, int64_t *ns)
{
	int64_t unit = NS_PER_S;
	int h, m, s;

	if (!take(p, 2, 0, 23, &h) || *(*p)++ != ':' ||
	    !take(p, 2, 0, 59, &m) || *(*p)++ != ':' || !take(p, 2, 0, 60, &s))
		return false;
	*ns = (h * INT64_C(3600) + m * 60 + s) * NS_PER_S;
	if (**p != '.' && **p != ',')
		return true;
	for (++*p; isdigit((unsigned char)**p); ++*p)
		*ns += (**p - '0') * (unit /= 10);
	return true;
}

static bool take_zone(const char **p, int64_t *zone_ns)
{
	int h, m, sign = **p == '-' ? -1 : 1;

	*zone_ns = 0;
	if (**p == 'Z') {
		++*p;
		return true;
	}
	if (*(*p)++ == '\0' || !take(p, 2, 0, 14, &h))
		return false;
	*p += **p == ':';
	if (!take(p, 2, 0, 59, &m))
		return false;
	*zone_ns = sign * (h * INT64_C(3600) + m * 60) * NS_PER_S;
	return true;
}

bool pf_tele_zone(const char *text, int64_t *zone_ns)
{
	if (*text != 'Z' && *text != '+' && *text != '-')
		return false;
	return take_zone(&text, zone_ns) && !*text;
}

bool pf_tele_date(const char *text, int64_t *ns)
{
	return take_date(&text, ns) && !*text;
}

bool pf_tele_clock(const char *text, int64_t *ns)
{
	return take_clock(&text, ns) && !*text;
}

bool pf_tele_stamp(const char *text, int64_t *ns, bool *has_zone,
		   int64_t *zone_ns)
{
	int64_t clock;

	*has_zone = false;
	if (!take_date(&text, ns) || (*text != ' ' && *text != 'T'))
		return false;
	text++;
	if (!take_clock(&text, &clock))
		return false;
	*ns += clock;
	*has_zone = *text == 'Z' || *text == '+' || *text == '-';
	return *has_zone ? take_zone(&text, zone_ns) && !*text : !*text;
}
