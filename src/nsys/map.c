/* SPDX-License-Identifier: MIT */
/* What all tables have in common: times, names, processes, tracks. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nsys/nsys_impl.h"

#define THREAD_BITS 24
#define LOW_BITS    ((INT64_C(1) << THREAD_BITS) - 1)

void pf_nsys_note(struct pf_nsys *n, enum pf_repair_kind kind)
{
	pf_repair_note(&n->parsed.batch.repairs, kind, 1, PF_OFFSET_UNKNOWN);
}

/* ---- times ---- */

bool pf_nsys_check_times(struct pf_nsys *n, int64_t start_ns, int64_t end_ns,
			 struct pf_nsys_put *put)
{
	int64_t dur_ns;

	if (end_ns < start_ns) {
		pf_nsys_note(n, PF_REPAIR_NEGATIVE_DURATION);
		end_ns = start_ns;
	}
	if (__builtin_sub_overflow(end_ns, start_ns, &dur_ns) ||
	    !pf_time_fits(start_ns, dur_ns)) {
		pf_nsys_note(n, PF_SKIP_TIME_RANGE);
		return false;
	}
	put->start_ns = start_ns;
	put->dur_ns = dur_ns;
	if (!n->has_last || end_ns > n->last_ns)
		n->last_ns = end_ns;
	n->has_last = true;
	return true;
}

bool pf_nsys_times(struct pf_nsys *n, const struct pf_rows *r,
		   struct pf_nsys_put *put)
{
	int64_t start_ns, end_ns;
	enum pf_cell start = pf_rows_int(r, 0, &start_ns);
	enum pf_cell end = pf_rows_int(r, 1, &end_ns);

	if (start == PF_CELL_NULL) {
		pf_nsys_note(n, PF_SKIP_NO_TIME);
		return false;
	}
	if (start == PF_CELL_OTHER || end == PF_CELL_OTHER) {
		pf_nsys_note(n, PF_SKIP_MALFORMED);
		return false;
	}
	if (end == PF_CELL_NULL) {
		pf_nsys_note(n, PF_REPAIR_NO_DURATION);
		end_ns = start_ns;
	}
	return pf_nsys_check_times(n, start_ns, end_ns, put);
}

void pf_nsys_store(struct pf_nsys *n, const struct pf_nsys_put *put)
{
	struct pf_batch *b = &n->parsed.batch;
	struct pf_event ev = {
		.start_ns = put->start_ns,
		.dur_ns = put->dur_ns,
		.name = put->name,
		.args = put->args,
		.track = put->track,
		.type = pf_batch_type(b, n->category[put->category], put->ph,
				      put->kind),
		.order = (int32_t)b->event_count,
		.ph = (uint8_t)put->ph,
		.kind = (uint8_t)put->kind,
	};

	b->kind_count[put->kind]++;
	pf_batch_put(b, &ev, n->args.mask, n->args.slots);
}

/* ---- names ---- */

bool pf_nsys_memo(struct pf_nsys *n, enum pf_nsys_memo kind, uint64_t low,
		  uint64_t b, uint32_t **entry)
{
	return pf_memo_find(&n->memos, PF_NSYS_MEMO_KEY(kind, low), b, entry);
}

uint32_t pf_nsys_text(struct pf_nsys *n, const char *text, size_t len)
{
	return pf_dict_find(&n->parsed.names, text, len, 0);
}

uint32_t pf_nsys_word(struct pf_nsys *n, const char *word)
{
	return pf_nsys_text(n, word, strlen(word));
}

static uint32_t lost_name(struct pf_nsys *n, int64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), "string %" PRId64, id);
	return pf_nsys_word(n, text);
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
		pf_nsys_note(n, PF_REPAIR_LOST_NAME);
		*entry = pf_nsys_word(n, "no name");
		return 0;
	}
	if (pf_nsys_memo(n, PF_NSYS_MEMO_NAME, 0, (uint64_t)id, &memo)) {
		*entry = *memo;
		return 0;
	}
	rc = pf_texts_find(&n->texts, id, &text, &len, err);
	if (rc < 0)
		return -1;
	*entry = *memo = rc ? pf_nsys_text(n, text, len) : lost_name(n, id);
	if (rc)
		return 0;
	/* Every event is counted. */
	pf_memo_forget(&n->memos, PF_NSYS_MEMO_KEY(PF_NSYS_MEMO_NAME, 0),
		       (uint64_t)id);
	pf_nsys_note(n, PF_REPAIR_LOST_NAME);
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

	pf_argline_slot(&n->args, "correlation", PF_SLOT_CORRELATION, key);
}

/* ---- tracks ---- */

static uint32_t find_track(struct pf_nsys *n, char letter, const char *pid,
			   const char *tid)
{
	char head[24];

	snprintf(head, sizeof(head), "%c%08zx", letter, strlen(pid));
	pf_buf_clear(&n->clean);
	pf_buf_adds(&n->clean, head);
	pf_buf_adds(&n->clean, pid);
	pf_buf_adds(&n->clean, tid);
	return pf_dict_find(&n->parsed.tracks, n->clean.data, n->clean.len, 0);
}

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
	return find_track(n, letter, pid, tid ? tid : own);
}

uint32_t pf_nsys_host_track(struct pf_nsys *n, const struct pf_rows *r,
			    int column)
{
	uint32_t *memo;
	int64_t id;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT)
		return find_track(n, 'h', "", "");
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
	return find_track(n, 'm', pid, "events");
}

/* The first process that uses a number has it to itself, up to a limit. */
static bool is_own_device(struct pf_nsys *n, int64_t device, int64_t process)
{
	for (size_t i = 0; i < n->user_count; i++)
		if (n->users[i].device == device)
			return n->users[i].process == process;
	if (n->user_count == PF_NSYS_DEVICES_MAX)
		return false;
	n->users[n->user_count++] = (struct pf_nsys_user){ device, process };
	return true;
}

/* Several processes may have streams of one number on one device. */
uint32_t pf_nsys_gpu_track(struct pf_nsys *n, int64_t device, int64_t stream,
			   int64_t global_pid)
{
	int64_t process = pf_nsys_process(n, global_pid);
	char pid[64], tid[24];
	uint32_t *memo = NULL;

	if (device >= 0 && device <= 0xffff &&
	    pf_nsys_memo(n, PF_NSYS_MEMO_GPU_TRACK,
			 (uint64_t)(process + 1) << 16 | (uint64_t)device,
			 (uint64_t)stream, &memo))
		return *memo;
	snprintf(pid, sizeof(pid), "%" PRId64, device);
	if (!is_own_device(n, device, process))
		snprintf(pid, sizeof(pid), "%" PRId64 " (process %" PRId64 ")",
			 device, pf_nsys_pid(global_pid));
	snprintf(tid, sizeof(tid), "%" PRId64,
		 stream == UINT32_MAX ? -1 : stream);
	if (memo)
		return *memo = find_track(n, 'g', pid, tid);
	return find_track(n, 'g', pid, tid);
}
