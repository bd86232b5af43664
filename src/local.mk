# SPDX-License-Identifier: MIT
# The program.  Its sources and tests are listed by src/sources.sh.

include src/sources.mk
EXTRA_DIST += src/sources.sh
noinst_LIBRARIES += libprofan.a
nodist_libprofan_a_SOURCES = src/embed/assets.c

AM_CPPFLAGS += -DPKGLIBDIR='"$(pkglibdir)"'
bin_PROGRAMS += profan
profan_LDADD = libprofan.a $(PROFAN_LIBS)
dist_man1_MANS += src/profan.1

src/embed/assets.c: $(EMBEDDED) src/embed/embed.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && AWK='$(AWK)' $(SHELL) \
		$(srcdir)/src/embed/embed.sh $(srcdir) $(EMBEDDED) > $@.tmp && \
		mv $@.tmp $@
CLEANFILES += src/embed/assets.c src/embed/assets.c.tmp
EXTRA_DIST += src/embed/embed.sh

# The virtual tables as an extension for other programs with SQLite.
pkglib_LTLIBRARIES += profan_sqlite.la
profan_sqlite_la_SOURCES = \
	src/base/buf.c \
	src/base/err.c \
	src/base/jsontext.c \
	src/base/mem.c \
	src/base/num.c \
	src/base/utf8.c \
	src/embed/asset.c \
	src/store/argtext.c \
	src/store/block.c \
	src/store/block_load.c \
	src/store/cursor.c \
	src/store/db.c \
	src/store/extension.c \
	src/store/lexicon.c \
	src/store/vtab.c \
	src/store/vtab_column.c \
	src/store/vtab_group.c \
	src/store/vtab_plan.c \
	src/store/vtab_scan.c
nodist_profan_sqlite_la_SOURCES = src/embed/assets.c
profan_sqlite_la_CPPFLAGS = $(AM_CPPFLAGS) -DPF_EXTENSION
profan_sqlite_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^sqlite3_profansqlite_init$$'
profan_sqlite_la_LIBADD = $(ZSTD_LIBS)
