/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "agent.h"

/* The window by the clock and by signals.  When to look again. */
static uint64_t turn_window(struct pf_agent *a, uint64_t now)
{
	const struct pf_options *o = a->options;
	uint32_t window = atomic_load(&a->window);
	uint64_t opened = atomic_load(&a->opened_ns), due = UINT64_MAX;
	bool toggle = atomic_exchange(&a->toggles, 0) & 1;

	if (atomic_load(&a->closed)) {
		if (window == PF_OPEN)
			pf_window_close(a);
		return UINT64_MAX;
	}
	if (window == PF_OPEN) {
		due = o->duration_ns ? opened + o->duration_ns : UINT64_MAX;
		if (now >= due || toggle) {
			if (!pf_window_close(a))
				pf_capture_settle(a);
			due = UINT64_MAX;
		}
	} else if (window == PF_CLOSED && o->start == PF_START_ON && !opened) {
		due = a->started_ns + o->delay_ns;
		if (now >= due) {
			pf_window_open(a);
			due = now; /* look for its end */
		}
	} else if (window == PF_CLOSED && toggle) {
		pf_window_open(a);
		due = now;
	}
	return due;
}

static void tick(struct pf_agent *a, bool all)
{
	pf_capture_flush(a, all);
	pf_encoder_push(&a->encoder);
	pf_threads_look(&a->threads, &a->defs, &a->counts, all);
	atomic_store(&a->tick_due, 1);
}

void *pf_ticker_main(void *agent)
{
	struct pf_agent *a = agent;
	uint64_t now = pf_now_ns(), next = now + a->options->flush_ns;
	uint32_t seen = 0, served = 0;

	pf_local.inside = 1;
	while (atomic_load(&a->finish) == PF_RUNNING) {
		uint32_t asked = atomic_load(&a->flush_asked);
		uint64_t due;
		now = pf_now_ns();
		due = turn_window(a, now);
		if (now >= next || asked != served) {
			tick(a, false);
			served = asked;
			atomic_store(&a->drain_asked, asked);
			pf_wake_post(&a->writer);
			pf_capture_watch(a, now);
			if (now >= next)
				next = now + a->options->flush_ns;
		}
		seen = pf_wake_wait(&a->ticker, seen, due < next ? due : next);
	}
	tick(a, true);
	{
		uint32_t expected = PF_FINISH_ASKED;
		atomic_compare_exchange_strong(&a->finish, &expected,
					       PF_FINISH_FLUSHED);
	}
	pf_wake_post(&a->writer);
	return NULL;
}
