#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Do the tests find faults? Builds the libraries with single faults in them that are switched at run time, and runs the
# tests that reach each of a sample.
#
#   mutations.sh [--no-build] [OPTION…]
#
# The build (build/mutations) takes as long as any; --no-build takes the one at hand. OPTIONS are those of
# test/Mutations/run.py, among them --count, --seed, --list, --only ID, --files REGEX; see --help.
set -euo pipefail
export ADJOINT_PRESET=mutations
source "$(dirname "$0")/../../scripts/common.sh"

make_build() {
  if [[ ! -f $BUILD/build.ninja || CMakePresets.json -nt $BUILD/build.ninja ]]; then
    quietly build/setup-configure-mutations.log cmake --preset mutations
  fi
  say "building build/mutations"
  quietly build/mutations-build.log build all
}

case ${1-} in
  --no-build) shift ;;
  -h | --help) ;;
  --list) [[ -f $BUILD/bin/ad-opt ]] || make_build ;;
  *) make_build ;;
esac
exec "$PYTHON" test/Mutations/run.py "$@"
