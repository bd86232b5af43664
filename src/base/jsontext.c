/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"

#define REPLACEMENT 0xfffd

int pf_json_hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];

		v <<= 4;
		if (c >= '0' && c <= '9')
			v |= c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v |= (c | 32) - 'a' + 10;
		else
			return -1;
	}
	return v;
}

/* *p is behind "\u" and moves behind what was used. */
static bool add_unicode(const char **p, const char *end, struct pf_buf *out)
{
	const char *at = *p;
	int c = pf_json_hex4(at, end), low = -1;

	if (c < 0) {
		pf_utf8_add(out, REPLACEMENT);
		return false;
	}
	*p = at + 4;
	if (c < 0xd800 || c > 0xdfff) {
		pf_utf8_add(out, c ? (uint32_t)c : REPLACEMENT);
		return true;
	}
	if (c < 0xdc00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u')
		low = pf_json_hex4(at + 6, end);
	if (low < 0xdc00 || low > 0xdfff) {
		pf_utf8_add(out, REPLACEMENT);
		return false;
	}
	*p = at + 10;
	pf_utf8_add(out, 0x10000 + ((uint32_t)(c - 0xd800) << 10) +
				 (uint32_t)(low - 0xdc00));
	return true;
}

bool pf_json_unescape(const char *p, size_t len, struct pf_buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *end = p + len;
	bool good = true;

	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p)), *which;

		if (!stop || stop + 1 == end) {
			pf_buf_add(out, p, (size_t)(end - p));
			return good && !stop;
		}
		pf_buf_add(out, p, (size_t)(stop - p));
		p = stop + 2;
		if (stop[1] == 'u') {
			good &= add_unicode(&p, end, out);
			continue;
		}
		which = stop[1] ? strchr(from, stop[1]) : NULL;
		good &= which != NULL;
		pf_buf_addc(out, which ? to[which - from] : stop[1]);
	}
	return good;
}
