# SPDX-License-Identifier: MIT
# The program.  Its sources and tests are listed by src/sources.sh.

include src/sources.mk
EXTRA_DIST += src/sources.sh
noinst_LIBRARIES += libprofan.a
nodist_libprofan_a_SOURCES = src/base/assets.c src/base/words.c

AM_CPPFLAGS += -DPKGLIBDIR='"$(pkglibdir)"' \
	-DPKGDATADIR='"$(pkgdatadir)"'
bin_PROGRAMS += profan
profan_LDADD = libprofan.a $(PROFAN_LIBS)
profan_LDFLAGS = $(AM_LDFLAGS) $(PF_PROGRAM_LDFLAGS)

# Commands and formats enter themselves in their lists.
ENTRIES = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/src/entries.sh
AM_CPPFLAGS += -Isrc
src/cmd/commands.inc: $(profan_SOURCES) src/entries.sh src/sources.mk
	$(ENTRIES) PF_COMMAND $(srcdir)/src/cmd/*.c > $@
src/show/formats.inc: $(libprofan_a_SOURCES) src/entries.sh \
	src/sources.mk
	$(ENTRIES) PF_FORMAT $(srcdir)/src/show/*.c > $@
src/ingest/formats.inc: $(libprofan_a_SOURCES) src/entries.sh \
	src/sources.mk
	$(ENTRIES) PF_INGEST_FORMAT $(srcdir)/src/ingest/*.c > $@
src/cmd/cmd.o: src/cmd/commands.inc
src/show/render.o: src/show/formats.inc
src/ingest/readers.o: src/ingest/formats.inc
CLEANFILES += src/cmd/commands.inc src/show/formats.inc \
	src/ingest/formats.inc

# Man pages: profan(1) lists the commands, each has a page made of its part.
MAN_PARTS = $(sort $(wildcard $(srcdir)/src/cmd/*.1))
MAN_PAGES = $(MAN_PARTS:$(srcdir)/src/cmd/%=src/profan-%)
man1_MANS += src/profan.1 $(MAN_PAGES)
src/profan.1: src/cmd/profan.1.in src/cmd/commands.inc src/cmd/cmd.h \
		$(MAN_PARTS)
	$(AM_V_GEN)(set -e; in=$(srcdir)/src/cmd/profan.1.in; \
		sed '/^@commands@/,$$d; s/@date@/$(RELEASE_DATE)/' $$in; \
		$(AWK) -F '"' '/^#define PF_GROUP_/ { \
				split($$1, word, " "); title[word[2]] = $$2 } \
			/^\t\.name = / { name = $$2 } \
			/^\t\.group = / { gsub(/.*= |,/, ""); if ($$0 != group) \
				print ".SS " title[group = $$0] } \
			/^\t\.summary = / { \
				printf ".TP\n.BR profan\\-%s (1)\n%s\n", name, $$2 }' \
			$(srcdir)/src/cmd/cmd.h \
			$$(sed 's|.*(\(.*\))|$(srcdir)/src/cmd/cmd_\1.c|' \
				src/cmd/commands.inc); \
		sed -e '1,/^@commands@/d; s|@bugs@|$(PACKAGE_BUGREPORT)|' \
			-e 's|@url@|$(PACKAGE_URL)|' $$in) > $@.tmp && mv $@.tmp $@
$(MAN_PAGES): src/profan-%.1: src/cmd/%.1 src/cmd/page.awk src/cmd/cmd_%.c \
		src/cmd/window.1.in
	$(AM_V_GEN)$(AWK) -v date=$(RELEASE_DATE) -v window=$(srcdir)/src/cmd/window.1.in \
		-f $(srcdir)/src/cmd/page.awk \
		$(srcdir)/src/cmd/cmd_$*.c $(srcdir)/src/cmd/$*.1 > $@.tmp && \
		mv $@.tmp $@
CLEANFILES += src/profan.1 src/profan.1.tmp $(MAN_PAGES)
EXTRA_DIST += src/entries.sh src/cmd/profan.1.in src/cmd/page.awk \
	src/cmd/window.1.in $(MAN_PARTS:$(srcdir)/%=%)

src/base/assets.c: $(EMBEDDED) src/base/embed.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && AWK='$(AWK)' $(SHELL) \
		$(srcdir)/src/base/embed.sh $(srcdir) $(EMBEDDED) > $@.tmp && \
		mv $@.tmp $@
CLEANFILES += src/base/assets.c src/base/assets.c.tmp
EXTRA_DIST += src/base/embed.sh

# What names mean: rows of a table that is searched too often to be read.
src/base/words.c: $(srcdir)/data/words.csv src/base/words.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && LC_ALL=C $(AWK) \
		-f $(srcdir)/src/base/words.awk $(srcdir)/data/words.csv \
		> $@.tmp && mv $@.tmp $@
EXTRA_DIST += src/base/words.awk
CLEANFILES += src/base/words.c src/base/words.c.tmp

# The virtual tables as an extension for other programs with SQLite.
if LINUX
pkglib_LTLIBRARIES += profan_sqlite.la
endif
profan_sqlite_la_SOURCES = \
	src/base/buf.c \
	src/base/err.c \
	src/base/inside.c \
	src/base/intern.c \
	src/base/json.c \
	src/base/mem.c \
	src/base/num.c \
	src/base/port.c \
	src/base/tempfile.c \
	src/base/utf8.c \
	src/base/asset.c \
	src/store/argtext.c \
	src/store/block.c \
	src/store/db.c \
	src/store/extension.c \
	src/store/threads.c \
	src/store/vtab.c
nodist_profan_sqlite_la_SOURCES = src/base/assets.c
profan_sqlite_la_CPPFLAGS = $(AM_CPPFLAGS) -DPF_EXTENSION
profan_sqlite_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	$(EXTENSION_MAP)
EXTENSION_MAP = -Wl,--version-script=$(srcdir)/src/store/extension.map
profan_sqlite_la_DEPENDENCIES = src/store/extension.map
EXTRA_DIST += src/store/extension.map
profan_sqlite_la_LIBADD = $(ZSTD_LIBS)
