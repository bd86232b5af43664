# SPDX-License-Identifier: MIT
# Tests of the capture agent: a CUPTI that is none, and a program that plays
# the driver.
if LINUX
check_PROGRAMS += tests/agent/drive tests/agent/test_parts
check_LTLIBRARIES = \
	tests/agent/libfakecupti.la \
	tests/agent/libfakecupti11.la
TESTS += tests/agent/test_parts
endif
tests_agent_drive_SOURCES = \
	tests/agent/drive.c \
	tests/agent/drive.h \
	tests/agent/drive_nvtx.c \
	tests/agent/fakecupti.h
tests_agent_drive_CPPFLAGS = -I$(srcdir)/agent
tests_agent_drive_LDADD =

tests_agent_test_parts_SOURCES = \
	agent/counts.c \
	agent/crc32c.c \
	agent/cupti.c \
	agent/defs.c \
	agent/log.c \
	agent/options.c \
	agent/ring.c \
	tests/agent/test_parts.c
tests_agent_test_parts_CPPFLAGS = -I$(srcdir)/agent
tests_agent_test_parts_LDADD =

tests_agent_libfakecupti_la_SOURCES = \
	tests/agent/fakecupti.c \
	tests/agent/fakecupti.h
tests_agent_libfakecupti_la_LDFLAGS = $(PF_LDFLAGS) -module -avoid-version \
	-shared -rpath $(abs_builddir)
tests_agent_libfakecupti11_la_SOURCES = $(tests_agent_libfakecupti_la_SOURCES)
tests_agent_libfakecupti11_la_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_OLD
tests_agent_libfakecupti11_la_LDFLAGS = $(tests_agent_libfakecupti_la_LDFLAGS)

EXTRA_DIST += \
	tests/agent/abi_check.c \
	tests/agent/agent.sh \
	tests/agent/all-130001.txt \
	tests/agent/all-18.txt \
	tests/agent/all-28.txt \
	tests/agent/cost.sh \
	tests/agent/h100 \
	tests/agent/nvtx3_check.c \
	tests/agent/nvtx3_check.txt \
	tests/agent/pfr.py

# ---- cost, and programs killed for long: not part of check ----
bench-agent: libprofan_agent.la $(check_PROGRAMS) $(check_LTLIBRARIES)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
		$(SHELL) $(srcdir)/tests/agent/cost.sh
check-agent-long: libprofan_agent.la $(check_PROGRAMS) $(check_LTLIBRARIES)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
		PROFAN_KILLS=200 PROFAN_LONG=1 $(SHELL) $(srcdir)/tests/agent/life.sh
.PHONY: bench-agent check-agent-long
