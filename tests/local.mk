# SPDX-License-Identifier: MIT
# Tests.  A new one is a file, tests/unit/test_NAME.c or tests/NAME.sh, that
# ./bootstrap finds.

# ---- unit tests (cmocka) ----
if CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
check_LIBRARIES += tests/unit/libsupport.a
endif
tests_unit_libsupport_a_SOURCES = tests/unit/events.h tests/unit/scene.c \
	tests/unit/scene.h \
	tests/unit/support.c tests/unit/support.h
tests_unit_libsupport_a_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
AM_CPPFLAGS += -I$(top_srcdir)/tests
LDADD = tests/unit/libsupport.a libprofan.a $(CMOCKA_LIBS) $(PROFAN_LIBS)

tests_unit_test_pfr_SOURCES = tests/unit/test_pfr.c tests/gen/pfrread.c \
	tests/gen/pfrread.h tests/gen/pfrw.c tests/gen/pfrw.h
tests_unit_test_pfr_hostile_SOURCES = tests/unit/test_pfr_hostile.c \
	tests/gen/pfrread.c tests/gen/pfrread.h tests/gen/pfrw.c \
	tests/gen/pfrw.h

# with the commands, but not their main()
tests_unit_test_stay_LDADD = \
	$(filter-out src/main.$(OBJEXT),$(profan_OBJECTS)) $(LDADD)

# ---- makes traces ----
check_PROGRAMS += tests/gen/mktrace
tests_gen_mktrace_SOURCES = \
	tests/gen/chrome.c \
	tests/gen/emit.c \
	tests/gen/gen.h \
	tests/gen/machine.c \
	tests/gen/mktrace.c \
	tests/gen/model.c \
	tests/gen/model.h \
	tests/gen/pipeline.c \
	tests/gen/plant.c \
	tests/gen/ranks.c \
	tests/gen/ranks.h \
	tests/gen/tables.h \
	tests/gen/truth.c
tests_gen_mktrace_LDADD = -lm

check_PROGRAMS += tests/gen/mkpfr
tests_gen_mkpfr_SOURCES = tests/gen/mkpfr.c tests/gen/pfrw.c tests/gen/pfrw.h
tests_gen_mkpfr_LDADD =

if LINUX
check_PROGRAMS += tests/gen/nvtxrun
endif
tests_gen_nvtxrun_SOURCES = tests/gen/nvtxrun.c
tests_gen_nvtxrun_LDADD = -ldl

# ---- fuzz targets: with libFuzzer, or replaying files ----
FUZZ_TARGETS = \
	tests/fuzz/fuzz_block \
	tests/fuzz/fuzz_ingest \
	tests/fuzz/fuzz_memsnap \
	tests/fuzz/fuzz_merge \
	tests/fuzz/fuzz_pfr \
	tests/fuzz/fuzz_scanner \
	tests/fuzz/fuzz_tables \
	tests/fuzz/fuzz_words \
	tests/fuzz/fuzz_xspace
if LINUX
check_PROGRAMS += $(FUZZ_TARGETS)
endif
fuzzers: $(FUZZ_TARGETS)
.PHONY: fuzzers
tests_fuzz_fuzz_block_SOURCES = tests/fuzz/fuzz_block.c tests/fuzz/fuzz.h
# tests/fuzz/kept.h says why
FUZZ_KEPT = tests/fuzz/kept.c tests/fuzz/kept.h
FUZZ_WRAP_KEPT = -Wl,--wrap=sqlite3_prepare_v2,--wrap=sqlite3_finalize,--wrap=sqlite3_exec
FUZZ_MEMORY = tests/fuzz/memory.c tests/fuzz/memory.h tests/fuzz/fuzz.h $(FUZZ_KEPT)
# tests/fuzz/memory.h says why
FUZZ_WRAP = $(FUZZ_WRAP_KEPT) -Wl,--wrap=pthread_create,--wrap=pf_db_start_sync
# tests/fuzz/fuzz_merge.c says why
FUZZ_WRAP_MADE = $(FUZZ_WRAP_KEPT) -Wl,--wrap=pf_db_create_kind,--wrap=pf_db_finish_with \
	-Wl,--wrap=pf_db_close,--wrap=sqlite3_open_v2,--wrap=sqlite3_close_v2
