#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Builds the Python package `adjoint`, and what it depends on.
#
#   scripts/build_python.sh
#
# Sets up, builds the preset $ADJOINT_PRESET (release) without its tests, installs it into build/PRESET/prefix, and the
# package, which needs nothing else, into build/PRESET/python. To use it: export PYTHONPATH=$PWD/build/release/python
set -euo pipefail
source "$(dirname "$0")/common.sh"

takes_no_arguments "$@"
scripts/setup.sh
build adjoint-installed
export CC=clang-22 CXX=clang++-22 LDFLAGS=-fuse-ld=lld-22
export CMAKE_PREFIX_PATH="$BUILD/prefix:$LLVM"
quietly "$BUILD/python-prefix.log" cmake --install "$BUILD" --prefix "$BUILD/prefix"
quietly "$BUILD/python-build.log" "$PYTHON" -m pip install --disable-pip-version-check --no-index --no-deps \
  --no-build-isolation --target "$BUILD/python" --upgrade --config-settings "build-dir=$BUILD/python-build" \
  ./python_bindings
say "the Python package is in ${BUILD#"$ROOT"/}/python"
