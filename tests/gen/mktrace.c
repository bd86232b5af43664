/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gen/gen.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: mktrace [options] > trace.json\n"
	"Write a profiler trace that looks like a real one.\n"
	"\n"
	"  --steps N        training steps (3)\n"
	"  --bytes SIZE     go on until about SIZE, such as 100M or 1G\n"
	"  --layers N       layers of the model (6)\n"
	"  --seed N         another run of the same program (1)\n"
	"  --style STYLE    pretty (torch's own) or compact\n"
	"  --inference      no backward pass, no optimizer\n"
	"  --no-stacks      no python functions\n"
	"  --old            as torch 1.x wrote: whole us, old category names\n"
	"  --chrome         not PyTorch: B/E pairs, async, counters, text ids\n"
	"  --no-steps       no ProfilerStep#N\n"
	"  --amd            calls of HIP, not of CUDA\n"
	"  --gpus N         a GPU more runs the same program without a fault "
	"(1)\n"
	"  --plant FAULT    sync, loader, pageable, malloc, launch, "
	"collective,\n"
	"                   graph, garbage, module, or none: a good program\n"
	"  --planted FILE   write what the fault costs as csv\n"
	"  --truth FILE     write what the trace holds as csv\n"
	"  --out FILE       write there, not to standard output\n"
	"\n"
	"A job of several ranks, into the folder --out: a trace a rank, and\n"
	"truth.csv with what is planted.\n"
	"  --ranks N        even; with --steps, --layers and --seed\n"
	"  --hosts N        machines, each with a clock of its own (1)\n"
	"  --straggler R    rank that is late\n"
	"  --late WHY       slow, more, some (of its kernels), loader or "
	"garbage\n"
	"  --clock-skew NS  clocks differ by up to so much (0)\n"
	"  --drift PPM      and drift by up to so much (0)\n"
	"  --scatter NS     ends of a collective differ so much (3000)\n"
	"  --stages N       a pipeline, 1F1B; --straggler is a stage, --late "
	"slow\n"
	"  --microbatches N of a step (8)\n"
	"  --batched        kernels of messages do not say which, and the "
	"host\n"
	"                   waits for them\n";

/* ---- output ---- */

void gen_putc(struct gen_out *o, char c)
{
	if (o->used == sizeof(o->buf))
		gen_flush(o);
	o->buf[o->used++] = c;
	o->total++;
}

void gen_puts(struct gen_out *o, const char *s)
{
	size_t len = strlen(s);

	if (len > sizeof(o->buf) - o->used)
		gen_flush(o);
	if (len > sizeof(o->buf)) {
		o->failed |= fwrite(s, 1, len, o->file) != len;
	} else {
		memcpy(o->buf + o->used, s, len);
		o->used += len;
	}
	o->total += (int64_t)len;
}

void gen_putu(struct gen_out *o, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	gen_puts(o, p);
}

