/* SPDX-License-Identifier: MIT */
/*
 * A Chrome trace that no profiler of PyTorch wrote: nested B/E pairs, async
 * pairs with text ids, counters, flows, instants, timestamps as text, threads
 * interleaved and times not in order.  One round is one frame of two threads.
 */
#include "config.h"

#include "gen/gen.h"

#include <stdlib.h>

struct chrome {
	const struct gen_opts *opts;
	struct gen_out *out;
	struct gen_truth *truth;
	uint64_t random, id;
	int64_t now_ns;
	bool first;
};

static const char *const names[] = { "frame", "layout", "paint \"quoted\"",
				     "raster \\ tile" };

static void name_of(struct gen_out *o, const char *s)
{
	gen_putc(o, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			gen_putc(o, '\\');
		gen_putc(o, *s);
	}
	gen_putc(o, '"');
}

static void put(struct chrome *c, const char *ph, const char *name, int tid,
		int64_t ns)
{
	struct gen_out *o = c->out;
	bool quoted = c->id % 5 == 0;

	gen_puts(o, c->first ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
	c->first = false;
	gen_puts(o, ph);
	gen_puts(o, "\",\"cat\":\"web\",\"name\":");
	name_of(o, name);
	gen_puts(o, ",\"pid\":\"browser\",\"tid\":");
	gen_puti(o, tid);
	gen_puts(o, quoted ? ",\"ts\":\"" : ",\"ts\":");
	gen_put_us(o, ns, false);
	if (quoted)
		gen_putc(o, '"');
	gen_truth_add(c->truth, "ph", ph, "", 0);
}

static void put_id(struct chrome *c, uint64_t id)
{
	char text[32];

	snprintf(text, sizeof(text), ",\"id\":\"0x%llx\"",
		 (unsigned long long)id);
	gen_puts(c->out, text);
}

static void end(struct chrome *c)
{
	gen_putc(c->out, '}');
}

static void span(struct chrome *c, size_t depth, int tid, int64_t start,
		 int64_t dur)
{
	gen_truth_add(c->truth, "name", "web", names[depth], dur);
	put(c, "B", names[depth], tid, start);
	gen_puts(c->out, ",\"args\":{\"depth\":");
	gen_puti(c->out, (int64_t)depth);
	gen_putc(c->out, '}');
	end(c);
}

/* Four spans one in the other on one thread. */
static void nest(struct chrome *c, int tid, int64_t start)
{
	int64_t from[4], to[4];
	size_t d;

	from[0] = start;
	to[0] = start + gen_vary(&c->random, 900000);
	for (d = 1; d < 4; d++) {
		from[d] = from[d - 1] + gen_vary(&c->random, 1500);
		to[d] = to[d - 1] - gen_vary(&c->random, 2500);
	}
	for (d = 0; d < 4; d++)
		span(c, d, tid, from[d], to[d] - from[d]);
	for (d = 4; d-- > 0;) {
		put(c, "E", names[d], tid, to[d]);
		end(c);
	}
}

static void whole(struct chrome *c, int tid, int64_t start, int64_t dur)
{
	gen_truth_add(c->truth, "name", "web", "task", dur);
	put(c, "X", "task", tid, start);
	gen_puts(c->out, ",\"dur\":");
	gen_put_us(c->out, dur, false);
	end(c);
}

static void round_of(struct chrome *c)
{
	int64_t t = c->now_ns;

	c->id++;
	nest(c, 1, t);
	/* later in the file, earlier in time */
	whole(c, 2, t - 200000, gen_vary(&c->random, 90000));
	nest(c, 2, t + 2000);
	put(c, "b", "fetch", 1, t + 10);
	put_id(c, c->id);
	end(c);
	put(c, "n", "fetch", 1, t + 500);
	put_id(c, c->id);
	end(c);
	put(c, "e", "fetch", 2, t + 80000);
	put_id(c, c->id);
	end(c);
	put(c, "s", "post", 1, t + 20);
	put_id(c, c->id);
	end(c);
	put(c, "f", "post", 2, t + 3000);
	put_id(c, c->id);
	gen_puts(c->out, ",\"bp\":\"e\"");
	end(c);
	put(c, "C", "heap", 1, t + 30);
	gen_puts(c->out, ",\"args\":{\"used\":");
	gen_putu(c->out, gen_random(&c->random) % 1000000);
	gen_puts(c->out, ",\"free\":1.5}");
	end(c);
	put(c, "i", "mark", 1, t + 40);
	gen_puts(c->out, ",\"s\":\"t\"");
	end(c);
	c->now_ns += 1500000;
}

int gen_chrome(const struct gen_opts *opts, struct gen_out *out,
	       struct gen_truth *truth)
{
	struct chrome c = { opts, out, truth, opts->seed, 0, 5000000000, true };
	int64_t step;

	gen_putc(out, '[');
	for (step = 0; opts->size_bytes ? out->total < opts->size_bytes
					: step < opts->steps;
	     step++)
		round_of(&c);
	gen_puts(out, "\n]\n");
	return gen_flush(out);
}
