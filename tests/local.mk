# SPDX-License-Identifier: MIT
# Tests.  A new unit test is a file tests/unit/test_NAME.c and a line here.

# ---- unit tests (cmocka) ----
UNIT_TESTS = \
	tests/unit/test_asset \
	tests/unit/test_spool

if CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
check_LIBRARIES += tests/unit/libsupport.a
endif
tests_unit_libsupport_a_SOURCES = tests/unit/support.c tests/unit/support.h
tests_unit_libsupport_a_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
AM_CPPFLAGS += -I$(top_srcdir)/tests
LDADD = tests/unit/libsupport.a libprofan.a $(CMOCKA_LIBS) $(PROFAN_LIBS)

# ---- makes traces ----
check_PROGRAMS += tests/gen/mktrace
tests_gen_mktrace_SOURCES = \
	tests/gen/chrome.c \
	tests/gen/emit.c \
	tests/gen/gen.h \
	tests/gen/mktrace.c \
	tests/gen/model.c \
	tests/gen/tables.h \
	tests/gen/truth.c
tests_gen_mktrace_LDADD =

# ---- shell tests ----
SHELL_TESTS = \
	tests/layers.sh \
	tests/limits.sh
EXTRA_DIST += $(SHELL_TESTS) tests/tap.sh

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
TESTS = $(SHELL_TESTS)
if CMOCKA
TESTS += $(UNIT_TESTS)
endif
EXTRA_DIST += tests/unit
