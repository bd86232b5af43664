# SPDX-License-Identifier: MIT
# The capture library.  It is loaded into other people's programs: no library
# but libc, nothing exported but what agent.map lists.
EXTRA_DIST += agent/FORMAT.md agent/README.md agent/agent.map \
	agent/gpu-check.cu agent/gpu-check.py agent/gpu-check.sh

if LINUX
pkglib_LTLIBRARIES += libprofan_agent.la
endif
libprofan_agent_la_CPPFLAGS = -I$(srcdir)/agent
libprofan_agent_la_CFLAGS = $(PF_CFLAGS) -fvisibility=hidden \
	-ftls-model=initial-exec
libprofan_agent_la_LDFLAGS = $(PF_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,nodelete -Wl,--as-needed \
	-Wl,--version-script=$(srcdir)/agent/agent.map
libprofan_agent_la_DEPENDENCIES = $(srcdir)/agent/agent.map
