# SPDX-License-Identifier: MIT
# For Spack, which has no libcsv: packages/profan/package.py
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Profan(AutotoolsPackage):
    """@SUMMARY@"""

    homepage = "@URL@"
    url = "@URL@releases/profan-@VERSION@.tar.xz"

    license("MIT")

    version("@VERSION@", sha256="@SHA256@")

    variant("isal", default=True, description="Read .gz with ISA-L")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("xxhash", type="build")
    depends_on("libiberty+pic", type="build")
    depends_on("isa-l", when="+isal")
    depends_on("sqlite@3.38:")
    depends_on("zlib-api")
    depends_on("zstd")

    resource(
        name="libcsv",
        url="https://downloads.sourceforge.net/project/libcsv/libcsv/libcsv-3.0.3/libcsv-3.0.3.tar.gz",
        sha256="d9c0431cb803ceb9896ce74f683e6e5a0954e96ae1d9e4028d6e0f967bebd7e4",
        placement="libcsv",
    )

    @property
    def own(self):
        return join_path(self.stage.source_path, "own")

    @run_before("configure")
    def libcsv(self):
        with working_dir(join_path(self.stage.source_path, "libcsv")):
            Executable("./configure")(f"--prefix={self.own}", "--disable-shared", "--with-pic")
            make("install")

    def configure_args(self):
        return [
            *self.with_or_without("isal"),
            f"CPPFLAGS=-I{self.own}/include",
            f"LDFLAGS=-L{self.own}/lib",
        ]
