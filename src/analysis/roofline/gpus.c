/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <regex.h>
#include <strings.h>

#include "base/mem.h"
#include "base/opt.h"
#include "analysis/roofline/gpus.h"

#define HEADER                                                                 \
	"name,match,units,memory_gb,fp64,fp64_matrix,fp32,fp32_matrix,tf32,"   \
	"fp16,bf16,fp8,int8,fp4,gbps,link_gbps,source"
enum column { NAME, MATCH, UNITS, MEMORY, RATES, SOURCE = RATES + PF_PEAKS };

#define MEMORY_SLACK 0.12 /* what drivers keep, and powers of 2 for 10 */

static const char *const words[PF_PEAKS] = {
	"fp64", "fp64_matrix", "fp32", "fp32_matrix", "tf32", "fp16",
	"bf16", "fp8",         "int8", "fp4",         "gbps", "link_gbps",
};

struct pf_gpus {
	struct pf_data *data;
	regex_t *match; /* a row each */
	size_t count;
};

const char *pf_peak_word(enum pf_peak peak)
{
	return peak < PF_PEAKS ? words[peak] : NULL;
}

enum pf_peak pf_peak_find(const char *word, size_t len)
{
	for (size_t i = 0; i < PF_PEAKS; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return (enum pf_peak)i;
	return PF_PEAK_NONE;
}

struct pf_gpus *pf_gpus_new(struct pf_err *err)
{
	struct pf_gpus *g = pf_calloc(1, sizeof(*g));
	size_t rows;

	g->data = pf_data_new("data/gpus.csv", HEADER, err);
	rows = g->data ? pf_data_rows(g->data) : 0;
	g->match = pf_calloc(rows + 1, sizeof(*g->match));
	for (size_t i = 0; i < rows; i++) {
		const char *pattern = pf_data_cell(g->data, i, MATCH);

		if (regcomp(&g->match[i], pattern, REG_EXTENDED | REG_NOSUB)) {
			pf_fail(err, PF_EDATA, "'%s' is no pattern", pattern);
			rows = 0;
		} else {
			g->count++;
		}
	}
	if (g->count)
		return g;
	pf_gpus_free(g);
	return NULL;
}

void pf_gpus_free(struct pf_gpus *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->count; i++)
		regfree(&g->match[i]);
	free(g->match);
	pf_data_free(g->data);
	free(g);
}

/* A number of the table, or of an option; NAN if it is none. */
static double number(const char *s)
{
	char *end;
	double d = strtod(s, &end);

	return *s && !*end && isfinite(d) && d > 0 ? d : NAN;
}

static void take_row(const struct pf_gpus *g, size_t row,
		     struct pf_gpu_peaks *out)
{
	out->name = pf_data_cell(g->data, row, NAME);
	out->source = pf_data_cell(g->data, row, SOURCE);
	for (size_t i = 0; i < PF_PEAKS; i++)
		out->rate[i] = number(pf_data_cell(g->data, row, RATES + i));
}

static bool fits(const struct pf_gpus *g, size_t row,
		 const struct pf_gpu_about *about)
{
	double units = number(pf_data_cell(g->data, row, UNITS));
	double gb = number(pf_data_cell(g->data, row, MEMORY));
	double has_gb = (double)about->memory_bytes / 1e9;

	if (regexec(&g->match[row], about->name, 0, NULL, 0))
		return false;
	if (about->units > 0 && !isnan(units) && (double)about->units != units)
		return false;
	return about->memory_bytes <= 0 || isnan(gb) ||
	       fabs(has_gb / gb - 1) < MEMORY_SLACK;
}

bool pf_gpus_match(const struct pf_gpus *g, const struct pf_gpu_about *about,
		   struct pf_gpu_peaks *out)
{
	/* A device without a name is known by all else, or not at all. */
	if (!about->name ||
	    (!*about->name && (about->units <= 0 || about->memory_bytes <= 0)))
		return false;
	for (size_t i = 0; i < g->count; i++)
		if (fits(g, i, about)) {
			take_row(g, i, out);
			return true;
		}
	return false;
}

int pf_gpus_named(const struct pf_gpus *g, const char *name,
		  struct pf_gpu_peaks *out, struct pf_err *err)
{
	struct pf_suggest s = { .word = name };

	for (size_t i = 0; i < g->count; i++) {
		const char *known = pf_data_cell(g->data, i, NAME);

		if (!strcasecmp(known, name)) {
			take_row(g, i, out);
			return 0;
		}
		pf_suggest_offer(&s, known);
	}
	if (s.best)
		return pf_fail(err, PF_EUSAGE,
			       "no GPU is called '%s'; did you mean '%s'?",
			       name, s.best);
	return pf_fail(err, PF_EUSAGE,
		       "no GPU is called '%s'; --peak gives the rates of any",
		       name);
}

void pf_gpu_peaks_none(struct pf_gpu_peaks *out)
{
	*out = (struct pf_gpu_peaks){ 0 };
	for (size_t i = 0; i < PF_PEAKS; i++)
		out->rate[i] = NAN;
}

int pf_gpu_peaks_set(struct pf_gpu_peaks *p, const char *text,
		     struct pf_err *err)
{
	while (*text) {
		size_t len = strcspn(text, ","), name = strcspn(text, "=,");
		enum pf_peak peak = pf_peak_find(text, name);
		double rate = NAN;
		char *value;

		if (name < len) {
			value = pf_memdup0(text + name + 1, len - name - 1);
			rate = number(value);
			free(value);
		}
		if (peak == PF_PEAK_NONE || isnan(rate))
			return pf_fail(err, PF_EUSAGE,
				       "'%.*s' is no peak, as bf16=989.4 "
				       "(TFLOP/s) or gbps=3352 are",
				       (int)len, text);
		p->rate[peak] = rate;
		text += len;
		text += *text == ',';
	}
	return 0;
}

double pf_gpu_peaks_matrix(const struct pf_gpu_peaks *p, enum pf_peak at)
{
	if (at == PF_PEAK_FP64 || at == PF_PEAK_FP32) {
		double matrix = p->rate[at + 1];

		return (isnan(matrix) ? p->rate[at] : matrix) * 1e3;
	}
	return at < PF_PEAK_BYTES ? p->rate[at] * 1e3 : NAN;
}

double pf_gpu_peaks_vector(const struct pf_gpu_peaks *p, enum pf_peak at)
{
	return p->rate[at == PF_PEAK_FP64 ? PF_PEAK_FP64 : PF_PEAK_FP32] * 1e3;
}
