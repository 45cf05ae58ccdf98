#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Checks the form of the tracked files.
#
#   scripts/lint.sh [--fix] [--tidy] [FILE…]
#
# Without an option: layout (clang-format-22), banners, sizes of files, stray whitespace, Python packages without a hash,
# the scripts (shellcheck), Python (ruff), and the types of the Python package and its examples (mypy).
#   --fix    lays out the C++ files instead of complaining about them
#   --tidy   runs clang-tidy-22 too, over the C++ files of the configured build (minutes)
#   FILE…    only these files
# Closes with `lint: clean` or `lint: N complaints`.
set -euo pipefail
source "$(dirname "$0")/common.sh"

MAX_LINES=800
BANNER='Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.'

fix='' tidy='' files=()
for argument; do
  case $argument in
    --fix) fix=1 ;;
    --tidy) tidy=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) die "unknown option '$argument'; see --help" ;;
    *)
      [[ -f $argument ]] || die "no file '$argument'; files are named from the root of the project"
      files+=("$argument")
      ;;
  esac
done
if ((${#files[@]} == 0)); then
  mapfile -t files < <(git ls-files)
fi

complaints=0
complain() {
  printf '%s\n' "$1" >&2
  complaints=$((complaints + 1))
}

# of_kind PATTERN: the files at hand whose name matches the regular expression and that still exist.
of_kind() {
  local file
  for file in "${files[@]}"; do
    if [[ $file =~ $1 && -f $file ]]; then printf '%s\n' "$file"; fi
  done
}

check_layout() {
  local file sources
  mapfile -t sources < <(of_kind '\.(cpp|c|h)$')
  ((${#sources[@]})) || return 0
  command -v clang-format-22 >/dev/null || die "clang-format-22 is not installed; run scripts/setup.sh"
  if [[ $fix ]]; then
    clang-format-22 -i "${sources[@]}"
    return 0
  fi
  # Each process has its own output: what several write into one would be mixed.
  # shellcheck disable=SC2016
  while read -r file; do
    complain "$file: not laid out as clang-format-22 does; run scripts/lint.sh --fix"
  done < <(printf '%s\0' "${sources[@]}" | xargs -0 -n 64 -P "$(nproc)" sh -c '
    wrong=$(clang-format-22 --dry-run "$@" 2>&1 |
      sed -n "s/^\(.*\):[0-9]*:[0-9]*: warning: code should be.*/\1/p" | sort -u)
    if [ "$wrong" ]; then printf "%s\n" "$wrong"; fi' sh)
}

# In one process: there are thousands of files.
check_text() {
  local line sources found code=0
  mapfile -t sources < <(of_kind '(\.(cpp|c|h|def|td|py|sh|mlir|test|md|txt|cmake|json|yaml)|\.ci/run)$')
  found=$("$PYTHON" scripts/check_text.py --max-lines "$MAX_LINES" --banner "$BANNER" "${sources[@]}") || code=$?
  ((code == 0)) || die "scripts/check_text.py failed with exit code $code"
  while read -r line; do
    if [[ $line ]]; then complain "$line"; fi
  done <<<"$found"
}

# Python packages are pinned with hashes: scripts/unpinned.py says which are not.
check_packages() {
  local line found code=0
  found=$(python3 scripts/unpinned.py) || code=$?
  ((code == 0)) || [[ $found ]] || die "scripts/unpinned.py failed with exit code $code"
  while read -r line; do
    if [[ $line ]]; then complain "$line"; fi
  done <<<"$found"
}

check_scripts() {
  local file sources
  command -v shellcheck >/dev/null || die "shellcheck is not installed; run scripts/setup.sh"
  while read -r file; do
    shellcheck "$file" >&2 || complain "$file: shellcheck objects"
  done < <(of_kind '(\.sh|\.ci/run)$')
  mapfile -t sources < <(of_kind '\.py$')
  ((${#sources[@]})) || return 0
  while read -r file; do
    complain "$file"
  done < <("$PYTHON" -m ruff check --quiet --no-cache --output-format concise "${sources[@]}" || true)
}

# Types depend on each other, so all of the package is checked if one of its files or examples is at hand.
check_types() {
  local line
  [[ $(of_kind '^(python_bindings/(adjoint/.*\.pyi?|pyproject\.toml)|examples/python/[^/]*\.py)$') ]] || return 0
  while read -r line; do
    complain "$line"
  done < <("$PYTHON" -m mypy --config-file python_bindings/pyproject.toml --cache-dir "$BUILD/mypy" --no-error-summary \
    --hide-error-context python_bindings/adjoint examples/python/*.py 2>&1 || true)
}

# Each warning is a complaint; generated code and headers of others are not ours to mend.
check_tidy() {
  local sources log=$BUILD/clang-tidy.log
  mapfile -t sources < <(of_kind '^(lib|tools)/.*\.cpp$')
  ((${#sources[@]})) || return 0
  [[ -f $BUILD/compile_commands.json ]] || die "no build is configured in $BUILD; run scripts/setup.sh"
  run-clang-tidy-22 -quiet -p "$BUILD" -clang-tidy-binary clang-tidy-22 "${sources[@]/#/$ROOT/}" >"$log" 2>&1 || true
  while read -r line; do
    complain "${line#"$ROOT"/}"
  done < <(grep -E '^/.*: (warning|error): ' "$log" | sort -u)
}

check_layout
check_text
check_packages
check_scripts
check_types
if [[ $tidy ]]; then check_tidy; fi
if ((complaints)); then
  echo "lint: $complaints complaints"
  exit 1
fi
echo "lint: clean"
