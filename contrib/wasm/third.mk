# SPDX-License-Identifier: MIT
# What sources.sh unpacks, and how it is compiled for any machine.  $(third) is
# the folder.
THIRD = sqlite3 libcsv/libcsv libiberty/libiberty/cp-demangle \
	$(addprefix zlib/,adler32 crc32 inflate inffast inftrees zutil deflate trees) \
	$(patsubst $(third)/%.c,%,$(wildcard $(addprefix $(third)/libzstd/lib/, \
	common/*.c compress/*.c decompress/*.c)))
# as Debian builds it, where it matters to the bytes of databases or to queries
FLAGS_sqlite3 = -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA \
	-DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_STMTVTAB \
	-DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_SOUNDEX \
	-DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_USE_URI \
	-DSQLITE_OMIT_LOOKASIDE -DSQLITE_THREADSAFE=1 \
	-DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_OMIT_LOAD_EXTENSION \
	-DHAVE_ISNAN
FLAGS_libiberty = -DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_ALLOCA_H \
	-I$(third)/libiberty/include
FLAGS_libzstd = -DZSTD_DISABLE_ASM=1
# zlib takes every macOS for one that has no fdopen()
FLAGS_zlib = -DHAVE_UNISTD_H -DHAVE_STDARG_H -Dfdopen=fdopen
# of "zlib/adler32.o" those of zlib
third_flags = $(FLAGS_$(basename $(firstword $(subst /, ,$(1)))))
