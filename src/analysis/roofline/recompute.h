/* SPDX-License-Identifier: MIT */
/*
 * What backward does a second time because forward did not keep it
 * (activation checkpointing): such calls are work of the GPU, and no progress
 * of the model.  Told by what is open around a call: a node of autograd whose
 * checkpoint runs forward again, torch's own functions that do, or an operator
 * that only forward calls inside a node of torch's.
 */
#ifndef PF_ANALYSIS_ROOFLINE_RECOMPUTE_H
#define PF_ANALYSIS_ROOFLINE_RECOMPUTE_H

#include <stdint.h>

enum pf_recompute {
	PF_RECOMPUTE_NONE,
	PF_RECOMPUTE_BACKWARD, /* in a node of torch's */
	PF_RECOMPUTE_OTHER,    /* in a node that may call anything */
	PF_RECOMPUTE_AGAIN,
};

/* What the name of a range says. */
struct pf_recompute_word {
	uint8_t of; /* enum pf_recompute: of what is inside a node */
	uint8_t is_forward, is_frame; /* an operator; a Python function */
};

struct pf_recompute_word pf_recompute_word(const char *name);

/* The state inside a range (kind: enum pf_kind) from that around it. */
enum pf_recompute pf_recompute_next(enum pf_recompute around,
				    struct pf_recompute_word word,
				    unsigned kind);

#endif
