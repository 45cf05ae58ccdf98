#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Runs the experiments of examples/numerics and writes an index page with their pictures and logs.
#
#   scripts/gallery.sh [--quick] [--target NAME] [--out DIR]
#
# Full sizes take some minutes, --quick takes one. The page, build/gallery/index.html, needs no other file. The folder
# of an experiment in build/gallery has its programs, tables, pictures and log. Closes with `gallery: N experiments`; an
# experiment that fails is named, and the exit code is 1.
set -euo pipefail
source "$(dirname "$0")/common.sh"

options=() out=build/gallery
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --quick) options+=(--quick) ;;
    --target | --out)
      [[ ${2-} ]] || die "$1 expects a value"
      if [[ $1 == --out ]]; then out=$2; else options+=(--target "$2"); fi
      shift
      ;;
    *) die "unknown argument '$1'; see --help" ;;
  esac
  shift
done

export ADJOINT_BIN=${ADJOINT_BIN:-$PWD/$BUILD/bin}
[[ -x $ADJOINT_BIN/ad-diff ]] || die "no $ADJOINT_BIN/ad-diff; build it first: scripts/setup.sh, then ninja -C $BUILD"
exec "$PYTHON" examples/numerics/gallery.py --out "$out" "${options[@]}"
