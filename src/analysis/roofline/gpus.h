/* SPDX-License-Identifier: MIT */
/*
 * What a GPU can do at most, by data/gpus.csv: the rates that its maker
 * promises, for dense operands.  A figure that the table does not have is not
 * a number, and what builds on it is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/data.h"

/* The columns of data/gpus.csv with rates, in TFLOP/s or GB/s. */
enum pf_peak {
	PF_PEAK_FP64,
	PF_PEAK_FP64_MATRIX, /* empty: as without a matrix unit */
	PF_PEAK_FP32,
	PF_PEAK_FP32_MATRIX,
	PF_PEAK_TF32,
	PF_PEAK_FP16,
	PF_PEAK_BF16,
	PF_PEAK_FP8,
	PF_PEAK_INT8,
	PF_PEAK_FP4,
	PF_PEAK_BYTES, /* of its memory */
	PF_PEAK_LINK,  /* to other GPUs of the machine, each way */
	PF_PEAKS,
	PF_PEAK_NONE = PF_PEAKS /* of a type that has no rate */
};

/* "fp64", ...; NULL of PF_PEAK_NONE. */
const char *pf_peak_word(enum pf_peak peak);
/* By its word; PF_PEAK_NONE if it is none. */
enum pf_peak pf_peak_find(const char *word, size_t len);

struct pf_gpu_peaks {
	const char *name, *source; /* of the table; NULL: in no row */
	double rate[PF_PEAKS];     /* TFLOP/s or GB/s; NAN: unknown */
};

/* What a trace says of a device; text NULL, number negative: nothing. */
struct pf_gpu_about {
	const char *name;
	int64_t units, memory_bytes;
};

struct pf_gpus;
struct pf_gpus *pf_gpus_new(struct pf_err *err);
void pf_gpus_free(struct pf_gpus *g);

/* The first row that fits what is known; false: no row does. */
bool pf_gpus_match(const struct pf_gpus *g, const struct pf_gpu_about *about,
		   struct pf_gpu_peaks *out);

/* The row of this name, case ignored; PF_EUSAGE with a suggestion. */
int pf_gpus_named(const struct pf_gpus *g, const char *name,
		  struct pf_gpu_peaks *out, struct pf_err *err);

/* Nothing is known. */
void pf_gpu_peaks_none(struct pf_gpu_peaks *out);
/* Take over "bf16=989.4,gbps=3352"; PF_EUSAGE. */
int pf_gpu_peaks_set(struct pf_gpu_peaks *p, const char *text,
		     struct pf_err *err);

/* Operations in a nanosecond of products or of other arithmetic; or NAN. */
double pf_gpu_peaks_matrix(const struct pf_gpu_peaks *p, enum pf_peak at);
double pf_gpu_peaks_vector(const struct pf_gpu_peaks *p, enum pf_peak at);
