/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.c"
#include "base/utf8.h"

#define MS INT64_C(1000000)

static int64_t fake_ns;

static int64_t fake_now(void)
{
	return fake_ns;
}

static const struct progress_test on_terminal = { fake_now, true };
static const struct progress_test off_terminal = { fake_now, false };

static void the_line_says_all(void **state)
{
	struct progress_state s = {
		.title = "ingest 'a.json'",
		.bytes_done = 1 << 28,
		.bytes_total = 1 << 30,
		.events = 1234567,
		.elapsed_ns = 500 * MS,
		.columns = 120,
	};
	struct pf_buf out = { 0 };

	(void)state;
	progress_line(&s, &out);
	assert_string_equal(out.data,
			    "ingest 'a.json': 256.00 MiB of 1.00 GiB, "
			    "1,234,567 events, 512.00 MiB/s, 0:01 left");
	pf_buf_clear(&out);
	s.bytes_total = 0;
	progress_line(&s, &out);
	assert_string_equal(out.data, "ingest 'a.json': 256.00 MiB, "
				      "1,234,567 events, 512.00 MiB/s");
	pf_buf_release(&out);
}

static void a_phase_has_no_bytes(void **state)
{
	struct progress_state s = {
		.title = "ingest",
		.phase = "linking",
		.bytes_done = 1000000000,
		.bytes_total = 1 << 30,
		.events = 1234567,
		.elapsed_ns = 67000 * MS,
		.columns = 120,
	};
	struct pf_buf out = { 0 };

	(void)state;
	progress_line(&s, &out);
	assert_string_equal(out.data,
			    "ingest: linking, 1,234,567 events, 1:07");
	for (s.columns = 1; s.columns < 50; s.columns++) {
		pf_buf_clear(&out);
		progress_line(&s, &out);
		assert_true(pf_utf8_columns(out.data ? out.data : "", out.len) <
			    (size_t)s.columns);
	}
	pf_buf_release(&out);
}

static void the_line_fits(void **state)
{
	struct progress_state s = {
		.title = "ingest '\x1b[2J\xe4\xb8\xad-a-very-long-name.json'",
		.bytes_done = 1,
		.bytes_total = 1 << 30,
		.elapsed_ns = 1,
	};
	struct pf_buf out = { 0 };

	(void)state;
	for (s.columns = 1; s.columns < 140; s.columns++) {
		pf_buf_clear(&out);
		progress_line(&s, &out);
		assert_true(pf_utf8_columns(out.data ? out.data : "", out.len) <
			    (size_t)s.columns);
		assert_null(memchr(out.data ? out.data : "", 0x1b, out.len));
	}
	pf_buf_release(&out);
}

/* Run a test with stderr going to a file; returns what was written. */
static void captured(void (*run)(void), struct pf_buf *out)
{
	char *dir = support_tmp_take();
	char *path = support_path_take(dir, "err");
	int saved = dup(STDERR_FILENO);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	assert_true(saved >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	close(fd);
	run();
	dup2(saved, STDERR_FILENO);
	close(saved);
	support_read(path, out);
	support_tmp_release(dir);
	free(path);
}

static bool drawn[5];

static void run_ticks(void)
{
	progress.test = &on_terminal;
	fake_ns = 5000 * MS;
	pf_progress_start("t", 100);
	pf_progress_set(50, 7);
	fake_ns += 999 * MS;
	drawn[0] = progress_tick(); /* too early */
	fake_ns += 1 * MS;
	drawn[1] = progress_tick();
	fake_ns += 249 * MS;
	drawn[2] = progress_tick(); /* too soon again */
	fake_ns += 1 * MS;
	pf_progress_set(60, 8);
	drawn[3] = progress_tick();
	pf_log_note("hello");
	pf_progress_stop();
	drawn[4] = progress_tick();
	progress.test = NULL;
}

static void delayed_and_cleared(void **state)
{
	struct pf_buf out = { 0 };

	(void)state;
	captured(run_ticks, &out);
	assert_false(drawn[0]);
	assert_true(drawn[1]);
	assert_false(drawn[2]);
	assert_true(drawn[3]);
	assert_false(drawn[4]);
	assert_non_null(strstr(out.data, "t: 60 B of 100 B, 8 events"));
	/* the message begins where the line was cleared */
	assert_non_null(strstr(out.data, "\r\x1b[Kprofan: hello\n"));
	/* nothing was left to clear */
	assert_true(out.data[out.len - 1] == '\n');
	pf_buf_release(&out);
}

static void run_off_terminal(void)
{
	progress.test = &off_terminal;
	pf_progress_start("t", 100);
	fake_ns += 5000 * MS;
	drawn[0] = progress_tick();
	pf_progress_stop();
	pf_log_set_level(PF_LOG_ERROR);
	progress.test = &on_terminal;
	pf_progress_start("t", 100);
	fake_ns += 5000 * MS;
	drawn[1] = progress_tick();
	pf_progress_stop();
	pf_log_note("no");
	pf_log_warn("no");
	pf_log(PF_LOG_ERROR, "yes %s", "\x1b[1m");
	pf_log_set_level(PF_LOG_NOTE);
	progress.test = NULL;
}

static void silent_off_a_terminal_and_when_quiet(void **state)
{
	struct pf_buf out = { 0 };

	(void)state;
	captured(run_off_terminal, &out);
	assert_false(drawn[0]);
	assert_false(drawn[1]);
	assert_string_equal(out.data, "profan: yes \\x1b[1m\n");
	pf_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_says_all),
		cmocka_unit_test(a_phase_has_no_bytes),
		cmocka_unit_test(the_line_fits),
		cmocka_unit_test(delayed_and_cleared),
		cmocka_unit_test(silent_off_a_terminal_and_when_quiet),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
