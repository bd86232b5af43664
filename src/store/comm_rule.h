/* SPDX-License-Identifier: MIT */
/* Why GPU work is communication: comm_event.rule in the database. */
#pragma once

/* The first one that fits; numbers are append-only. */
enum pf_comm_rule {
	PF_COMM_NONE = 0,
	PF_COMM_NAME = 1,   /* its name (never stored) */
	PF_COMM_RECORD = 2, /* launched in record_param_comms */
	PF_COMM_C10D = 3,   /* in c10d::... */
	PF_COMM_NCCL = 4,   /* in nccl:... */
	PF_COMM_GLOO = 5,   /* in gloo:..., and so on: PF_WORD_COMM_OP */
	PF_COMM_MPI = 6,
	PF_COMM_UCC = 7,
	PF_COMM_XCCL = 8,
	PF_COMM_HCCL = 9,
	PF_COMM_RULES
};
