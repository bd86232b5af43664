# SPDX-License-Identifier: MIT
# For nix (nix-build default.nix); nixpkgs has no libcsv.
{ pkgs ? import <nixpkgs> { } }:
let
  libcsv = pkgs.stdenv.mkDerivation {
    pname = "libcsv";
    version = "3.0.3";
    src = pkgs.fetchurl {
      url = "https://downloads.sourceforge.net/project/libcsv/libcsv/libcsv-3.0.3/libcsv-3.0.3.tar.gz";
      sha256 = "d9c0431cb803ceb9896ce74f683e6e5a0954e96ae1d9e4028d6e0f967bebd7e4";
    };
    meta.license = pkgs.lib.licenses.lgpl21Plus;
  };
in
pkgs.stdenv.mkDerivation rec {
  pname = "profan";
  version = "@VERSION@";
  src = pkgs.fetchurl {
    url = "@URL@releases/profan-${version}.tar.xz";
    sha256 = "@SHA256@";
  };
  nativeBuildInputs = [ pkgs.pkg-config ];
  # sqlite 3.38 or newer
  buildInputs = [ libcsv ] ++ (with pkgs; [ isa-l libiberty sqlite xxHash zlib zstd ]);
  meta = {
    description = "@SUMMARY@";
    homepage = "@URL@";
    license = pkgs.lib.licenses.mit;
    mainProgram = "profan";
    platforms = pkgs.lib.platforms.unix;
  };
}
