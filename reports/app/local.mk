# SPDX-License-Identifier: MIT
# The page that is the program, of what 'make wasm' leaves in wasm/.
PAGE_PARTS = $(sort $(wildcard $(srcdir)/reports/app/*)) \
	$(addprefix $(srcdir)/reports/,app.js shared.js style.css)
EXTRA_DIST += $(patsubst $(srcdir)/%,%,$(sort $(wildcard \
	$(srcdir)/reports/app/*)))

profan.html: wasm/profan.wasm wasm/profan.js wasm/host.js $(PAGE_PARTS)
	$(AM_V_GEN)$(PYTHON) $(srcdir)/reports/app/inline.py $(srcdir) \
		wasm/profan.wasm wasm/profan.js wasm/host.js $@
CLEANFILES += profan.html
