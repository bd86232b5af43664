# SPDX-License-Identifier: MIT
# The libraries that the program is linked with, for another system: lib/*.a and
# include/ of the folder that make runs in.  Called by zig.sh with
#	third=	their sources (contrib/wasm/sources.sh)
#	top=	the source tree
#	CC=	the compiler of that system, AR=, CFLAGS=
include $(top)/contrib/wasm/third.mk
LIBRARIES = sqlite3 csv iberty z zstd
.DELETE_ON_ERROR: # zig leaves empty files
all: $(LIBRARIES:%=lib/lib%.a) include
of = $(addsuffix .o,$(filter $(1)%,$(THIRD)))
lib/libsqlite3.a: $(call of,sqlite3)
lib/libcsv.a: $(call of,libcsv)
lib/libiberty.a: $(call of,libiberty)
lib/libz.a: $(call of,zlib)
lib/libzstd.a: $(call of,libzstd)
$(LIBRARIES:%=lib/lib%.a):
	@mkdir -p lib
	$(AR) rcs $@ $^
$(THIRD:=.o): %.o: $(third)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -w $(call third_flags,$@) -c $< -o $@
include: $(third)/include
	mkdir -p $@
	cp -r $(third)/libiberty/include $@/libiberty
	cp $(third)/sqlite3/one/sqlite3*.h $(third)/libcsv/csv.h $(third)/xxhash/xxhash.h \
		$(third)/zlib/zlib.h $(third)/zlib/zconf.h $(third)/libzstd/lib/*.h $@
