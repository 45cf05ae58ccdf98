#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Trains three classifiers of hand-written digits, from a bare Debian machine on.
#
#   scripts/demo.sh [--seeds N] [--target NAME]
#
# Installs what is missing, builds ad-opt, ad-runner and adrt-run, and trains mlp.mlir, transformer.mlir and
# convolution.mlir of examples/digits on one core. The loss is shown as it falls; parameters, losses and a picture of the
# loss curve land in build/demo. Closes with a line per model. With --seeds N each model trains N times (other split,
# parameters and order of the digits). --target says where (default: cpu); on gpu-sim the perceptron takes two minutes,
# the transformer hours, the convolutional network about one.
set -euo pipefail
source "$(dirname "$0")/common.sh"

seeds=() target=cpu
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --seeds)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--seeds expects a number, got '${2-}'"
      seeds=(--seeds "$2")
      shift 2
      ;;
    --target)
      [[ ${2-} ]] || die "--target expects a name"
      target=$2
      shift 2
      ;;
    *) die "unknown argument '$1'; see --help" ;;
  esac
done

# The times of the three models, where they are known.
case $target in
  cpu) times=(' (under a minute)' ' (under a minute)' ' (under a minute)') ;;
  gpu-sim) times=(' (two minutes)' ' (hours)' ' (about an hour)') ;;
  reference | cuda) times=('' '' '') ;;
  *) die "unknown target '$target', expected reference, cpu, gpu-sim or cuda" ;;
esac

say "step 1 of 5: packages, Python environment, configuration (2 minutes on a bare machine, else a second)"
scripts/setup.sh
say "step 2 of 5: building the tools that README.md shows (7 to 20 minutes on two cores, seconds when nothing changed)"
build ad-opt ad-runner adrt-run ad-diff ad-diff-programs

closing=()
train() {
  local out=build/demo/$1 log=build/demo/$1.log
  mkdir -p build/demo
  # One core, whatever the machine has, so that the time says something.
  OMP_NUM_THREADS=1 "$PYTHON" -u examples/digits/train.py "$1" --runner "$BUILD/bin/ad-runner" --out "$out" \
    "${seeds[@]}" --threads 1 --target "$target" | tee "$log"
  closing+=("$(tail -n 1 "$log")")
}
say "step 3 of 5: training the perceptron${times[0]}"
train mlp
say "step 4 of 5: training the transformer${times[1]}"
train transformer
say "step 5 of 5: training the convolutional network${times[2]}"
train convolution

echo
printf '%s\n' "${closing[@]}"
