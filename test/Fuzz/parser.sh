#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Feeds mutated programs to parser, verifier and passes, and mutated files to the .npy reader (libFuzzer, sanitizers).
#
#   parser.sh [--count N] [--seed S] [--minutes M]
#
# Builds our libraries with coverage and sanitizers into build/fuzzer (long, once). --minutes says how long the fuzzers
# run (default 30, a tenth of it for files), --count after how many inputs each stops before that. The corpora stay in
# build/fuzz/parser. Each input that makes one of the fuzzers crash, hang or leak runs once more alone: with a frame of
# ours, or where a fuzzer finds a promise broken, it is named; without one it is upstream's and only listed. Closes with `parser: N run, N failed`.
set -euo pipefail
cd "$(dirname "$0")/../.."
ROOT=$PWD

count=-1 seed=1 minutes=30
while (($#)); do
  case $1 in
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    --minutes) minutes=$2 ;;
    *) echo "parser.sh: unknown argument '$1'" >&2; exit 2 ;;
  esac
  shift 2
done

# $ADJOINT_FUZZ_BUILD names a tree of another kind, e.g. the release build, whose libraries then count no coverage.
build=${ADJOINT_FUZZ_BUILD:-$ROOT/build/fuzzer}
sanitize=${ADJOINT_FUZZ_SANITIZE-address;undefined}
out=$ROOT/build/fuzz/parser
mkdir -p "$out"
# The bump allocator of attributes looks poisoned to the sanitizer, and what is given to the passes is freed by LLVM.
export ASAN_OPTIONS=allow_user_poisoning=0

build_libraries() {
  cmake --preset asan -B "$build" -DADJOINT_SANITIZE="$sanitize;fuzzer-no-link" -DADJOINT_BUILD_TESTS=OFF \
    -DADJOINT_PRECOMPILED_HEADERS=ON &&
    ninja -C "$build" ADPipelines ADCheckIR
}

# link NAME SOURCE…: one fuzzer from its entry and our libraries.
link() {
  clang++-22 -std=c++17 -O1 -gline-tables-only -fno-rtti -fno-exceptions \
    -fsanitize="fuzzer${sanitize:+,${sanitize//;/,}}" -fno-sanitize-recover=all \
    -I include -I "$build/include" -isystem /usr/lib/llvm-22/include "${@:2}" -o "$out/$1" -fuse-ld=lld-22 \
    -Wl,--start-group "$build"/lib/*.a -Wl,--end-group \
    -L/usr/lib/llvm-22/lib -Wl,-rpath,/usr/lib/llvm-22/lib -lMLIR -lLLVM
}

run=0 failed=0
ours='mlir::ad|adrt|/lib/(Codegen|Conversion|Dialect|Interfaces|Numerics|Pipelines|Runner|Support|Transforms)/'

# is_ours LOG: whether a frame of ours is on the stack of the first report, and nearer to the fault than upstream's
# parser of attributes and types, which the parsers of our operations call with nothing but the user's text.
is_ours() {
  local nearest
  grep -q "without a diagnostic" "$1" && return 0
  # The entry of a fuzzer ends the process where a promise is broken.
  grep -A 1 ' in abort ' "$1" | grep -q ' in LLVMFuzzerTestOneInput ' && return 0
  nearest=$(sed -n '/^ *#0 /,/^$/p' "$1" | grep -m 1 -E "($ours)|mlir::detail::Parser::") || return 1
  [[ $nearest != *mlir::detail::Parser::* ]]
}

# judge NAME INPUT: runs an input that stopped the fuzzer alone.
judge() {
  local log=$2.log
  if "$out/$1" -timeout=50 -rss_limit_mb=4096 "$2" >"$log" 2>&1; then
    echo "$1: passes alone: $2"
  elif is_ours "$log"; then
    failed=$((failed + 1))
    echo "$1: $(grep -m 1 -E 'Assertion|runtime error|ERROR' "$log"): $2"
  else
    echo "$1: stopped without a frame of ours (upstream): $2"
  fi
}

# campaign NAME SECONDS OPTIONS…: runs the fuzzer over a corpus that starts with the folder seeds-NAME. In a process of
# its own (fork), so that one bad input does not end the campaign.
campaign() {
  local log=$out/$1.log artifact line
  mkdir -p "$out/corpus-$1" "$out/found-$1"
  rm -f "$out/found-$1"/*
  "$out/$1" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -runs="$count" -seed="$seed" -timeout=25 \
    -rss_limit_mb=4096 -max_total_time="$2" -artifact_prefix="$out/found-$1/" "${@:3}" \
    "$out/corpus-$1" "$out/seeds-$1" >"$log" 2>&1 || true
  line=$(sed -n 's/^#\([0-9]*\): cov.*/\1/p' "$log" | tail -n 1)
  if [[ ! $line ]]; then
    failed=$((failed + 1))
    echo "$1: did not run: $(tail -n 1 "$log")"
  fi
  run=$((run + ${line:-0}))
  for artifact in "$out/found-$1"/*; do
    if [[ -f $artifact ]]; then judge "$1" "$artifact"; fi
  done
}

make_seeds() {
  rm -rf "$out"/seeds-*
  mkdir -p "$out/seeds-npy"
  git ls-files 'test/*.mlir' |
    xargs "${PYTHON:-$ROOT/.venv/bin/python}" test/Fuzz/seeds.py "$out/seeds-programs" "$out/words"
  git ls-files 'test/*.npy' | xargs -r -I '{}' cp '{}' "$out/seeds-npy/"
}

if [[ ! ${ADJOINT_FUZZ_BUILD-} ]]; then
  build_libraries >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log" >&2; exit 1; }
fi
make_seeds
link programs test/Fuzz/parser.cpp test/Fuzz/mutator.cpp
link npy test/Runner/fuzz-npy.cpp lib/Support/NpyHeader.cpp lib/Support/Error.cpp
campaign programs $((54 * minutes)) -max_len=4096 -dict="$out/words"
campaign npy $((6 * minutes)) -max_len=1024
echo "parser: $run run, $failed failed"
((failed == 0))
