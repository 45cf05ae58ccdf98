#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Sets up, builds, lints and runs every test.
#
#   scripts/test.sh [FILTER]
#   scripts/test.sh quick       for an edit: lint, passes and lowerings, unit tests, a few random programs (3 minutes)
#   scripts/test.sh full        with all cases of tests that otherwise take a part of them, by the commit (40 minutes)
#   scripts/test.sh recipe      also follows the first recipe of CONTRIBUTING.md, in build/recipe (minutes)
#
# With a FILTER, a regular expression, only tests whose name matches it run, with all their cases. Closes with one line
# `N passed, N failed, N skipped`; exit code 1 when something failed. As many tests run at a time as there are CPUs.
# $ADJOINT_PRESET picks another preset, e.g. asan. A test that does not end is killed and fails: after 10 minutes under
# lit, after 20 as a program of its own, after six times that with asan.
# Generated campaigns start from a seed that the commit gives, so that every commit tries other cases; $ADJOINT_SEED
# sets it.
set -euo pipefail
source "$(dirname "$0")/common.sh"

case ${1-} in
  -h | --help) usage; exit 0 ;;
  -*) die "unknown option '$1'; see --help" ;;
esac
(($# <= 1)) || die "expected one filter, got $#; a regular expression can name several tests: 'a|b'"
filter=${1-}
grep -qE -e "$filter" <<<'' || (($? == 1)) || die "'$filter' is not a regular expression"
quick='' FUZZ_COUNT=54
if [[ $filter == quick ]]; then quick=1 filter='' FUZZ_COUNT=36; fi
full=''
if [[ $filter == full ]]; then full=1 filter='' FUZZ_COUNT=300; fi
JOBS=$(nproc)
SLOWER=1
if [[ $PRESET == asan ]]; then SLOWER=6; fi
LIT_SECONDS=$((600 * SLOWER)) PROGRAM_SECONDS=$((1200 * SLOWER))
# The leading 31 bits of the commit. A tree without git has no commit, and takes the seed of scripts/fuzz.sh.
commit=$(git rev-parse --verify --quiet HEAD || echo 00000001)
seed=${ADJOINT_SEED:-$((16#${commit:0:8} & 0x7fffffff))}
[[ $seed =~ ^[0-9]+$ ]] || die "expected a number in \$ADJOINT_SEED, but got '$seed'"
# Of cases of one kind, tests take a part by this number (test/Support/checks.py), unless they are named.
if [[ ! $full && ! $filter ]]; then export ADJOINT_SAMPLE=$seed; else unset ADJOINT_SAMPLE; fi

passed=0 failed=0 skipped=0
wanted() { [[ -z $filter || $1 =~ $filter ]]; }

# verdict NAME PASSED FAILED SKIPPED BEGIN: adds up and reports one suite, which began at that second.
verdict() {
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  say "$1: $2 passed, $3 failed, $4 skipped; $((SECONDS - $5)) s"
}

# limited COMMAND…: its processes are named and killed when they do not end; the exit code is 124 then.
limited() { "$PYTHON" test/Support/time_limit.py "$PROGRAM_SECONDS" "$@"; }

# one NAME COMMAND…: the command is one test, passed if it succeeds.
one() {
  local name=$1
  shift
  wanted "$name" || return 0
  local begin=$SECONDS
  if limited "$@"; then verdict "$name" 1 0 0 "$begin"; else verdict "$name" 0 1 0 "$begin"; fi
}

# passes NAME COMMAND…: whether a program passes that closes with `N run, N failed`, perhaps after its name.
passes() {
  local name=$1 log=$BUILD/test-logs/$1.log code=0 closing begin=$SECONDS
  shift
  mkdir -p "${log%/*}"
  limited "$@" >"$log" 2>&1 || code=$?
  closing=$(tail -n 1 "$log")
  if [[ $code == 0 && $closing =~ [1-9][0-9]*\ run,\ 0\ failed ]]; then
    say "$name: passed ($closing; $((SECONDS - begin)) s)"
    return 0
  fi
  tail -n 40 "$log"
  say "$name: failed with exit code $code; all of its output is in ${log#"$ROOT"/}"
  return 1
}

# counted NAME COMMAND…: such a program is one test, whatever it counts: some count assertions, some campaigns cases.
counted() {
  wanted "$1" || return 0
  if passes "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# beside NAME COMMAND…: `counted` while others run. The verdict is in a file, which `together` adds up.
verdicts=()
beside() {
  local file=$BUILD/test-logs/$1.verdict
  wanted "$1" || return 0
  mkdir -p "${file%/*}"
  rm -f "$file"
  verdicts+=("$file")
  while (($(jobs -rp | wc -l) >= JOBS)); do wait -n || true; done
  {
    if passes "$@" >"$file.text" 2>&1; then echo 1 0 0 >"$file"; else echo 0 1 0 >"$file"; fi
    cat "$file.text"
  } &
}

# together: waits for all of them. One that left no verdict has failed.
together() {
  local file counts
  wait
  for file in "${verdicts[@]}"; do
    read -ra counts < <(cat "$file" 2>/dev/null || echo 0 1 0)
    passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
    rm -f "$file" "$file.text"
  done
  verdicts=()
}
# Processes in the background ignore Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

# unit_suite NAME PROGRAM: a program of GoogleTest, each case of which is one test. A program that ends early, or has no
# case, fails.
unit_suite() {
  local name=$1 log=$BUILD/test-logs/$1.log results=$BUILD/test-logs/$1.json code=0 counts begin=$SECONDS
  wanted "$name" || return 0
  mkdir -p "${log%/*}"
  rm -f "$results"
  limited "$2" "--gtest_output=json:$results" >"$log" 2>&1 || code=$?
  read -ra counts < <("$PYTHON" scripts/count_gtest.py "$results" 2>>"$log" || echo 0 1 0)
  if ((code != 0 && counts[1] == 0 || counts[0] + counts[1] + counts[2] == 0)); then counts[1]=1; fi
  if ((counts[1])); then
    tail -n 40 "$log"
    say "$name ended with exit code $code; all of its output is in ${log#"$ROOT"/}"
  fi
  verdict "$name" "${counts[@]}" "$begin"
}

# lit_suite NAME OPTION…: every file under test/ that lit knows, as far as the options leave it.
lit_suite() {
  local name=$1 results=$BUILD/test-logs/$1.json counts begin=$SECONDS
  shift
  mkdir -p "${results%/*}"
  rm -f "$results"
  local options=(-s -v --no-progress-bar -Dtime_limit="$LIT_SECONDS" --output "$results" "$@")
  if [[ $filter ]]; then options+=(--filter "$filter" --allow-empty-runs); fi
  # Without a result there was nothing that the filter names.
  if "$PYTHON" "$LLVM/bin/lit" "${options[@]}" "$BUILD/test" && [[ ! -e $results ]]; then return 0; fi
  counts=$("$PYTHON" scripts/count_lit.py "$results") || counts='0 1 0'
  # shellcheck disable=SC2086
  verdict "$name" $counts "$begin"
}

# Test programs of C++ are the executables of the build with these endings, except those that a lit test runs. Those
# that link GoogleTest end in -unit.
unit_tests() {
  local program name
  while read -r program; do
    name=${program##*/}
    if git grep -qw -e "$name" -- 'test/*.test' 'test/*.mlir'; then continue; fi
    if [[ $name == *-unit ]]; then unit_suite "$name" "$program"; else counted "$name" "$program"; fi
  done < <(find "$BUILD/bin" -maxdepth 1 -type f -perm -u+x -name 'ad*' |
    grep -E -e '-(unit|scan|check|test)$' | sort)
}

# Those of Python are the files whose name ends in _test.py, and those of the package.
python_tests() {
  local program
  python_package
  while read -r program; do
    beside "$program" env ADJOINT_BIN="$BUILD/bin" "$PYTHON" "$program"
  done < <(find test -name '*_test.py' | sort)
}

fuzz_campaigns() {
  local name count
  local all=(programs gradients slopes passes adx control gpu-sim fused import linalg kernels nests scalars activity sizes
    diff plain traced files kills)
  if [[ $quick ]]; then all=(programs gradients gpu-sim fused kernels nests); fi
  for name in "${all[@]}"; do
    # Each program of some is compiled several times, those of diff and sizes alone and most often. Most changed files
    # are refused before anything is compiled. Cases of kills wait for the disk.
    case $name in
      kernels | programs) count=$((FUZZ_COUNT * 2 / 3)) ;;
      activity | control | import | linalg | nests) count=$((FUZZ_COUNT / 2)) ;;
      fused | gpu-sim) count=$((FUZZ_COUNT / 4)) ;;
      gradients | kills | plain) count=$((FUZZ_COUNT / 6)) ;;
      traced) count=$((FUZZ_COUNT / 9)) ;;
      diff) count=$((FUZZ_COUNT / 18)) ;;
      sizes) count=$((FUZZ_COUNT / 27)) ;;
      files) count=$((FUZZ_COUNT * 2)) ;;
      *) count=$FUZZ_COUNT ;;
    esac
    wanted "fuzz-$name" || continue
    say "fuzz-$name: scripts/fuzz.sh $name --count $count --seed $seed"
    beside "fuzz-$name" scripts/fuzz.sh "$name" --count "$count" --seed "$seed"
  done
}