void gen_puti(struct gen_out *o, int64_t v)
{
	if (v < 0)
		gen_putc(o, '-');
	gen_putu(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void gen_put_us(struct gen_out *o, int64_t ns, bool whole)
{
	int rest = (int)(ns % 1000);

	gen_puti(o, ns / 1000);
	if (whole)
		return;
	gen_putc(o, '.');
	gen_putc(o, (char)('0' + rest / 100));
	gen_putc(o, (char)('0' + rest / 10 % 10));
	gen_putc(o, (char)('0' + rest % 10));
}

int gen_flush(struct gen_out *o)
{
	o->failed |= fwrite(o->buf, 1, o->used, o->file) != o->used;
	o->used = 0;
	return o->failed ? -1 : 0;
}

/* ---- random numbers: xorshift64*, the same everywhere ---- */

uint64_t gen_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

int64_t gen_vary(uint64_t *state, int64_t mean)
{
	int64_t v = mean * (int64_t)(768 + gen_random(state) % 513) / 1024;

	return v > 0 ? v : 1;
}

/* ---- options ---- */

static int64_t number(const char *s, const char *option)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;
	int64_t v;

	errno = 0;
	v = strtoll(s, &end, 10);
	suffix = *end ? strchr(suffixes, *end) : NULL;
	if (suffix) {
		v <<= 10 * (suffix - suffixes + 1);
		end++;
	}
	if (errno || end == s || *end || v <= 0) {
		fprintf(stderr, "mktrace: --%s: '%s' is no number above 0\n",
			option, s);
		exit(2);
	}
	return v;
}

static const struct gen_plant *fault(const char *name)
{
	const struct gen_plant *p = gen_plant_find(name);

	if (p)
		return p;
	fprintf(stderr, "mktrace: --plant: there is no fault '%s'\n", name);
	exit(2);
}

/* Options of --ranks: is it one? */
static bool parse_job(struct gen_opts *o, int c, const char *name)
{
	switch (c) {
	case 'R':
		o->ranks = (int)number(optarg, name) & ~1;
		return true;
	case 'H':
		o->hosts = (int)number(optarg, name);
		return true;
	case 'S':
		o->straggler = strtoll(optarg, NULL, 10);
		return true;
	case 'L':
		o->late_cause = optarg;
		return true;
	case 'K':
		o->skew_ns = number(optarg, name);
		return true;
	case 'D':
		o->drift_ppm = number(optarg, name);
		return true;
	case 'C':
		o->scatter_ns = number(optarg, name);
		return true;
	case 'P':
		o->stages = (int)number(optarg, name);
		return true;
	case 'M':
		o->microbatches = (int)number(optarg, name);
		return true;
	case 'B':
		o->batched = true;
		return true;
	default:
		return false;
	}
}

static void parse(struct gen_opts *o, int argc, char **argv, char **out_path)
{
	static const struct option longs[] = {
		{ "steps", required_argument, NULL, 'n' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "layers", required_argument, NULL, 'l' },
		{ "seed", required_argument, NULL, 's' },
		{ "style", required_argument, NULL, 'y' },
		{ "inference", no_argument, NULL, 'i' },
		{ "no-stacks", no_argument, NULL, 'p' },
		{ "old", no_argument, NULL, 'o' },
		{ "chrome", no_argument, NULL, 'c' },
		{ "no-steps", no_argument, NULL, 'e' },
		{ "amd", no_argument, NULL, 'a' },
		{ "gpus", required_argument, NULL, 'g' },
		{ "plant", required_argument, NULL, 'f' },
		{ "planted", required_argument, NULL, 'd' },
		{ "truth", required_argument, NULL, 't' },
		{ "out", required_argument, NULL, 'w' },
		{ "ranks", required_argument, NULL, 'R' },
		{ "hosts", required_argument, NULL, 'H' },
		{ "straggler", required_argument, NULL, 'S' },
		{ "late", required_argument, NULL, 'L' },
		{ "clock-skew", required_argument, NULL, 'K' },
		{ "drift", required_argument, NULL, 'D' },
		{ "scatter", required_argument, NULL, 'C' },
		{ "stages", required_argument, NULL, 'P' },
		{ "microbatches", required_argument, NULL, 'M' },
		{ "batched", no_argument, NULL, 'B' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, at = 0;

	while ((c = getopt_long(argc, argv, "h", longs, &at)) != -1) {
		if (c == 'n')
			o->steps = number(optarg, longs[at].name);
		else if (c == 'b')
			o->size_bytes = number(optarg, longs[at].name);
		else if (c == 'l')
			o->layers = (int)number(optarg, longs[at].name);
		else if (c == 's')
			o->seed = (uint64_t)number(optarg, longs[at].name);
		else if (c == 'y')
			o->compact = !strcmp(optarg, "compact");
		else if (c == 'i')
			o->inference = true;
		else if (c == 'p')
			o->stacks = false;
		else if (c == 'o')
			o->old = true;
		else if (c == 'c')
			o->chrome = true;
		else if (c == 'e')
			o->no_steps = true;
		else if (c == 'a')
			o->amd = true;
		else if (c == 'g')
			o->gpus = (int)number(optarg, longs[at].name);
		else if (c == 'f')
			o->plant = fault(optarg);
		else if (c == 'd')
			o->planted_path = optarg;
		else if (c == 't')
			o->truth_path = optarg;
		else if (c == 'w')
			*out_path = optarg;
		else if (!parse_job(o, c, longs[at].name)) {
			fputs(usage, c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
}

int main(int argc, char **argv)
{
	static struct gen_out out;
	struct gen_opts opts = { .steps = 3,
				 .seed = 1,
				 .layers = 6,
				 .stacks = true,
				 .gpus = 1,
				 .hosts = 1,
				 .late_cause = "slow",
				 .straggler = -1,
				 .scatter_ns = 3000,
				 .microbatches = 8 };
	struct gen_truth *truth = gen_truth_new();
	char *out_path = NULL;
	int rc;

	parse(&opts, argc, argv, &out_path);
	if (opts.layers > 64)
		opts.layers = 64;
	if (opts.gpus > 2)
		opts.gpus = 2;
	if (opts.stages && opts.ranks % opts.stages) {
		fputs("mktrace: --ranks is a multiple of --stages\n", stderr);
		return 2;
	}
	if (opts.ranks) {
		gen_truth_free(truth);
		if (!out_path || gen_ranks(&opts, out_path)) {
			fputs("mktrace: cannot write into the folder --out\n",
			      stderr);
			return 3;
		}
		return 0;
	}
	out.file = out_path ? fopen(out_path, "wb") : stdout;
	if (!out.file || !truth) {
		fprintf(stderr, "mktrace: '%s': %s\n", out_path,
			strerror(errno));
		return 3;
	}
	rc = opts.chrome ? gen_chrome(&opts, &out, truth)
			 : gen_kineto(&opts, &out, truth);
	if (fclose(out.file) || rc) {
		fputs("mktrace: cannot write the trace\n", stderr);
		rc = 3;
	}
	if (!rc && opts.truth_path && gen_truth_write(truth, opts.truth_path)) {
		fprintf(stderr, "mktrace: cannot write '%s'\n",
			opts.truth_path);
		rc = 3;
	}
	gen_truth_free(truth);
	return rc;
}
