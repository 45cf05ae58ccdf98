#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Holds a GPU against the reference interpreter, and measures it beside the peers.
#
#   scripts/gpu.sh [pack] [FOLDER] [--chip NAME]
#
# Compiles all cases and benchmarks ahead of time into a new FOLDER (default: build/gpu), which needs neither LLVM nor this
# project: on any x86-64 machine (with AVX2: x86-64-v3) with glibc 2.36 (Debian 12) or newer, the driver of an NVIDIA GPU, Python
# and NumPy (for the peers PyTorch and JAX) `run.py` in it does the rest and writes report.md. Without `pack`, it is run at once. --chip says what code may use (default: sm_90a; other
# chips than the H100's and H200's: sm_80). Reports belong into docs/measurements.
set -euo pipefail
start=$PWD
source "$(dirname "$0")/common.sh"

only_pack='' folder='' chip=sm_90a
chips=(sm_80 sm_86 sm_89 sm_90 sm_90a sm_100) # as ad-runner has them
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    pack) only_pack=1 ;;
    --chip)
      [[ ${2-} ]] || die "--chip expects a name"
      chip=$2
      shift
      ;;
    -*) die "unknown option '$1'; see --help" ;;
    *)
      [[ ! $folder ]] || die "expected one folder, got '$folder' and '$1'"
      folder=$(cd "$start" && realpath -m -- "$1")
      ;;
  esac
  shift
done

if [[ " ${chips[*]} " != *" $chip "* ]]; then
  others=$(printf '%s, ' "${chips[@]::${#chips[@]}-1}")
  die "unknown chip '$chip', expected ${others%, } or ${chips[-1]}"
fi
folder=${folder:-build/gpu}
[[ ! -e $folder ]] || die "'$folder' exists; give a new folder, or remove it when nothing in it is needed"
scripts/setup.sh
build ad-runner adrt-run
export ADJOINT_BIN=$BUILD/bin
trap 'rm -rf -- "$folder"' EXIT # until it is whole
say "compiling the cases"
"$PYTHON" test/Device/bundle.py "$folder" --target cuda --chip "$chip"
say "compiling the benchmarks"
"$PYTHON" benchmarks/gpu.py --make "$folder/benchmark" --chip "$chip"
trap - EXIT
if [[ $only_pack ]]; then
  say "packed: run '$folder/run.py' on a machine with a GPU"
else
  "$PYTHON" "$folder/run.py"
fi
