/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/order.h"
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

/* ---- hosts ---- */

/* Do the bytes before "at" end in this word, and in no longer one? */
static bool follows(const char *path, size_t from, size_t at, const char *word)
{
	const size_t n = strlen(word);

	return at >= from + n && !strncasecmp(path + at - n, word, n) &&
	       (at == from + n || !isalpha((unsigned char)path[at - n - 1]));
}

static bool is_mark(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/*
 * The next number of [from, to) that says which of several hosts or processes
 * it is: "host_0", "t1v-n-1a2b-w-0", "dp_rank_0", both of "ray-node-0-1".
 */
static bool next_host(const char *path, size_t from, size_t to,
		      struct number *n)
{
	static const char *const words[] = { "host", "node", "rank",
					     "process" };
	size_t at = n->end > from ? n->end : from;
	const size_t before = n->end;

	for (; at < to; at++) {
		size_t word = at;
		bool is;

		if (!isdigit((unsigned char)path[at]) ||
		    (at > from && isdigit((unsigned char)path[at - 1])))
			continue;
		word -= word > from && is_mark(path[word - 1]);
		is = before && word == before && word < at;
		is = is || (word < at && word > from + 2 &&
			    !memcmp(path + word - 2, "-w", 2));
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			is = is || follows(path, from, word, words[i]);
		if (is && read_number(path, at, n) && n->end <= to &&
		    (n->end == to || !isalnum((unsigned char)path[n->end]))) {
			n->head = word;
			return true;
		}
	}
	return false;
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
	if (to - from > 4 && !strncasecmp(path + from, "rank", 4) &&
	    find_numbered(path + from, "rank") >= 0)
		return true;
	n.end = 0;
	while (next_host(path, from, to, &n))
		if (n.end == to)
			return true;
	return false;
}

/* Where the last name of a path begins that ends at "end". */
static size_t name_start(const char *path, size_t end)
{
	while (end > 0 && path[end - 1] != '/')
		end--;
	return end;
}

/* The length of a folder, a slash at its end, without the inner ones. */
static size_t cut_inner(const char *path, size_t end)
{
	while (end > 0) {
		size_t from;

		end -= end > 1; /* without the slash */
		from = name_start(path, end);
		if (from == end || !is_inner(path, from, end))
			break;
		end = from;
	}
	return end;
}

char *pf_source_run(const char *path)
{
	size_t end = cut_inner(path, (size_t)(pf_path_base(path) - path));

	return end ? pf_memdup0(path, end) : pf_strdup(".");
}

/* Seconds between what the hosts of one job call a capture by. */
#define CAPTURE_S 30

/* A file below plugins/profile/2025_01_31_10_00_00. */
struct session {
	uint32_t job;    /* what is above plugins, without hosts */
	uint32_t host;   /* the path without the time */
	int64_t start_s; /* -1: none */
	size_t file;
};

/* Seconds since some day; -1: it is no such time. */
static int64_t read_session(const char *path, size_t from, size_t to)
{
	static const int64_t most[] = { 9999, 12, 31, 23, 59, 60 };
	int64_t v[6];
	size_t at = from;
	struct number n = { 0 };

	for (int i = 0; i < 6; i++) {
		if (!read_number(path, at, &n) || n.value > most[i] ||
		    n.end - at != (i ? 2 : 4) ||
		    (i < 5 ? path[n.end] != '_' : n.end != to))
			return -1;
		v[i] = n.value;
		at = n.end + 1;
	}
	v[0] -= v[1] < 3; /* years begin in March */
	v[1] = (v[1] + 9) % 12;
	v[2] += 365 * v[0] + v[0] / 4 - v[0] / 100 + v[0] / 400 +
		(153 * v[1] + 2) / 5;
	return ((v[2] * 24 + v[3]) * 60 + v[4]) * 60 + v[5];
}

static struct session find_session(const char *path, struct pf_intern *jobs,
				   struct pf_intern *hosts)
{
	static const char above[] = "plugins/profile/";
	const size_t base = (size_t)(pf_path_base(path) - path);
	const size_t from = base ? name_start(path, base - 1) : 0;
	const size_t n = sizeof(above) - 1;
	struct session s = { .start_s = -1 };
	struct pf_buf host = { 0 };

	if (from < n || memcmp(path + from - n, above, n) ||
	    (from > n && path[from - n - 1] != '/'))
		return s;
	s.start_s = read_session(path, from, base - 1);
	if (s.start_s < 0)
		return s;
	s.job = pf_intern_add(jobs, path, cut_inner(path, from - n));
	pf_buf_add(&host, path, from);
	pf_buf_adds(&host, path + base);
	s.host = pf_intern_add(hosts, host.data, host.len);
	pf_buf_release(&host);
	return s;
}

PF_ORDER(by_start, struct session, PF_UP(job) PF_UP(start_s) PF_UP(file))

/*
 * Each host names the folder by its own clock: folders of almost one time are
 * of one run if no host is in two of them.
 */
static void join_sessions(struct session *s, size_t count, uint32_t host_count,
			  size_t *runs)
{
	size_t *seen = pf_calloc(host_count + 1, sizeof(*seen));
	size_t begin = 0, number = 0, end;

	pf_sort(s, count, sizeof(*s), by_start);
	for (size_t i = 0; i < count; i = end) {
		bool is_next = number && s[i].job == s[begin].job &&
			       s[i].start_s - s[begin].start_s <= CAPTURE_S;

		for (end = i; end < count && s[end].job == s[i].job &&
			      s[end].start_s == s[i].start_s;
		     end++)
			is_next = is_next && seen[s[end].host] != number;
		if (!is_next) {
			begin = i;
			number++;
		}
		for (size_t k = i; k < end; k++) {
			seen[s[k].host] = number;
			runs[s[k].file] = s[begin].file;
		}
	}
	free(seen);
}

/* By the first of each run in the list, and not in time. */
static void put_first(size_t *runs, size_t count)
{
	size_t *first = pf_calloc(count + 1, sizeof(*first));

	for (size_t i = 0; i < count; i++) {
		size_t *f = &first[runs[i]];

		if (!*f)
			*f = i + 1;
		runs[i] = *f - 1;
	}
	free(first);
}

size_t *pf_source_runs(const char *const *paths, size_t count)
{
	struct session *sessions = pf_calloc(count + 1, sizeof(*sessions));
	size_t *runs = pf_calloc(count + 1, sizeof(*runs));
	size_t *first = pf_calloc(count + 1, sizeof(*first));
	struct pf_intern folders, jobs, hosts;
	size_t session_count = 0;

	pf_intern_init(&folders);
	pf_intern_init(&jobs);
	pf_intern_init(&hosts);
	for (size_t i = 0; i < count; i++) {
		struct session s = find_session(paths[i], &jobs, &hosts);
		const size_t before = folders.count;
		char *folder;
		uint32_t n;

		if (s.start_s >= 0) {
			s.file = i;
			sessions[session_count++] = s;
			continue;
		}
		folder = pf_source_run(paths[i]);
		n = pf_intern_add(&folders, folder, strlen(folder));
		if (n == before)
			first[n] = i;
		runs[i] = first[n];
		free(folder);
	}
	join_sessions(sessions, session_count, hosts.count, runs);
	put_first(runs, count);
	pf_intern_release(&hosts);
	pf_intern_release(&jobs);
	pf_intern_release(&folders);
	free(sessions);
	free(first);
	return runs;
}

/* ---- ranks of the files of a run ---- */

/* Files of one run and one way of storing. */
struct peer {
	size_t run, file;
	const char *suffix;
};

PF_ORDER(by_peer, struct peer, PF_UP(run) PF_ALPHA(suffix) PF_UP(file))

/* Of files that are called by their hosts or processes; others say pids. */
static const char *const host_suffixes[] = { ".xplane.pb", ".xplane.pb.gz",
					     ".sqlite" };
#define HOST_SUFFIXES (sizeof(host_suffixes) / sizeof(*host_suffixes))

static bool is_of_host(const char *suffix)
{
	for (size_t i = 0; i < HOST_SUFFIXES; i++)
		if (!strcmp(suffix, host_suffixes[i]))
			return true;
	return false;
}

static const char *suffix_of(const char *path)
{
	const char *base = pf_path_base(path), *dot = strrchr(base, '.');
	const size_t n = strlen(base);

	for (size_t i = 0; i < HOST_SUFFIXES; i++) {
		const size_t k = strlen(host_suffixes[i]);

		if (n > k && !strcmp(base + n - k, host_suffixes[i]))
			return base + n - k;
	}
	return dot ? dot : base + n;
}

/* Where in its path each file of a run says which it is. */
struct place {
	bool is_name;  /* of the file, not of a folder */
	bool is_plain; /* "report.0.sqlite": no word says what is counted */
	size_t from;   /* of the folder */
	int which;     /* of the numbers there */
};

static bool find_place(const char *path, const char *suffix,
		       const struct place *at, struct number *n)
{
	const size_t base = (size_t)(pf_path_base(path) - path);
	const size_t len = (size_t)(suffix - path);
	size_t from = at->is_name ? base : at->from, to = from;

	*n = (struct number){ 0 };
	if (at->is_plain) {
		for (to = len;
		     to > base && isdigit((unsigned char)path[to - 1]);)
			to--;
		return to > base && path[to - 1] == '.' &&
		       read_number(path, to, n) && n->end == len;
	}
	if (at->is_name) {
		to = len;
	} else {
		if (from >= base || (from && path[from - 1] != '/'))
			return false;
		to += strcspn(path + to, "/");
	}
	for (int i = 0; i <= at->which; i++)
		if (!next_host(path, from, to, n))
			return false;
	return true;
}

/* What must be the same of all files: it, without the number. */
static uint32_t rest_of(struct pf_intern *rests, const char *path,
			const char *suffix, const struct place *at,
			const struct number *n)
{
	const bool is_file = at->is_name || at->is_plain;
	const size_t from = is_file ? (size_t)(pf_path_base(path) - path) : 0;
	size_t to = n->end;
	struct pf_buf rest = { 0 };
	uint32_t number;

	to = is_file ? (size_t)(suffix - path) : to + strcspn(path + to, "/");
	pf_buf_add(&rest, path + from, n->at - from);
	pf_buf_addc(&rest, '/');
	pf_buf_add(&rest, path + n->end, to - n->end);
	number = pf_intern_add(rests, rest.data, rest.len);
	pf_buf_release(&rest);
	return number;
}

/* What the files of a run say of their ranks. */
struct telling {
	const char *const *paths;
	const struct peer *peers;
	size_t count;
	int64_t *ranks, *found; /* of one place; NULL until there is one */
	bool is_doubtful;       /* two places say different things */
};

/* Do all of them say a number there, each another one? */
static bool is_told(struct telling *t, const struct place *at)
{
	struct pf_intern rests;
	struct pf_map seen;
	bool is = true;

	pf_intern_init(&rests);
	pf_map_init(&seen);
	for (size_t i = 0; i < t->count && is; i++) {
		const char *path = t->paths[t->peers[i].file];
		const char *suffix = t->peers[i].suffix;
		struct number n;

		is = find_place(path, suffix, at, &n) &&
		     !rest_of(&rests, path, suffix, at, &n) &&
		     n.value <= INT32_MAX &&
		     !pf_map_has(&seen, (uint64_t)n.value) &&
		     (!at->is_plain || (uint64_t)n.value < t->count);
		if (!is)
			break;
		*pf_map_at(&seen, (uint64_t)n.value) = 1;
		t->ranks[i] = n.value;
	}
	pf_map_release(&seen);
	pf_intern_release(&rests);
	return is;
}

static void try_place(struct telling *t, struct place at)
{
	const struct peer *p = t->peers;
	const size_t bytes = t->count * sizeof(*t->ranks);
	struct number n;

	for (; find_place(t->paths[p->file], p->suffix, &at, &n); at.which++) {
		if (is_told(t, &at)) {
			if (!t->found)
				t->found = memcpy(pf_calloc(1, bytes), t->ranks,
						  bytes);
			t->is_doubtful |=
				memcmp(t->found, t->ranks, bytes) != 0;
		}
		if (at.is_plain)
			break;
	}
}

static void rank_peers(const char *const *paths, const struct peer *p,
		       size_t count, int64_t *out)
{
	const char *path = paths[p->file], *slash;
	struct telling t = { .paths = paths, .peers = p, .count = count };

	t.ranks = pf_calloc(count, sizeof(*t.ranks));
	for (size_t from = 0; (slash = strchr(path + from, '/'));
	     from = (size_t)(slash - path) + 1)
		try_place(&t, (struct place){ .from = from });
	if (is_of_host(p->suffix)) {
		try_place(&t, (struct place){ .is_name = true });
		try_place(&t, (struct place){ .is_plain = true });
	}
	for (size_t i = 0; i < count && t.found && !t.is_doubtful; i++)
		out[p[i].file] = t.found[i];
	free(t.found);
	free(t.ranks);
}

int64_t *pf_source_ranks(const char *const *paths, size_t count)
{
	struct peer *peers = pf_calloc(count + 1, sizeof(*peers));
	int64_t *ranks = pf_calloc(count + 1, sizeof(*ranks));
	size_t *runs = pf_source_runs(paths, count), end;

	for (size_t i = 0; i < count; i++) {
		ranks[i] = find_rank(pf_path_base(paths[i]));
		peers[i] = (struct peer){ runs[i], i, suffix_of(paths[i]) };
	}
	pf_sort(peers, count, sizeof(*peers), by_peer);
	for (size_t i = 0; i < count; i = end) {
		bool is_named = false;

		for (end = i; end < count && peers[end].run == peers[i].run &&
			      !strcmp(peers[end].suffix, peers[i].suffix);
		     end++)
			is_named = is_named || ranks[peers[end].file] >= 0;
		if (!is_named && end - i > 1)
			rank_peers(paths, peers + i, end - i, ranks);
	}
	free(runs);
	free(peers);
	return ranks;
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
