/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/path.h"
#include "ingest/source_name.h"

/* A number in a path: [at, end), and the word or dot in front of it. */
struct number {
	size_t head, at, end;
	int64_t value;
};

static bool read_number(const char *path, size_t at, struct number *n)
{
	size_t end = at;
	bool fits = true;

	n->value = 0;
	for (; isdigit((unsigned char)path[end]); end++)
		fits = fits &&
		       !__builtin_mul_overflow(n->value, 10, &n->value) &&
		       !__builtin_add_overflow(n->value, path[end] - '0',
					       &n->value);
	n->at = at;
	n->end = end;
	return end > at && fits;
}

/* The length of a path without what says how it is stored. */
static size_t stem_length(const char *path, bool *is_torch)
{
	static const char *const tails[] = { ".tmp", ".gz", ".zst", ".json",
					     ".pfr" };
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

/* The number behind a word, with at most one '-' or '_' between. */
static int64_t find_numbered(const char *name, const char *word)
{
	struct number n;

	while ((name = strcasestr(name, word))) {
		name += strlen(word);
		name += *name == '-' || *name == '_';
		if (read_number(name, 0, &n) && n.end <= 9)
			return n.value;
	}
	return -1;
}

/* "-TP-3-DP-0": the rank of those whose other ways of splitting are not used. */
static int64_t find_tensor_rank(const char *name)
{
	static const char *const others[] = { "-DP-", "-PP-", "-EP-" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (find_numbered(name, others[i]) > 0)
			return -1;
	return find_numbered(name, "-TP-");
}

/* "trace_r3.json": the letter alone. */
static int64_t find_letter_rank(const char *name)
{
	struct number n;

	while ((name = strstr(name, "_r"))) {
		name += 2;
		if (read_number(name, 0, &n) && n.end <= 9 &&
		    !isalnum((unsigned char)name[n.end]))
			return n.value;
	}
	return -1;
}

static int64_t find_rank(const char *name)
{
	int64_t rank = find_numbered(name, "rank");

	if (rank < 0)
		rank = find_tensor_rank(name);
	return rank < 0 ? find_letter_rank(name) : rank;
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

/* ---- runs ---- */

/* A folder of a run's captures, which is none of its own: "iteration_20". */
static bool is_inner(const char *path, size_t from, size_t to)
{
	static const char *const names[] = {
		"profiler_logs",    "profiler_traces", "profiler_output",
		"profile_trace",    "profile_traces",  "memory_snapshot",
		"memory_snapshots",
	};
	struct number n;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (to - from == strlen(names[i]) &&
		    !memcmp(path + from, names[i], to - from))
			return true;
	if (find_counter(path, from, to, &n) && n.end <= to)
		return true;
	return to - from > 4 && !strncasecmp(path + from, "rank", 4) &&
	       find_numbered(path + from, "rank") >= 0;
}

char *pf_source_run(const char *path)
{
	size_t end = (size_t)(pf_path_base(path) - path), from;

	while (end > 0) {
		end -= end > 1; /* without the slash */
		for (from = end; from > 0 && path[from - 1] != '/';)
			from--;
		if (from == end || !is_inner(path, from, end))
			break;
		end = from;
	}
	return end ? pf_memdup0(path, end) : pf_strdup(".");
}

/* The length of a path up to the domain of rocprofv3's CSV; 0: none is said. */
static size_t csv_stem(const char *path)
{
	static const char *const domains[] = {
		"_kernel",
		"_memory_copy",
		"_memory_allocation",
		"_hip",
		"_hip_api",
		"_hip_runtime_api",
		"_hsa",
		"_hsa_api",
		"_hip_compiler_api",
		"_marker",
		"_marker_api",
		"_hsa_core_api",
		"_rccl",
		"_rccl_api",
		"_hsa_amd_ext_api",
		"_hsa_image",
		"_hsa_finalize_ext_api",
		"_scratch_memory",
		"_hip_runtime",
		"_hsa_image_ext_api",
		"_hip_compiler",
	};
	static const char tail[] = "_trace.csv";
	const size_t base = (size_t)(pf_path_base(path) - path);
	size_t len = strlen(path), most = 0;

	if (len < sizeof(tail) || strcmp(path + len - sizeof(tail) + 1, tail))
		return 0;
	len -= sizeof(tail) - 1;
	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
		size_t n = strlen(domains[i]);

		if (n > most && len > base + n &&
		    !memcmp(path + len - n, domains[i], n))
			most = n;
	}
	return most ? len - most : 0;
}

size_t *pf_source_joins(const char *const *paths, size_t count)
{
	size_t *joins = pf_calloc(count + 1, sizeof(*joins));
	size_t *first = pf_calloc(count + 1, sizeof(*first));
	struct pf_intern stems;

	pf_intern_init(&stems);
	for (size_t i = 0; i < count; i++) {
		const size_t len = csv_stem(paths[i]);
		const size_t before = stems.count;
		uint32_t stem = 0;

		joins[i] = i;
		if (!len)
			continue;
		stem = pf_intern_add(&stems, paths[i], len);
		if (stem == before)
			first[stem] = i;
		joins[i] = first[stem];
	}
	pf_intern_release(&stems);
	free(first);
	return joins;
}