# The first recipe of CONTRIBUTING.md, followed in a copy of the tree. A changed .td compiles nearly everything again,
# so it runs only when it is named.
recipe() {
  [[ $filter == recipe ]] || return 0
  PROGRAM_SECONDS=3600 counted recipe test/Recipe/follow.sh
}

# The Python package, built as its users build it, and tested by pytest, beside other tests.
python_package() {
  local file=$BUILD/test-logs/python-package.verdict
  wanted python-package || return 0
  if [[ $PRESET == asan ]]; then
    say 'python-package is skipped: a Python without sanitizers cannot load a library with them'
    skipped=$((skipped + 1))
    return 0
  fi
  mkdir -p "${file%/*}"
  rm -f "$file"
  verdicts+=("$file")
  scripts/build_python.sh && package_tests "$file" &
}

# package_tests FILE: writes how many passed, failed and were skipped.
package_tests() {
  local log=$BUILD/test-logs/python-package.log code=0 closing kind counts=() begin=$SECONDS
  PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 limited "$PYTHON" -m pytest -q -rs python_bindings \
    >"$log" 2>&1 || code=$?
  closing=$(tail -n 1 "$log")
  for kind in passed failed skipped; do
    [[ $closing =~ ([0-9]+)\ $kind ]] && counts+=("${BASH_REMATCH[1]}") || counts+=(0)
  done
  # A crash or an error outside of a test leaves no count behind.
  if [[ $code != 0 && ${counts[1]} == 0 ]]; then counts[1]=1; fi
  if [[ $code != 0 ]]; then tail -n 60 "$log"; fi
  grep '^SKIPPED' "$log" || true
  say "python-package: ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped; $((SECONDS - begin)) s"
  echo "${counts[@]}" >"$1"
}

scripts/setup.sh --versions
say "building (7 to 20 minutes on two cores the first time)"
build all
export PATH=$BUILD/bin:$LLVM/bin:$ROOT/.venv/bin:$PATH
one lint scripts/lint.sh
if [[ $quick ]]; then
  lit_suite lit --filter ':: (Codegen/CPU|Conversion|Dialect|Pipelines|Reference|Transforms)/'
  unit_tests
  fuzz_campaigns
  together
  echo "$passed passed, $failed failed, $skipped skipped"
  exit $((failed > 0))
fi
lit_suite lit
unit_tests
# Campaigns come last: they divide their cases among all cores, so that none waits for the other at the end.
python_tests
fuzz_campaigns
together
recipe
((passed + failed + skipped)) || die "no test matches '$filter'"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
