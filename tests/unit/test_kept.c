/* SPDX-License-Identifier: MIT */
/* What is kept of a database is what is read from it, with room and without. */
#include "unit/scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/cursor.h"
#include "store/texts.h"
#include "store/kept.h"

#define CALLS 50

/* Calls and their kernels, which have bytes here and there. */
static void open_calls(struct scene *s)
{
	struct pf_buf json = { 0 };

	pf_buf_adds(&json, "{\"traceEvents\":[");
	for (int i = 0; i < CALLS; i++)
		pf_buf_addf(
			&json,
			"%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
			"\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d,"
			"\"dur\":5,\"args\":{\"correlation\":%d}},"
			"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\","
			"\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":8,\"args\":{"
			"\"device\":0,\"stream\":7,\"correlation\":%d,"
			"\"bytes\":%d}}",
			i ? "," : "", 100 + 10 * i, i + 1, i % 3, 101 + 10 * i,
			i + 1, 1000 + i);
	pf_buf_adds(&json, "]}");
	scene_open(s, json.data);
	pf_buf_release(&json);
}

/* All events of all tracks as text. */
static void read_events(struct pf_db *db, uint64_t columns, struct pf_buf *out)
{
	struct pf_track *tracks;
	struct pf_err err = { 0 };
	struct pf_span span;
	size_t count;
	int rc;

	assert_int_equal(pf_tracks_load(db, 0, &tracks, &count, &err), 0);
	for (size_t i = 0; i < count; i++) {
		struct pf_cursor *c = pf_cursor_new(db, tracks[i].id, columns);

		while ((rc = pf_cursor_next(c, &span, &err)) == 1)
			pf_buf_addf(
				out, "%u %lld %lld %u %lld\n", span.seq,
				(long long)span.start_ns,
				(long long)span.dur_ns, span.name,
				columns >> PF_COL_SLOT
					? (long long)span.slot[PF_SLOT_BYTES]
					: 0);
		assert_int_equal(rc, 0);
		pf_cursor_free(c);
	}
	pf_tracks_free(tracks, count);
}

static void read_links(struct pf_db *db, struct pf_buf *out)
{
	struct pf_err err = { 0 };
	struct pf_ints *links = pf_ints_new(db, "gpu_links");
	const int64_t *row;
	int rc;

	assert_non_null(links);
	while ((rc = pf_ints_next(links, &row, &err)) == 1)
		pf_buf_addf(out, "%lld %lld %d\n", (long long)row[0],
			    (long long)row[1], row[3] == PF_INTS_NULL);
	assert_int_equal(rc, 0);
	pf_ints_free(links);
}

static void read_all(struct pf_db *db, struct pf_buf *out)
{
	uint64_t plain = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			 PF_COLBIT(PF_COL_NAME);

	read_events(db, PF_COLBIT(PF_COL_START), out);
	read_events(db, plain | PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES), out);
	read_events(db, plain, out);
	read_links(db, out);
}

/* By the connection, by one beside it, and when no more is kept. */
static void same_with_room(const char *want, size_t bytes)
{
	struct scene s;
	struct pf_db beside;
	struct pf_err err = { 0 };
	struct pf_buf text = { 0 };

	open_calls(&s);
	pf_kept_start(&s.db, bytes);
	assert_int_equal(pf_db_open_beside(&beside, &s.db, &err), 0);
	for (int i = 0; i < 3; i++) {
		if (i == 2)
			pf_kept_stop(&beside);
		pf_buf_clear(&text);
		read_all(i == 1 ? &beside : &s.db, &text);
		assert_string_equal(text.data, want);
	}
	pf_buf_release(&text);
	pf_db_close(&beside);
	scene_close(&s);
}

static void kept_is_what_is_read(void **state)
{
	/* the third is room for one block more than is kept, at the most */
	static const size_t rooms[] = { 0, 5000, 1180000, 1185000, 16 << 20 };
	struct pf_buf want = { 0 };
	struct scene s;

	(void)state;
	open_calls(&s);
	read_all(&s.db, &want);
	scene_close(&s);
	assert_non_null(strstr(want.data, "1049\n"));
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
		same_with_room(want.data, rooms[i]);
	pf_buf_release(&want);
}

