#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Feeds mutated programs to parser, verifier and passes, and mutated files to the .npy reader (libFuzzer, sanitizers).
#
#   parser.sh [--count N] [--seed S] [--minutes M]
#
# Builds our libraries with coverage and sanitizers into build/fuzzer (long, once). --count says how many inputs each of the two
# fuzzers makes (default 20000), --minutes how long each may take (default 30). An input that makes one of them
# crash, hang or leak with a frame of ours is named; one without is upstream's and is only listed. Closes with
# `parser: N run, N failed`.
set -euo pipefail
cd "$(dirname "$0")/../.."
ROOT=$PWD

count=20000 seed=1 minutes=30
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

if [[ ! ${ADJOINT_FUZZ_BUILD-} ]]; then
  cmake --preset asan -B "$build" -DADJOINT_SANITIZE="$sanitize;fuzzer-no-link" -DADJOINT_BUILD_TESTS=OFF >"$out/build.log"
  ninja -C "$build" ADPipelines ADDerivatives ADCheckIR ADRunner >>"$out/build.log" || { tail -n 20 "$out/build.log" >&2; exit 1; }
fi

# link NAME SOURCE: one fuzzer from its entry and our libraries.
link() {
  clang++-22 -std=c++17 -O1 -g -fno-rtti -fno-exceptions -fsanitize="fuzzer${sanitize:+,${sanitize//;/,}}" \
    -I include -I "$build/include" -isystem /usr/lib/llvm-22/include "$2" -o "$out/$1" -fuse-ld=lld-22 \
    -Wl,--start-group "$build"/lib/*.a -Wl,--end-group -L/usr/lib/llvm-22/lib -Wl,-rpath,/usr/lib/llvm-22/lib -lMLIR -lLLVM
}

run=0 failed=0

# campaign NAME MAX_LEN: runs the fuzzer over a corpus that starts with the folder seeds-NAME.
campaign() {
  local log=$out/$1.log code=0 executed
  mkdir -p "$out/corpus-$1"
  # The bump allocator of attributes looks poisoned to the sanitizer; see docs of the asan preset.
  ASAN_OPTIONS=allow_user_poisoning=0 "$out/$1" -runs="$count" -seed="$seed" -max_len="$2" -timeout=25 \
    -rss_limit_mb=4096 -max_total_time=$((60 * minutes)) -artifact_prefix="$out/$1-" -print_final_stats=1 \
    "$out/corpus-$1" "$out/seeds-$1" >"$log" 2>&1 || code=$?
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  run=$((run + ${executed:-1}))
  ((code)) || return 0
  if ! grep -q 'Test unit written' "$log"; then
    failed=$((failed + 1))
    echo "$1: did not run: $(tail -n 1 "$log")"
  elif grep -qE '^ *#[0-9]+ .*(mlir::ad|adrt|/lib/(Dialect|Conversion|Runner|Numerics|Pipelines))' "$log"; then
    failed=$((failed + 1))
    grep -E 'ERROR|SUMMARY|Test unit written' "$log"
  else
    echo "$1: stopped without a frame of ours (upstream): $(grep -m 1 'Test unit written' "$log")"
  fi
}

# Every test is a seed, split where mlir-opt would split it.
make_seeds() {
  rm -rf "$out"/seeds-*
  mkdir -p "$out/seeds-programs" "$out/seeds-npy"
  local file
  while read -r file; do
    csplit -sz -f "$out/seeds-programs/${file//\//-}." "$file" '%^\(func\|module\|!\|#\)%' '/^\/\/ -----/' '{*}' 2>/dev/null ||
      cp "$file" "$out/seeds-programs/${file//\//-}"
  done < <(git ls-files 'test/*.mlir')
  git ls-files 'test/*.npy' | xargs -r -I '{}' cp '{}' "$out/seeds-npy/"
}

make_seeds
link programs test/Fuzz/parser.cpp
link npy test/Runner/fuzz-npy.cpp
campaign programs 4096
campaign npy 1024
echo "parser: $run run, $failed failed"
((failed == 0))
