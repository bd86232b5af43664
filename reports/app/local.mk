# SPDX-License-Identifier: MIT
# The page that is the program, of what 'make wasm' (contrib/wasm) compiles.
PAGE_PARTS = $(sort $(wildcard $(srcdir)/reports/app/*)) \
	$(addprefix $(srcdir)/reports/,app.js canvas.js shared.js style.css) \
	$(srcdir)/contrib/wasm/host.js
EXTRA_DIST += $(patsubst $(srcdir)/%,%,$(sort $(wildcard \
	$(srcdir)/reports/app/*)))

profan.html: wasm/profan.wasm wasm/profan.js $(PAGE_PARTS)
	$(AM_V_GEN)$(PYTHON) $(srcdir)/reports/app/inline.py $(srcdir) \
		wasm/profan.wasm wasm/profan.js \
		$(srcdir)/contrib/wasm/host.js ./profan$(EXEEXT) $(VERSION) $@

# 'make install' installs it where it was made: profan view writes it.
install-data-local:
	[ ! -e profan.html ] || { $(MKDIR_P) $(DESTDIR)$(pkgdatadir) && \
		$(INSTALL_DATA) profan.html $(DESTDIR)$(pkgdatadir); }
uninstall-local:
	rm -f $(DESTDIR)$(pkgdatadir)/profan.html

# make bench-page: the page on a large trace, in Chromium, beside the program.
bench-page: profan.html tests/gen/mktrace
	$(AM_V_at)$(MKDIR_P) bench-data
	$(AM_V_at)$(PYTHON) $(srcdir)/tests/report/bench_page.py bench-data \
		$${CHROMIUM:-chromium} ./profan tests/gen/mktrace profan.html \
		$(BENCH_BYTES)
.PHONY: bench-page
