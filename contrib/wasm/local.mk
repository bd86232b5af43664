# SPDX-License-Identifier: MIT
# profan as WebAssembly: profan.html, the page that is the program.
EXTRA_DIST += $(addprefix contrib/wasm/,Makefile README.md check.js host.js \
	memcmp.c sources.sh third.mk)

# make wasm: wasm/profan.wasm and profan.js, and profan.html of them.
wasm: profan.html
wasm/profan.wasm wasm/profan.js: wasm-build
wasm-build: profan$(EXEEXT)
	@for tool in emcc node tclsh dpkg-source; do \
		command -v $$tool >/dev/null || { echo "make wasm: $$tool is missing" \
			"(Debian: emscripten nodejs tcl dpkg-dev)" >&2; exit 1; }; done
	@$(MKDIR_P) wasm
	$(AM_V_GEN)[ -e wasm/third/include ] || { rm -rf wasm/third && \
		$(SHELL) $(abs_srcdir)/contrib/wasm/sources.sh wasm/third; }
	$(AM_V_GEN)$(MAKE) -s -C wasm -f $(abs_srcdir)/contrib/wasm/Makefile \
		top=$(abs_srcdir) built=$(abs_builddir)

# make check-wasm: its outputs are those of the program, to the byte; on the
# tests' traces, and on others where they are there, or on INPUTS=...
WASM_INPUTS = $(srcdir)/tests/traces/*.json $(wildcard $(addprefix \
	$(srcdir)/../shared/traces/,h100_bert_small.json.gz \
	v100_resnet50_workers0.json.gz))
check-wasm: wasm-build
	node $(srcdir)/contrib/wasm/check.js $(abs_builddir)/profan wasm \
		$(or $(INPUTS),$(WASM_INPUTS))
clean-local: clean-wasm
clean-wasm:
	rm -rf wasm profan.html
.PHONY: wasm wasm-build check-wasm clean-wasm
