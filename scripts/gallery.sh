#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Runs the experiments of examples/numerics and writes an index page with their pictures and logs.
#
#   scripts/gallery.sh [--quick] [--target NAME] [--only NAME]… [--out DIR]
#
# Full sizes take some minutes, --quick takes one. The page, build/gallery/index.html, needs no other file. The folder
# of an experiment in build/gallery has its programs, tables, pictures and log. --only names one experiment, such as
# dynamic_broadcast. The tools are those of $ADJOINT_BIN (build/$ADJOINT_PRESET/bin). Closes with `gallery: N
# experiments`; an experiment that fails is named. Exit codes: 1 an experiment fails, 2 a file cannot be read or
# written, 130 Ctrl-C, 143 SIGTERM.
set -euo pipefail
CALLER=$PWD
source "$(dirname "$0")/common.sh"

# from_caller PATH: the path as it is from the folder in which the script was called.
from_caller() { if [[ $1 == /* ]]; then printf '%s' "$1"; else printf '%s' "$CALLER/$1"; fi; }

options=() out=$ROOT/build/gallery
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --quick) options+=(--quick) ;;
    --target | --only | --out)
      [[ ${2-} ]] || die "$1 expects a value"
      if [[ $1 == --out ]]; then out=$(from_caller "$2"); else options+=("$1" "$2"); fi
      shift
      ;;
    *) die "unknown argument '$1'; see --help" ;;
  esac
  shift
done

ADJOINT_BIN=$(from_caller "${ADJOINT_BIN:-$BUILD/bin}")
export ADJOINT_BIN
[[ -x $PYTHON ]] || die "no $PYTHON; run scripts/setup.sh"
for tool in ad-runner ad-diff ad-diff-programs; do
  [[ -x $ADJOINT_BIN/$tool ]] ||
    die "no $ADJOINT_BIN/$tool; build it: scripts/setup.sh; ninja -C $BUILD ad-runner ad-diff ad-diff-programs"
done
exec "$PYTHON" examples/numerics/gallery.py --out "$out" "${options[@]}"
