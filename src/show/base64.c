/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "show/base64.h"

void pf_base64(struct pf_buf *out, const void *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = data;
	char *to;

	pf_buf_reserve(out, (len + 2) / 3 * 4);
	to = out->data + out->len;
	for (size_t i = 0; i < len; i += 3, to += 4) {
		uint32_t b = i + 1 < len ? p[i + 1] : 0;
		uint32_t c = i + 2 < len ? p[i + 2] : 0;
		uint32_t all = (uint32_t)p[i] << 16 | b << 8 | c;

		to[0] = digits[all >> 18];
		to[1] = digits[all >> 12 & 63];
		to[2] = i + 1 < len ? digits[all >> 6 & 63] : '=';
		to[3] = i + 2 < len ? digits[all & 63] : '=';
	}
	*to = '\0';
	out->len = (size_t)(to - out->data);
}
