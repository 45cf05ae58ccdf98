#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Follows the first recipe of CONTRIBUTING.md in a copy of the tree, build/recipe.
#
#   scripts/test.sh recipe
#
# Adds the operation ad.softsign by Inputs/softsign.patch, which changes the files that the recipe lists, builds, and
# runs the operation and its derivative. Closes with `N run, N failed`.
set -euo pipefail
source "$(dirname "$0")/../../scripts/common.sh"

INPUTS=$ROOT/test/Recipe/Inputs
COPY=$ROOT/build/recipe
runs=0 failures=0

# The build folder of an earlier run stays: files keep their times, so that only what changed is compiled again.
copy_tree() {
  mkdir -p "$COPY"
  find "$COPY" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$COPY"
  ln -s "$ROOT/.venv" "$COPY/.venv"
}

# A repository of its own, so that the paths of the patch are relative to it.
apply_patch() {
  git init -q .
  git apply --verbose "$INPUTS/softsign.patch"
}

# check NAME COMMAND…: one thing that the new operation has to pass.
check() {
  local name=$1
  shift
  runs=$((runs + 1))
  if "$@" >"build/$runs.log" 2>&1; then
    say "$name: passed"
  else
    failures=$((failures + 1))
    tail -n 20 "build/$runs.log"
    say "$name: failed; all of its output is in build/recipe/build/$runs.log"
  fi
}

fold_constants() {
  "$PYTHON" -B test/Dialect/AD/IR/Inputs/fold_agreement.py "$1" >"build/fold-$1.mlir"
  ad-opt --canonicalize "build/fold-$1.mlir" -o "build/folded-$1.mlir"
  "$PYTHON" -B test/Dialect/AD/IR/Inputs/fold_agreement.py --folded "build/folded-$1.mlir"
  ad-runner --target cpu --cache off "build/folded-$1.mlir"
}

say "copying the tree into ${COPY#"$ROOT"/}"
copy_tree
cd "$COPY"
BUILD=$COPY/build/$PRESET
apply_patch
say "building with ad.softsign"
quietly build/configure.log cmake --preset "$PRESET"
quietly build/build.log build ad-opt ad-runner ad-list-rules
export PATH=$BUILD/bin:$PATH
"$PYTHON" -c "import numpy; numpy.save('build/x.npy', numpy.array([0, 1, -1, 3, -3, 7], numpy.float32))"

check "the generated reference has the operation" scripts/generate_docs.py
check "its documentation is complete" scripts/generate_docs.py --check
check "its derivative rule has a gradient case" "$PYTHON" -B test/Gradients/cases.py --check "$BUILD/bin/ad-list-rules"
for element in f32 bf16; do
  check "constants of $element fold to the bits of compiled code" fold_constants "$element"
done
for target in reference cpu gpu-sim; do
  check "values and gradient on $target" \
    ad-runner --target "$target" --cache off --arg x=build/x.npy "$INPUTS/softsign.mlir"
  check "differences against the gradient on $target" "$PYTHON" -B test/Gradients/check.py elementwise \
    --only softsign --target "$target"
done
check "the slope at the edges of each type" "$PYTHON" -B test/Gradients/check_slopes.py --only softsign
check "differences of second order" "$PYTHON" -B test/Gradients/check.py elementwise --only softsign --order 2
say "$(git apply --numstat "$INPUTS/softsign.patch" | awk '{files++; lines += $1} END {print files " files, " lines " lines by hand"}')"
echo "$runs run, $failures failed"
((failures == 0))
