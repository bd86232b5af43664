# SPDX-License-Identifier: MIT
# The Python module; its methods are made of the program's help.

PYTHON_MODULE = $(patsubst $(srcdir)/%,%,$(sort \
	$(wildcard $(srcdir)/python/profan/*.py))) python/profan/py.typed
PYTHON_TOOLS = python/assemble.sh python/generate.py
EXTRA_DIST += $(PYTHON_MODULE) $(PYTHON_TOOLS) python/README.md

# make python: the module, to be named in PYTHONPATH as python/lib
python: profan$(EXEEXT)
	$(AM_V_GEN)PYTHON='$(PYTHON)' $(SHELL) $(srcdir)/python/assemble.sh \
		./profan$(EXEEXT) $(srcdir)/python python/lib
clean-local: clean-python
clean-python:
	rm -rf python/lib
.PHONY: python clean-python
