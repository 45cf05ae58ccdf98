#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. Compares a GPU with the reference interpreter and
# measures it next to the peers. docs/gpu-first-run.md says how to use it.
#
#   scripts/gpu.sh [pack] [FOLDER] [--chip NAME]
#   scripts/gpu.sh report DIR
#
# Compiles all cases and benchmarks ahead of time into a new FOLDER (default: build/gpu), which needs neither LLVM nor
# this project: on any x86-64 machine (with AVX2: x86-64-v3) with glibc 2.36 (Debian 12) or newer, the driver of an
# NVIDIA GPU, Python and NumPy (for the peers PyTorch and JAX) `run.py` in it does the rest, in five stages. Without
# `pack`, it is run at once; with it, FOLDER.tar.xz holds all of it for another machine, in at most 15 MB. --chip says
# what code may use (default: sm_90a; other chips than the H100's and H200's: sm_80). `report` turns the results in DIR
# into a page in docs/measurements.
set -euo pipefail
start=$PWD
source "$(dirname "$0")/common.sh"

LARGEST=15000000 # bytes of a pack
action=run folder='' chip=sm_90a
chips=(sm_80 sm_86 sm_89 sm_90 sm_90a sm_100) # as ad-runner has them
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    pack | report)
      [[ $action == run && ! $folder ]] || die "expected one folder after '$action', got '$1'"
      action=$1
      ;;
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

# The page of some results.
report() {
  local python=$PYTHON
  [[ -x $python ]] || python=python3
  "$python" test/Device/report.py "$1" --into docs/measurements
}

if [[ $action == report ]]; then
  [[ $folder ]] || die "report expects the folder that run.py --out has filled"
  report "$folder"
  exit
fi
if [[ " ${chips[*]} " != *" $chip "* ]]; then
  others=$(printf '%s, ' "${chips[@]::${#chips[@]}-1}")
  die "unknown chip '$chip', expected ${others%, } or ${chips[-1]}"
fi
folder=${folder:-build/gpu}
packed=$folder.tar.xz
for path in "$folder" "$packed"; do
  [[ ! -e $path ]] || die "'$path' exists; give a new folder, or remove it when nothing in it is needed"
done
scripts/setup.sh
build ad-runner adrt-run
export ADJOINT_BIN=$BUILD/bin
trap 'rm -rf -- "$folder" "$packed"' EXIT # until all is whole
say "compiling the cases"
"$PYTHON" test/Device/bundle.py "$folder" --target cuda --chip "$chip"
say "compiling the benchmarks"
"$PYTHON" benchmarks/gpu.py --make "$folder/benchmark" --chip "$chip"
if [[ $action == run ]]; then
  trap - EXIT
  code=0
  "$PYTHON" "$folder/run.py" || code=$?
  if [[ $code != 4 ]]; then report "$folder/results"; fi # 4: there is no GPU
  exit "$code"
fi
say "packing"
# Similar programs are next to each other, so that they share what is alike.
(cd "$folder/.." && find "${folder##*/}" -type f | sed 's,.*\.,& &,' | LC_ALL=C sort | cut -d' ' -f2- |
  tar --owner=0 --group=0 --numeric-owner -cf - -T - | xz -6 -T0) >"$packed"
size=$(stat -c %s "$packed")
((size <= LARGEST)) || die "the pack has $size bytes, expected at most $LARGEST; see what takes them: tar -tvf '$packed'"
trap - EXIT
say "packed: $packed, $(awk "BEGIN {printf \"%.1f\", $size / 1e6}") MB;" \
  "unpack it on a machine with a GPU, and run '${folder##*/}/run.py'"
