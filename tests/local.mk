# SPDX-License-Identifier: MIT
# Tests.  A new unit test is a file tests/unit/test_NAME.c and a line here.

# ---- unit tests (cmocka) ----
UNIT_TESTS = \
	tests/unit/test_argtext \
	tests/unit/test_asset \
	tests/unit/test_averages \
	tests/unit/test_block \
	tests/unit/test_block_body \
	tests/unit/test_chrome \
	tests/unit/test_comm \
	tests/unit/test_db \
	tests/unit/test_demangle \
	tests/unit/test_diff \
	tests/unit/test_xxh128 \
	tests/unit/test_doctor \
	tests/unit/test_flops \
	tests/unit/test_gaps \
	tests/unit/test_gpu \
	tests/unit/test_ingest_run \
	tests/unit/test_input \
	tests/unit/test_interval \
	tests/unit/test_jsontext \
	tests/unit/test_jsonw \
	tests/unit/test_mend \
	tests/unit/test_num \
	tests/unit/test_number \
	tests/unit/test_opt \
	tests/unit/test_order \
	tests/unit/test_pfr \
	tests/unit/test_pfr_hostile \
	tests/unit/test_progress \
	tests/unit/test_redact \
	tests/unit/test_render \
	tests/unit/test_report \
	tests/unit/test_rules \
	tests/unit/test_slice \
	tests/unit/test_spool \
	tests/unit/test_step_names \
	tests/unit/test_stacks \
	tests/unit/test_steps \
	tests/unit/test_syncs \
	tests/unit/test_tensor \
	tests/unit/test_torch_table \
	tests/unit/test_trust \
	tests/unit/test_usage \
	tests/unit/test_verdicts \
	tests/unit/test_vtab

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
	tests/gen/plant.c \
	tests/gen/tables.h \
	tests/gen/truth.c
tests_gen_mktrace_LDADD =

check_PROGRAMS += tests/gen/mkpfr
tests_gen_mkpfr_SOURCES = tests/gen/mkpfr.c tests/gen/pfrw.c tests/gen/pfrw.h
tests_gen_mkpfr_LDADD =

check_PROGRAMS += tests/gen/nvtxrun
tests_gen_nvtxrun_SOURCES = tests/gen/nvtxrun.c
tests_gen_nvtxrun_LDADD = -ldl

# ---- fuzz targets: with libFuzzer, or replaying files ----
FUZZ_TARGETS = \
	tests/fuzz/fuzz_block \
	tests/fuzz/fuzz_ingest \
	tests/fuzz/fuzz_pfr \
	tests/fuzz/fuzz_scanner
check_PROGRAMS += $(FUZZ_TARGETS)
tests_fuzz_fuzz_block_SOURCES = tests/fuzz/fuzz_block.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_ingest_SOURCES = tests/fuzz/fuzz_ingest.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_pfr_SOURCES = tests/fuzz/fuzz_pfr.c tests/fuzz/fuzz.h \
	tests/gen/pfrread.c tests/gen/pfrread.h tests/gen/pfrw.c \
	tests/gen/pfrw.h
tests_fuzz_fuzz_scanner_SOURCES = tests/fuzz/fuzz_scanner.c tests/fuzz/fuzz.h
FUZZ_LIBS = libprofan.a $(PROFAN_LIBS)
tests_fuzz_fuzz_block_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_ingest_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_pfr_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_scanner_LDADD = $(FUZZ_LIBS)
if FUZZERS
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_block_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_ingest_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_pfr_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_scanner_LDFLAGS = $(FUZZ_LINK)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_block_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_ingest_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_pfr_LDADD += tests/fuzz/libreplay.a
tests_fuzz_fuzz_scanner_LDADD += tests/fuzz/libreplay.a
endif

# ---- the capture agent ----
include tests/agent/local.mk

# ---- shell tests ----
SHELL_TESTS = \
	tests/agent/abi.sh \
	tests/agent/gpu_check.sh \
	tests/agent/life.sh \
	tests/agent/nvtx.sh \
	tests/agent/records.sh \
	tests/arrival.sh \
	tests/capture.sh \
	tests/chunks.sh \
	tests/devices.sh \
	tests/diff.sh \
	tests/docs.sh \
	tests/doctor.sh \
	tests/extension.sh \
	tests/extremes.sh \
	tests/faults.sh \
	tests/fuzz.sh \
	tests/golden.sh \
	tests/hta.sh \
	tests/idle.sh \
	tests/key_averages.sh \
	tests/laws.sh \
	tests/layers.sh \
	tests/limits.sh \
	tests/memory.sh \
	tests/modules.sh \
	tests/others.sh \
	tests/peers.sh \
	tests/report.sh \
	tests/pfr.sh \
	tests/planted.sh \
	tests/precision.sh \
	tests/slice.sh \
	tests/sql.sh \
	tests/stacks.sh \
	tests/traces.sh \
	tests/truth.sh \
	tests/truth_versions.sh
EXTRA_DIST += $(SHELL_TESTS) tests/arrival.py tests/bench.sh \
	tests/devices.py tests/diff.py tests/doctor.py tests/extremes.py tests/hta.py tests/memory.py \
	tests/modules.py tests/peers.py tests/planted.py \
	tests/precision.py tests/slice.py \
	tests/stacks.py \
	tests/tap.sh tests/tracefile.py \
	tests/fuzz/corpus tests/fuzz/README.md tests/golden tests/traces \
	tests/others tests/report tests/truth

# ---- what torch says, release by release: part of check ----
check-truth: profan
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
		$(SHELL) $(srcdir)/tests/truth_versions.sh
.PHONY: check-truth

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
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
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
	PYTHON='$(PYTHON)'; export PYTHON; \
	SQLITE3='$(SQLITE3)'; export SQLITE3;
TESTS = $(SHELL_TESTS) tests/agent/test_parts
if CMOCKA
TESTS += $(UNIT_TESTS)
endif
EXTRA_DIST += tests/unit