static int made;

static void *make(struct pf_db *db, const char *arg)
{
	made++;
	if (!strcmp(arg, "bad")) {
		pf_fail(db->err, PF_EDATA, "no");
		return NULL;
	}
	return strdup(arg);
}

static void made_once(void **state)
{
	struct pf_err err = { 0 };
	const void *first;
	struct scene s;

	(void)state;
	open_calls(&s);
	s.db.err = &err;
	first = pf_memo_get(&s.db, make, free, "a");
	assert_string_equal(first, "a");
	assert_ptr_equal(pf_memo_get(&s.db, make, free, "a"), first);
	assert_string_equal(pf_memo_get(&s.db, make, free, "b"), "b");
	assert_int_equal(made, 2);
	assert_null(pf_memo_get(&s.db, make, free, "bad"));
	assert_null(pf_memo_get(&s.db, make, free, "bad"));
	assert_int_equal(made, 4);
	scene_close(&s);
}

/*
 * A thing that is being made waits for another one that another thread makes:
 * both would wait for ever if one lock were held all the while.
 */
struct meeting {
	pthread_barrier_t both;
	struct pf_db *db;
	atomic_int made;
};

static struct meeting *meeting; /* make() has no context but its argument */

static void *meet(struct pf_db *db, const char *arg)
{
	(void)db;
	atomic_fetch_add(&meeting->made, 1);
	pthread_barrier_wait(&meeting->both);
	return pf_strdup(arg);
}

static void *ask_for_two(void *p)
{
	const char *other = p, *first = other[0] == 'a' ? "b" : "a";

	assert_string_equal(pf_memo_get(meeting->db, meet, free, first), first);
	return (void *)pf_memo_get(meeting->db, meet, free, other);
}

static void made_at_once(void **state)
{
	struct scene s;
	pthread_t thread;
	void *other;
	const void *own;

	(void)state;
	open_calls(&s);
	alarm(60); /* both wait for ever where it fails */
	meeting = pf_calloc(1, sizeof(*meeting));
	meeting->db = &s.db;
	pthread_barrier_init(&meeting->both, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, ask_for_two, "a"), 0);
	own = ask_for_two("b");
	assert_int_equal(pthread_join(thread, &other), 0);
	assert_string_equal(own, "b");
	assert_string_equal(other, "a");
	assert_int_equal(meeting->made, 2);
	alarm(0);
	pthread_barrier_destroy(&meeting->both);
	free(meeting);
	scene_close(&s);
}

/* Who asks for what another makes waits, and makes it if that fails. */
#define ASKING 8

static atomic_int tries;

static void *fail_at_first(struct pf_db *db, const char *arg)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
	if (!atomic_fetch_add(&tries, 1)) {
		pf_fail(db->err, PF_EDATA, "not yet");
		return NULL;
	}
	return pf_strdup(arg);
}

static void *ask_for_one(void *db)
{
	return (void *)pf_memo_get(db, fail_at_first, free, "one");
}

static void made_after_failing(void **state)
{
	struct pf_err err = { 0 };
	struct scene s;
	pthread_t threads[ASKING];
	void *got, *first = NULL;
	int failed = 0;

	(void)state;
	open_calls(&s);
	s.db.err = &err;
	for (int i = 0; i < ASKING; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, ask_for_one, &s.db),
			0);
	for (int i = 0; i < ASKING; i++) {
		assert_int_equal(pthread_join(threads[i], &got), 0);
		failed += !got;
		assert_true(!got || !first || got == first);
		first = got ? got : first;
	}
	assert_int_equal(failed, 1);
	assert_int_equal(tries, 2);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_is_what_is_read),
		cmocka_unit_test(made_once),
		cmocka_unit_test(made_at_once),
		cmocka_unit_test(made_after_failing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
