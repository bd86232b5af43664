# SPDX-License-Identifier: MIT
# For Homebrew: Formula/p/profan.rb
class Profan < Formula
  desc "@SUMMARY@"
  homepage "@URL@"
  url "@URL@releases/profan-@VERSION@.tar.xz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "binutils" => :build # libiberty.a
  depends_on "pkgconf" => :build
  depends_on "xxhash" => :build # its header
  depends_on "isa-l"
  depends_on "libcsv"
  depends_on "sqlite" # 3.38 or newer
  depends_on "zstd"
  uses_from_macos "zlib"

  def install
    binutils = Formula["binutils"]
    system "./configure", *std_configure_args, "--with-isal",
           "CPPFLAGS=-I#{binutils.opt_include}", "LDFLAGS=-L#{binutils.opt_lib}"
    system "make", "install"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/profan --version")
  end
end
