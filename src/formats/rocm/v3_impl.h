/* SPDX-License-Identifier: MIT */
/* What the parts of the reader of rocprofv3's JSON share.  Not for others. */
#ifndef PF_FORMATS_ROCM_V3_IMPL_H
#define PF_FORMATS_ROCM_V3_IMPL_H

#include "formats/sqlite/keys.h"
#include "formats/rocm/fields.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"

#define PF_V3_KINDS_MAX 256u
#define PF_V3_LISTS_MAX 64u

enum pf_v3_state {
	PF_V3_AT_TOP,
	PF_V3_IN_TOP,
	PF_V3_IN_TOOLS,
	PF_V3_IN_TOOL,
	PF_V3_IN_LISTS,
	PF_V3_IN_LIST,
	PF_V3_AT_END
};

/* What becomes of the records of a list. */
enum pf_v3_list {
	PF_V3_KERNELS,
	PF_V3_COPIES,
	PF_V3_MEMORY,
	PF_V3_SCRATCH,
	PF_V3_CALLS,
	PF_V3_UNREAD
};

struct pf_v3 {
	struct pf_reader base;
	struct pf_rocm map;
	struct pf_tokens tokens;
	enum pf_v3_state state;
	enum pf_v3_list list;
	char list_name[40];
	int64_t tool; /* from 0 */
	int64_t pid, process;
	struct pf_intern texts; /* names of kinds, operations, kernels */
	uint32_t kind_name[PF_V3_KINDS_MAX];
	size_t kind_first[PF_V3_KINDS_MAX], kind_ops[PF_V3_KINDS_MAX];
	size_t kind_count;
	uint32_t *ops; /* names */
	size_t op_count, ops_cap;
	struct pf_map kernels; /* of this tool: registers << 32 | name */
	struct pf_keys marks;  /* of this tool: a range's text, by its link */
	bool is_sealed;
	const char *dir;
	struct pf_json_fields record, agent, symbol;
	struct pf_v3_rest {
		char name[40];
		int64_t rows;
	} rest[PF_V3_LISTS_MAX];
	size_t rest_count;
	const struct pf_rocm_agent *last_agent;
};

/*
 * The value behind a key that is at hand: what a tool defines.  False: the
 * end, or a failure and err.
 */
bool pf_v3_read_agents(struct pf_v3 *r, struct pf_err *err);
bool pf_v3_read_symbols(struct pf_v3 *r, struct pf_err *err);
bool pf_v3_read_strings(struct pf_v3 *r, struct pf_err *err);
bool pf_v3_read_metadata(struct pf_v3 *r, struct pf_err *err);

void pf_v3_init_fields(struct pf_v3 *r);
bool pf_v3_is_text(const struct pf_tokens *t, const char *word);

#endif
