# SPDX-License-Identifier: MIT
# The capture library.  It is loaded into other people's programs: no library
# but libc, nothing exported but what agent.map lists.
EXTRA_DIST += agent/FORMAT.md agent/README.md agent/agent.map \
	agent/gpu-check.cu agent/gpu-check.py agent/gpu-check.sh

pkglib_LTLIBRARIES += libprofan_agent.la
libprofan_agent_la_SOURCES = \
	agent/agent.c \
	agent/agent.h \
	agent/bytes.h \
	agent/capture.c \
	agent/counts.c \
	agent/counts.h \
	agent/crc32c.c \
	agent/crc32c.h \
	agent/cupti.c \
	agent/cupti.h \
	agent/cupti_abi.h \
	agent/defs.c \
	agent/defs.h \
	agent/events.h \
	agent/file.c \
	agent/file.h \
	agent/info.c \
	agent/info.h \
	agent/log.c \
	agent/log.h \
	agent/meta.c \
	agent/nvtx.c \
	agent/nvtx_abi.h \
	agent/options.c \
	agent/options.h \
	agent/pool.c \
	agent/pool.h \
	agent/queue.c \
	agent/queue.h \
	agent/record.c \
	agent/record.h \
	agent/ring.c \
	agent/ring.h \
	agent/threads.c \
	agent/threads.h \
	agent/ticker.c \
	agent/wake.c \
	agent/wake.h \
	agent/writer.c
libprofan_agent_la_CPPFLAGS = -I$(srcdir)/agent
libprofan_agent_la_CFLAGS = $(PF_CFLAGS) -fvisibility=hidden \
	-ftls-model=initial-exec
libprofan_agent_la_LDFLAGS = $(PF_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,nodelete -Wl,--as-needed \
	-Wl,--version-script=$(srcdir)/agent/agent.map
libprofan_agent_la_DEPENDENCIES = $(srcdir)/agent/agent.map
