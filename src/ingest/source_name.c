/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "ingest/source_name.h"

#define DIGITS_MAX 18 /* of an int64_t */

/* A number in a path: [at, end), and the word or dot in front of it. */
struct number {
	size_t head, at, end;
	int64_t value;
};

static bool read_number(const char *path, size_t at, struct number *n)
{
	size_t end = at;

	n->value = 0;
	for (; isdigit((unsigned char)path[end]); end++)
		if (end - at < DIGITS_MAX)
			n->value = n->value * 10 + (path[end] - '0');
	n->at = at;
	n->end = end;
	return end > at && end - at <= DIGITS_MAX;
}

/* The length of a path without what says how it is stored. */
static size_t stem_length(const char *path, bool *is_torch)
{
	static const char *const tails[] = { ".gz", ".zst", ".json", ".pfr" };
	static const char torch[] = ".pt.trace";
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		size_t n = strlen(tails[i]);

		if (len > n && !memcmp(path + len - n, tails[i], n))
			len -= n;
	}
	*is_torch = len > sizeof(torch) - 1 &&
		    !memcmp(path + len - (sizeof(torch) - 1), torch,
			    sizeof(torch) - 1);
	return *is_torch ? len - (sizeof(torch) - 1) : len;
}

/* torch's own: WORKER.TIMESTAMP, of milli- or nanoseconds. */
static bool find_stamp(const char *path, size_t base, size_t len,
		       struct number *n)
{
	size_t at = len;

	while (at > base && isdigit((unsigned char)path[at - 1]))
		at--;
	n->head = at - (at > base && path[at - 1] == 'T');
	if (n->head <= base || path[n->head - 1] != '.')
		return false;
	n->head--;
	return read_number(path, at, n) && n->end == len;
}

/* "step_20", "iteration-3": a word that counts captures and a number. */
static bool find_counter(const char *path, size_t from, size_t to,
			 struct number *n)
{
	static const char *const words[] = { "step",  "iteration", "iter",
					     "cycle", "span",      "epoch" };

	for (size_t at = from; at < to; at++)
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
			size_t end = at + strlen(words[i]);

			if (strncasecmp(path + at, words[i],
					strlen(words[i])) != 0 ||
			    (at > from && isalpha((unsigned char)path[at - 1])))
				continue;
			n->head = end;
			end += path[end] == '_' || path[end] == '-';
			if (read_number(path, end, n))
				return true;
		}
	return false;
}

/*
 * "rank" and a number with at most one '-' or '_' between, in the name of the
 * file.
 */
static int64_t find_rank(const char *name)
{
	struct number n;

	while ((name = strcasestr(name, "rank"))) {
		name += 4;
		name += *name == '-' || *name == '_';
		if (read_number(name, 0, &n) && n.end <= 9)
			return n.value;
	}
	return -1;
}

/* In the name of the file, else in that of its folder. */
static bool find_span(const char *path, size_t base, size_t *len,
		      struct number *n)
{
	bool is_torch;
	size_t folder = base;

	*len = stem_length(path, &is_torch);
	if (is_torch && find_stamp(path, base, *len, n))
		return true;
	if (find_counter(path, base, *len, n))
		return true;
	for (folder -= folder > 0; folder > 0 && path[folder - 1] != '/';)
		folder--;
	return base > 0 && find_counter(path, folder, base - 1, n);
}

void pf_source_name_read(struct pf_source_name *out, const char *path)
{
	size_t base = (size_t)(pf_path_base(path) - path), len;
	struct pf_buf worker = { 0 };
	struct number n;

	*out = (struct pf_source_name){ .span = -1,
					.rank = find_rank(path + base) };
	if (!find_span(path, base, &len, &n))
		return;
	out->span = n.value;
	pf_buf_add(&worker, path, n.head);
	pf_buf_add(&worker, path + n.end, len - n.end);
	out->worker = worker.data;
}
