/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cupti.h"
#include "options.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/*
 * Sizes of records where the library's own cannot be had: those of CUPTI
 * 11.8 (version 18), a prefix of all later ones.  The kinds that are read.
 */
static const uint16_t known_sizes[PF_KINDS] = {
	[PF_KIND_MEMCPY] = 88,      [PF_KIND_MEMSET] = 88,
	[PF_KIND_DRIVER] = 40,      [PF_KIND_RUNTIME] = 40,
	[PF_KIND_DEVICE] = 176,     [PF_KIND_CONTEXT] = 16,
	[PF_KIND_KERNEL] = 200,     [PF_KIND_OVERHEAD] = 40,
	[PF_KIND_ENVIRONMENT] = 40, [PF_KIND_MEMCPY2] = 96,
	[PF_KIND_UVM] = 64,         [PF_KIND_EVENT] = 24,
	[PF_KIND_STREAM] = 24,      [PF_KIND_SYNC] = 40,
	[PF_KIND_EXTERNAL] = 24,    [PF_KIND_INTERNAL] = 40,
	[PF_KIND_MEMORY2] = 120,    [PF_KIND_POOL] = 72,
	[PF_KIND_GRAPH] = 48,       [PF_KIND_JIT] = 64,
};

/* Let the library step over a buffer of one kind: the step is the size. */
static uint32_t probe(const struct pf_cupti *c, uint32_t kind)
{
	_Alignas(8) uint8_t buffer[4096] = { 0 };
	uint8_t *first = NULL, *second;

	for (size_t i = 0; i < sizeof(buffer); i += 8)
		memcpy(buffer + i, &kind, sizeof(kind));
	if (c->next_record(buffer, sizeof(buffer), &first) || !first)
		return 0;
	second = first;
	if (c->next_record(buffer, sizeof(buffer), &second) || second <= first)
		return 0;
	return (uint32_t)(second - first);
}

static void probe_all(struct pf_cupti *c)
{
	for (uint32_t kind = 1; kind < PF_KINDS; kind++) {
		uint32_t size = probe(c, kind);
		if (size % 8 || size > 1024 || size < known_sizes[kind])
			size = known_sizes[kind];
		c->sizes[kind] = (uint16_t)size;
	}
}

static void *open_one(const char *name, int flags, struct pf_cupti *c)
{
	void *h = dlopen(name, RTLD_NOW | flags);

	if (!h && !(flags & RTLD_NOLOAD) && !c->error[0]) {
		const char *why = dlerror();
		snprintf(c->error, sizeof(c->error), "%s",
			 why ? why : "cannot be loaded");
	}
	return h;
}

/* A loaded copy first: two of them in a process do not see each other. */
static void *open_any(struct pf_cupti *c, const char *path)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
					     "libcupti.so.11.8",
					     "libcupti.so" };
	static const int flags[] = { RTLD_NOLOAD, RTLD_LOCAL };
	void *h;

	if (path[0])
		return open_one(path, RTLD_LOCAL, c);
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < 4; i++) {
			h = open_one(names[i], flags[pass], c);
			if (h)
				return h;
		}
	return NULL;
}

static int find_functions(struct pf_cupti *c)
{
	const char *missing = NULL;

#define X(name, symbol, arguments)                                             \
	*(void **)&c->name = dlsym(c->handle, symbol);
	PF_CUPTI_OPTIONAL(X)
	PF_CUPTI_NEEDED(X)
#undef X
#define X(name, symbol, arguments)                                             \
	if (!c->name)                                                          \
		missing = symbol;
	PF_CUPTI_NEEDED(X)
#undef X
	if (!missing)
		return 0;
	snprintf(c->error, sizeof(c->error), "%s is not in the library",
		 missing);
	return -1;
}

int pf_cupti_load(struct pf_cupti *c, const char *path)
{
	Dl_info where;

	memset(c, 0, sizeof(*c));
	c->handle = open_any(c, path);
	if (!c->handle) {
		if (!c->error[0])
			snprintf(c->error, sizeof(c->error), "not found");
		return -1;
	}
	if (find_functions(c))
		return -1;
	if (dladdr(*(void **)&c->get_version, &where) && where.dli_fname)
		snprintf(c->path, sizeof(c->path), "%s", where.dli_fname);
	pf_cupti_identify(c);
	return 0;
}

void pf_cupti_identify(struct pf_cupti *c)
{
	if (c->get_version(&c->version))
		c->version = 0;
	probe_all(c);
}

const char *pf_cupti_text(const struct pf_cupti *c, uint32_t result)
{
	static _Thread_local char number[24];
	const char *text = NULL;

	if (c->result_text && !c->result_text(result, &text) && text)
		return text;
	snprintf(number, sizeof(number), "error %u", result);
	return number;
}

/* ---- which calls are worth a record ---- */

/*
 * The stem of a name: without leading "__", "_ptsz", "_ptds" and without
 * "_v" and four or more digits; all of them may be there.
 */
static void stem(const char *name, char *out, size_t room)
{
	size_t len, digits;

	while (*name == '_')
		name++;
	snprintf(out, room, "%s", name);
	for (len = strlen(out); len > 5;) {
		if (!strcmp(out + len - 5, "_ptsz") ||
		    !strcmp(out + len - 5, "_ptds")) {
			out[len -= 5] = '\0';
			continue;
		}
		for (digits = 0; digits < len && out[len - digits - 1] >= '0' &&
				 out[len - digits - 1] <= '9';)
			digits++;
		if (digits < 4 || digits + 2 > len ||
		    memcmp(out + len - digits - 2, "_v", 2) != 0)
			break;
		out[len -= digits + 2] = '\0';
	}
}

static bool matches(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, name, 0))
			return true;
	return false;
}

enum pf_call pf_cupti_call(uint32_t domain, const char *name)
{
	static const char *const runtime_drop[] = { "cudaGetDevice",
						    "cudaSetDevice",
						    "cudaGetLastError",
						    "cudaPeekAtLastError",
						    "cudaStreamIsCapturing",
						    "cudaEventCreate",
						    "cudaEventCreateWithFlags",
						    "cudaEventDestroy",
						    NULL };
	static const char *const runtime_query[] = { "cudaEventQuery",
						     "cudaStreamQuery", NULL };
	static const char *const driver_keep[] = {
		"cuLaunch*",          "cuGraphLaunch*",
		"cuMemcpy*",          "cuMemset*",
		"cu*Synchronize",     "cu*Synchronize_v[0-9]",
		"cuStreamWaitEvent*", "cuModule*",
		"cuLibrary*",         "cuMemCreate",
		"cuMemMap",           "cuMemUnmap",
		"cuMemRelease",       NULL
	};
	char text[256];

	if (!name)
		return PF_CALL_KEEP;
	stem(name, text, sizeof(text));
	if (domain == PF_DOMAIN_DRIVER)
		return matches(driver_keep, text) ? PF_CALL_KEEP : PF_CALL_DROP;
	if (matches(runtime_drop, text))
		return PF_CALL_DROP;
	return matches(runtime_query, text) ? PF_CALL_QUERY : PF_CALL_KEEP;
}
