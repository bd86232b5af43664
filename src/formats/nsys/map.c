/* SPDX-License-Identifier: MIT */
/* What all tables have in common: times, names, processes, tracks. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/nsys/nsys_impl.h"

#define THREAD_BITS 24
#define LOW_BITS    ((INT64_C(1) << THREAD_BITS) - 1)

/* ---- names ---- */

bool pf_nsys_memo(struct pf_nsys *n, enum pf_nsys_memo kind, uint64_t low,
		  uint64_t b, uint32_t **entry)
{
	return pf_memo_find(&n->sink.memos, PF_NSYS_MEMO_KEY(kind, low), b,
			    entry);
}

int pf_nsys_string(struct pf_nsys *n, int64_t id, const char **text,
		   size_t *len, struct pf_err *err)
{
	int rc = pf_lookup_find(&n->texts, id, err);

	return rc == 1 ? pf_rows_text(&n->texts.rows, 0, text, len) : rc;
}

static uint32_t lost_name(struct pf_nsys *n, int64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), "string %" PRId64, id);
	return pf_sink_word(&n->sink, text);
}

int pf_nsys_name(struct pf_nsys *n, const struct pf_rows *r, int column,
		 uint32_t *entry, struct pf_err *err)
{
	const char *text;
	uint32_t *memo;
	size_t len;
	int64_t id;
	int rc;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT) {
		pf_sink_note(&n->sink, PF_REPAIR_LOST_NAME);
		*entry = pf_sink_word(&n->sink, "no name");
		return 0;
	}
	if (pf_nsys_memo(n, PF_NSYS_MEMO_NAME, 0, (uint64_t)id, &memo)) {
		*entry = *memo;
		return 0;
	}
	rc = pf_nsys_string(n, id, &text, &len, err);
	if (rc < 0)
		return -1;
	*entry = *memo =
		rc ? pf_sink_text(&n->sink, text, len) : lost_name(n, id);
	if (rc)
		return 0;
	/* Every event is counted. */
	pf_memo_forget(&n->sink.memos, PF_NSYS_MEMO_KEY(PF_NSYS_MEMO_NAME, 0),
		       (uint64_t)id);
	pf_sink_note(&n->sink, PF_REPAIR_LOST_NAME);
	return 0;
}

/* ---- processes and threads ---- */

int64_t pf_nsys_pid(int64_t global_id)
{
	return global_id >> THREAD_BITS & LOW_BITS;
}

int64_t pf_nsys_tid(int64_t global_id)
{
	return global_id & LOW_BITS;
}

int64_t pf_nsys_process(struct pf_nsys *n, int64_t global_id)
{
	uint64_t *number;

	global_id &= ~LOW_BITS;
	if (n->processes.count && global_id == n->last_pid)
		return n->last_process;
	if (!n->processes.count)
		n->machine = global_id >> (2 * THREAD_BITS);
	if (n->processes.count >= PF_NSYS_PROCESSES_MAX)
		return -1;
	number = pf_map_at(&n->processes, (uint64_t)global_id);
	if (*number == UINT64_MAX)
		*number = n->processes.count - 1;
	n->last_pid = global_id;
	n->last_process = (int64_t)*number;
	return n->last_process;
}

/* The first process's are as in the file, the others' have its number above. */
int64_t pf_nsys_key(int64_t process, int64_t correlation)
{
	if (process < 0 || correlation <= 0 || correlation > UINT32_MAX)
		return 0;
	return process << 32 | correlation;
}

void pf_nsys_arg_key(struct pf_nsys *n, int64_t process, int64_t correlation)
{
	int64_t key = pf_nsys_key(process, correlation);

	pf_argline_slot(&n->sink.args, "correlation", PF_SLOT_CORRELATION, key);
}

/* ---- tracks ---- */

uint32_t pf_nsys_lane(struct pf_nsys *n, char letter, int64_t global_id,
		      const char *tid)
{
	int64_t machine = global_id >> (2 * THREAD_BITS);
	char pid[48], own[24];

	pf_nsys_process(n, global_id);
	snprintf(own, sizeof(own), "%" PRId64, pf_nsys_tid(global_id));
	snprintf(pid, sizeof(pid), "%" PRId64, pf_nsys_pid(global_id));
	if (machine != n->machine)
		snprintf(pid, sizeof(pid), "%" PRId64 " (machine %" PRId64 ")",
			 pf_nsys_pid(global_id), machine);
	return pf_sink_track(&n->sink, letter, pid, tid ? tid : own);
}

uint32_t pf_nsys_host_track(struct pf_nsys *n, const struct pf_rows *r,
			    int column)
{
	uint32_t *memo;
	int64_t id;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT)
		return pf_sink_track(&n->sink, 'h', "", "");
	if (pf_nsys_memo(n, PF_NSYS_MEMO_HOST_TRACK, 0, (uint64_t)id, &memo))
		return *memo;
	if (n->threads.count < PF_NSYS_THREADS_MAX) {
		uint64_t *known = pf_map_at(&n->threads, (uint64_t)id);

		if (*known == UINT64_MAX)
			*known = PF_NSYS_SEEN;
	}
	return *memo = pf_nsys_lane(n, 'h', id, NULL);
}

uint32_t pf_nsys_mark_track(struct pf_nsys *n, int64_t device)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%" PRId64, device);
	return pf_sink_track(&n->sink, 'm', pid, "events");
}

/* Several processes may have streams of one number on one device. */
uint32_t pf_nsys_gpu_track(struct pf_nsys *n, int64_t device, int64_t stream,
			   int64_t global_pid)
{
	int64_t process = pf_nsys_process(n, global_pid);
	uint32_t track, *memo = NULL;

	if (device >= 0 && device <= 0xffff &&
	    pf_nsys_memo(n, PF_NSYS_MEMO_GPU_TRACK,
			 (uint64_t)(process + 1) << 16 | (uint64_t)device,
			 (uint64_t)stream, &memo))
		return *memo;
	track = pf_sink_gpu_track(&n->sink, device,
				  stream == UINT32_MAX ? -1 : stream, process,
				  pf_nsys_pid(global_pid));
	if (memo)
		*memo = track;
	return track;
}
