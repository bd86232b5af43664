/* SPDX-License-Identifier: MIT */
/*
 * Digests of ranks in a fleet (analysis/ranks/digest.h): what 'profan ranks' looks at,
 * so that it answers of a fleet as of the databases of its ranks.  They are
 * packed, some 20 bytes a collective.
 */
#ifndef PF_COMPARE_FLEET_DIGESTS_H
#define PF_COMPARE_FLEET_DIGESTS_H

#include "base/buf.h"
#include "base/mem.h"
#include "compare/fleet_put.h"

/* The digest of the only trace of a database, as bytes. */
int pf_fleet_digest_make(struct pf_db *db, struct pf_buf *bytes,
			 struct pf_err *err);

/* Write it, of the rank that is being written. */
int pf_fleet_digest_put(struct pf_fleet_out *out, const struct pf_buf *bytes,
			struct pf_err *err);

/*
 * All of a capture, in the order of ranks.  capture NULL: of the only one;
 * PF_EUSAGE if there are several, or none of that name.
 */
struct pf_fleet_digest_sink {
	int (*take)(void *context, const void *data, size_t len,
		    struct pf_err *err);
	void *context;
};
int pf_fleet_digests_read(struct pf_db *db, const char *capture,
			  const struct pf_fleet_digest_sink *sink,
			  struct pf_err *err);

/*
 * What the ranks of a capture have under a label: values[i] of ranks[i], kept
 * in "texts", or NULL.  Ranks are ascending.
 */
int pf_fleet_label_of(struct pf_db *db, const char *capture, const char *key,
		      const int64_t *ranks, size_t count, const char **values,
		      struct pf_arena *texts, struct pf_err *err);

#endif
