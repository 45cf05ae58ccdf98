#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Builds a Debian package of the tools, libAdjoint.so, the plug-in and the headers, into dist/.
#
#   scripts/build_deb.sh
#
# `apt install ./dist/adjoint_*.deb` takes the libraries of MLIR and LLVM 22 from Debian.
set -euo pipefail
source "$(dirname "$0")/common.sh"

takes_no_arguments "$@"
scripts/setup.sh
build adjoint-installed
rm -rf "$BUILD/deb-root" dist/adjoint_*.deb
quietly "$BUILD/deb-install.log" cmake --install "$BUILD" --prefix "$BUILD/deb-root/usr" --strip
mkdir -p dist
quietly "$BUILD/deb.log" cpack --config "$BUILD/CPackConfig.cmake" -B "$ROOT/dist"
rm -rf dist/_CPack_Packages
say "$(du -h dist/adjoint_*.deb | tr '\t' ' ')"
