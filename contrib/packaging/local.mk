# SPDX-License-Identifier: MIT
# Debian packages and releases.
EXTRA_DIST += contrib/packaging/arm64.sh contrib/packaging/recipes \
	contrib/packaging/recipes.sh contrib/packaging/release.sh \
	contrib/packaging/sbom.py contrib/packaging/sysroot.sh \
	contrib/packaging/zig.mk contrib/packaging/zig.sh \
	$(patsubst $(srcdir)/%,%,$(sort $(wildcard $(srcdir)/debian/*.*) \
	$(addprefix $(srcdir)/debian/,changelog control copyright rules \
	source/format source/lintian-overrides tests/control tests/quickstart)))

# make release: what a release consists of, in release/
release:
	$(AM_V_GEN)PYTHON='$(PYTHON)' $(SHELL) \
		$(abs_srcdir)/contrib/packaging/release.sh $(abs_srcdir) $(VERSION) \
		$(PACKAGE_URL)
clean-local: clean-release
clean-release:
	rm -rf arm64 release release-work zig
.PHONY: release clean-release

# make check-macos: compiled and linked for macOS, with zig; not run
ZIG_SH = PYTHON='$(PYTHON)' $(SHELL) $(abs_srcdir)/contrib/packaging/zig.sh \
	$(abs_srcdir)
check-macos: profan$(EXEEXT)
	$(ZIG_SH) profan aarch64-macos.11.0 x86_64-macos.11.0
# make wheels: wheels/, for glibc 2.28 and macOS; what "make release" takes along
wheels: profan$(EXEEXT)
	$(ZIG_SH) wheel $(WHEELS)
.PHONY: check-macos wheels

# make check-arm64: cross built, under qemu; takes many minutes, so it is no part
# of check
check-arm64:
	$(SHELL) $(abs_srcdir)/contrib/packaging/arm64.sh $(abs_srcdir) \
		$(if $(filter all,$(SUITES)),$(SHELL_TESTS:tests/%.sh=%),$(SUITES))
.PHONY: check-arm64