tests_fuzz_fuzz_ingest_SOURCES = tests/fuzz/fuzz_ingest.c $(FUZZ_MEMORY)
tests_fuzz_fuzz_memsnap_SOURCES = tests/fuzz/fuzz_memsnap.c tests/fuzz/fuzz.h
FUZZ_PATH = tests/fuzz/path.c tests/fuzz/path.h
tests_fuzz_fuzz_merge_SOURCES = tests/fuzz/fuzz_merge.c $(FUZZ_PATH) \
	$(FUZZ_KEPT) tests/fuzz/fuzz.h
tests_fuzz_fuzz_pfr_SOURCES = tests/fuzz/fuzz_pfr.c tests/fuzz/fuzz.h \
	tests/gen/pfrread.c tests/gen/pfrread.h tests/gen/pfrw.c \
	tests/gen/pfrw.h
tests_fuzz_fuzz_scanner_SOURCES = tests/fuzz/fuzz_scanner.c tests/fuzz/fuzz.h
FUZZ_EVENTS = tests/fuzz/events.c tests/fuzz/events.h tests/fuzz/fuzz.h
tests_fuzz_fuzz_tables_SOURCES = tests/fuzz/fuzz_tables.c $(FUZZ_EVENTS) \
	$(FUZZ_PATH)
tests_fuzz_fuzz_words_SOURCES = tests/fuzz/fuzz_words.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_xspace_SOURCES = tests/fuzz/fuzz_xspace.c $(FUZZ_EVENTS)
FUZZ_LIBS = libprofan.a $(PROFAN_LIBS)
tests_fuzz_fuzz_block_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_ingest_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_memsnap_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_merge_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_pfr_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_scanner_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_tables_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_words_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_xspace_LDADD = $(FUZZ_LIBS)
if FUZZERS
# libFuzzer asks it what to try
tests_fuzz_fuzz_ingest_SOURCES += tests/fuzz/mutate_chrome.c
tests_fuzz_fuzz_scanner_SOURCES += tests/fuzz/mutate_chrome.c
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_block_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_ingest_LDFLAGS = $(FUZZ_LINK) $(FUZZ_WRAP)
tests_fuzz_fuzz_memsnap_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_merge_LDFLAGS = $(FUZZ_LINK) $(FUZZ_WRAP_MADE)
tests_fuzz_fuzz_pfr_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_scanner_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_tables_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_words_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_xspace_LDFLAGS = $(FUZZ_LINK)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_fuzz_ingest_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_WRAP)
tests_fuzz_fuzz_merge_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_WRAP_MADE)
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_block_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_ingest_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_memsnap_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_merge_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_pfr_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_scanner_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_tables_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_words_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_xspace_LDADD += tests/fuzz/libreplay.a
endif

# ---- 10^8 executions of each target, or FUZZ_RUNS, one after the other ----
FUZZ_RUNS = 100000000
fuzz-long: $(FUZZ_TARGETS)
	for t in $$(sh $(srcdir)/tests/fuzz/run.sh); do \
		sh $(srcdir)/tests/fuzz/run.sh $$t found -runs=$(FUZZ_RUNS) || \
			exit 1; \
	done
.PHONY: fuzz-long

# ---- the capture agent ----
TESTS = $(SHELL_TESTS)
include tests/agent/local.mk

