# SPDX-License-Identifier: MIT
# The Python module; its methods are made of the program's help.

PYTHON_MODULE = $(patsubst $(srcdir)/%,%,$(sort \
	$(wildcard $(srcdir)/python/profan/*.py))) python/profan/py.typed
PYTHON_TOOLS = python/assemble.sh python/generate.py python/wheel.py
EXTRA_DIST += $(PYTHON_MODULE) $(PYTHON_TOOLS) python/README.md

# A page a question, with its traces, and recipes to copy.
EXTRA_DIST += $(patsubst $(srcdir)/%,%,$(sort $(wildcard $(srcdir)/docs/guide/*))) \
	$(patsubst $(srcdir)/%,%,$(sort \
	$(wildcard $(srcdir)/contrib/ci/*))) contrib/container/Containerfile

# make python: the module, to be named in PYTHONPATH as python/lib
python: profan$(EXEEXT)
	$(AM_V_GEN)PYTHON='$(PYTHON)' \
		$(SHELL) $(srcdir)/python/assemble.sh \
		'$(HELP_PROFAN)' $(srcdir)/python python/lib

# make wheel: dist/profan-VERSION-py3-none-PLATFORM.whl, for every Python.  The
# program in it has its libraries in itself and needs libc and libm alone; so
# has the extension.  Debian has no static ISA-L, so zlib reads .gz.  STATIC is how
# a linker is told of such a library, WHEEL_FLAGS are for wheel.py.
STATIC = -l:lib%.a
STATIC_LIBS = $(patsubst %,$(STATIC),sqlite3 z zstd csv) $(IBERTY_LIBS) $(LIBS)
wheel/input.o: src/formats/input.c src/formats/input.h config.h
	$(AM_V_CC)$(MKDIR_P) wheel && $(COMPILE) -DPF_NO_ISAL -c -o $@ \
		$(srcdir)/src/formats/input.c
wheel/profan: wheel/input.o $(profan_OBJECTS) libprofan.a
	$(AM_V_CCLD)$(CCLD) $(CFLAGS) $(LDFLAGS) -s -o $@ $(profan_OBJECTS) \
		wheel/input.o libprofan.a $(STATIC_LIBS)
wheel/profan_sqlite.so: profan_sqlite.la
	$(AM_V_CCLD)$(MKDIR_P) wheel && $(CCLD) $(CFLAGS) $(LDFLAGS) -s -shared \
		-o $@ $(EXTENSION_OBJECTS) $(patsubst %,$(STATIC),zstd) $(LIBS) \
		$(EXTENSION_MAP)
EXTENSION_OBJECTS = $(join $(dir $(am_profan_sqlite_la_OBJECTS) \
	$(nodist_profan_sqlite_la_OBJECTS)),$(patsubst %.lo,.libs/%.o,$(notdir \
	$(am_profan_sqlite_la_OBJECTS) $(nodist_profan_sqlite_la_OBJECTS))))
# One make after the other: both build the program.
wheel: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) wheel-file
if LINUX
WHEEL_LOADED = wheel/profan_sqlite.so
endif
wheel-file: python wheel/profan $(WHEEL_LOADED)
	$(AM_V_GEN)$(PYTHON) $(srcdir)/python/wheel.py --source $(srcdir) \
		--version $(VERSION) --url '$(PACKAGE_URL)' \
		--maintainer '$(MAINTAINER) <$(PACKAGE_BUGREPORT)>' --machine $(host_cpu) --strip '$(STRIP)' \
		--into dist $(WHEEL_FLAGS)
clean-local: clean-python
clean-python:
	rm -rf python/lib wheel dist
.PHONY: python wheel wheel-file clean-python
