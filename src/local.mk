# SPDX-License-Identifier: MIT
# Sources of the program.  One file a line, alphabetical within its folder.

noinst_LIBRARIES += libprofan.a
libprofan_a_SOURCES = \
	src/base/buf.c \
	src/base/buf.h \
	src/base/err.c \
	src/base/err.h \
	src/base/mem.c \
	src/base/mem.h \
	src/base/spool.h \
	src/embed/asset.c \
	src/embed/asset.h \
	src/embed/asset_table.h \
	src/store/block.h \
	src/store/cursor.h \
	src/store/db.h \
	src/trace/event.h
nodist_libprofan_a_SOURCES = src/embed/assets.c

src/embed/assets.c: $(EMBEDDED) src/embed/embed.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && AWK='$(AWK)' $(SHELL) \
		$(srcdir)/src/embed/embed.sh $(srcdir) $(EMBEDDED) > $@.tmp && \
		mv $@.tmp $@
CLEANFILES += src/embed/assets.c src/embed/assets.c.tmp
EXTRA_DIST += src/embed/embed.sh