# ---- shell tests ----
EXTRA_DIST += $(SHELL_TESTS) tests/attack.sh tests/bench.sh tests/tap.sh \
	tests/faults_preload.c tests/scale_steps.c \
	$(patsubst $(srcdir)/%,%,$(sort $(wildcard $(srcdir)/tests/*.py))) \
	tests/fuzz/corpus tests/fuzz/README.md tests/fuzz/run.sh \
	tests/fuzz/targets tests/golden tests/traces \
	tests/gen/mkpath.py tests/gen/mkxspace.py tests/hta_two_ranks.csv tests/others tests/report tests/saved tests/truth

# ---- with every real trace and every made one; check has the quick ones ----
check-long:
	LONG=1 $(MAKE) $(AM_MAKEFLAGS) check
.PHONY: check-long

# ---- that, and every cut, every call that fails, every seed: hours ----
check-every:
	EVERY=1 LONG=1 $(MAKE) $(AM_MAKEFLAGS) check
.PHONY: check-every

# ---- all but suites that only hold figures against a second count, or texts or
# times, most of them in Python: their commands run in the other suites, too ----
COUNTS = advise agree arrival cells ci color csv devices doctor documents first_sight \
	guide hta key_averages laws_sql merged nights peers planted precision python \
	ranks scale times truth_versions
CODE_TESTS = $(filter-out $(COUNTS:%=tests/%.sh),$(TESTS))
check-code:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(CODE_TESTS)'
# distcheck that runs them, with sanitizers: what is released is what is tested.
# A program that is loaded at a fixed place starts in three quarters of the
# time: AddressSanitizer's table of globals is full of addresses.
distcheck-code:
	$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS='$(CODE_TESTS)' \
		DISTCHECK_CONFIGURE_FLAGS="--enable-sanitizers CFLAGS='-g1 -O1' LDFLAGS=-no-pie"
.PHONY: check-code distcheck-code

# ---- what torch says, release by release: part of check ----
check-truth: profan
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
		$(SHELL) $(srcdir)/tests/truth_versions.sh
.PHONY: check-truth

# ---- changed databases and files, all commands: for a build with sanitizers;
# not part of check, for it takes an hour (COUNT, SEED) ----
check-attack: profan tests/gen/mktrace
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/attack.sh
.PHONY: check-attack

# ---- captures of one program against each other: more than check does ----
check-noise: profan tests/gen/mktrace
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) NOISE_PAIRS=200 \
		$(SHELL) $(srcdir)/tests/diff.sh
.PHONY: check-noise

# ---- speed and memory: not part of check ----
EXTRA_PROGRAMS = tests/measure
tests_measure_SOURCES = tests/measure.c
tests_measure_LDADD =
bench: profan tests/gen/mktrace tests/measure
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/bench.sh
.PHONY: bench

# ---- how they run: everything speaks TAP ----
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(EMULATOR)
SH_LOG_DRIVER = $(LOG_DRIVER)
# not $(SHELL), which may be one that takes longer to start and to fork
SH_LOG_COMPILER = sh
TEST_EXTENSIONS = .sh
AM_TESTS_ENVIRONMENT = \
	LC_ALL=C; export LC_ALL; \
	TZ=UTC; export TZ; \
	COLUMNS=80; export COLUMNS; \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1; \
	export ASAN_OPTIONS; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CC='$(CC)'; export CC; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	SQLITE3='$(SQLITE3)'; export SQLITE3;
if CMOCKA
TESTS += $(UNIT_TESTS)
endif
# not the folder: programs are built there
EXTRA_DIST += $(patsubst $(srcdir)/%,%,$(sort $(wildcard \
	$(srcdir)/tests/unit/*.[ch])))

# ---- the program, telling which keys of documents it asks for (with
# GNU ld) ----
if LINUX
check_PROGRAMS += tests/profan_keys
endif
tests_profan_keys_SOURCES = tests/keys_log.c
tests_profan_keys_LDADD = $(profan_OBJECTS) libprofan.a $(PROFAN_LIBS)
KEYS_WRAP = -Wl,--wrap=pf_table_
KEYS_WRAP_DOC = -Wl,--wrap=pf_doc_find
tests_profan_keys_LDFLAGS = $(KEYS_WRAP)find $(KEYS_WRAP)need $(KEYS_WRAP)at \
	$(KEYS_WRAP)int_at $(KEYS_WRAP)real_at $(KEYS_WRAP)text_at \
	$(KEYS_WRAP_DOC) $(KEYS_WRAP_DOC)_table
