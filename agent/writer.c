/* SPDX-License-Identifier: MIT */
/*
 * The only thread that writes.  Before a frame of events goes everything that
 * was defined when its events were made: definitions are logged before the
 * event that uses them is handed over.
 */
#include "config.h"

#include "agent.h"

#include <sys/prctl.h>
#include <time.h>

#define PERIOD_NS   20000000u
#define IDLE_NS     UINT64_C(60000000000)
#define RECAP_BYTES (8u << 20)
#define CLOCK_BYTES 32

void pf_clock_read(uint64_t out[4])
{
	out[0] = pf_clock_ns(CLOCK_MONOTONIC);
	out[1] = pf_clock_ns(CLOCK_REALTIME);
	out[2] = pf_clock_ns(CLOCK_MONOTONIC);
	out[3] = pf_clock_ns(CLOCK_BOOTTIME);
}

static int frame(struct pf_agent *a, enum pf_frame type, unsigned flags,
		 const void *payload, uint32_t len)
{
	return pf_file_frame(&a->file, &a->counts, type, flags, payload, len);
}

static void write_clock(struct pf_agent *a)
{
	uint64_t now[4];

	pf_clock_read(now);
	frame(a, PF_FRAME_CLOCK, 0, now, CLOCK_BYTES);
}

static void write_stat(struct pf_agent *a)
{
	size_t n = pf_counts_text(&a->counts, a->text, sizeof(a->text));

	frame(a, PF_FRAME_STAT, 0, a->text, (uint32_t)n);
}

static void write_logs(struct pf_agent *a)
{
	pf_file_log(&a->file, &a->counts, PF_FRAME_META, &a->meta,
		    &a->meta_written);
	pf_file_log(&a->file, &a->counts, PF_FRAME_INFO, &a->info,
		    &a->info_written);
	pf_file_log(&a->file, &a->counts, PF_FRAME_DEF, &a->defs.log,
		    &a->defs_written);
}

static bool ready(struct pf_agent *a)
{
	if (a->file.failed)
		return false;
	if (a->file.fd >= 0)
		return true;
	if (pf_file_open(&a->file, &a->counts))
		return false;
	write_logs(a);
	frame(a, PF_FRAME_CLOCK, 0, a->clock_begin, CLOCK_BYTES);
	return true;
}

static void stop(struct pf_agent *a, enum pf_truncated why)
{
	if (why)
		atomic_store(&a->counts.truncated, why);
	atomic_store(&a->encoder.closed, true);
	atomic_store(&a->closed, true);
	pf_wake_post(&a->ticker); /* to close the window */
}

/* Write a chunk, or count its events as dropped. */
static void write_chunk(struct pf_agent *a, const struct pf_chunk *c, bool nvtx)
{
	bool written = false;

	if (!atomic_load(&a->counts.truncated) && ready(a)) {
		write_logs(a);
		if (a->file.bytes + c->len > a->options->max_bytes)
			stop(a, PF_TRUNCATED_SIZE);
		else
			written = !frame(a, PF_FRAME_EVENTS, c->realtime,
					 c->data, c->len);
	}
	if (a->file.failed && !atomic_load(&a->closed))
		stop(a, 0);
	if (written) {
		PF_COUNT_ADD(a->counts.events, c->events);
		if (nvtx)
			PF_COUNT_ADD(a->counts.nvtx, c->events);
	} else if (nvtx) {
		PF_COUNT_ADD(a->counts.dropped_nvtx, c->events);
	} else {
		PF_COUNT_ADD(a->counts.dropped_queue, c->events);
	}
}

static void write_nvtx(struct pf_agent *a)
{
	if (a->nvtx_chunk.len)
		write_chunk(a, &a->nvtx_chunk, true);
	a->nvtx_chunk.len = 0;
	a->nvtx_chunk.events = 0;
}

/* What is there now; a thread that adds for ever does not hold up the rest. */
static void drain_rings(struct pf_agent *a)
{
	uint32_t high =
		atomic_load_explicit(&a->rings.high, memory_order_acquire);

	for (uint32_t i = 0; i < high; i++)
		for (uint32_t left = PF_RING_SLOTS; left;) {
			bool full = false;
			if (pf_ring_read(&a->rings.rings[i], &a->nvtx, &full))
				left--;
			else if (full)
				write_nvtx(a);
			else
				break;
		}
}

static void drain(struct pf_agent *a, bool all)
{
	struct pf_chunk *c;

	for (uint32_t i = 0; i < PF_CHUNKS && (c = pf_queue_pop(&a->queue));
	     i++) {
		write_chunk(a, c, false);
		pf_queue_give_back(&a->queue, c);
	}
	drain_rings(a);
	if (all)
		write_nvtx(a);
}

/* The clean end, or after a time-out the same without its mark. */
static void close_file(struct pf_agent *a, bool clean)
{
	int why;

	atomic_store(&a->closed, true);
	atomic_store(&a->encoder.closed, true);
	drain(a, true);
	if (a->file.fd < 0)
		return;
	why = atomic_load(&a->counts.truncated);
	if (why == PF_TRUNCATED_WRITE && a->file.regular)
		a->file.failed = 0; /* the totals may still fit */
	if (!why) {
		size_t again = 0;
		write_logs(a);
		if (clean && pf_log_length(&a->defs.log) <= RECAP_BYTES)
			pf_file_log(&a->file, &a->counts, PF_FRAME_DEF,
				    &a->defs.log, &again);
	}
	write_clock(a);
	write_stat(a);
	if (clean && why != PF_TRUNCATED_WRITE)
		frame(a, PF_FRAME_END, 0, "", 0);
}

/*
 * The clocks and the totals, once a tick; less often where nothing happens,
 * for programs that idle for days.
 */
static void write_tick(struct pf_agent *a)
{
	uint64_t now = pf_now_ns();
	size_t n = pf_counts_text(&a->counts, a->text, sizeof(a->text));

	if (n == a->last_length && !memcmp(a->text, a->last_text, n) &&
	    now - a->last_tick_ns < IDLE_NS)
		return;
	memcpy(a->last_text, a->text, n);
	a->last_length = n;
	a->last_tick_ns = now;
	write_logs(a);
	write_clock(a);
	write_stat(a);
}

/* What a tick or somebody who waits asks for. */
static void serve(struct pf_agent *a)
{
	uint32_t asked = atomic_load(&a->drain_asked);
	bool tick = atomic_exchange(&a->tick_due, 0);

	drain(a, tick || asked != atomic_load(&a->drained));
	if (tick && a->file.fd >= 0)
		write_tick(a);
	if (asked != atomic_load(&a->drained)) {
		atomic_store(&a->drained, asked);
		pf_wake_post(&a->done);
	}
}

void *pf_writer_main(void *agent)
{
	struct pf_agent *a = agent;
	uint32_t seen = 0, finish;

	pf_local.inside = 1;
	prctl(PR_SET_NAME, "profan");
	a->nvtx.chunk = &a->nvtx_chunk;
	for (;;) {
		finish = atomic_load(&a->finish);
		if (finish >= PF_FINISH_FLUSHED)
			break;
		serve(a);
		seen = pf_wake_wait(&a->writer, seen, pf_now_ns() + PERIOD_NS);
	}
	close_file(a, finish == PF_FINISH_FLUSHED);
	atomic_store(&a->finish, PF_FINISHED);
	pf_wake_post(&a->done);
	return NULL;
}
